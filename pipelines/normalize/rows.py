"""The objects at every place of a shape, read from all documents of a window together.

A list that is null, empty or absent has no rows, like {"estates": null} for rows at `estates[]`. But an
absent list may have been renamed or moved. The answer does not fit its shape if the object without the list
- has an undeclared list or object with content, such as {"homes": [...]},
- is no row of another table, and has members but no declared ones,
- is no row of another table, and has a member that is declared only for the elements of the list, or
- is inside an object that has an undeclared list or object with the name of the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain, repeat
from typing import NamedTuple

import polars as pl

from pipelines.catalogue.model import Table
from pipelines.normalize.contents import EMPTY, Fields, FilledColumn, has_objects, is_nothing
from pipelines.normalize.document import Json, Keys, Object
from pipelines.shapes.paths import ANY, ColumnPath, simplified
from pipelines.shapes.places import describe, places_of
from pipelines.shapes.shape import Place

MAX_SUGGESTIONS = 3
VALUE = "value"


class ShapeMismatch(Exception):
    """The rows of a document are not where the shape of its report says."""


class OnlyPlainValues(ShapeMismatch):
    """A document has only plain values, like an error message, where rows were expected."""


class Children(NamedTuple):
    """The elements of a list or keyed object, and `parent`, the index of the object that contains it.

    For a keyed object like {"M1": {...}}, `names` has the key of each element; for a list, the list's name.
    """

    parent: int
    elements: Sequence[Json]
    names: Sequence[str] = ()


@dataclass(eq=False)
class Level:
    """The values at one place in all documents; at the topmost level, the roots of the documents.

    `elements` are these values, usually objects. Each is inside an object of the level `above`,
    and `parents` has the index of that object. At the topmost level, it has the index of the document.
    """

    place: Place
    elements: Sequence[Json]
    parents: pl.Series
    above: Level | None = None
    lists: Sequence[Children] = ()
    columns: dict[ColumnPath, FilledColumn] = field(default_factory=dict)

    @cached_property
    def objects(self) -> Sequence[Object]:
        """Each element as an object; a value of another type becomes `{}`.

        But in a nested table without columns, a plain value such as 5 becomes {"value": 5}.
        """
        if self.place.is_plain:
            return [{"": element} for element in self.elements]  # the key "" stands for the element itself
        if set(map(type, self.elements)) <= {dict}:
            return self.elements
        table = self.place.table
        takes_values = table is not None and table.parent and not self.place.columns
        return [
            element
            if type(element) is dict
            else {VALUE: element}
            if takes_values and not isinstance(element, list | None)
            else EMPTY
            for element in self.elements
        ]

    @cached_property
    def non_objects(self) -> list[int]:
        """The indexes of the elements that cannot be read as objects."""
        objects = () if self.objects is self.elements else self.objects
        return [row for row, element in enumerate(objects) if element is EMPTY]

    @cached_property
    def fields(self) -> Fields:
        return Fields(self.objects)

    @cached_property
    def documents(self) -> pl.Series:
        """The index of each element's document."""
        if self.above is None:
            return self.parents
        return self.above.documents.gather(self.parents)

    @cached_property
    def rows_above(self) -> pl.Series:
        """For each element, the index of the row that contains it, or of its document if no row does."""
        if self.above is None or self.above.place.table or self.above.above is None:
            return self.parents
        return self.above.rows_above.gather(self.parents)

    @property
    def roots(self) -> Sequence[Json]:
        return self.elements if self.above is None else self.above.roots

    @property
    def names(self) -> list[str]:
        """The key of each element in a keyed object, or the name of its list; not for use after `select`."""
        return [name for nested in self.lists for name in nested.names]

    def select(self, rows: Sequence[int]) -> Level:
        if len(rows) == len(self.elements):
            return self
        elements = [self.elements[row] for row in rows]
        columns = {path: column.gather(rows) for path, column in self.columns.items()}
        return Level(self.place, elements, self.parents.gather(rows), self.above, self.lists, columns)


