"""How do nested lists become tables? Rows are typed, sifted and kept; then comes what stands in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from pipelines.catalogue.model import Column, MonthOfRow, declared_columns
from pipelines.normalize.columns import Filled, arranged, filled, missing_everywhere
from pipelines.normalize.dating import Dated, by_date, by_window, by_year_and_month
from pipelines.normalize.flat import FlatTable
from pipelines.normalize.held import Unlike, opened, refuse_bent
from pipelines.normalize.locating import located
from pipelines.normalize.nodes import Grown, Harvest, Node, children
from pipelines.normalize.shredding import DEEPEST, Declared, Keys, Parts, shredded
from pipelines.normalize.sifting import reasons, sifted
from pipelines.normalize.spots import ANY, Spot


def walk(harvest: Harvest, node: Node) -> None:
    """Turn rows into a table, and every list of rows that stands in them."""
    spots = _spots_in(harvest, node)
    lists = frozenset(keys for keys, spot in spots.items() if spot.must_hold_rows and keys != (ANY,))
    declared = Declared(frozenset(node.documented), lists, undeclared_lists=node.depth < DEEPEST)
    parts = _parts(node, declared)
    grown = _grown(harvest, node, parts)
    if node.name and (grown.has_own or node.rows.standing):
        harvest.tables[node.name] = _flat_table(grown)
    with_rows: set[int] = set()
    for child in children(harvest, grown, spots):
        if node.is_level:
            with_rows.update(child.rows.above)
        walk(harvest, child)
    if node.is_level:
        _note_childless(harvest, grown, with_rows)


def _parts(node: Node, declared: Declared) -> Parts:
    """What rows consist of, taken apart by polars where it holds them."""
    if node.rows.column is None:
        return shredded(node.rows.objects, declared)
    parts = opened(node.rows.column, node.rows.keys, declared)
    refuse_bent(parts, node.documented)
    return parts


def empty_table(harvest: Harvest, name: str) -> FlatTable:
    """A declared table of which no row came."""
    table = next(table for table in harvest.report.tables if table.name == name)
    columns = arranged(declared_columns(table), (), 0)
    parent = [pl.Series("_parent_row", dtype=pl.Int64)] if table.parent else []
    return _table(name, columns, [*parent, pl.Series("_month", dtype=pl.Date)], table.key, 0)


def _spots_in(harvest: Harvest, node: Node) -> Mapping[Keys, Spot]:
    """The declared lists, by the keys under which they really stand in these rows."""
    found: dict[Keys, Spot] = {}
    for spot in node.spot.inner if node.spot and len(node.rows) else ():
        way = (spot.keys,) if spot.keys == (ANY,) else located(node.rows.objects, spot, is_topmost=False)
        if way and way != (spot.keys,) and node.rows.column is not None:
            raise Unlike
        if way:
            found[way[0]] = spot
            harvest.by_likeness |= way[0] != spot.keys
        else:
            harvest.notes.append(f"{spot.first_table().name}: no row has the list {'.'.join(spot.keys)}")
    return found


def _grown(harvest: Harvest, node: Node, parts: Parts) -> Grown:
    rows, table = node.rows, node.table
    own = filled(parts, node.documented, node.spot.prefix if node.spot else "", harvest.zone, len(rows))
    harvest.by_likeness |= any(
        one.column.documented and leaf.keys not in node.documented
        for leaf, one in zip(parts.leaves, own, strict=True)
    )
    if harvest.by_likeness and rows.column is not None:
        raise Unlike
    _note_missing(harvest, node, parts, own)
    dated = by_window((), len(rows))
    if node.is_level:
        columns: Sequence[Filled] = [_placed(one, node.path) for one in own]
    else:
        declared = declared_columns(table) if table else ()
        columns = arranged(declared, [*node.carried, *own], len(rows))
        dated = _dated(harvest, node, columns)
    name = node.name or (node.spot.first_table().name if node.spot else node.base)
    why = list(reasons(columns, table.key if table else (), dated))
    kept, rejected = sifted(rows, name, why, dated, harvest.pages)
    harvest.rejected += rejected
    kept = _unrepeated(harvest, node, columns, kept)
    return Grown(node, parts, columns, dated.months, kept, bool(own))


def _placed(one: Filled, path: str) -> Filled:
    """An undocumented value of a level says where it stands."""
    column = one.column
    return (
        one if column.documented else replace(one, column=replace(column, source=f"{path}.{column.source}"))
    )


def _note_missing(harvest: Harvest, node: Node, parts: Parts, own: Sequence[Filled]) -> None:
    if node.spot and len(node.rows) > len(node.rows.strangers):
        missing = missing_everywhere(parts, node.documented, own)
        if missing:
            name = node.spot.first_table().name
            harvest.notes.append(f"{name}: no row has {', '.join(missing)}")


def _note_childless(harvest: Harvest, grown: Grown, with_rows: set[int]) -> None:
    """A level's values go to the rows below it; where there are none, say that they go nowhere."""
    alone = [row for position, row in enumerate(grown.kept) if position not in with_rows]
    told = [one for one in grown.columns if not one.column.documented]
    names = sorted(one.column.source for one in told if one.values.gather(alone).count())
    if names:
        harvest.notes.append(
            "without a row below them there is no place for some values of "
            f"{', '.join(names)}; they are kept in landing"
        )


