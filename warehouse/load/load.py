"""Load of a group of windows, in one transaction: months replaced, snapshots merged, the ledger written.

A load never replaces a newer one, that is one with a higher number: months that a newer load has filled, or
fills in the same group, are left alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

import polars as pl

from warehouse.ledger.ledger import forget_outdated_denials, load_row
from warehouse.ledger.window_result import Loaded, WindowResult, WindowStatus
from warehouse.load.history import (
    Scope,
    forget_histories,
    merge_snapshots,
    merged_scopes,
    remember_scopes,
    waves_of,
)
from warehouse.load.incoming import Incoming, Load, batches_of, incoming_rows
from warehouse.load.quarantine import replace_quarantine
from warehouse.load.schema_evolution import Batch, ensure_table
from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import naive_utc, replace_rows
from warehouse.store.schema import NOTHING, Tables, TableSchema, converted, read_tables, tables_of_report

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.database import Store

MonthKey = tuple[str, str, date | None]
"""A report, a customer and a month, which is None for a report without months."""
StoredMonths = Mapping[MonthKey, tuple[int, int]]
"""By month: its current load's number, and its row count."""
Counts = Counter[tuple[str, str, date | None]]
"""Rows written, by load, table and month."""


def load_group(
    store: Store, results: Sequence[WindowResult], *, afresh: bool = False
) -> Sequence[WindowResult]:
    """Load a group of windows, all or nothing; returns their results, without rows.

    `afresh` first forgets the histories of the group's reports and customers, for `replay`.
    """
    with store.writing() as connection:
        connection.execute("SET threads = 1")  # each takes its own memory: 299 MB with one, 340 with two
        loaded = _load(connection, results, store, afresh=afresh)
    sys.audit("brokerbi.load_committed")
    return loaded


def _load(
    connection: DuckDBPyConnection, results: Sequence[WindowResult], store: Store, *, afresh: bool
) -> list[WindowResult]:
    sys.audit("brokerbi.before_load")
    tables = read_tables(connection)
    if afresh:
        pairs = sorted({result.pair for result in results if result.history})
        forget_histories(connection, tables, pairs)
    stored = _stored_months(connection, results)
    loads = _admitted(connection, results, stored)
    snapshots = [load for load in loads if load.result.history]
    merged = merged_scopes(connection, snapshots) if snapshots else {}
    waves = waves_of(snapshots, merged)

    current_loads = [load for load in loads if load.months]
    incoming = incoming_rows(current_loads, store.transform)
    for declared, batches in incoming.values():
        ensure_table(connection, tables, declared, batches)
    counts: Counts = Counter()
    month_loads = [load for load in current_loads if not load.result.history]
    for report in dict.fromkeys(load.result.report for load in month_loads):
        report_loads = [load for load in month_loads if load.result.report == report]
        for schema in tables_of_report(tables, report, history=False):
            _delete_months(connection, schema, report_loads, stored)
            if schema.name.lower() in incoming:
                _, batches = incoming[schema.name.lower()]
                counts += _insert(connection, schema, schema.stored, batches, report_loads)
    for wave in waves:
        _merge_wave(connection, tables, wave, incoming, counts)
    if waves:
        remember_scopes(connection, waves, merged)

    sys.audit("brokerbi.rows_written")
    _write_ledger(connection, loads, counts, store.now(), afresh=afresh)
    forget_outdated_denials(connection)
    replace_quarantine(connection, current_loads)
    sys.audit("brokerbi.ledger_written")
    return _loaded(loads, counts, stored)


def _stored_months(connection: DuckDBPyConnection, results: Sequence[WindowResult]) -> StoredMonths:
    rows = connection.execute(
        """
        SELECT report, customer, month, coalesce(load_number, 0), months.rows
        FROM meta.months AS months LEFT JOIN meta.loads AS loads USING (load_id, report, customer)
        WHERE list_contains($1, report) AND list_contains($2, customer)
        """,
        [list({result.report for result in results}), list({result.customer for result in results})],
    )
    return {
        (report, customer, month): (number, row_count)
        for report, customer, month, number, row_count in rows.fetchall()
    }


