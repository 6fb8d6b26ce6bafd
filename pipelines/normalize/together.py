"""Are the pages of an answer one column? Where their types can be made one without changing a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from pipelines.normalize.conversions import EXACT_WHOLE
from pipelines.normalize.documents import Document
from pipelines.normalize.held import Type, Unlike, example
from pipelines.normalize.rows import Rows, pages_as_rows

_NUMBERS = {pl.Int64(), pl.Float64()}
NOTHING = pl.Series([None])


def together(pages: Sequence[Document]) -> Rows:
    """The pages as polars holds them; raises Unlike where it does not hold all."""
    columns = []
    for page in pages:
        if page.column is None:
            raise Unlike
        columns.append(page.column)
    types = [column.dtype for column in columns]
    if not types:
        raise Unlike
    whole: Type = types[0]
    for type_ in dict.fromkeys(types):
        whole = _united(whole, type_)
    column = pl.concat([_page_as(column, whole) for column in columns])
    keys = dict.fromkeys(key for page in pages for key in page.keys)
    return replace(pages_as_rows([example(one) for one in types]), column=column, keys=tuple(keys))


def _united(one: Type, other: Type) -> Type:
    """The type that holds the values of both; what holds nothing is of any type."""
    if one == other or _is_void(other):
        return one
    if _is_void(one):
        return other
    match one, other:
        case pl.Struct(), pl.Struct():
            mine, theirs = _fields(one), _fields(other)
            both = {name: _united(mine[name], theirs[name]) for name in mine if name in theirs}
            return pl.Struct({**mine, **theirs, **both})
        case pl.List(inner=mine), pl.List(inner=theirs):
            return pl.List(_united(mine, theirs))
        case _ if {one, other} == _NUMBERS:
            return pl.Float64()
        case _:
            raise Unlike


def _is_void(type_: Type) -> bool:
    """Whether nothing but null or an empty list can be of this type."""
    return type_ == pl.Null or type_ == pl.List(pl.Null)


def _fields(type_: pl.Struct) -> Mapping[str, Type]:
    return {field.name: field.dtype for field in type_.fields}


def _page_as(column: pl.Series, type_: Type) -> pl.Series:
    """A page, which is one row, as another type; so a list in it is simply the list of what it holds."""
    if column.dtype == type_ or not isinstance(type_, pl.Struct):
        return _list_as(column, type_)
    here = _columns(column)
    return _object_of({name: _list_as(here.get(name, NOTHING), one) for name, one in _fields(type_).items()})


def _list_as(column: pl.Series, type_: Type) -> pl.Series:
    if column.dtype == type_ or not isinstance(type_, pl.List) or column.null_count():
        return _as(column, type_)
    return _as(column.item(), type_.inner).implode()


def _as(column: pl.Series, type_: Type) -> pl.Series:
    if column.dtype == type_:
        return column
    if column.null_count() == len(column):
        return pl.Series([None], dtype=type_).new_from_index(0, len(column))
    match type_:
        case pl.Struct():
            here, nothing = _columns(column), NOTHING.new_from_index(0, len(column))
            return _object_of(
                {name: _as(here.get(name, nothing), one) for name, one in _fields(type_).items()}
            )
        case pl.List() if _is_void(column.dtype):
            return pl.Series(column.to_list(), dtype=type_)
        case pl.Float64() if column.dtype == pl.Int64 and column.is_between(-EXACT_WHOLE, EXACT_WHOLE).all():
            return column.cast(type_)
        case _:
            raise Unlike


def _columns(column: pl.Series) -> Mapping[str, pl.Series]:
    return column.struct.unnest().to_dict() if isinstance(column.dtype, pl.Struct) else {}


def _object_of(fields: Mapping[str, pl.Series]) -> pl.Series:
    return pl.DataFrame([column.alias(name) for name, column in fields.items()]).to_struct("")
