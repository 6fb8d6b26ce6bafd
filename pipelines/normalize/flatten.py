"""Which rows does an answer hold, table by table? All its pages together, from the first list down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from pipelines.catalogue.model import Column, MonthOfRow, Report, snake_case
from pipelines.months import Month
from pipelines.normalize.astray import are_rows_elsewhere
from pipelines.normalize.columns import Filled
from pipelines.normalize.descending import descended
from pipelines.normalize.documents import Document
from pipelines.normalize.flat import Flat, Found
from pipelines.normalize.held import Unlike
from pipelines.normalize.locating import Way
from pipelines.normalize.nodes import ASKED, Harvest, Node
from pipelines.normalize.rows import Rows, Standing, documents_as_rows, pages_as_rows
from pipelines.normalize.shredding import Keys
from pipelines.normalize.spots import Spot, spots
from pipelines.normalize.together import together
from pipelines.normalize.topmost import (
    elements_along,
    is_an_error,
    is_of_pages,
    joined,
    path_of,
    says_nothing,
    ways_of,
)
from pipelines.normalize.walking import empty_table, walk

ENVELOPE = "envelope"


def flatten(
    report: Report,
    pages: Sequence[Document],
    *,
    months: Sequence[Month],
    timezone: str,
    asked: Sequence[str | None] | None = None,
) -> Flat:
    """Every table of the report, the rows that fit none, and what was noticed.

    `months` are those of the window, `asked` says for every page which user or estate it is about.
    """
    harvest, recognised = _harvested(Harvest(report, pages, tuple(months), timezone), asked)
    tables = {table.name: empty_table(harvest, table.name) for table in report.tables} | harvest.tables
    return Flat(tuple(tables.values()), tuple(harvest.rejected), _found(harvest, recognised=recognised))


def _harvested(harvest: Harvest, asked: Sequence[str | None] | None) -> tuple[Harvest, bool]:
    """What comes of the pages as polars holds them or, where that cannot tell all, of their values."""
    afresh = replace(harvest, tables={}, rejected=[], notes=[])
    try:
        return harvest, _walk_pages(harvest, together(harvest.pages), asked)
    except (Unlike, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        rows = pages_as_rows([page.value for page in harvest.pages])
        return afresh, _walk_pages(afresh, rows, asked)


def _found(harvest: Harvest, *, recognised: bool) -> Found:
    return Found(
        tuple(harvest.notes),
        recognised,
        harvest.year_and_month,
        harvest.repeated_ids,
        harvest.undated,
        harvest.by_likeness,
    )


def _walk_pages(harvest: Harvest, pages: Rows, asked: Sequence[str | None] | None) -> bool:
    """Walk down from the pages; false when they hold something, but nothing that is declared."""
    report = harvest.report
    carried = _asked(report, asked, len(pages))
    top = spots(report)
    if any(is_an_error(page) for page in pages.objects):
        harvest.notes.append("it is an error message, although its status says that all is well")
        return False
    if top[0].keys == ():
        walk(harvest, _documents(pages, top[0], carried))
        return True
    ways = _ways(pages, top)
    harvest.notes += _astray(top, ways)
    is_empty = all(says_nothing(page) for page in pages.objects)
    if report.month_of_row is MonthOfRow.YEAR_AND_MONTH and not is_empty:
        top, ways = _moved_down(harvest, pages, top[0], ways.get(top[0].keys, ()))
    if not ways and not is_empty:
        spot = top[0].first_with_table()
        walk(harvest, _documents(pages, spot, carried))
        return spot.first_table().model is None  # of undocumented rows anything may be one
    envelope = Spot((), (), None, "", {}, joined(top, ways))
    name = harvest.free_name(f"{report.name}__{ENVELOPE}")
    walk(harvest, Node(pages, report.name, spot=envelope, name=name, carried=carried, is_envelope=True))
    told = harvest.tables.get(name)
    if report.paged and told is not None and all(is_of_pages(one.name) for one in told.columns):
        del harvest.tables[name]  # what an envelope says of its pages is no row
    return not _is_astray(harvest, pages, top)


def _ways(pages: Rows, top: Sequence[Spot]) -> dict[Keys, Way]:
    ways = ways_of(pages.objects, top)
    if pages.column is not None and ways != {spot.keys: (spot.keys,) for spot in top}:
        raise Unlike  # what stands elsewhere is known by its looks, and one example does not show them
    return ways


def _is_astray(harvest: Harvest, pages: Rows, top: Sequence[Spot]) -> bool:
    found = are_rows_elsewhere(harvest, pages.objects, top)
    if found and pages.column is not None:
        raise Unlike  # one example has the keys of many objects
    return found


def _documents(pages: Rows, spot: Spot, carried: tuple[Filled, ...]) -> Node:
    """Every document as rows of one table."""
    rows = documents_as_rows(Standing(pages, range(len(pages))))
    name = spot.first_table().name
    return Node(rows, name, spot=spot, name=name, carried=tuple(one.gathered(rows.above) for one in carried))


def _moved_down(
    harvest: Harvest, pages: Rows, spot: Spot, way: Way
) -> tuple[tuple[Spot, ...], dict[Keys, Way]]:
    """The spot where rows carry a year and a month, in the declared list or, without one, anywhere."""
    rows = elements_along(pages.objects, way)
    moved = descended(rows, spot, spot.first_table().rows)
    harvest.year_and_month = moved is not None if rows else None
    if not way and moved:
        inner = moved.inner
        return inner, {one.keys: (one.keys,) for one in inner}
    return (moved or spot,), {spot.keys: way} if way else {}


def _astray(top: Sequence[Spot], ways: Mapping[Keys, Way]) -> Iterator[str]:
    for spot in top:
        way = ways.get(spot.keys)
        name, declared = spot.first_table().name, path_of((spot.keys,))
        if way is None:
            yield f"{name}: the answer has no list {declared}"
        elif way != (spot.keys,) and not spot.first_table().at_any_depth:
            yield f"{name}: the list {declared} was found at {path_of(way)}"


def _asked(report: Report, asked: Sequence[str | None] | None, length: int) -> tuple[Filled, ...]:
    if report.each is None:
        return ()
    name = f"{ASKED}{snake_case(report.each.value)}"
    column = Column(name, "VARCHAR", True, "", "what we asked the service for")
    return (Filled(column, pl.Series(asked or [None] * length, dtype=pl.String)),)
