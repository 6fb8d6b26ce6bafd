"""What do objects consist of that polars holds? The same parts as of Python's, without touching a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl
from polars.datatypes import DataTypeClass

from pipelines.catalogue.model import Column
from pipelines.normalize.conversions import DTYPES, exact_below
from pipelines.normalize.kinds import FRACTION, NESTED, TEXT, TRUTH, WHOLE, kinds_of
from pipelines.normalize.shredding import DEEPEST, MOST_COLUMNS, MOST_LISTS, Declared, Keys, Leaf, Parts
from pipelines.normalize.spots import ROOT
from pipelines.normalize.text import Json


class Unlike(Exception):
    """Objects that have to be looked at one by one: they are not what columns can tell."""


class Elements(NamedTuple):
    """What stands in the lists of some rows: the row each is in, its place there, and the objects."""

    above: pl.Series
    order: pl.Series
    objects: pl.Series


Type = pl.DataType | DataTypeClass

_KINDS = {pl.String: TEXT, pl.Int64: WHOLE, pl.Float64: FRACTION, pl.Boolean: TRUTH}
_EXACT = (pl.String, pl.Int64, pl.Boolean)
"""What a list of values may hold to be told as JSON; of a fraction its digits are not known any more."""


def example(dtype: Type) -> Json:
    """One value that has every key which any of a column has; nothing but keys and kinds of it counts."""
    match dtype:
        case pl.Struct(fields=fields):
            return {one.name: example(one.dtype) for one in fields}
        case pl.List(inner=pl.Null()):
            return []
        case pl.List(inner=inner):
            return [example(inner)]
        case pl.Null():
            return None
        case pl.Int64():
            return 0
        case pl.Float64():
            return 0.5
        case pl.Boolean():
            return True
        case _:
            return ""


def opened(column: pl.Series, order: Sequence[str], declared: Declared) -> Parts:
    """Take objects apart as `shredded` does; raises Unlike where the values themselves have to be seen.

    Columns come in the order of their keys, those that it does not name in that of their names.
    """
    parts = Parts()
    if isinstance(column.dtype, pl.List):  # each document is a list itself
        parts.met.add((ROOT,))
        parts.lists[(ROOT,)] = column
    else:
        _open(column, (), parts, declared)
        places = {name: place for place, name in enumerate(order)}

        def place(keys: Keys) -> list[tuple[int, str]]:
            return [(places.get(key, len(places)), key) for key in keys]

        parts.leaves.sort(key=lambda leaf: place(leaf.keys))
        parts.lists = {keys: parts.lists[keys] for keys in sorted(parts.lists, key=place)}
    if len(parts.met) > MOST_COLUMNS or len(parts.lists) > MOST_LISTS:
        raise Unlike
    return parts


def refuse_bent(parts: Parts, documented: Mapping[Keys, Column]) -> None:
    """Raise Unlike where a documented type asks for digits that a float does not hold."""
    for leaf in parts.leaves:
        column, numbers = documented.get(leaf.keys), leaf.kinds.get(FRACTION)
        if column is None or numbers is None or column.type == "DOUBLE":
            continue
        dtype = DTYPES[column.type]
        if not isinstance(dtype, pl.Decimal) or largest(numbers) >= exact_below(dtype.scale):
            raise Unlike


def largest(numbers: pl.Series) -> float:
    """The size of the largest number of a column of floats; without the query engine, as `abs` needs it."""
    least, most = numbers.min(), numbers.max()
    return max(-least, most) if isinstance(least, float) and isinstance(most, float) else 0.0


def elements(lists: pl.Series, kept: Sequence[int]) -> Elements:
    """All that stands in the lists of the rows that are kept, numbered as those are."""
    if not isinstance(kept, range):
        raise Unlike  # what only a row had that was turned away must not be met any more
    lengths = lists.list.len().fill_null(0)
    places = (lengths > 0).arg_true()
    counts = lengths.gather(places)
    return Elements(
        places.cast(pl.Int64).repeat_by(counts).explode(),
        pl.int_ranges(0, counts, eager=True).explode(),
        inside(lists),
    )


def inside(lists: pl.Series) -> pl.Series:
    """All that stands in these lists; of a single one it is at hand."""
    if len(lists) == 1 and not lists.null_count():
        return pl.Series(lists.item())
    return lists.explode(empty_as_null=False, keep_nulls=False)


def without_lists(document: pl.Series) -> Json:
    """The one object that a document is, as values, but for the lists in it; a list has nothing else."""
    if not isinstance(document.dtype, pl.Struct) or document.null_count():
        return None
    inner = document.struct.unnest().iter_columns()
    kept = [one for one in inner if not isinstance(one.dtype, pl.List)]
    return {one.name: without_lists(one) if isinstance(one.dtype, pl.Struct) else one.item() for one in kept}


def texts_at(objects: pl.Series, keys: Keys) -> list[str | None]:
    """What stands in these objects under some keys, as text; raises Unlike where digits may be lost."""
    column = objects
    for key in keys:
        fields = column.struct.unnest() if isinstance(column.dtype, pl.Struct) else pl.DataFrame()
        if key not in fields.columns:
            return [None] * len(objects)
        column = fields[key]
    if not isinstance(column.dtype, pl.String | pl.Int64 | pl.Null):
        raise Unlike
    return column.cast(pl.String).to_list()


def _open(column: pl.Series, above: Keys, parts: Parts, declared: Declared) -> None:
    for one in column.struct.unnest().iter_columns() if isinstance(column.dtype, pl.Struct) else ():
        keys = (*above, one.name)
        parts.met.add(keys)
        values = one.alias("")
        match values.dtype:
            case pl.Struct():
                if keys in declared.values or len(keys) >= DEEPEST:
                    raise Unlike
                parts.opened.add(keys)
                _open(values, keys, parts, declared)
            case pl.List(inner=pl.Struct() | pl.Null()):
                _rows_apart(values, keys, parts, declared)
            case pl.List(inner=inner):
                _as_json(values, inner, keys, parts, declared)
            case dtype if values.null_count() < len(values):
                parts.leaves.append(Leaf(keys, {_KINDS[type(dtype)]: values}))


def _rows_apart(values: pl.Series, keys: Keys, parts: Parts, declared: Declared) -> None:
    if keys in declared.values or not (keys in declared.lists or declared.undeclared_lists):
        raise Unlike
    if keys in declared.lists or values.list.len().max():
        parts.lists[keys] = values


def _as_json(values: pl.Series, inner: Type, keys: Keys, parts: Parts, declared: Declared) -> None:
    if keys in declared.lists | declared.values or not isinstance(inner, _EXACT):
        raise Unlike
    kinds = kinds_of([value or None for value in values.to_list()])
    parts.leaves.append(Leaf(keys, {NESTED: kinds[NESTED]}))
