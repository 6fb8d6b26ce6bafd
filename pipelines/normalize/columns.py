"""Which columns do rows have, typed and named? Documented ones as declared, all others as they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from pipelines.catalogue.model import Column, prefixed
from pipelines.normalize.conversions import DTYPES, Misfit, converted, discovered
from pipelines.normalize.names import OURS, name_of, told_apart
from pipelines.normalize.repeating import repeated
from pipelines.normalize.shredding import Keys, Leaf, Parts


@dataclass(frozen=True)
class Filled:
    """A column with its values, and which of them do not fit it."""

    column: Column
    values: pl.Series
    misfits: tuple[Misfit, ...] = ()

    def gathered(self, places: Sequence[int] | pl.Series) -> Filled:
        """The same column for rows that stand in these rows."""
        return Filled(self.column, self.values.gather(places))


def filled(
    parts: Parts, documented: Mapping[Keys, Column], prefix: str, zone: str, length: int
) -> list[Filled]:
    """Every value of the rows as a column; a documented one is known by its keys, else by its name."""
    missing = {column.name: column for keys, column in documented.items() if keys not in parts.met}
    columns = []
    for leaf in parts.leaves:
        name = prefixed(prefix, name_of(leaf.keys))
        column = documented.get(leaf.keys) or missing.pop(name, None)
        columns.append(_documented(leaf, column, zone, length) if column else _discovered(leaf, name))
    return columns


def missing_everywhere(parts: Parts, documented: Mapping[Keys, Column], there: Sequence[Filled]) -> list[str]:
    """The documented fields that no row has, though the object they belong to is there."""
    names = {one.column.name for one in there}
    return [
        ".".join(keys)
        for keys, column in documented.items()
        if keys not in parts.met and keys[:-1] in parts.opened and column.name not in names
    ]


def arranged(declared: Sequence[Column], columns: Sequence[Filled], length: int) -> list[Filled]:
    """Declared columns in their order, empty where nothing came, then all others under names of their own."""
    by_name = {one.column.name: one for one in columns if one.column.documented}
    came = [by_name.get(column.name) for column in declared]
    placed = {id(one) for one in came if one is not None}
    first = [
        replace(one, column=column) if one is not None else _empty(column, length)
        for column, one in zip(declared, came, strict=True)
    ]
    others = [one for one in columns if id(one) not in placed]
    return [*first, *_named([column.name for column in declared], others)]


def _named(declared: Sequence[str], others: Sequence[Filled]) -> Iterator[Filled]:
    """Names that collide are told apart by the order of their sources, whatever order they came in."""
    by_source = sorted(others, key=lambda one: (not one.column.documented, one.column.source))
    names = told_apart((one.column.name for one in by_source), (*OURS, *declared))
    named = {id(one): name for one, name in zip(by_source, names, strict=True)}
    for one in others:
        yield replace(one, column=replace(one.column, name=named[id(one)]))


def _empty(column: Column, length: int) -> Filled:
    return Filled(column, repeated(None, DTYPES[column.type], length))


def _documented(leaf: Leaf, column: Column, zone: str, length: int) -> Filled:
    values, misfits = converted(leaf.kinds, column.type, zone, length)
    return Filled(column, values, tuple(misfits))


def _discovered(leaf: Leaf, name: str) -> Filled:
    values, type_ = discovered(leaf.kinds)
    return Filled(Column(name, type_, False, ".".join(leaf.keys), ""), values)
