"""Where lists of objects are in a document, for sentences about answers that do not fit and for proposals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

Json = Any

DEEPEST = 6
MOST_LOOKED_AT = 500
"""Elements of a list that are looked at: a list has one kind of rows."""
MOST_NAMED = 8
_PUBLIC = re.compile(r"[A-Za-z_@$][A-Za-z_@$. -]{0,40}\d{0,2}")
"""A name of a field; a name of another form may be an id, or somebody's name, and is never shown."""


@dataclass
class FoundList:
    """A list of objects, or the objects under the keys of another, with all that is at one path.

    A list of plain values has these in `scalars`.
    """

    path: str
    objects: list[dict[str, Json]] = field(default_factory=list)
    scalars: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    count: int = 0

    def __str__(self) -> str:
        """The list with how many objects it has, and of what."""
        objects = "1 object" if self.count == 1 else f"{self.count} objects"
        return f"{self.path} ({objects} of {named(dict.fromkeys(chain.from_iterable(self.objects)))})"


def lists_of(documents: Iterable[Json], *, with_scalars: bool = False) -> list[FoundList]:
    """Every list of objects in documents of one kind, outer ones first; a document that is a list is `[]`."""
    found: dict[str, FoundList] = {}
    for document in documents:
        _look(document, "", found, 0)
    return [place for place in found.values() if place.objects or with_scalars]


def described(value: Json) -> str:
    """A value of a document in a few words, without any value in it."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return f"an object of {named(value)}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return "true or false" if isinstance(value, bool) else "a text" if isinstance(value, str) else "a number"


def named(names: Iterable[str]) -> str:
    """Names of fields for a sentence: at most a few, and none that may be a value."""
    several = list(islice(names, MOST_NAMED + 1))
    shown = [name if _PUBLIC.fullmatch(name) else "…" for name in several[:MOST_NAMED]]
    return ", ".join(dict.fromkeys(shown)) + (", …" if len(several) > MOST_NAMED else "")


def _look(value: Json, path: str, found: dict[str, FoundList], depth: int) -> None:
    if depth > DEEPEST:
        return
    if isinstance(value, dict) and not (path and _is_keyed(value)):
        for name, member in value.items():
            if isinstance(member, list | dict):
                _look(member, f"{path}.{name}" if path else name, found, depth + 1)
    elif isinstance(value, dict):
        path = f"{path}.{{}}" if path.endswith(("[]", "{}")) else f"{path}{{}}"
        _add(path, list(value.values()), found, depth + 1)
        found[path].keys += value
    elif isinstance(value, list):
        _add(f"{path}[]", value, found, depth)


def _add(path: str, elements: Sequence[Json], found: dict[str, FoundList], depth: int) -> None:
    """Note the elements of a list, or under keys: objects, and what is in them, or else plain values."""
    objects = [element for element in elements if isinstance(element, dict)]
    if not objects and (not elements or any(isinstance(element, list) for element in elements)):
        return
    here = found.setdefault(path, FoundList(path))
    if not objects:
        here.scalars += elements[: max(MOST_LOOKED_AT - len(here.scalars), 0)]
        return
    here.count += len(elements)
    here.objects += objects[: max(MOST_LOOKED_AT - len(here.objects), 0)]
    for element in objects[:MOST_LOOKED_AT]:
        _look(element, path, found, depth)


def _is_keyed(value: dict[str, Json]) -> bool:
    """Whether an object holds rows under keys: several objects under names that look like ids."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(member, dict) and member for member in members):
        return False
    return all(any(sign.isdigit() for sign in name) or not _PUBLIC.fullmatch(name) for name in value)
