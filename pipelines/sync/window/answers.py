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
from pipelines.normalize.normalize import normalize
from pipelines.normalize.rows import OnlyPlainValues, ShapeMismatch
from pipelines.normalize.tables import Normalized

if TYPE_CHECKING:
    from warehouse.ledger.window_result import WindowResult
    from warehouse.load.landing import Landing
    from warehouse.protocols import TableLike

MAX_OBJECTS = 1_000_000
"""The most objects and lists in one answer. Even an empty object takes 60 bytes of memory."""


class UnreadableRows(Exception):
    """An answer that is JSON, but cannot be read as rows."""


class MessageInsteadOfRows(UnreadableRows):
    """An error message with status 200, not rows. A new request may help; a corrected shape does not."""


class TruncatedAnswer(Exception):
    """Answers for a single day have as many rows as the service sends at most."""


class RowsWithoutMonths(Exception):
    """Rows for several months that do not state their month."""


def check_size(body: bytes) -> None:
    """Raise TooManyObjects if the objects and lists of a body might not fit into memory."""
    count = body.count(b"{") + body.count(b"[")
    if count > MAX_OBJECTS:
        raise TooManyObjects(f"contains {count} objects and lists, more than {MAX_OBJECTS}")


def normalize_answers(
    report: Report,
    documents: Sequence[Document],
    months: Sequence[date],
    timezone: str,
    requested_ids: Sequence[str | None],
    choices: Sequence[str | None],
) -> Normalized:
    """The tables of one window's answers. Raises UnreadableRows for any error except MemoryError."""
    try:
        return normalize(
            report,
            documents,
            months=[Month.of(day) for day in months],
            timezone=timezone,
            requested_ids=requested_ids,
            choices=choices,
        )
    except ShapeMismatch as error:
        error_class = MessageInsteadOfRows if isinstance(error, OnlyPlainValues) else UnreadableRows
        raise error_class(f"{error}; the answer is kept in landing, and stored rows stay") from None
    except MemoryError:
        raise
    except Exception as error:
        raise UnreadableRows(
            f"no rows could be read ({type(error).__name__}: {error}); the answer is kept in landing, "
            "and `brokerbi replay` loads it once the cause is fixed"
        ) from error


def read_landed_tables(landing: Landing, result: WindowResult, report: Report, timezone: str) -> WindowResult:
    """Read a window's rows again from its landing file. Returns the window's record with these rows.

    Raises UnreadableRows, and the errors of reading a damaged or missing file.
    """
    documents: list[Document] = []
    requested_ids: list[str | None] = []
    choices: list[str | None] = []
    unpaged = False
    for meta, body in landing.read_used(result.landing, result.sha256):
        documents.append(read_document(body))
        unpaged |= report.endpoint.paged and meta.get("path") == report.endpoint.unpaged_path
        requested_ids.append(meta.get("asked"))
        choices.append(
            meta.get("query", {}).get(report.endpoint.choices.parameter) if report.endpoint.choices else None
        )
    normalized = normalize_answers(
        report_as_read(report, unpaged=unpaged), documents, result.months, timezone, requested_ids, choices
    )
    return with_rows(result, normalized, timezone, report.shape)


def with_rows(result: WindowResult, normalized: Normalized, timezone: str, shape: str) -> WindowResult:
    """The record of a fetched window, with its rows added."""
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
    """The months that had not ended when the window was fetched, or that the window covers only in part."""
    fetched_on = fetched_at_utc.astimezone(ZoneInfo(timezone)).date()
    last_day = min(window_end, fetched_on - timedelta(days=1)) if window_end else fetched_on
    return frozenset(day for day in months if Month.of(day).last_day > last_day)


def report_as_read(report: Report, *, unpaged: bool) -> Report:
    """The report, with the shape of its unpaged answer if `unpaged`."""
    return report.unpaged or report if unpaged else report


def rows_by_month(tables: Sequence[TableLike], months: Sequence[date]) -> dict[date | None, int]:
    """Count the rows by month; without months, those that are not nested in others count, under None."""
    counts: dict[date | None, int] = dict.fromkeys(months or (None,), 0)
    for frame in (table.frame for table in tables if months or "_parent_row" not in table.frame.columns):
        for day, rows in frame["_month"].value_counts().iter_rows():
            if day is not None or not months:
                counts[day] = counts.get(day, 0) + rows
    return counts
