"""The rows of a window's answers, from the service or from landing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.connect.errors import TooManyObjects
from pipelines.months import Month
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.normalize import ShapeMismatch, normalize
from pipelines.normalize.tables import Normalized

if TYPE_CHECKING:
    from warehouse.handed_over import TableLike
    from warehouse.ledger.window_result import WindowResult
    from warehouse.load.landing import Landing

MOST_OBJECTS = 1_000_000
"""Objects and lists of one answer: rows and everything nested in them; an empty one takes 60 bytes."""


class UnreadableRows(Exception):
    """An answer that is JSON, but cannot be read as rows."""


class RowsWithoutMonths(Exception):
    """Rows for several months that do not state their month."""


def check_size(body: bytes) -> None:
    """Raise TooManyObjects for a body whose values would take far more memory than its size suggests."""
    count = body.count(b"{") + body.count(b"[")
    if count > MOST_OBJECTS:
        raise TooManyObjects(f"holds {count} objects and lists, more than {MOST_OBJECTS}")


def normalize_answers(
    report: Report,
    documents: Sequence[Document],
    months: Sequence[date],
    timezone: str,
    asked: Sequence[str | None],
    chosen: Sequence[str | None],
) -> Normalized:
    """Rows of one window's answers; raises UnreadableRows with a sentence instead of a library's error."""
    try:
        normalized = normalize(
            report,
            documents,
            months=[Month.of(day) for day in months],
            timezone=timezone,
            asked=asked,
            chosen=chosen,
        )
    except ShapeMismatch as error:
        raise UnreadableRows(
            f"{error}; `brokerbi shapes --report {report.name}` shows it. The answer is kept in landing, and "
            "stored rows stay"
        ) from None
    except MemoryError:
        raise
    except Exception as error:
        raise UnreadableRows(
            f"no rows could be made of the answer ({type(error).__name__}: {error}); it is kept in landing, "
            "and `brokerbi replay` loads it once the cause is fixed"
        ) from error
    return normalized


def read_landed_tables(landing: Landing, result: WindowResult, report: Report, timezone: str) -> WindowResult:
    """The record of a fetched window with its rows, from the answers of its landing file that counted.

    Raises what reading a damaged or missing file raises, and UnreadableRows.
    """
    documents: list[Document] = []
    asked: list[str | None] = []
    chosen: list[str | None] = []
    unpaged = False
    for meta, body in landing.read_used(result.landing, result.sha256):
        documents.append(read_document(body))
        unpaged |= report.endpoint.paged and meta.get("path") == report.endpoint.unpaged_path
        asked.append(meta.get("asked"))
        chosen.append(
            meta.get("query", {}).get(report.endpoint.choices.parameter) if report.endpoint.choices else None
        )
    normalized = normalize_answers(
        shape_in(report, unpaged=unpaged), documents, result.months, timezone, asked, chosen
    )
    return with_rows(result, normalized, timezone, report.shape)


def with_rows(result: WindowResult, normalized: Normalized, timezone: str, shape: str) -> WindowResult:
    """The record of a fetched window with its rows, and the shape that they were read by."""
    return replace(
        result,
        tables=normalized.tables,
        rejected=normalized.rejected,
        missing=normalized.missing,
        shape=shape,
        open_months=open_months(result.months, result.window_end, result.fetched, timezone),
    )


def open_months(
    months: Sequence[date], window_end: date | None, fetched_at_utc: datetime, timezone: str
) -> frozenset[date]:
    """The months of a window that were not over when it was requested, or that it covers only in part."""
    asked_on = fetched_at_utc.astimezone(ZoneInfo(timezone)).date()
    reached = min(window_end, asked_on - timedelta(days=1)) if window_end else asked_on
    return frozenset(day for day in months if Month.of(day).last_day > reached)


def shape_in(report: Report, *, unpaged: bool) -> Report:
    """The report in the shape of its pages, or of its unpaged counterpart."""
    return report.unpaged or report if unpaged else report


def rows_by_month(tables: Sequence[TableLike], months: Sequence[date]) -> dict[date | None, int]:
    """The number of rows for each month of a window, over all tables; under None if it has no months."""
    counts: dict[date | None, int] = dict.fromkeys(months or (None,), 0)
    for table in tables:
        for day, number in table.frame["_month"].value_counts().iter_rows():
            if day is not None or not months:
                counts[day] = counts.get(day, 0) + number
    return counts
