"""What do many objects consist of, column by column? Their values by key, objects opened, lists apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import polars as pl

from pipelines.normalize.kinds import Kinds, kinds_of
from pipelines.normalize.text import Json

Keys = tuple[str, ...]  # the keys that lead from an object to a value in it, through objects only

DEEPEST = 8  # objects nested deeper stay JSON
MOST_COLUMNS = 600  # what goes beyond stays JSON, in one column
MOST_LISTS = 50  # lists of objects beyond that stay JSON as well
MORE = "more fields"

_NO_OBJECT: dict[str, Json] = {}


@dataclass(frozen=True)
class Leaf:
    """One value of every object, by kind."""

    keys: Keys
    kinds: Kinds


@dataclass
class Parts:
    """What objects consist of: values, lists whose elements are rows, and what was met on the way."""

    leaves: list[Leaf] = field(default_factory=list)
    lists: dict[Keys, list[Json] | pl.Series] = field(default_factory=dict)  # per object, its list or None
    met: set[Keys] = field(default_factory=set)  # every key, even where its value is always null
    opened: set[Keys] = field(default_factory=lambda: {()})  # where at least one object was


@dataclass(frozen=True)
class Declared:
    """What the catalogue says of these objects: where their values and their lists of rows stand."""

    values: frozenset[Keys] = frozenset()
    lists: frozenset[Keys] = frozenset()
    undeclared_lists: bool = True  # whether other lists of objects are rows, too

    def first(self, above: Keys) -> set[str]:
        """The declared keys of the object that stands under `above`."""
        depth = len(above)
        return {
            keys[depth] for keys in self.values | self.lists if len(keys) > depth and keys[:depth] == above
        }


def shredded(objects: Sequence[dict[str, Json]], declared: Declared = Declared()) -> Parts:
    """Take objects apart; every list at a declared place is one of rows, whatever its elements are."""
    parts = Parts()
    _open(objects, (), parts, declared)
    return parts


def holds_rows(value: Json) -> bool:
    """Whether a value is a list of objects, nulls between them allowed."""
    types = set(map(type, value)) if type(value) is list else set()
    return dict in types and types <= {dict, type(None)}


def _open(objects: Sequence[dict[str, Json]], above: Keys, parts: Parts, declared: Declared) -> None:
    names = list(dict.fromkeys(chain.from_iterable(objects)))
    room = max(MOST_COLUMNS - len(parts.leaves), 0)
    if len(names) > room:
        first = declared.first(above)
        names.sort(key=lambda name: name not in first)
        _keep_together(objects, set(names[room:]), above, parts)
    for name in names[:room]:
        keys = (*above, name)
        parts.met.add(keys)
        values = [one.get(name) for one in objects]
        types = set(map(type, values))
        is_open = keys not in declared.values  # where one value is documented, anything else is a misfit
        if list in types and is_open:
            values = _rows_apart(values, keys, parts, declared)
        if dict in types and is_open and len(keys) < DEEPEST and len(parts.leaves) < MOST_COLUMNS:
            values = _objects_apart(values, keys, parts, declared)
        kinds = kinds_of(values)
        if kinds:
            parts.leaves.append(Leaf(keys, kinds))


def _keep_together(objects: Sequence[dict[str, Json]], names: set[str], above: Keys, parts: Parts) -> None:
    rest = [{key: value for key, value in one.items() if key in names} or None for one in objects]
    parts.leaves.append(Leaf((*above, MORE), kinds_of(rest)))


def _rows_apart(values: list[Json], keys: Keys, parts: Parts, declared: Declared) -> list[Json]:
    is_declared = keys in declared.lists
    are_rows = declared.undeclared_lists and len(parts.lists) < MOST_LISTS
    rows = [
        value if type(value) is list and (is_declared or (are_rows and holds_rows(value))) else None
        for value in values
    ]
    if any(rows) or is_declared:
        parts.lists[keys] = rows
    return [
        None if value == [] or row is not None else value for value, row in zip(values, rows, strict=True)
    ]


def _objects_apart(values: list[Json], keys: Keys, parts: Parts, declared: Declared) -> list[Json]:
    parts.opened.add(keys)
    _open([value if type(value) is dict else _NO_OBJECT for value in values], keys, parts, declared)
    return [None if type(value) is dict else value for value in values]
