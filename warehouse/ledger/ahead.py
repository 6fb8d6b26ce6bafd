"""Moments later than now, written under a clock that was ahead or for a day that was rehearsed.

Nobody knows when such an answer came, but that it was before now. So it counts as older than every other,
its months are due again, and the next sync that loads anything takes the moments back. In the file of a
rehearsal days are as they were said to be: only its own syncs judge them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.ledger.ledger import record_failures
from warehouse.ledger.window_result import Failure, WindowResult, WindowStatus
from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import ahead_after, aware, naive_utc

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Rank = Callable[[datetime], tuple[bool, datetime]]

JUST_BEFORE = timedelta(seconds=1)
ERROR_KIND = "ClockAhead"
WHY = "It was dated {} hours later than now, under a clock that was ahead."
REMEDY = "Wait for the next run, or sync: it is asked again."

_OURS = """
SELECT schema_name, table_name, column_name
FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
WHERE database_name = current_database() AND data_type = 'TIMESTAMP' AND (
    schema_name = 'meta' AND ends_with(column_name, '_utc')
    OR schema_name = 'bi' AND column_name IN ('_fetched_at_utc', 'valid_from_utc', 'valid_to_utc')
)
"""


def rank(now: datetime) -> Rank:
    """The order of answers by when they came, in UTC without a zone: what is dated later than now first."""
    latest = naive_utc(now) + ahead_after()
    return lambda fetched: (fetched <= latest, fetched)


def take_back(connection: DuckDBPyConnection, before: datetime, now: datetime) -> None:
    """Take every moment later than now back to just before another, when a sync began.

    The months in force that were dated so are written down as failed, so that they stay due until they
    are read.
    """
    latest, taken_back = naive_utc(now) + ahead_after(), naive_utc(before) - JUST_BEFORE
    months = connection.execute(
        "SELECT report, customer, list(month ORDER BY month) FILTER (month IS NOT NULL), "
        "min(fetched_at_utc) FROM meta.months WHERE fetched_at_utc > $1 GROUP BY ALL ORDER BY ALL",
        [latest],
    ).fetchall()
    connection.execute(
        "UPDATE meta.probes SET status = 'failed', error = 'asked under a clock that was ahead' "
        "WHERE fetched_at_utc > $1",
        [latest],
    )
    connection.execute("UPDATE meta.requests_by_day SET day = $1 WHERE day > $2", [taken_back, latest])
    for schema, table, column in connection.execute(_OURS).fetchall():
        name = quoted(column)
        connection.execute(
            f"UPDATE {schema}.{quoted(table)} SET {name} = $1 WHERE {name} > $2", [taken_back, latest]
        )
    due = [
        _due_again(report, customer, several or (), fetched, before, now)
        for report, customer, several, fetched in months
    ]
    record_failures(connection, due, now)


def _due_again(
    report: str, customer: str, months: tuple[date, ...], fetched: datetime, before: datetime, now: datetime
) -> WindowResult:
    hours = math.ceil((fetched - naive_utc(now)) / timedelta(hours=1))
    return WindowResult(
        report,
        customer,
        tuple(months),
        load_id=f"{before:%Y%m%dT%H%M%S%f}-{report}-{customer}-ahead",
        fetched_at_utc=before,
    ).ended(WindowStatus.FAILED, WHY.format(hours), failure=Failure(ERROR_KIND, REMEDY))


def is_ahead(moment: datetime | None, now: datetime) -> bool:
    """Whether a moment is later than now, by more than a clock is ever set."""
    return moment is not None and moment > now + ahead_after()


def is_rehearsal(connection: DuckDBPyConnection) -> bool:
    """Whether the file is a rehearsal's: its first loads were made for a day that was said to be today."""
    return connection.execute("SELECT 1 FROM meta.storage WHERE is_rehearsal").fetchone() is not None


def has_loads(connection: DuckDBPyConnection) -> bool:
    """Whether anything was ever asked for this file."""
    return connection.execute("SELECT 1 FROM meta.loads LIMIT 1").fetchone() is not None


def holds_real_days(connection: DuckDBPyConnection) -> bool:
    """Whether something was asked on real days, among which none is rehearsed."""
    return has_loads(connection) and not is_rehearsal(connection)


def note_rehearsal(connection: DuckDBPyConnection, *, rehearses: bool) -> None:
    """Write down whose file it is: a rehearsal's from its first load on, until a real day is asked for."""
    known = is_rehearsal(connection)
    if known != (rehearses and (known or not has_loads(connection))):
        connection.execute("UPDATE meta.storage SET is_rehearsal = $1", [not known])


def latest_moment(connection: DuckDBPyConnection, now: datetime) -> datetime:
    """Now; in the file of a rehearsal the latest moment that it knows, if that is later."""
    [(newest,)] = connection.execute("SELECT max(fetched_at_utc) FROM meta.loads").fetchall()
    return max(now, aware(newest)) if newest and is_rehearsal(connection) else now
