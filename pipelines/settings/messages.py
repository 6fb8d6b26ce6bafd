"""What is wrong with the settings? One sentence for each problem, never with a secret in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from pipelines.settings.sources import variable

NEVER_SHOWN = frozenset(
    {"base_url", "username", "password", "password_file", "customers"}
    | {"alert_webhook", "alert_webhook_file", "alert_smtp_username", "alert_smtp_password"}
)
LONGEST_SHOWN = 60


class SettingsError(ValueError):
    """Settings that cannot be used; `problems` holds a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True)
class Models:
    """What settings and customers look like; the description of a field says what it should be."""

    settings: type[BaseModel]
    customer: type[BaseModel]


@dataclass(frozen=True)
class _Wrong:
    """One thing that pydantic found: of which kind, where, and what a check of ours said of it."""

    kind: str
    place: tuple[int | str, ...]
    said: str


def sentences(error: ValidationError, given: Mapping[str, object], models: Models) -> list[str]:
    """The sentences for what pydantic found; a value is quoted only where it cannot be a secret."""
    found = error.errors(include_url=False, include_input=False)
    return [
        _sentence(_wrong(detail["type"], detail["loc"], detail["msg"]), given, models) for detail in found
    ]


def _wrong(kind: str, place: tuple[int | str, ...], message: str) -> _Wrong:
    return _Wrong(kind, place, message.removeprefix("Value error, ") if kind == "value_error" else "")


def _sentence(wrong: _Wrong, given: Mapping[str, object], models: Models) -> str:
    if not wrong.place:
        return wrong.said
    name = str(wrong.place[0])
    if name == "customers" and len(wrong.place) > 1:
        return f"{variable(name)}: {_of_customer(wrong, given, models.customer)}."
    if wrong.kind == "missing":
        return f"{variable(name)} is not set; set it to {_described(models.settings, name)}."
    if wrong.said:
        return f"{variable(name)} {wrong.said}."
    return f"{variable(name)} {_shown(name, given)}is not {_described(models.settings, name)}."


def _of_customer(wrong: _Wrong, given: Mapping[str, object], customer: type[BaseModel]) -> str:
    who = _who(given.get("customers"), wrong.place[1])
    key = str(wrong.place[2]) if len(wrong.place) > len(("customers", "number")) else ""
    if not key:
        return f"customer {who} is neither an id nor a table with an id"
    if wrong.kind == "extra_forbidden":
        return f"customer {who} has a key {key!r} that is no setting"
    if wrong.kind == "missing":
        return f"customer {who} has no {key}"
    if key == "id" and wrong.said:
        return wrong.said
    return f"the {key} of customer {who} {wrong.said or 'is not ' + _described(customer, key)}"


def _who(customers: object, number: int | str) -> str:
    """The customer by its id, or by its place in the list when it has none."""
    if not isinstance(customers, list) or not isinstance(number, int):
        return str(number)
    entry = customers[number]
    named = entry.get("id") if isinstance(entry, dict) else None
    return repr(named)[:LONGEST_SHOWN] if named else f"number {number + 1}"


def _described(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].description or "what it should be"


def _shown(name: str, given: Mapping[str, object]) -> str:
    if name in NEVER_SHOWN or name not in given:
        return ""
    return f"({repr(given[name])[:LONGEST_SHOWN]}) "