def _dated(harvest: Harvest, node: Node, columns: Sequence[Filled]) -> Dated:
    report, length = harvest.report, len(node.rows)
    months = harvest.months if report.has_months else ()
    if node.months is not None:
        return Dated(node.months)
    if months and node.table and node.table.dated_by and report.month_of_row is MonthOfRow.DOCUMENTED_DATE:
        return by_date(next(one for one in columns if one.column.name == node.table.dated_by), months)
    dated = by_year_and_month(columns, months) if months else None
    if not dated and not node.is_envelope:
        harvest.undated = harvest.undated or (length > 0 and len(months) > 1)
    if dated and node.table is None:
        return Dated(dated.months.fill_null(months[0].first_day))
    return dated if dated and harvest.year_and_month else by_window(months, length)


def _unrepeated(
    harvest: Harvest, node: Node, columns: Sequence[Filled], kept: Sequence[int]
) -> Sequence[int]:
    """Without the rows that pages repeat: only of rows with a documented id, and only equal ones.

    Two rows of one id that tell different things are both kept.
    """
    table = node.table
    if not (harvest.report.paged and table and table.key and table.parent is None):
        return kept
    rows = pl.DataFrame([one.values.rename(one.column.name) for one in columns])
    is_first = rows.select(pl.struct(pl.all()).gather(list(kept)).is_first_distinct()).to_series()
    harvest.repeated_ids += len(kept) - int(is_first.sum())
    return [row for row, first in zip(kept, is_first, strict=True) if first]


def _flat_table(grown: Grown) -> FlatTable:
    node, kept = grown.node, grown.kept
    is_whole = len(kept) == len(node.rows)
    months, columns = grown.months, grown.columns
    if not is_whole:
        columns = [replace(one, values=one.values.gather(kept)) for one in columns]
        months = months.gather(kept)
    ours = [months.rename("_month")]
    if node.months is not None:
        above = node.rows.above if is_whole else [node.rows.above[row] for row in kept]
        ours.insert(0, pl.Series("_parent_row", above, dtype=pl.Int64))
    key = node.table.key if node.table else ()
    table = _table(node.name or "", columns, ours, key, len(kept))
    return replace(table, parent=node.above) if node.months is not None else table


def _table(
    name: str, columns: Sequence[Filled], ours: Sequence[pl.Series], key: tuple[str, ...], length: int
) -> FlatTable:
    row = pl.int_range(length, dtype=pl.Int64, eager=True).alias("_row")
    own = [one.values.rename(one.column.name) for one in columns]
    described: tuple[Column, ...] = tuple(one.column for one in columns)
    return FlatTable(name, described, pl.DataFrame([row, *ours, *own]), key)
