"""Places of objects and values in documents, for messages about answers and for proposals of shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

Json = Any

MAX_DEPTH = 16
MAX_EXAMINED = 500
"""Only this many elements of a list are examined, because they are all of one kind."""
MAX_NAMES = 8
_PUBLIC = re.compile(r"[^\W\d](?:[^\W\d]|[@$. -]){0,40}\d{0,2}")
"""What looks like the name of a field. Any other name may be an id or a person's name, and is never shown."""


@dataclass
class FoundPlace:
    """What all documents have at a path: the documents themselves, list items, or values of keyed objects.

    These are its elements. `names` are the names of their members, and `keys` are the keys of keyed objects.
    `fields` maps a path within an element, such as `sale.price`, to the plain values there. That path is ""
    for elements that are plain values.
    """

    path: str
    count: int = 0
    names: dict[str, None] = field(default_factory=dict)
    fields: dict[str, list[Json]] = field(default_factory=dict)
    keys: list[Json] = field(default_factory=list)

    def __str__(self) -> str:
        objects = "1 object" if self.count == 1 else f"{self.count} objects"
        return f"{self.path} ({objects} with {names_in_words(self.names)})"


def places_of(documents: Sequence[Json]) -> list[FoundPlace]:
    """All places in the documents, beginning with the documents themselves at the empty path."""
    places: dict[str, FoundPlace] = {}
    _add("", documents, places, 0)
    return list(places.values())


def describe(value: Json) -> str:
    """A description of a value in a few words, without the value."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return f"an object with {names_in_words(value)}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return "true or false" if isinstance(value, bool) else "a text" if isinstance(value, str) else "a number"


def names_in_words(names: Iterable[str]) -> str:
    """Field names for a message: eight at most, with `…` in place of a name that may be a value."""
    first_names = list(islice(names, MAX_NAMES + 1))
    shown = [name if _PUBLIC.fullmatch(name) else "…" for name in first_names[:MAX_NAMES]]
    return ", ".join(dict.fromkeys(shown)) + (", …" if len(first_names) > MAX_NAMES else "")


def _add(path: str, elements: Sequence[Json], places: dict[str, FoundPlace], depth: int) -> None:
    place = places.setdefault(path, FoundPlace(path))
    place.count += len(elements)
    for element in elements[:MAX_EXAMINED]:
        _examine(element, "", place, places, depth)


def _examine(value: Json, subpath: str, place: FoundPlace, places: dict[str, FoundPlace], depth: int) -> None:
    """Add a value and everything in it to the places; `subpath` is its path from an element of `place`."""
    path = f"{place.path}.{subpath}" if place.path else subpath
    if depth > MAX_DEPTH or value is None:
        return
    if isinstance(value, list):
        _add(f"{path}[]", value, places, depth + 1)
    elif isinstance(value, dict) and _is_keyed(value):
        _add(f"{path}{{}}", list(value.values()), places, depth + 1)
        places[f"{path}{{}}"].keys += value
    elif isinstance(value, dict):
        for name, member in value.items():
            if not subpath:
                place.names[name] = None
            if _PUBLIC.fullmatch(name):
                _examine(member, f"{subpath}.{name}" if subpath else name, place, places, depth + 1)
    else:
        place.fields.setdefault(subpath, []).append(value)


def _is_keyed(value: dict[str, Json]) -> bool:
    """Whether an object is keyed: two or more members, all of them objects, with names that look like ids."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(member, dict) and member for member in members):
        return False
    return all(any(char.isdigit() for char in name) or not _PUBLIC.fullmatch(name) for name in value)
