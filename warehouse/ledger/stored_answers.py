"""Stored answers in the ledger: the current ones, those that a replay repeats, and their shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from warehouse.ledger.window_result import WindowResult
from warehouse.store.meta_schema import aware, naive_utc
from warehouse.store.schema import read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WINDOW_COLUMNS = (
    "load_id", "run_id", "report", "customer", "window_start", "window_end", "months", "history", "asked",
    "requests", "bytes", "sha256", "seconds", "fetched_at_utc", "landing",
)  # fmt: skip
"""Columns of meta.loads that `loads_to_replay` reads into the fields of the same name of a WindowResult."""
CURRENT_LOADS = """
WITH candidates AS (
    SELECT load_id, report, customer, load_number,
           unnest(CASE WHEN len(months) = 0 THEN [NULL::DATE] ELSE months END) AS month
    FROM meta.loads WHERE status IN ('loaded', 'landed') AND NOT history
)
SELECT DISTINCT arg_max(load_id, load_number) AS load_id FROM candidates
GROUP BY report, customer, month
"""
"""Selects the id of each month's newest load, even if its rows wait for a replay (status 'landed')."""

_REPLAYED = f"""
landing IS NOT NULL AND ($1 IS NULL OR list_contains($1, report)) AND (
    CASE WHEN history THEN status IN ('loaded', 'landed') ELSE load_id IN ({CURRENT_LOADS}) END
    AND (NOT $2 OR EXISTS (FROM meta.quarantine_rows AS rejected WHERE rejected.load_id = loads.load_id))
    OR NOT $2 AND status = 'failed' AND error_kind = 'UnreadableRows' AND NOT EXISTS (
        FROM meta.loads AS later
        WHERE (later.report, later.customer, later.status) = (loads.report, loads.customer, 'loaded')
            AND later.fetched_at_utc > loads.fetched_at_utc
            AND (later.history OR list_has_any(later.months, loads.months))
    )
)
"""
_LOADED_SHAPES = """
SELECT report, list(DISTINCT coalesce(shape, ''))
FROM meta.loads
WHERE status = 'loaded' AND "rows" > 0 AND landing IS NOT NULL
    AND (history OR load_id IN (SELECT load_id FROM meta.months))
GROUP BY report
"""
_NEWEST_ANSWERS = """
SELECT DISTINCT ON (report) report, landing, months, customer
FROM meta.loads
WHERE landing IS NOT NULL
    AND (
        status = 'loaded' AND "rows" > 0
        OR status = 'held back'
        OR status = 'failed' AND error_kind = 'UnreadableRows'
    )
ORDER BY
    fetched_at_utc > max(fetched_at_utc) OVER (PARTITION BY report) - INTERVAL 30 HOUR
        AND (report, customer, fetched_at_utc) IN (
            SELECT (report, customer, failed_at_utc) FROM meta.open_failures
        ) DESC,
    fetched_at_utc DESC
"""


def load_row(result: WindowResult, now: datetime) -> dict[str, object]:
    """The values of the columns of meta.loads that are filled for every window, loaded or not."""
    names = (*WINDOW_COLUMNS, "shape", "missing")
    return {**{name: _to_database(getattr(result, name)) for name in names}, "loaded_at_utc": naive_utc(now)}


def loads_to_replay(
    connection: DuckDBPyConnection, reports: Sequence[str] | None = None, *, only_quarantined: bool = False
) -> list[WindowResult]:
    """The loads that a replay repeats, in the order of their numbers; loads without a number come last.

    A replay repeats these loads:
    - the newest load of each month of a report and customer
    - every snapshot that is loaded or waits for a replay
    - every answer that did not fit the report's shape, unless a later answer for one of its months, or a
      later snapshot, was loaded

    `reports` limits the result to these reports. With `only_quarantined`, the result has only loads of the
    first two kinds that have quarantined rows.
    """
    rows = connection.execute(
        f"SELECT note, {', '.join(WINDOW_COLUMNS)} "
        "FROM (SELECT * REPLACE (coalesce(history, false) AS history) FROM meta.loads) AS loads "
        f"WHERE {_REPLAYED} ORDER BY load_number NULLS LAST",
        [reports and list(reports), only_quarantined],
    )
    return [
        WindowResult(
            **{name: _from_database(value) for name, value in zip(WINDOW_COLUMNS, fields, strict=True)},
            notes=(note,) if note else (),
        )
        for note, *fields in rows.fetchall()
    ]


def _from_database(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return aware(value) if isinstance(value, datetime) else value


def _to_database(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return naive_utc(value) if isinstance(value, datetime) else value


def record_unreadable(connection: DuckDBPyConnection, errors: Mapping[str, str]) -> None:
    """Mark unreadable landed loads as failed; `errors` has a message for each load id."""
    rows = list(errors.items())
    if rows:
        connection.executemany(
            "UPDATE meta.loads SET status = 'failed', error_kind = 'UnreadableRows', error = $2 "
            "WHERE load_id = $1 AND status = 'landed'",
            rows,
        )


def is_replay_unfinished(connection: DuckDBPyConnection, reports: Collection[str]) -> bool:
    """Whether any answer of these reports waits for a replay to load it."""
    waiting = "SELECT count(*) FROM meta.loads WHERE status = 'landed' AND list_contains($1, report)"
    [(count,)] = connection.execute(waiting, [list(reports)]).fetchall()
    return bool(count)


def loaded_shapes(connection: DuckDBPyConnection) -> dict[str, set[str]]:
    """By report, the recorded shapes of its current rows; "" is the catalogue's own shape, or unknown."""
    return {report: set(shapes) for report, shapes in connection.execute(_LOADED_SHAPES).fetchall()}


def newest_answers(connection: DuckDBPyConnection) -> dict[str, tuple[str, list[date], str]]:
    """The file, months and customer of each report's newest answer that had rows, or that does not fit.

    Of the answers of a report's latest thirty hours, one that does not fit comes first: it was held back or
    is unreadable, and its months were not loaded since.
    """
    rows = connection.execute(_NEWEST_ANSWERS).fetchall()
    return {report: (landing, months, customer) for report, landing, months, customer in rows}


def requested_reports(connection: DuckDBPyConnection) -> set[str]:
    """The reports that were ever requested or denied."""
    rows = connection.execute("SELECT report FROM meta.loads UNION SELECT report FROM meta.access").fetchall()
    return {report for (report,) in rows}


def record_shape(connection: DuckDBPyConnection, report: str, shape: str) -> None:
    """Record a shape's fingerprint for all loaded answers of a report, even those that do not fit."""
    connection.execute(
        "UPDATE meta.loads SET shape = $1 WHERE report = $2 AND status = 'loaded'", [shape, report]
    )


def loaded_ids(connection: DuckDBPyConnection, table: str, column: str) -> set[str]:
    """The ids in a column of a table; empty if the table does not exist."""
    if (schema := read_tables(connection).get(table)) is None:
        return set()
    return {id_ for (id_,) in connection.execute(f"SELECT {column} FROM {schema.table}").fetchall() if id_}
