"""Rebuilding from landing: the loads that are needed, and a new file with what landing cannot repeat."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from warehouse.ledger.window_result import WindowResult
from warehouse.load.landing import Landed
from warehouse.load.load import following_number
from warehouse.store.checkpoint_journal import open_for_writing
from warehouse.store.database import Store
from warehouse.store.duckdb_file import insert_rows, literal, quoted
from warehouse.store.files import replacement
from warehouse.store.meta_schema import aware, naive_utc
from warehouse.store.schema import describe, read_tables

REBUILDING = "rebuilding"
"""The folder below work/ in which a file is rebuilt; a killed process leaves it behind."""

_IN_FORCE = """
WITH able AS (
    SELECT load_id, report, customer, load_number,
           unnest(CASE WHEN len(months) = 0 THEN [NULL::DATE] ELSE months END) AS month
    FROM meta.loads WHERE status IN ('loaded', 'landed') AND NOT history
)
SELECT DISTINCT arg_max(load_id, load_number) AS load_id FROM able
GROUP BY report, customer, month
"""
"""For each month, the newest load: the same as meta.months says, also while a rebuild is under way."""

_EFFECTIVE = f"""
landing IS NOT NULL AND ($1 IS NULL OR list_contains($1, report)) AND (
    CASE WHEN history THEN status IN ('loaded', 'landed') ELSE load_id IN ({_IN_FORCE}) END
)
AND (NOT $2 OR EXISTS (FROM meta.quarantine_rows AS bad WHERE bad.load_id = loads.load_id))
"""
_UNREAD = """
landing IS NOT NULL AND ($1 IS NULL OR list_contains($1, report)) AND NOT $2
AND status = 'failed' AND error_kind = 'UnreadableRows' AND NOT EXISTS (
    FROM meta.loads AS later
    WHERE (later.report, later.customer, later.status) = (loads.report, loads.customer, 'loaded')
        AND later.fetched_at_utc > loads.fetched_at_utc
        AND (later.history OR list_has_any(later.months, loads.months))
)
"""
_NUMBER_AGAIN = """
UPDATE meta.loads AS loads SET load_number = numbered.load_number
FROM (
    SELECT load_id, $1 - 1 + row_number() OVER (ORDER BY fetched_at_utc, load_number) AS load_number
    FROM meta.loads WHERE load_number IS NOT NULL
) AS numbered
WHERE loads.load_id = numbered.load_id
"""
"""New numbers, larger than any before: `_row` of what stays in the tables comes from the old ones."""
_SUPERSEDED = f"""
UPDATE meta.loads SET status = 'superseded'
WHERE status = 'landed' AND NOT history AND load_id NOT IN ({_IN_FORCE})
"""
_FIELDS = (
    "load_id", "run_id", "report", "customer", "window_start", "window_end", "months", "history", "asked",
    "requests", "bytes", "sha256", "seconds", "fetched_at_utc", "landing",
)  # fmt: skip
"""Columns of meta.loads that a window has under the same name."""
_SAID_IN_LANDING = (
    "load_id", "run_id", "report", "customer", "window_start", "window_end", "history", "asked", "requests",
    "seconds", "note",
)  # fmt: skip


@contextmanager
def fresh_file(store: Store) -> Iterator[Store]:
    """A new file to load months into, with the ledger, the memory and the histories of an older one.

    Columns that both formats have under the same name are copied. The older file is locked for the body.
    """
    rebuilt = Store(store.data_dir / "work" / REBUILDING, now=store.now, transform=store.transform)
    with store.locked() as path:
        shutil.rmtree(rebuilt.data_dir, ignore_errors=True)
        with rebuilt.opened() as connection:
            connection.execute(f"ATTACH {literal(str(path))} AS old (READ_ONLY)")
            connection.begin()
            tables = connection.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'old'"
            ).fetchall()
            for schema, table in tables:
                if schema == "meta" and table != "storage":
                    _copy_rows(connection, table)
            histories = [
                table
                for table in read_tables(connection).values()
                if table.history and ("bi", table.stored_name) in tables
            ]
            for history in histories:
                connection.execute(f"CREATE TABLE {history.stored} AS FROM old.{history.stored}")
            describe(connection, histories)
            connection.execute(
                "UPDATE meta.loads SET status = 'landed' WHERE status = 'loaded' AND NOT history "
                "AND load_id IN (SELECT load_id FROM meta.months)"
            )
            connection.execute(
                "DELETE FROM meta.months WHERE report NOT IN (SELECT report FROM meta.tables WHERE history)"
            )
            connection.commit()
            connection.execute("DETACH old")
        try:
            yield rebuilt
        finally:
            shutil.rmtree(rebuilt.data_dir, ignore_errors=True)


def note_unread(connection: DuckDBPyConnection, errors: Mapping[str, str]) -> None:
    """Let loads without rows count as failed, each with its error."""
    rows = list(errors.items())
    if rows:
        connection.executemany(
            "UPDATE meta.loads SET status = 'failed', error_kind = 'UnreadableRows', error = $2 "
            "WHERE load_id = $1 AND status = 'landed'",
            rows,
        )


def is_replay_unfinished(connection: DuckDBPyConnection, reports: Collection[str]) -> bool:
    """Whether answers of these reports wait for a replay to load them."""
    waiting = "SELECT count(*) FROM meta.loads WHERE status = 'landed' AND list_contains($1, report)"
    [(count,)] = connection.execute(waiting, [list(reports)]).fetchall()
    return bool(count)


def replace_file(store: Store, rebuilt: Store) -> None:
    """Put a rebuilt working file in the place of another; killed at any moment, it leaves one of the two."""
    with store.locked() as path:
        with open_for_writing(path, strict=True):
            pass  # its log must not meet the new file
        with replacement(path, unfinished=store.rewritten) as place:
            rebuilt.path.replace(place)


def _copy_rows(connection: DuckDBPyConnection, table: str) -> None:
    """Copy the rows of a table of meta from the older file, what the new columns can hold of them."""
    columns = connection.execute(
        """
        SELECT column_name, new.data_type
        FROM duckdb_columns() AS new JOIN duckdb_columns() AS old USING (schema_name, table_name, column_name)
        WHERE (new.database_name, old.database_name) = (current_database(), 'old')
            AND schema_name = 'meta' AND table_name = $1
        """,
        [table],
    ).fetchall()
    if columns:
        names = ", ".join(quoted(name) for name, _ in columns)
        values = ", ".join(f"try_cast({quoted(name)} AS {type_})" for name, type_ in columns)
        connection.execute(f"INSERT INTO meta.{table} ({names}) SELECT {values} FROM old.meta.{table}")


def effective_loads(
    connection: DuckDBPyConnection, reports: Sequence[str] | None = None, *, only_quarantined: bool = False
) -> list[WindowResult]:
    """The loads in force and all merged snapshots of reports, oldest first, as landing can repeat them.

    Then answers that did not fit their shape when they came, if nothing newer was loaded since.
    """
    found = connection.execute(
        f"SELECT note, {', '.join(_FIELDS)} FROM meta.loads AS loads WHERE ({_EFFECTIVE}) OR ({_UNREAD}) "
        "ORDER BY load_number NULLS LAST",
        [reports and list(reports), only_quarantined],
    )
    return [
        WindowResult(
            **{name: _from_file(value) for name, value in zip(_FIELDS, fields, strict=True)},
            notes=(note,) if note else (),
        )
        for note, *fields in found.fetchall()
    ]


def relearn(connection: DuckDBPyConnection, landed: Iterable[Landed]) -> int:
    """Write the loads of landing files that the ledger does not know into it; returns how many had rows.

    Those in force count as 'landed' until a replay loads them, and their months as missing. Landing does not
    keep the numbers of loads, so all loads are numbered again in the order in which they were fetched.
    """
    known = {load_id for (load_id,) in connection.execute("SELECT load_id FROM meta.loads").fetchall()}
    lost = [file for file in landed if file.header["load_id"] not in known]
    number = following_number(connection)
    rows = [_row(file, number + place) for place, file in enumerate(sorted(lost, key=_fetched_at))]
    insert_rows(connection, "meta.loads", rows)
    if rows:
        connection.execute(_NUMBER_AGAIN, [number + len(rows)])
        connection.execute(_SUPERSEDED)
    return sum(row["status"] != "failed" for row in rows)


def _from_file(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return aware(value) if isinstance(value, datetime) else value


def _row(landed: Landed, number: int) -> dict[str, Any]:
    """The row of meta.loads of a landing file."""
    said = {**landed.header, **landed.trailer}
    failed = bool(said.get("error"))
    return {
        **{name: said.get(name) for name in _SAID_IN_LANDING},
        "error_kind": said.get("error") or None,
        "error": "It could not be loaded when it came." if failed else None,
        "load_number": None if failed else number,
        "months": said.get("months", []),
        "rows": 0,
        "opened": 0,
        "closed": 0,
        "bytes": said.get("bytes", landed.bytes),
        "sha256": landed.sha256,
        "fetched_at_utc": _fetched_at(landed),
        "status": "failed" if failed else "landed",
        "landing": landed.path,
    }


def _fetched_at(landed: Landed) -> datetime:
    return naive_utc(datetime.fromisoformat(landed.trailer["fetched_at_utc"]))