def _admitted(
    connection: DuckDBPyConnection, results: Sequence[WindowResult], stored: StoredMonths
) -> list[Load]:
    """Number the loads, and leave out months that a newer load has filled or fills in the group."""
    loads = _numbered(connection, results)
    newest = {key: number for key, (number, _) in stored.items()}
    for load in loads:
        for month in load.months:
            key = (*load.result.pair, month)
            newest[key] = max(newest.get(key, 0), load.number)
    for load in loads:
        if not load.result.history:
            load.leave_out({month for month in load.months if newest[*load.result.pair, month] > load.number})
    return loads


def _numbered(connection: DuckDBPyConnection, results: Sequence[WindowResult]) -> list[Load]:
    """The loads with their numbers; a replayed load keeps its number."""
    loaded_before = {
        load_id: (number, opened, closed)
        for load_id, number, opened, closed in connection.execute(
            """
            SELECT load_id, load_number, opened, closed FROM meta.loads
            WHERE load_number IS NOT NULL AND list_contains($1, load_id)
            """,
            [[result.load_id for result in results]],
        ).fetchall()
    }
    next_number = next_load_number(connection)
    loads = []
    for result in results:
        months = result.months or (None,)
        if result.load_id in loaded_before:
            number, opened, closed = loaded_before[result.load_id]
            loads.append(Load(result, number, months, is_repeated=True, changed_before=(opened, closed)))
        else:
            loads.append(Load(result, next_number, months))
            next_number += 1
    return loads


def next_load_number(connection: DuckDBPyConnection) -> int:
    """The number of the next load."""
    [(number,)] = connection.execute("SELECT coalesce(max(load_number), 0) + 1 FROM meta.loads").fetchall()
    return int(number)


def _delete_months(
    connection: DuckDBPyConnection, schema: TableSchema, loads: Sequence[Load], stored: StoredMonths
) -> None:
    """Delete the stored months of these loads from a table."""
    old = [
        (load.result.customer, month)
        for load in loads
        for month in load.months
        if (*load.result.pair, month) in stored
    ]
    if old:
        connection.execute(
            f"""
            DELETE FROM {schema.stored} AS old
            USING (SELECT unnest($1::VARCHAR[]) AS customer, unnest($2::DATE[]) AS month) AS gone
            WHERE old._customer = gone.customer AND old._month IS NOT DISTINCT FROM gone.month
            """,
            [[customer for customer, _ in old], [month for _, month in old]],
        )


def _merge_wave(
    connection: DuckDBPyConnection,
    tables: Tables,
    wave: Sequence[Scope],
    incoming: Incoming,
    counts: Counts,
) -> None:
    """Merge a wave, report by report: snapshots whose scopes do not overlap."""
    for report in dict.fromkeys(scope.load.result.report for scope in wave):
        scopes = [scope for scope in wave if scope.load.result.report == report]
        loads = list({scope.load.result.load_id: scope.load for scope in scopes}.values())

        def insert(schema: TableSchema, into: str, loads: Sequence[Load] = loads) -> None:
            if schema.name.lower() in incoming:
                _, batches = incoming[schema.name.lower()]
                counts.update(_insert(connection, schema, into, batches_of(loads, batches), loads))

        merge_snapshots(connection, tables_of_report(tables, report, history=True), scopes, insert)


