"""What stands where on the way down? Rows that become a table, or a level that hands its values on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipelines.catalogue.model import Column, Report, Table
from pipelines.months import Month
from pipelines.normalize.columns import Filled
from pipelines.normalize.documents import Document
from pipelines.normalize.flat import FlatTable, Rejected
from pipelines.normalize.names import name_of, told_apart
from pipelines.normalize.rows import Rows, Standing, rows_in
from pipelines.normalize.shredding import Keys, Parts
from pipelines.normalize.spots import ANY, ROOT, Spot, written
from pipelines.normalize.text import Json

ASKED = "asked_"  # columns that say what we asked for go to every table


@dataclass
class Harvest:
    """All that has come of an answer so far."""

    report: Report
    pages: Sequence[Document]
    months: tuple[Month, ...]
    zone: str
    tables: dict[str, FlatTable] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repeated_ids: int = 0
    year_and_month: bool | None = None
    undated: bool = False
    by_likeness: bool = False

    def free_name(self, name: str) -> str:
        """A name that no table of the report has."""
        declared = (table.name for table in self.report.tables)
        return told_apart([name], [*declared, *self.tables])[0]


@dataclass(frozen=True)
class Node:
    """Rows on their way to a table, or (without a name) a level.

    `path` is how the catalogue would write it; `base`, the table above, and `trail`, the way from there,
    name the table of an undeclared list. `depth` counts the lists it is nested in.
    `carried` are values from above; `months` those of the rows above, when these are rows of a table.
    `above` is the table that these rows stand in.
    """

    rows: Rows
    base: str
    path: str = ""
    trail: Keys = ()
    depth: int = 0
    spot: Spot | None = None
    name: str | None = None
    carried: tuple[Filled, ...] = ()
    months: pl.Series | None = None
    is_envelope: bool = False
    above: str = ""

    @property
    def table(self) -> Table | None:
        return self.spot.table if self.spot else None

    @property
    def is_level(self) -> bool:
        return self.name is None

    @property
    def documented(self) -> Mapping[Keys, Column]:
        return self.spot.columns if self.spot else {}


@dataclass(frozen=True)
class Grown:
    """A node whose rows are typed and sifted."""

    node: Node
    parts: Parts
    columns: Sequence[Filled]
    months: pl.Series
    kept: Sequence[int]
    has_own: bool = True  # whether any value is the rows' own, and not only carried


def children(harvest: Harvest, grown: Grown, spots: Mapping[Keys, Spot]) -> Iterator[Node]:
    """Every list of rows in the rows that were kept, declared or not."""
    standing = Standing(grown.node.rows, grown.kept)
    lists = dict(grown.parts.lists)
    if (ANY,) in spots:
        together: dict[Keys, list[Json] | pl.Series] = {
            keys: lists.pop(keys) for keys in list(lists) if len(keys) == 1 and keys not in spots
        }
        if together:
            yield _child(harvest, grown, spots[(ANY,)], (ANY,), rows_in(standing, together))
    for keys, values in lists.items():
        yield _child(harvest, grown, spots.get(keys), keys, rows_in(standing, {keys: values}))


def _child(harvest: Harvest, grown: Grown, spot: Spot | None, keys: Keys, rows: Rows) -> Node:
    node = grown.node
    step = spot.step if spot else keys
    trail = node.trail if step == (ROOT,) else (*node.trail, *step)
    path = f"{node.path}.{written(keys)}".removeprefix(".")
    if spot is None or not spot.must_hold_rows:
        rows = replace(rows, strangers={})  # a null between objects is a row without values
    carried = _handed_on(grown, spot, rows)
    child = Node(rows, node.base, path, trail, node.depth + 1, spot, None, carried, above=node.base)
    if not node.is_level and rows.standing and rows.standing.rows.standing:
        child = replace(child, months=_at(grown.months, grown, rows))
    if spot and spot.table:
        return replace(child, name=spot.table.name, base=spot.table.name, trail=())
    if spot:
        return child
    name = harvest.free_name(f"{node.base}__{name_of(trail) or 'rows'}")
    return replace(child, name=name, base=name, trail=())


def _handed_on(grown: Grown, spot: Spot | None, rows: Rows) -> tuple[Filled, ...]:
    """What the rows have of those above: all that a level has, of a table's rows what is declared."""
    node = grown.node
    if node.is_level:
        carried = {id(one): one for one in (*node.carried, *grown.columns)}
        given = [replace(one, misfits=()) for one in carried.values()]
    else:
        given = list(_handed_down(grown, spot.table if spot else None))
    given = [replace(one, values=_at(one.values, grown, rows)) for one in given]
    if spot and spot.table and spot.table.key_column:
        given.append(_list_names(spot.table.key_column, rows))
    return tuple(given)


def _handed_down(grown: Grown, table: Table | None) -> Iterator[Filled]:
    down = grown.node.table.hands_down if grown.node.table and table else {}
    declared = {column.name: column for column in table.inherited} if table else {}
    for one in grown.columns:
        name = down.get(one.column.name)
        if name in declared:
            yield Filled(declared[name], one.values)
        elif one.column.name.startswith(ASKED) and one.column.documented:
            yield one


def _list_names(name: str, rows: Rows) -> Filled:
    names = [hop[-1] for hop in rows.hops] if rows.hops else [*rows.hop[-1:]] * len(rows)
    return Filled(Column(name, "VARCHAR", True, "", ""), pl.Series(names, dtype=pl.String))


def _at(values: pl.Series, grown: Grown, rows: Rows) -> pl.Series:
    kept = grown.kept
    places = rows.above if isinstance(kept, range) else [kept[above] for above in rows.above]
    return values.gather(places)
