"""The facts of a page that paging is proven by: its rows, their ids, and the total that it states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipelines.catalogue.model import Report
from pipelines.normalize.columns.tables import as_wrapped, wrapper_of
from pipelines.normalize.document import Document, Json, to_json, value_at
from pipelines.normalize.envelopes import has_error_sign, is_an_error, is_hollow, says_nothing, simplified
from pipelines.normalize.row_locator import locator_of
from pipelines.normalize.row_paths import RowPath, expected_of

Id = tuple[str | None, ...]
"""A documented id as its columns; one with a gap identifies nothing."""
Found = Sequence[tuple[RowPath, Sequence[Json]]]
"""The rows of every topmost table, wherever they are."""

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
OF_ALL = tuple(name for name in TOTALS if "total" in name)  # what surely counts the rows of all pages
DEEPEST_ENVELOPE = 4


def stated_total(document: Document, names: Sequence[str] = TOTALS) -> int | None:
    """How many rows all pages have together, if the envelope says so; nobody documents how.

    Where several lists have an envelope of their own, their totals are added.
    """
    stated = [pair for pair in _whole_numbers(document.value, 0) if pair[0] in names]
    if not stated:
        return None
    surest = min((name for name, _ in stated), key=TOTALS.index)
    return sum(total for name, total in stated if name == surest)


def rows_found(report: Report, document: Document) -> Found:
    """The rows of a page, which all that is asked about them is asked of."""
    locator = locator_of(report)
    page = locator.page_of(document.value)
    found = locator.locate(page)
    paths = [path for path in locator.paths if path.keys in found]
    return [(path, locator.elements_along([page], found[path.keys])) for path in paths]


def ids_of(found: Found) -> Mapping[str, list[Id]]:
    """The documented ids of a page's rows, in their order, by table; of tables that have one."""
    ids: dict[str, list[Id]] = {}
    for path, rows in found:
        if path.table and path.table.key:
            columns = as_wrapped(path.columns, rows, wrapper_of(path.names, rows))
            keys = {column.name: keys for keys, column in columns.items()}
            ids[path.table.name] = [
                tuple(_as_text(value_at(row, keys[name])) for name in path.table.key) for row in rows
            ]
    return ids


def row_count(found: Found) -> int:
    """How many rows of its topmost tables a page holds."""
    return sum(len(rows) for _, rows in found)


def rows_hash(found: Found) -> int:
    """What tells the rows of a page from those of another, also without ids; whatever its envelope says."""
    return hash(repr([rows for _, rows in found]))


def is_empty(report: Report, document: Document, found: Found) -> bool:
    """Whether a page holds no row, and nothing that might be rows under another name."""
    if row_count(found):
        return False
    if says_nothing(document.value):
        return True
    locator = locator_of(report)
    page = locator.page_of(document.value)
    return (bool(found) or is_hollow(page, locator.names)) and not has_error_sign(page)


def says_error(report: Report, document: Document) -> bool:
    """Whether a page is an error message, in words that services use for one."""
    locator = locator_of(report)
    page = locator.page_of(document.value)
    return has_error_sign(page) or is_an_error(page, expected_of(locator.paths))


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