@dataclass
class _ArrowStream:
    """A frame that DuckDB reads through an Arrow capsule, without a copy."""

    frame: pl.DataFrame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def _insert(
    connection: DuckDBPyConnection,
    schema: TableSchema,
    into: str,
    batches: Iterable[Batch],
    loads: Sequence[Load],
) -> Counts:
    """Insert batches into a table with the columns of the schema, one statement a batch."""
    results = {load.result.load_id: load.result for load in loads}
    counts: Counts = Counter()
    for batch in batches:
        for load_id, month, rows in batch.frame.group_by("_load_id", "_month").len().iter_rows():
            if month not in (results[load_id].months or (None,)):
                raise ValueError(
                    f"load {load_id} has {rows} rows of {schema.name} for {month}, not one of its months"
                )
            counts[load_id, schema.name, month] += rows
        columns = [quoted(name) for name in schema.ours if name in batch.frame.columns]
        values = list(columns)
        for name, type_ in batch.types.items():
            if type_ != NOTHING:
                stored = schema.columns[name]
                columns.append(quoted(stored.name))
                values.append(converted(f"CAST({quoted(name)} AS {type_})", type_, stored.type))
        stream = _ArrowStream(batch.frame)
        connection.register("batch", stream)
        connection.execute(f"INSERT INTO {into} ({', '.join(columns)}) SELECT {', '.join(values)} FROM batch")
        connection.unregister("batch")
        stream.frame = batch.frame.clear()  # DuckDB keeps the stream until the next garbage collection
    return counts


def _write_ledger(
    connection: DuckDBPyConnection,
    loads: Sequence[Load],
    counts: Counts,
    now: datetime,
    *,
    afresh: bool,
) -> None:
    """Store the loads and their months; a replayed load that replaces no month keeps its ledger row."""
    rows: Counter[str] = Counter()
    by_month: Counter[tuple[str, date | None]] = Counter()
    for (load_id, _, month), row_count in counts.items():
        rows[load_id] += row_count
        by_month[load_id, month] += row_count
    written = []
    for load in loads:
        if load.months or not load.is_repeated:
            result = load.result
            opened, closed = (0, 0) if afresh else load.changed_before
            written.append(
                {
                    **load_row(result, now),
                    "load_number": load.number,
                    "rows": rows[result.load_id],
                    "status": "loaded" if load.months else "superseded",
                    "note": "; ".join((*result.notes, *result.warnings)),
                    "opened": opened + load.opened,
                    "closed": closed + load.closed,
                }
            )
    replace_rows(connection, "loads", written, key=["load_id"])
    months = {
        (*load.result.pair, month): {
            "report": load.result.report,
            "customer": load.result.customer,
            "month": month,
            "load_id": load.result.load_id,
            "rows": by_month[load.result.load_id, month],
            "loaded_at_utc": naive_utc(now),
            "fetched_at_utc": naive_utc(load.result.fetched),
            "state": "open" if month in load.result.open_months else "held",
        }
        for load in sorted(loads, key=lambda load: load.number)
        for month in load.months
    }
    replace_rows(connection, "months", list(months.values()), key=["report", "customer", "month"])


def _loaded(loads: Sequence[Load], counts: Counts, stored: StoredMonths) -> list[WindowResult]:
    """The results of the loaded windows."""
    rows: dict[str, Counter[str]] = {}
    for (load_id, table, _), row_count in counts.items():
        rows.setdefault(load_id, Counter())[table] += row_count
    results = []
    for load in loads:
        result, row_counts = load.result, rows.get(load.result.load_id, Counter())
        replaced = [key for month in load.months if (key := (*result.pair, month)) in stored]
        left_alone = (f"{month:%Y-%m} was left alone: a newer load is stored" for month in load.superseded)
        results.append(
            result.ended(
                WindowStatus.LOADED,
                "; ".join(result.notes),
                warnings=(*result.warnings, *left_alone),
                loaded=Loaded(
                    rows={table.name: row_counts[table.name] for table in result.tables},
                    rows_before=sum(stored[key][1] for key in replaced),
                    rejected_count=len(result.rejected),
                    superseded=load.superseded,
                    opened=load.opened,
                    closed=load.closed,
                ),
            )
        )
    return results
