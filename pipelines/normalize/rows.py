"""The objects at every place of a shape, found in all documents of a window together.

A list that is null or empty has no rows, and neither has one that is absent, unless something undeclared
stands next to the place where it should be, or under its name in an object around: then it may be the list
under another name or in another place, and the answer does not fit its shape.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain, repeat
from typing import NamedTuple

import polars as pl

from pipelines.catalogue.model import Table
from pipelines.normalize.contents import EMPTY, Fields, FilledColumn, holds_objects, is_nothing
from pipelines.normalize.document import Json, Keys, Object
from pipelines.shapes.paths import ANY, ColumnPath, simplified
from pipelines.shapes.places import described, places_of
from pipelines.shapes.shape import Place

MOST_SUGGESTED = 3
VALUE = "value"
TYPES: dict[str, type] = {"[]": list, "{}": dict, "": dict}
"""What the steps of a path lead into."""


class ShapeMismatch(Exception):
    """A document whose rows are not where the shape of its report says."""


class FoundRows(NamedTuple):
    """One list, or the values of keyed objects: in which row above, its elements, and the name of each."""

    above: int
    elements: Sequence[Json]
    names: Sequence[str] = ()


@dataclass(eq=False)
class Level:
    """The objects at one place, over all documents; the topmost are the documents themselves.

    `elements` are what stands there; an element that is no object is a stranger, and an empty object takes
    its place; a plain value in a nested table without documented columns is an object of one `value`.
    `parents` says in which object above each is.
    """

    place: Place
    elements: Sequence[Json]
    parents: pl.Series
    above: Level | None = None
    lists: Sequence[FoundRows] = ()
    columns: dict[ColumnPath, FilledColumn] = field(default_factory=dict)

    @cached_property
    def objects(self) -> Sequence[Object]:
        """The elements as objects: an element that is a column has an empty name, a stranger is empty."""
        if self.place.is_plain:
            return [{"": element} for element in self.elements]
        if set(map(type, self.elements)) <= {dict}:
            return self.elements
        table = self.place.table
        is_open = table is not None and table.parent and not self.place.columns
        return [
            element
            if type(element) is dict
            else {VALUE: element}
            if is_open and not isinstance(element, list | None)
            else EMPTY
            for element in self.elements
        ]

    @cached_property
    def strangers(self) -> list[int]:
        """The elements that are not objects, by their number."""
        changed = () if self.objects is self.elements else self.objects
        return [row for row, element in enumerate(changed) if element is EMPTY]

    @cached_property
    def fields(self) -> Fields:
        """The members of the objects by name."""
        return Fields(self.objects)

    @cached_property
    def documents(self) -> pl.Series:
        """The number of the document of each object."""
        if self.above is None:
            return self.parents
        return self.above.documents.gather(self.parents)

    @cached_property
    def rows_above(self) -> pl.Series:
        """The number of the row above each object; without a table above, of its document."""
        if self.above is None or self.above.place.table or self.above.above is None:
            return self.parents
        return self.above.rows_above.gather(self.parents)

    @property
    def roots(self) -> Sequence[Json]:
        """The topmost elements."""
        return self.elements if self.above is None else self.above.roots

    @property
    def names(self) -> list[str]:
        """The name that each object was found under: its own key, or the name of its list."""
        return [name for found in self.lists for name in found.names]

    def only(self, rows: Sequence[int]) -> Level:
        """The level without its other rows."""
        if len(rows) == len(self.elements):
            return self
        elements = [self.elements[row] for row in rows]
        columns = {path: column.gather(rows) for path, column in self.columns.items()}
        return Level(self.place, elements, self.parents.gather(rows), self.above, self.lists, columns)


def document_level(place: Place, documents: Sequence[Json], root: Keys) -> Level:
    """The topmost level: the root of each document; raises ShapeMismatch for one without it."""
    values = list(documents)
    for name in root:
        for number, value in enumerate(values):
            members = value.items() if type(value) is dict else ()
            inner = {simplified(key): member for key, member in members}
            if name not in inner and not is_nothing(value):
                there = what_is_there(value, documents)
                raise ShapeMismatch(f"expected an object with {'.'.join(root)}, {there}")
            values[number] = inner.get(name)
    return Level(place, values, pl.int_range(len(values), dtype=pl.Int64, eager=True))


def below(level: Level, place: Place) -> Level:
    """The level at a place below; raises ShapeMismatch, which states what was expected and found."""
    step = place.hop.step
    if step.is_any:
        return _level(level, place, _lists_of_any_name(level, place.path))
    found = [
        FoundRows(row, list(value.values()), list(value))
        if step.each == "{}"
        else FoundRows(row, value if step.each else [value], [name] * len(value))
        for wanted in step.names or ("",)
        for row, (name, value) in enumerate(_values(level, place, wanted))
        if value
    ]
    if len(step.names) > 1:
        found.sort(key=lambda rows: rows.above)  # row by row, as the answer has them
    return _level(level, place, found)


def below_undeclared(level: Level, table: Table, lists: Sequence[Json]) -> Level:
    """The elements of undeclared lists."""
    place = Place(path=table.name, table=table)
    found = [FoundRows(row, elements) for row, elements in enumerate(lists) if elements]
    return _level(level, place, found)


def columns_on_the_way(level: Level) -> dict[str, FilledColumn]:
    """The declared columns of a table, read at its rows or at places above them, one value for each row."""
    columns: dict[str, FilledColumn] = {}
    here: Level | None = level
    rows: pl.Series | None = None
    while here is not None and (here is level or here.place.table is None):
        for name, (source, path) in level.place.sources.items():
            if source is here.place and path in here.columns:
                filled = here.columns[path]
                columns[name] = filled if rows is None else filled.gather(rows)
        rows = here.parents if rows is None else here.parents.gather(rows)
        here = here.above
    return columns


def _mismatch(expected: str, found: Json, level: Level) -> ShapeMismatch:
    """The error for an answer that does not fit: the expected path, what is there, and likely rows."""
    return ShapeMismatch(f"expected {expected}, {what_is_there(found, level.roots)}")


def what_is_there(found: Json, documents: Sequence[Json]) -> str:
    """A description of a value that does not fit, and of where its document has lists of objects."""
    sentence = f"found {described(found)}"
    places = [place for place in places_of(documents) if place.path and place.names]
    fullest = sorted(places, key=lambda place: -place.count)[:MOST_SUGGESTED]
    return f"{sentence}; there are objects at {', '.join(map(str, fullest))}" if fullest else sentence


def _level(above: Level, place: Place, found: Sequence[FoundRows]) -> Level:
    """The elements of all lists, each with the row above that it belongs to."""
    parents = chain.from_iterable(repeat(rows.above, len(rows.elements)) for rows in found)
    elements = chain.from_iterable(rows.elements for rows in found)
    return Level(place, [*elements], pl.Series([*parents], dtype=pl.Int64), above, found)


def _values(level: Level, place: Place, wanted: str) -> Iterator[tuple[str, Json]]:
    """What each object has at the end of the hop to a place, with the name of the last member."""
    hop = place.hop
    values = list(level.elements)
    name = ""
    for depth, member in enumerate((*hop.members, wanted) if wanted else ()):
        if depth == 0 and not level.strangers:
            fields = level.fields
        else:
            fields = Fields([value if type(value) is dict else EMPTY for value in values])
            wrong = next(
                (value for value in values if type(value) is not dict and not is_nothing(value)), None
            )
            if wrong is not None and not level.place.table:
                raise _mismatch(place.path, wrong, level)
        if lacking := fields.lacking(member):
            way = hop.members[:depth]
            known = _declared_at(level.place, way)
            of_rows = _declared_from(place) - known
            around = _levels_around(level, member)
            for row, element in enumerate(fields.objects):
                if (len(lacking) == len(fields.tuples) or tuple(element) in lacking) and (
                    _may_hold_it(element, known, of_rows, is_row=level.place.table is not None)
                    or (around and _is_around(row, member, around))
                ):
                    raise _mismatch(place.path, element, level)
        values = fields.values(member)
        name = fields.spellings.get(member, [member])[0]
    kind = TYPES[hop.step.each]
    for value in values:
        if not isinstance(value, kind) and not is_nothing(value):
            raise _mismatch(place.path, value, level)
        yield name, value


def _may_hold_it(element: Object, known: Collection[str], of_rows: Collection[str], *, is_row: bool) -> bool:
    """Whether an object without a declared list may hold it under another name, or be one of its rows.

    `known` are the names that are declared in it; one that is no row has to have at least one of them, and
    none of those that are declared of the rows of the list.
    """
    if not element or ANY in known:
        return False
    names = {simplified(key) for key in element} if not is_row else set()
    if not is_row and (names.isdisjoint(known) or names & set(of_rows)):
        return True
    return any(
        value and isinstance(value, list | dict) and simplified(key) not in known
        for key, value in element.items()
    )


def _levels_around(level: Level, name: str) -> list[tuple[list[Level], Level]]:
    """The levels above whose objects have an undeclared member of this name, and the path to each."""
    way: list[Level] = []
    levels = []
    while level.above is not None:
        way = [*way, level]
        level = level.above
        if name in level.fields.spellings and not {name, ANY} & _declared_at(level.place, ()):
            levels.append((way, level))
    return levels


def _is_around(row: int, name: str, around: Sequence[tuple[list[Level], Level]]) -> bool:
    """Whether a list that an object lacks may have been moved out of it, into one of the objects around."""
    for way, level in around:
        element = level.objects[reduce(lambda row, below: below.parents[row], way, row)]
        if any(isinstance(element.get(key), list | dict) for key in level.fields.spellings[name]):
            return True
    return False


def _declared_at(place: Place, way: Keys) -> set[str]:
    """The simplified names that are declared in the objects at a place, below the members of a way."""
    length = len(way)
    return {
        keys[length]
        for keys in (*place.declared, *place.lists)
        if len(keys) > length and keys[:length] == way
    }


def _declared_from(place: Place) -> set[str]:
    """The simplified names that are declared in the objects at a place, and at those below it."""
    return _declared_at(place, ()).union(*map(_declared_from, place.below))


def _lists_of_any_name(level: Level, expected: str) -> list[FoundRows]:
    """Every list of objects in the objects of a level, by the name that each has."""
    known = {keys[0] for keys in level.place.declared}
    found: list[FoundRows] = []
    for row, element in enumerate(level.elements):
        members = element.items() if type(element) is dict else ()
        others = [(key, value) for key, value in members if simplified(key) not in known]
        rows = [FoundRows(row, value, [key] * len(value)) for key, value in others if holds_objects(value)]
        is_like = len(others) < len(members) or any(isinstance(value, list | None) for _, value in others)
        is_around = any(
            type(value) is dict and any(map(holds_objects, value.values())) for _, value in members
        )
        has_others_only = not rows and any(value and type(value) is list for _, value in others)
        if not is_nothing(element) and (not is_like or is_around or has_others_only):
            raise _mismatch(expected, element, level)
        found += rows
    return found
