"""Messages about settings: one sentence for each problem, never with a secret in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError

NEVER_QUOTED = frozenset(
    {"base_url", "username", "password", "password_file", "customers", "logins"}
    | {
        "ping_url",
        "ping_url_file",
        "alert_webhook",
        "alert_webhook_file",
        "alert_smtp_username",
        "alert_smtp_password",
        "alert_smtp_password_file",
        "pseudonym_key",
        "pseudonym_key_file",
    }
)
LONGEST_QUOTED = 60


class SettingsError(ValueError):
    """Settings that cannot be used; `problems` holds a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"BROKERBI_{name.upper()}"


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that somebody most likely meant."""
    found = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    return found[0] if found else None


def sentences(
    error: ValidationError,
    given: Mapping[str, object],
    settings: type[BaseModel],
    customer: type[BaseModel],
    name_of: Callable[[str], str],
) -> list[str]:
    """The sentences for what pydantic found; the description of a field says what it should be.

    `name_of` says where a setting was given. A value is quoted only where it cannot be a secret.
    """
    found = []
    for detail in error.errors(include_url=False, include_input=False):
        kind, place = detail["type"], detail["loc"]
        # A check of ours says what is wrong; of pydantic's own only the kind is used, as it may quote.
        said = detail["msg"].removeprefix("Value error, ") if kind == "value_error" else ""
        name = str(place[0]) if place else ""
        where = name_of(name)
        if name == "logins" and len(place) > 1:
            where = variable("__".join(["login", *map(str, place[1:])]))
        should_be = _description(settings, name)
        if not place:
            found += said.splitlines()
        elif name == "customers" and len(place) > 1:
            found.append(f"{name_of(name)}: {_about_customer(kind, place, said, given, customer)}.")
        elif kind == "missing":
            found.append(f"{name_of(name)} is not set; set it to {should_be}.")
        elif said:
            found.append(f"{where} {said}.")
        elif name in NEVER_QUOTED or name not in given:
            found.append(f"{where} is not {should_be}.")
        else:
            found.append(f"{name_of(name)} ({repr(given[name])[:LONGEST_QUOTED]}) is not {should_be}.")
    return list(dict.fromkeys(found))


def _about_customer(
    kind: str, place: tuple[int | str, ...], said: str, given: Mapping[str, object], customer: type[BaseModel]
) -> str:
    who = _customer_name(given.get("customers"), place[1])
    if len(place) == 2:
        return f"customer {who} is neither an id nor a table with an id"
    key = ".".join(map(str, place[2:]))
    if kind == "extra_forbidden":
        return f"customer {who} has a key {key!r} that is no setting"
    if kind == "missing":
        return f"customer {who} has no {key}"
    if key == "id" and said:
        return said
    return f"the {key} of customer {who} {said or f'is not {_description(customer, str(place[2]))}'}"


def _customer_name(customers: object, number: int | str) -> str:
    """The customer's id, or its number in the list when it has none."""
    if not isinstance(customers, list) or not isinstance(number, int):
        return str(number)
    entry = customers[number]
    customer = entry.get("id") if isinstance(entry, dict) else None
    return repr(customer)[:LONGEST_QUOTED] if customer else f"number {number + 1}"


def _description(model: type[BaseModel], name: str) -> str:
    field = model.model_fields.get(name)
    return (field and field.description) or "what it should be"
