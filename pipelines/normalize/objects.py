"""Objects of a document taken apart: columns of values by key, and the lists of rows in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter

import polars as pl

from pipelines.normalize.document import Json
from pipelines.normalize.row_paths import ROOT, Keys, Sign
from pipelines.normalize.types import Kinds, kinds_of

DEEPEST = 8  # objects nested deeper stay JSON
MOST_COLUMNS = 600  # what goes beyond stays JSON, in one column
MOST_LISTS = 50  # lists of objects beyond that stay JSON as well
MORE = Sign("more fields")  # the key of that column

Object = dict[str, Json]
_NO_OBJECT: Object = {}


@dataclass(frozen=True)
class Rows:
    """The objects of all lists at one place of the document; the topmost are the pages of an answer.

    `lists` says in which list each is, counted over all rows above that are kept, `above` in which of
    the rows above; `keys` are those of the lists, by turns. A stranger is an element that is no object: an
    empty row takes its place until it is rejected.
    """

    objects: Sequence[Object]
    lists: pl.Series
    above: pl.Series
    lengths: pl.Series
    parent: Rows | None = None
    keys: Sequence[Keys] = ((),)
    strangers: Mapping[int, Json] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.objects)

    def steps(self, row: int) -> list[str | int]:
        """The way to a row: its page, then keys and places in lists."""
        if self.parent is None:
            return [row]
        number = self.lists[row]
        steps = self.parent.steps(self.above[row])
        keys = self.keys[number % len(self.keys)]
        return [*steps, *(key for key in keys if key != ROOT), row - self._starts[number]] if keys else steps

    @cached_property
    def _starts(self) -> pl.Series:
        return self.lengths.cum_sum() - self.lengths


@dataclass
class Contents:
    """What objects consist of: values, lists whose elements are rows, and which keys there are."""

    columns: dict[Keys, Kinds] = field(default_factory=dict)
    lists: dict[Keys, list[Json]] = field(default_factory=dict)  # per object, its list or None
    found: set[Keys] = field(default_factory=set)  # every key, even where its value is always null
    opened: set[Keys] = field(default_factory=lambda: {()})  # where at least one object was


@dataclass(frozen=True)
class Declared:
    """What the catalogue says of these objects: the keys of their values and of their lists of rows."""

    values: frozenset[Keys] = frozenset()
    lists: frozenset[Keys] = frozenset()
    undeclared_lists: bool = True  # whether other lists of objects are rows, too


def page_of(value: Json) -> Object:
    """A document as an object; one that is a list, or nothing, is an object that holds just that."""
    return value if type(value) is dict else {ROOT: value}


def rows_of_pages(values: Sequence[Json]) -> Rows:
    """The pages of an answer."""
    places = pl.int_range(len(values), eager=True)
    return Rows(
        [page_of(value) for value in values],
        places,
        places,
        pl.repeat(1, len(values), dtype=pl.Int64, eager=True),
    )


def rows_in(parent: Rows, kept: Sequence[int] | None, lists: Mapping[Keys, Sequence[Json]]) -> Rows:
    """The elements of these lists, in the order of the rows above that are kept; None keeps all."""
    columns = [values if kept is None else [values[row] for row in kept] for values in lists.values()]
    found = [
        one or ()
        for one in (columns[0] if len(columns) == 1 else chain.from_iterable(zip(*columns, strict=True)))
    ]
    above = pl.int_range(len(parent), eager=True) if kept is None else pl.Series(kept, dtype=pl.Int64)
    if len(lists) > 1:
        above = above.gather(pl.int_range(len(found), eager=True) // len(lists))
    return _rows(parent, above, found, tuple(lists))


def rows_of_documents(pages: Rows) -> Rows:
    """Each page as rows of its own: its elements when it is a list, else itself unless it is empty."""
    found = [page.get(ROOT) or () if ROOT in page else [page] if page else () for page in pages.objects]
    return _rows(pages, pages.above, found, [(ROOT,) if ROOT in page else () for page in pages.objects])


def take_apart(objects: Sequence[Object], declared: Declared = Declared()) -> Contents:
    """The columns and lists of objects; a list at a declared place holds rows, whatever its elements are."""
    contents = Contents()
    _open(objects, (), contents, declared)
    return contents


def holds_rows(value: Json) -> bool:
    """Whether a value is a list of objects, nulls between them allowed."""
    types = set(map(type, value)) if type(value) is list else set()
    return dict in types and types <= {dict, type(None)}


def _rows(parent: Rows, above: pl.Series, found: Sequence[Json], keys: Sequence[Keys]) -> Rows:
    lengths = pl.Series(list(map(len, found)), dtype=pl.Int64)
    elements = list(chain.from_iterable(found))
    strangers: dict[int, Json] = {}
    if set(map(type, elements)) - {dict}:
        strangers = {place: one for place, one in enumerate(elements) if type(one) is not dict}
        elements = [one if type(one) is dict else _NO_OBJECT for one in elements]
    filled = (lengths > 0).arg_true().cast(pl.Int64)
    lists = filled.repeat_by(lengths.gather(filled)).explode() if len(filled) else filled
    return Rows(elements, lists, above.gather(lists), lengths, parent, keys, strangers)


def _open(objects: Sequence[Object], above: Keys, contents: Contents, declared: Declared) -> None:
    shapes = dict.fromkeys(map(tuple, objects))
    names = list(dict.fromkeys(chain.from_iterable(shapes)))
    room = max(MOST_COLUMNS - len(contents.columns), 0)
    if len(names) > room:
        names = _most_wanted(names, above, declared)
        _keep_together(objects, set(names[room:]), above, contents)
    for name in names[:room]:
        keys = (*above, name)
        contents.found.add(keys)
        if len(shapes) == 1:
            values = list(map(itemgetter(name), objects))
        else:
            values = [one.get(name) for one in objects]
        if keys not in declared.values:  # where one value is documented, anything else is a misfit
            values = _without_rows_and_objects(values, keys, contents, declared)
        kinds = kinds_of(values)
        if kinds:
            contents.columns[keys] = kinds


def _most_wanted(names: list[str], above: Keys, declared: Declared) -> list[str]:
    """The names with those first that are declared for the object under these keys."""
    depth = len(above)
    first = {
        keys[depth]
        for keys in declared.values | declared.lists
        if len(keys) > depth and keys[:depth] == above
    }
    return sorted(names, key=lambda name: name not in first)


def _keep_together(objects: Sequence[Object], names: set[str], above: Keys, contents: Contents) -> None:
    rest = [{key: value for key, value in one.items() if key in names} or None for one in objects]
    contents.columns[(*above, MORE)] = kinds_of(rest)


def _without_rows_and_objects(
    values: list[Json], keys: Keys, contents: Contents, declared: Declared
) -> list[Json]:
    """The values that are left when lists of rows are set apart and objects are opened."""
    types = set(map(type, values))
    if list in types:
        is_declared = keys in declared.lists
        are_rows = declared.undeclared_lists and len(contents.lists) < MOST_LISTS
        lists = [
            one if type(one) is list and (is_declared or (are_rows and holds_rows(one))) else None
            for one in values
        ]
        if is_declared or any(lists):
            contents.lists[keys] = lists
        values = [
            None if one == [] or rows is not None else one for one, rows in zip(values, lists, strict=True)
        ]
    if dict in types and len(keys) < DEEPEST and len(contents.columns) < MOST_COLUMNS:
        contents.opened.add(keys)
        inner = [one if type(one) is dict else _NO_OBJECT for one in values] if len(types) > 1 else values
        _open(inner, keys, contents, declared)
        values = [None if type(one) is dict else one for one in values] if len(types) > 1 else []
    return values
