"""What does one page say of itself? Its rows, their ids, and the total that its envelope states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from pipelines.catalogue.model import Report
from pipelines.normalize.documents import Document
from pipelines.normalize.held import Unlike, inside, opened, texts_at, without_lists
from pipelines.normalize.locating import lists_in, located, value_at
from pipelines.normalize.names import simplified
from pipelines.normalize.rows import pages_as_rows
from pipelines.normalize.shredding import Declared
from pipelines.normalize.spots import ANY, ROOT, Spot, spots
from pipelines.normalize.text import Json, to_json
from pipelines.normalize.together import together
from pipelines.normalize.topmost import elements_along, says_nothing, ways_of

Id = tuple[str | None, ...]

# How a total of rows may be called, the surest first. A bare `count` may be one of pages, and a size is
# how many were asked for.
TOTALS = (
    "totalrowcount",
    "totalrows",
    "rowstotal",
    "totalcount",
    "totalitems",
    "totalitemcount",
    "totalrecords",
    "totalelements",
    "totalresults",
    "totalhits",
    "total",
    "rowcount",
    "recordcount",
    "itemcount",
)
DEEPEST_ENVELOPE = 4


def stated_total(document: Document) -> int | None:
    """How many rows all pages have together, if the envelope says so; nobody documents how.

    Where several lists have an envelope of their own, their totals are added.
    """
    envelope = document.value if document.column is None else without_lists(document.column)
    stated = [pair for pair in _whole_numbers(envelope, 0) if pair[0] in TOTALS]
    if not stated:
        return None
    surest = min((name for name, _ in stated), key=TOTALS.index)
    return sum(total for name, total in stated if name == surest)


def ids_of(report: Report, document: Document) -> Mapping[str, list[Id]]:
    """The documented ids of a page's rows, in their order, by table; of tables that have one."""
    try:
        return _ids_by_table(_held(report, document))
    except Unlike:
        return _ids_by_table(_found(report, document))


def row_count(report: Report, document: Document) -> int:
    """How many rows of its topmost tables a page holds."""
    try:
        return sum(len(rows) for _, rows in _held(report, document))
    except Unlike:
        return sum(len(rows) for _, rows in _found(report, document))


def is_empty(report: Report, document: Document) -> bool:
    """Whether a page holds no row, and nothing that might be rows under another name."""
    if row_count(report, document):
        return False
    return says_nothing(document.value) or bool(ways_of([_page(document)], spots(report)))


def _held(report: Report, document: Document) -> Iterator[tuple[Spot, pl.Series]]:
    """The rows of every topmost table as polars holds them; raises Unlike where it does not."""
    page, top = together([document]), spots(report)
    ways = ways_of(page.objects, top)
    if page.column is None or not all(spot.table and ways.get(spot.keys) == (spot.keys,) for spot in top):
        raise Unlike
    lists = opened(page.column, (), Declared(lists=frozenset(ways))).lists
    for spot in top:
        held = lists.get(spot.keys)
        yield spot, inside(held) if isinstance(held, pl.Series) else pl.Series()


def _found(report: Report, document: Document) -> Iterator[tuple[Spot, Sequence[Json]]]:
    """The rows of every topmost table, wherever they stand."""
    top = spots(report)
    page = _page(document)
    if top[0].keys == ():
        whole = page.get(ROOT) if ROOT in page else [page] if page else []
        yield top[0], whole or []
        return
    ways = ways_of([page], top)
    for spot in top:
        if spot.keys in ways:
            yield _down_to_a_table(elements_along([page], ways[spot.keys]), spot)


def _down_to_a_table(objects: list[Json], spot: Spot) -> tuple[Spot, list[Json]]:
    while spot.table is None:
        spot = spot.inner[0]
        if spot.keys == (ANY,):
            objects = [one for keys, rows in lists_in(objects) if len(keys) == 1 for one in rows]
        else:
            way = located(objects, spot, is_topmost=False)
            objects = elements_along(objects, way) if way else []
    return spot, objects


def _page(document: Document) -> Json:
    return pages_as_rows([document.value]).objects[0]


def _ids_by_table(found: Iterator[tuple[Spot, Sequence[Json] | pl.Series]]) -> dict[str, list[Id]]:
    return {
        spot.first_table().name: _ids(spot, rows) for spot, rows in found if spot.table and spot.table.key
    }


def _ids(spot: Spot, rows: Sequence[Json] | pl.Series) -> list[Id]:
    keys = {column.name: keys for keys, column in spot.columns.items()}
    ways = [keys[name] for name in spot.first_table().key]
    if isinstance(rows, pl.Series):
        return list(zip(*(texts_at(rows, way) for way in ways), strict=True))
    return [tuple(_as_text(value_at(row, way)) for way in ways) for row in rows]


def _as_text(value: Json) -> str | None:
    return value if value is None or type(value) is str else to_json(value)


def _whole_numbers(value: Json, depth: int) -> Iterator[tuple[str, int]]:
    """Every whole number of an envelope, under its simplified key; through objects only."""
    if type(value) is not dict or depth > DEEPEST_ENVELOPE:
        return
    for key, member in value.items():
        if type(member) is int and member >= 0:
            yield simplified(key), member
        elif type(member) is str and member.isascii() and member.isdigit() and len(member) < 19:
            yield simplified(key), int(member)
        else:
            yield from _whole_numbers(member, depth + 1)
