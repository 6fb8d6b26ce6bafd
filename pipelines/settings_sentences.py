"""What is wrong with the settings? One sentence for each problem, never with a secret in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ValidationError

from pipelines.settings_sources import variable

NEVER_SHOWN = frozenset({"base_url", "username", "password", "password_file", "customers"})
LONGEST_SHOWN = 60


class SettingsError(ValueError):
    """Settings that cannot be used; `problems` holds a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def sentences(
    error: ValidationError, given: Mapping[str, object], settings: type[BaseModel], customer: type[BaseModel]
) -> list[str]:
    """The sentences for what pydantic found; a value is quoted only where it cannot be a secret."""
    found = error.errors(include_url=False, include_context=True, include_input=False)
    return [
        _sentence(detail["type"], detail["loc"], detail["msg"], given, settings, customer) for detail in found
    ]


def _sentence(
    kind: str,
    place: tuple[int | str, ...],
    message: str,
    given: Mapping[str, object],
    settings: type[BaseModel],
    customer: type[BaseModel],
) -> str:
    own = message.removeprefix("Value error, ")
    if not place:
        return own
    name = str(place[0])
    if name == "customers" and len(place) > 1:
        return _of_customer(kind, place, own if kind == "value_error" else "", given, customer)
    if kind == "missing":
        return f"{variable(name)} is not set; set it to {_described(settings, name)}."
    if kind == "value_error":
        return f"{variable(name)} {own}."
    return f"{variable(name)} {_shown(name, given)}is not {_described(settings, name)}."


def _of_customer(
    kind: str, place: tuple[int | str, ...], own: str, given: Mapping[str, object], customer: type[BaseModel]
) -> str:
    number = place[1]
    entries = given.get("customers")
    entry = entries[number] if isinstance(entries, list) and isinstance(number, int) else None
    who = repr(entry.get("id")) if isinstance(entry, dict) and entry.get("id") else f"number {_count(number)}"
    if len(place) == 2:
        return f"BROKERBI_CUSTOMERS: customer {who} is neither an id nor a table with an id."
    key = str(place[2])
    if key == "id" and own:
        return f"BROKERBI_CUSTOMERS: {own}."
    if kind == "missing":
        return f"BROKERBI_CUSTOMERS: customer {who} has no {key}."
    return f"BROKERBI_CUSTOMERS: the {key} of customer {who} {own or 'is not ' + _described(customer, key)}."


def _count(number: int | str) -> str:
    return str(number + 1) if isinstance(number, int) else str(number)


def _described(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].description or "what it should be"


def _shown(name: str, given: Mapping[str, object]) -> str:
    if name in NEVER_SHOWN or name not in given:
        return ""
    text = repr(given[name])
    return f"({text[:LONGEST_SHOWN]}) "
