"""Messages about settings: a sentence for each problem, without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

PREFIX = "BROKERBI_"
NEVER_QUOTED = frozenset({"base_url", "username", "customers", "logins", "alert_smtp_username"})
"""`sentences` quotes neither the values of these settings, nor secrets, nor the paths of their files."""
MAX_QUOTED = 60


class SettingsError(ValueError):
    """Settings that cannot be used; `problems` has a sentence for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{name.upper()}"


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The most similar of `names`; None if none is similar."""
    return next(iter(get_close_matches(name.lower(), names, n=1, cutoff=0.75)), None)


def sentences(
    error: ValidationError, values: Mapping[str, Any], settings: type[BaseModel], entries: Mapping[str, Any]
) -> list[str]:
    """A sentence for each error, like: BROKERBI_CONCURRENCY ('0') is not a whole number from 1 to 50."""
    messages, fields = list[str](), settings.model_fields
    for detail in error.errors(include_url=False, include_input=False):
        kind, location = detail["type"], detail["loc"]
        # Only messages of our own checks (value_error) are used; a message of pydantic may quote a secret.
        wording = detail["msg"].removeprefix("Value error, ") if kind == "value_error" else ""
        name = str(location[0]) if location else ""
        if not location:
            messages += wording.splitlines()
        elif name in entries and len(location) > 2:
            message = _entry_message(kind, location, wording, values[name], entries[name])
            messages.append(f"{variable(name)}: {message}.")
        else:
            is_nested = name == "logins" and len(location) > 1
            where = variable("__".join(["login", *map(str, location[1:])]) if is_nested else name)
            hidden = name in NEVER_QUOTED or f"{name.removesuffix('_file')}_file" in fields
            value = "" if hidden or isinstance(values[name], dict) else f" ({values[name]!r:.{MAX_QUOTED}})"
            message = f"{where}{value} is not {_description(settings, name)}."
            messages.append(f"{where}{value} {wording}." if wording else message)
    return list(dict.fromkeys(messages))


def _entry_message(
    kind: str, location: tuple[int | str, ...], wording: str, entries: Any, model: type[BaseModel]
) -> str:
    _, number, *keys = location
    entry = entries[number]
    noun, id_ = model.__name__.lower(), entry.get("id")
    owner = f"{noun} {id_!r:.{MAX_QUOTED}}" if id_ else f"{noun} number {int(number) + 1}"
    key = ".".join(map(str, keys))
    if kind == "missing" and (unknown := [name for name in entry if name not in model.model_fields]):
        kind, key = "extra_forbidden", unknown[0]  # probably the missing key, mistyped: one sentence
    if kind == "extra_forbidden":
        return f"{owner} has a key {key!r}, which is not one of {', '.join(model.model_fields)}"
    description = _description(model, str(keys[0]))
    if kind == "missing":
        return f"{owner} has no {key}; write {description}"
    value = f" ({entry[key]!r:.{MAX_QUOTED}})" if location[0] not in NEVER_QUOTED else ""
    return f"the {key}{value} of {owner} {wording or f'is not {description}'}"


def _description(model: type[BaseModel], name: str) -> str:
    field = model.model_fields.get(name)
    return (field and field.description) or "a text in quotes"
