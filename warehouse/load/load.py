"""Loading a group of windows in one transaction: months, snapshots and ledger.

A load with a higher number is newer. A load leaves out each month for which a newer load is stored. Unless
its report has a history, it also leaves out the months that a newer load of the same group has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.ledger.ledger import forget_outdated_denials
from warehouse.ledger.stored_answers import load_row
from warehouse.ledger.window_result import WindowResult, WindowStatus
from warehouse.load.history import StoredScopes, forget_histories, merge_wave, record_scopes, waves_of
from warehouse.load.incoming import Load, incoming_rows, insert
from warehouse.load.quarantine import replace_quarantine
from warehouse.load.schema_evolution import ensure_table, tables_of_report
from warehouse.store.meta_schema import naive_utc, replace_rows
from warehouse.store.schema import TableSchema, read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.database import Store

_STORED = """
SELECT report, customer, month, newest.asked, coalesce(max(load_number), 0), max(changed_at_utc)
FROM (
    SELECT report, customer, month, load_id FROM meta.months UNION ALL BY NAME FROM meta.history_scopes
) AS newest
LEFT JOIN meta.loads AS loads USING (load_id, report, customer)
WHERE list_contains($1, report) AND list_contains($2, customer)
GROUP BY ALL
"""


def load_group(
    store: Store, results: Sequence[WindowResult], *, from_scratch: bool = False
) -> Sequence[WindowResult]:
    """Load a group of windows, all or nothing; returns their results, without rows.

    `from_scratch` first deletes the histories of the group's reports and customers, for `replay`.
    """
    with store.writing() as connection:
        loads = _load(connection, results, store, from_scratch=from_scratch)
    sys.audit("brokerbi.load_committed")
    return [_loaded_result(load) for load in loads]


def _load(
    connection: DuckDBPyConnection, results: Sequence[WindowResult], store: Store, *, from_scratch: bool
) -> list[Load]:
    sys.audit("brokerbi.before_load")
    tables = read_tables(connection)
    if from_scratch:
        forget_histories(connection, tables, sorted({result.pair for result in results if result.history}))
    names = [list({result.report for result in results}), list({result.customer for result in results})]
    stored: StoredScopes = {
        (*key,): (number, changed) for *key, number, changed in connection.execute(_STORED, names).fetchall()
    }
    loads = _numbered_loads(connection, results, from_scratch=from_scratch)
    month_loads = [load for load in loads if not load.result.history]
    _drop_superseded_months(month_loads, stored)
    waves = waves_of([load for load in loads if load.result.history], stored)

    current_loads = [load for load in loads if load.months]
    incoming = incoming_rows(current_loads, store.transform)
    for declared, batches in incoming.values():
        ensure_table(connection, tables, declared, batches)
    for report in dict.fromkeys(load.result.report for load in month_loads):
        report_loads = [load for load in month_loads if load.months and load.result.report == report]
        for schema in tables_of_report(tables, report):
            _delete_months(connection, schema, report_loads, stored)
            insert(connection, schema, schema.table, incoming, report_loads)
    for wave in waves:
        merge_wave(connection, tables, wave, incoming)
    record_scopes(connection, waves, stored)

    sys.audit("brokerbi.rows_written")
    _write_ledger(connection, loads, store.now())
    forget_outdated_denials(connection)
    replace_quarantine(connection, current_loads)
    sys.audit("brokerbi.ledger_written")
    return loads


def _numbered_loads(
    connection: DuckDBPyConnection, results: Sequence[WindowResult], *, from_scratch: bool
) -> list[Load]:
    """Number the loads.

    A replayed load keeps its number and, unless `from_scratch`, its counts of opened and closed history rows.
    """
    rows = connection.execute(
        """
        SELECT load_id, load_number, opened, closed FROM meta.loads
        WHERE load_number IS NOT NULL AND list_contains($1, load_id)
        """,
        [[result.load_id for result in results]],
    )
    loaded_before = {load_id: (number, *counts) for load_id, number, *counts in rows.fetchall()}
    next_number = next_load_number(connection)
    loads = []
    for result in results:
        months = result.months or (None,)
        if result.load_id in loaded_before:
            number, *counts = loaded_before[result.load_id]
            opened, closed = (0, 0) if from_scratch else counts
            loads.append(Load(result, number, months, is_repeated=True, opened=opened, closed=closed))
        else:
            loads.append(Load(result, next_number, months))
            next_number += 1
    return loads


def next_load_number(connection: DuckDBPyConnection) -> int:
    """The number of the next load."""
    [(number,)] = connection.execute("SELECT coalesce(max(load_number), 0) + 1 FROM meta.loads").fetchall()
    return int(number)


def _drop_superseded_months(loads: Sequence[Load], stored: StoredScopes) -> None:
    newest = {key: number for key, (number, _) in stored.items()}
    for load in loads:
        for month in load.months:
            key = (*load.result.pair, month, None)
            newest[key] = max(newest.get(key, 0), load.number)
    for load in loads:
        load.months = tuple(
            month for month in load.months if newest[*load.result.pair, month, None] == load.number
        )


def _delete_months(
    connection: DuckDBPyConnection, schema: TableSchema, loads: Sequence[Load], stored: StoredScopes
) -> None:
    old = [
        (load.result.customer, month)
        for load in loads
        for month in load.months
        if (*load.result.pair, month, None) in stored
    ]
    if old:
        connection.execute(
            f"""
            DELETE FROM {schema.table} AS old
            USING (SELECT unnest($1::VARCHAR[]) AS customer, unnest($2::DATE[]) AS month) AS gone
            WHERE old._customer = gone.customer AND old._month IS NOT DISTINCT FROM gone.month
            """,
            [[customer for customer, _ in old], [month for _, month in old]],
        )


def _write_ledger(connection: DuckDBPyConnection, loads: Sequence[Load], now: datetime) -> None:
    rows = [
        {
            **load_row(load.result, now),
            "load_number": load.number,
            "rows": load.rows.total(),
            "status": "loaded" if load.months else "superseded",
            "note": "; ".join((*load.result.notes, *load.result.warnings)),
            "opened": load.opened,
            "closed": load.closed,
        }
        for load in loads
        if load.months or not load.is_repeated  # a replayed load that replaces no month keeps its old entry
    ]
    replace_rows(connection, "loads", rows, key=["load_id"])
    months = {
        (*load.result.pair, month): {
            "report": load.result.report,
            "customer": load.result.customer,
            "month": month,
            "load_id": load.result.load_id,
            "rows": load.rows[month],
            "loaded_at_utc": naive_utc(now),
            "fetched_at_utc": naive_utc(load.result.fetched),
            "state": "open" if month in load.result.open_months else "held",
        }
        for load in sorted(loads, key=lambda load: load.number)
        for month in load.months
    }
    replace_rows(connection, "months", list(months.values()), key=["report", "customer", "month"])


def _loaded_result(load: Load) -> WindowResult:
    result = load.result
    notices = (f"{month:%Y-%m} was not replaced: a newer load is stored" for month in load.superseded_months)
    return result.ended(
        WindowStatus.LOADED,
        "; ".join(result.notes),
        warnings=(*result.warnings, *notices),
        rows=load.rows.total(),
    )