def document_level(place: Place, documents: Sequence[Json], root: Keys) -> Level:
    """The topmost level: the values at `root`; raises ShapeMismatch if a document has content but no root."""
    values = list(documents)
    for name in root:
        for index, value in enumerate(values):
            inner = {simplified(key): member for key, member in value.items()} if type(value) is dict else {}
            if name not in inner and not is_nothing(value):
                raise _mismatch(f"an object with {'.'.join(root)}", value, documents)
            values[index] = inner.get(name)
    return Level(place, values, pl.int_range(len(values), dtype=pl.Int64, eager=True))


def inner_level(level: Level, place: Place) -> Level:
    """The level at a place below `level`; raises ShapeMismatch if the answer does not fit the place."""
    step = place.hop.step
    if step.is_any:
        return _make_level(level, place, _lists_of_any_name(level, place.path))
    lists = [
        Children(row, list(value.values()), list(value))
        if step.each == "{}"
        else Children(row, value if step.each else [value], [name] * len(value))
        for list_name in step.names or ("",)
        for row, (name, value) in enumerate(_members_at(level, place, list_name))
        if value
    ]
    if len(step.names) > 1:
        lists.sort(key=lambda nested: nested.parent)  # row by row, as the answer has them
    return _make_level(level, place, lists)


def undeclared_level(level: Level, table: Table, lists: Sequence[Json]) -> Level:
    """The level of an undeclared list; `lists` has the list of each row of `level`, or None."""
    nested = [Children(row, elements) for row, elements in enumerate(lists) if elements]
    return _make_level(level, Place(path=table.name, table=table), nested)


def columns_along_path(level: Level) -> dict[str, FilledColumn]:
    """The declared columns of the table at `level`, read there or above, one value per row."""
    columns: dict[str, FilledColumn] = {}
    current: Level | None = level
    rows: pl.Series | None = None
    while current is not None and (current is level or current.place.table is None):
        for name, (source, path) in level.place.sources.items():
            if source is current.place and path in current.columns:
                filled = current.columns[path]
                columns[name] = filled if rows is None else filled.gather(rows)
        rows = current.parents if rows is None else current.parents.gather(rows)
        current = current.above
    return columns


def _mismatch(expected: str, value: Json, documents: Sequence[Json]) -> ShapeMismatch:
    is_document = type(value) is dict and any(value is document for document in documents)
    if is_document and not any(isinstance(member, list | dict) for member in value.values()):
        found = f"an error message, or no rows, instead of {expected}"
        return OnlyPlainValues(f"the service sent {found}: {describe(value)}")
    return ShapeMismatch(f"expected {expected}, {describe_misfit(value, documents)}")


def describe_misfit(value: Json, documents: Sequence[Json]) -> str:
    """Describe a value that does not fit, and the places in its documents whose objects have most members."""
    places = [place for place in places_of(documents) if place.path and place.names]
    likely = sorted(places, key=lambda place: (-len(place.names), -place.count))[:MAX_SUGGESTIONS]
    rows = f"; rows may be at {', or '.join(map(str, likely))}" if likely else ""
    return f"found {describe(value)}{rows}"


def _make_level(above: Level, place: Place, lists: Sequence[Children]) -> Level:
    parents = chain.from_iterable(repeat(nested.parent, len(nested.elements)) for nested in lists)
    elements = chain.from_iterable(nested.elements for nested in lists)
    return Level(place, [*elements], pl.Series([*parents], dtype=pl.Int64), above, lists)


