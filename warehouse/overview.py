"""How does everything stand? What `status` tells, read from the ledger in one go as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store import Store


@dataclass(frozen=True)
class Standing:
    """One report of one customer: how far it is held, and how the last tries went."""

    report: str
    customer: str
    held_months: int
    newest_held_month: date | None
    last_success_utc: datetime | None
    last_failure_utc: datetime | None
    last_error: str | None
    due_utc: datetime | None
    state: str


@dataclass(frozen=True)
class OpenFailure:
    """Windows that failed and were not loaded since: what is owed, and why."""

    report: str
    customer: str
    months: tuple[date, ...]
    status: str
    error: str
    since_utc: datetime


@dataclass(frozen=True)
class Quarantined:
    """Rows in quarantine of one table for one reason."""

    report: str
    customer: str
    table: str
    column: str | None
    reason: str
    rows: int


@dataclass(frozen=True)
class Refusal:
    """A report that the service refuses for a customer (403)."""

    report: str
    customer: str
    denied_at_utc: datetime


@dataclass(frozen=True)
class LearnedWindow:
    """A window shorter than documented that the service has taught us."""

    report: str
    customer: str
    days: int | None
    months: int | None


@dataclass(frozen=True)
class Published:
    """One publication, made, refused or rolled back to."""

    name: str | None
    at_utc: datetime
    status: str
    bytes: int | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Overlap:
    """Two configured customers that answer for the same offices; whether the first has all of the other's."""

    customer: str
    other: str
    offices: str
    is_contained: bool


@dataclass(frozen=True)
class Overview:
    """Everything that `status` tells."""

    standings: Sequence[Standing]
    failures: Sequence[OpenFailure]
    quarantined: Sequence[Quarantined]
    refusals: Sequence[Refusal]
    caps: Sequence[LearnedWindow]
    publications: Sequence[Published]
    overlaps: Sequence[Overlap] = ()


_STANDINGS = """
    SELECT report, customer, held_months, newest_held_month, last_success_utc, last_failure_utc, last_error,
           due_utc, state
    FROM meta.freshness ORDER BY report, customer
"""
# A failure is open until every month of its window (or the report itself, if it has none) has been
# loaded by a later answer.
_FAILURES = """
    WITH tries AS (
        SELECT load_id, report, customer, status, error, fetched_at_utc,
               unnest(CASE WHEN len(months) = 0 THEN [NULL::DATE] ELSE months END) AS month
        FROM meta.loads
    ), mended AS (
        SELECT report, customer, month, max(fetched_at_utc) AS mended_at_utc
        FROM tries WHERE status IN ('loaded', 'superseded') GROUP BY ALL
    ), owed AS (
        SELECT tries.* FROM tries
        LEFT JOIN mended ON mended.report = tries.report AND mended.customer = tries.customer
            AND mended.month IS NOT DISTINCT FROM tries.month
        WHERE status IN ('failed', 'held back')
          AND (mended_at_utc IS NULL OR mended_at_utc < tries.fetched_at_utc)
    )
    SELECT report, customer, coalesce(list_sort(list_distinct(list(month) FILTER (month IS NOT NULL))), []),
           arg_max(status, fetched_at_utc), arg_max(error, fetched_at_utc), min(fetched_at_utc)
    FROM owed GROUP BY report, customer ORDER BY report, customer
"""
_QUARANTINED = """
    SELECT report, customer, table_name, column_name, reason, sum("rows")::BIGINT
    FROM meta.quarantine GROUP BY ALL ORDER BY ALL
"""
_REFUSALS = "SELECT report, customer, denied_at_utc FROM meta.access ORDER BY ALL"
_CAPS = "SELECT report, customer, days, months FROM meta.window_caps ORDER BY ALL"
_PUBLICATIONS = """
    SELECT name, at_utc, status, bytes, coalesce(reasons, []) FROM meta.publications
    ORDER BY at_utc DESC LIMIT 10
"""


def overview(store: Store) -> Overview:
    """How the working file stands; nothing is asked of the service."""
    with store.reading() as connection:
        return Overview(
            [Standing(*row) for row in _rows(connection, _STANDINGS)],
            [_failure(row) for row in _rows(connection, _FAILURES)],
            [Quarantined(*row) for row in _rows(connection, _QUARANTINED)],
            [Refusal(*row) for row in _rows(connection, _REFUSALS)],
            [LearnedWindow(*row) for row in _rows(connection, _CAPS)],
            [_published(row) for row in _rows(connection, _PUBLICATIONS)],
            _overlaps(connection),
        )


def _rows(connection: DuckDBPyConnection, query: str) -> list[tuple]:  # type: ignore[type-arg]
    return connection.execute(query).fetchall()


def _overlaps(connection: DuckDBPyConnection) -> list[Overlap]:
    """As the marts were built last; before the first time nobody can say."""
    built = "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'marts' AND table_name = 'customer_overlaps'"
    if not _rows(connection, built):
        return []
    return [Overlap(*row) for row in _rows(connection, "FROM marts.customer_overlaps ORDER BY ALL")]


def _failure(row: tuple) -> OpenFailure:  # type: ignore[type-arg]
    report, customer, months, status, error, since = row
    return OpenFailure(report, customer, tuple(months), status, error, since)


def _published(row: tuple) -> Published:  # type: ignore[type-arg]
    name, at_utc, status, size, reasons = row
    return Published(name, at_utc, status, size, tuple(reasons))