def _members_at(level: Level, place: Place, list_name: str) -> Iterator[tuple[str, Json]]:
    """For each object of `level`, yield the name and value of the member that has the elements of `place`."""
    hop, values, name, table = place.hop, list(level.elements), "", place.table
    expected = f"rows of {table.name} at {place.path}" if table and table.parent else place.path
    for depth, member in enumerate((*hop.members, list_name) if list_name else ()):
        if depth == 0 and not level.non_objects:
            fields = level.fields
        else:
            fields = Fields([value if type(value) is dict else EMPTY for value in values])
            misfits = [value for value in values if type(value) is not dict and not is_nothing(value)]
            if misfits and not level.place.table:
                raise _mismatch(expected, misfits[0], level.roots)
        if lacking := fields.key_tuples_without(member):
            declared = _declared_at(level.place, hop.members[:depth])
            declared_below = _declared_at_or_below(place) - declared
            enclosing = _enclosing_levels(level, member)
            for row, element in enumerate(fields.objects):
                if (len(lacking) == len(fields.key_tuples) or tuple(element) in lacking) and (
                    _may_have_rows(element, declared, declared_below, is_row=level.place.table is not None)
                    or (enclosing and _was_moved_out(row, member, enclosing))
                ):
                    raise _mismatch(expected, element, level.roots)
        values = fields.values(member)
        name = fields.spellings.get(member, [member])[0]
    expected_type = list if hop.step.each == "[]" else dict
    for value in values:
        if not isinstance(value, expected_type) and not is_nothing(value):
            raise _mismatch(expected, value, level.roots)
        yield name, value


def _may_have_rows(
    element: Object, declared: Collection[str], declared_below: Collection[str], *, is_row: bool
) -> bool:
    """Whether an object that lacks a declared list may have it under another name, or be one of its rows.

    `declared` are the names declared in the object, and `declared_below` are the names declared only in the
    list. An object that is a row of another table (`is_row`) is never a row of the list.
    """
    if not element or ANY in declared:
        return False
    names = {simplified(key) for key in element} if not is_row else set()
    if not is_row and (names.isdisjoint(declared) or names & set(declared_below)):
        return True
    return any(
        value and isinstance(value, list | dict) and simplified(key) not in declared
        for key, value in element.items()
    )


def _enclosing_levels(level: Level, name: str) -> list[tuple[list[Level], Level]]:
    """For each enclosing level with an undeclared member of this name: the levels below it, then itself."""
    path: list[Level] = []
    levels = []
    while level.above is not None:
        path = [*path, level]
        level = level.above
        if name in level.fields.spellings and not {name, ANY} & _declared_at(level.place, ()):
            levels.append((path, level))
    return levels


def _was_moved_out(row: int, name: str, enclosing: Sequence[tuple[list[Level], Level]]) -> bool:
    """Whether an object that encloses this row has a list or object of this name."""
    for path, level in enclosing:
        element = level.objects[reduce(lambda row, inner: inner.parents[row], path, row)]
        if any(isinstance(element.get(key), list | dict) for key in level.fields.spellings[name]):
            return True
    return False


def _declared_at(place: Place, members: Keys) -> set[str]:
    """The simplified names declared in the objects at a place, or in those that `members` lead to."""
    paths = (*place.declared, *place.lists)
    return {keys[len(members)] for keys in paths if keys[: len(members)] == members != keys}


def _declared_at_or_below(place: Place) -> set[str]:
    return _declared_at(place, ()).union(*map(_declared_at_or_below, place.below))


def _lists_of_any_name(level: Level, expected: str) -> list[Children]:
    """Every undeclared list of objects in the objects of a level.

    Raises ShapeMismatch for an element with content in three cases:
    - It has no declared member, and none of its members is a list or null.
    - It has a list of objects in a nested object.
    - It has undeclared lists with content, but none of them is a list of objects.
    """
    declared = {keys[0] for keys in level.place.declared}
    lists: list[Children] = []
    for row, element in enumerate(level.elements):
        members = element.items() if type(element) is dict else ()
        extra = [(key, value) for key, value in members if simplified(key) not in declared]
        nested = [Children(row, value, [key] * len(value)) for key, value in extra if has_objects(value)]
        types = {type(value) for _, value in extra}
        has_declared_or_list = len(extra) < len(members) or bool(types & {list, type(None)})
        inner = chain.from_iterable(value.values() for _, value in members if type(value) is dict)
        is_wrapped = any(map(has_objects, inner))
        has_only_plain_lists = not nested and any(value and type(value) is list for _, value in extra)
        if not is_nothing(element) and (not has_declared_or_list or is_wrapped or has_only_plain_lists):
            raise _mismatch(expected, element, level.roots)
        lists += nested
    return lists
