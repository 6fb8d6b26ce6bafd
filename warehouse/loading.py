"""What happens in the transaction of a group? Months replaced, snapshots merged, all of it written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from warehouse.access import forget_healed_refusals
from warehouse.arriving import make_room
from warehouse.entering import Entry, Held, check_loads, enter, held_months, naive_utc
from warehouse.evolving import stand
from warehouse.history import Merged, merge
from warehouse.meta_tables import LOADS, MONTHS
from warehouse.quarantine import replace_quarantine
from warehouse.replacing import replace_months
from warehouse.scopes import Wave, newest_scopes, remember_scopes, waves
from warehouse.shapes import Shape, of_report, read_shapes, stored_tables
from warehouse.stacking import Coming, Part
from warehouse.window_result import TableLike, WindowResult, WindowStatus
from warehouse.writing import write

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ByTable = dict[str, Coming]
"""What comes, by lower-case name of its table."""
Effects = list[Callable[[], None]]
"""What is left to do when the transaction is committed: to fill in the records of the windows."""


@dataclass(frozen=True)
class KnownTables:
    """The tables of the rows: their shapes, and the names of those that stand; both grow while loading."""

    shapes: dict[str, Shape]
    standing: set[str]


def known_tables(connection: DuckDBPyConnection) -> KnownTables:
    """Look at which tables there are; true until a transaction is rolled back or somebody else writes."""
    return KnownTables(read_shapes(connection), stored_tables(connection))


def load_group(
    connection: DuckDBPyConnection,
    loads: Sequence[WindowResult],
    known: KnownTables,
    *,
    afresh: bool,
    now: datetime,
    before: Callable[[TableLike], TableLike] | None = None,
) -> Effects:
    """Load a group inside the caller's transaction; `afresh` forgets the histories it is about first."""
    check_loads(loads)
    if afresh:
        _forget_histories(connection, loads, known)
    held = held_months(connection, loads)
    entries = enter(connection, loads, held)
    entries, merging = _order(connection, entries)
    done = _write_rows(connection, entries, merging, held, known, before)
    remember_scopes(connection, merging)
    _write_ledger(connection, entries, done, now, afresh=afresh)
    forget_healed_refusals(connection)
    replace_quarantine(connection, [entry for entry in entries if entry.months])
    by_table: dict[str, Counter[str]] = {}
    for (load_id, table, _), number in done.counts.items():
        by_table.setdefault(load_id, Counter())[table] += number
    return [_effect(entry, by_table.get(entry.load.load_id, Counter()), done, held) for entry in entries]


def _order(connection: DuckDBPyConnection, entries: Sequence[Entry]) -> tuple[list[Entry], list[Wave]]:
    """Sort the snapshots among the loads into waves; the others stay as they are."""
    snapshots = [entry for entry in entries if entry.load.history]
    if not snapshots:
        return list(entries), []
    merging, decided = waves(snapshots, newest_scopes(connection, snapshots))
    by_load = {entry.load.load_id: entry for entry in decided}
    return [by_load.get(entry.load.load_id, entry) for entry in entries], merging


def _write_rows(
    connection: DuckDBPyConnection,
    entries: Sequence[Entry],
    merging: Sequence[Wave],
    held: Held,
    known: KnownTables,
    before: Callable[[TableLike], TableLike] | None,
) -> Merged:
    """Replace months and merge snapshots, report by report and table by table."""
    entering = [entry for entry in entries if entry.months]
    coming = _by_table(entering, before)
    reports = list(dict.fromkeys(entry.load.report for entry in entering))
    shapes = _standing_shapes(connection, reports, coming, known)
    done = Merged()
    for report in reports:
        replacing = [one for one in entering if one.load.report == report and not one.load.history]
        if replacing:
            old = [
                (one.load.customer, month)
                for one in replacing
                for month in one.months
                if (*one.scope, month) in held
            ]
            for shape in of_report(shapes, report, history=False):
                mine = coming.get(shape.name.lower(), Coming(()))
                done.counts.update(replace_months(connection, shape, old, mine))
        for wave in merging:
            _merge(connection, report, wave, shapes, coming, done)
    return done


def _standing_shapes(
    connection: DuckDBPyConnection, reports: Sequence[str], coming: ByTable, known: KnownTables
) -> dict[str, Shape]:
    """Every table of these reports, there and wide enough for what comes."""
    shapes, standing = known.shapes, known.standing
    for shape in shapes.values():
        if shape.report in reports:
            stand(connection, shape, standing)
    for of_table in coming.values():
        make_room(connection, shapes, standing, of_table)
    return shapes


def _merge(
    connection: DuckDBPyConnection,
    report: str,
    wave: Wave,
    shapes: dict[str, Shape],
    coming: ByTable,
    done: Merged,
) -> None:
    wave = wave.of_report(report)
    if not wave.entries:
        return
    tables = [
        (shape, coming.get(shape.name.lower(), Coming(())).of(wave.entries))
        for shape in of_report(shapes, report, history=True)
    ]
    merged = merge(connection, wave, tables)
    done.counts.update(merged.counts)
    done.opened.update(merged.opened)
    done.closed.update(merged.closed)


def _by_table(entries: Sequence[Entry], before: Callable[[TableLike], TableLike] | None) -> ByTable:
    parts: dict[str, list[Part]] = {}
    for entry in entries:
        for table in entry.load.tables:
            parts.setdefault(table.name.lower(), []).append(Part(entry, before(table) if before else table))
    return {name: Coming(of_table) for name, of_table in parts.items()}


def _forget_histories(
    connection: DuckDBPyConnection, loads: Sequence[WindowResult], known: KnownTables
) -> None:
    """Begin the histories of these reports and customers again, as if nothing had been merged."""
    pairs = sorted({(load.report, load.customer) for load in loads if load.history})
    shapes = _standing_shapes(connection, [report for report, _ in pairs], {}, known)
    for report, customer in pairs:
        for shape in of_report(shapes, report, history=True):
            connection.execute(f"DELETE FROM {shape.stored} WHERE _customer = ?", [customer])
        for table in ("history_scopes", "months"):
            connection.execute(
                f"DELETE FROM meta.{table} WHERE report = ? AND customer = ?", [report, customer]
            )


def _write_ledger(
    connection: DuckDBPyConnection, entries: Sequence[Entry], done: Merged, now: datetime, *, afresh: bool
) -> None:
    """Write down the loads and the months now in force; a replayed load that is no news stays as it is."""
    rows: Counter[str] = Counter()
    by_month: Counter[tuple[str, date | None]] = Counter()
    for (load_id, _, month), number in done.counts.items():
        rows[load_id] += number
        by_month[load_id, month] += number
    written = [entry for entry in entries if entry.months or not entry.known]
    write(
        connection,
        LOADS,
        [_load_row(one, rows[one.load.load_id], done, now, afresh=afresh) for one in written],
        instead_of=["load_id"],
    )
    months = {
        (*entry.scope, month): {
            "report": entry.load.report,
            "customer": entry.load.customer,
            "month": month,
            "load_id": entry.load.load_id,
            "rows": by_month[entry.load.load_id, month],
            "loaded_at_utc": naive_utc(now),
            "fetched_at_utc": naive_utc(entry.load.fetched),
            "state": "open" if month in entry.load.open_months else "held",
        }
        for entry in sorted(entries, key=lambda one: naive_utc(one.load.fetched))
        for month in entry.months
    }
    write(connection, MONTHS, months.values(), instead_of=["report", "customer", "month"])


def ledger_row(result: WindowResult, now: datetime) -> dict[str, object]:
    """What meta.loads says of any window, loaded or not."""
    same = ("load_id", "run_id", "report", "customer", "window_start", "window_end", "requests", "bytes")
    return {
        **{name: getattr(result, name) for name in (*same, "sha256", "seconds", "landing")},
        "months": list(result.months),
        "fetched_at_utc": naive_utc(result.fetched),
        "loaded_at_utc": naive_utc(now),
    }


def _load_row(entry: Entry, rows: int, done: Merged, now: datetime, *, afresh: bool) -> dict[str, object]:
    load = entry.load
    opened, closed = (0, 0) if afresh else entry.changed_before
    return {
        **ledger_row(load, now),
        "load_number": entry.number,
        "history": load.history,
        "asked": None if load.asked is None else list(load.asked),
        "rows": rows,
        "status": "loaded" if entry.months else "superseded",
        "note": "; ".join((*load.notes, *load.warnings)),
        "opened": opened + done.opened[load.load_id],
        "closed": closed + done.closed[load.load_id],
    }


def _effect(entry: Entry, rows: Counter[str], done: Merged, held: Held) -> Callable[[], None]:
    """What to write into the record of the window once the transaction is committed."""
    load = entry.load

    def fill_in() -> None:
        load.status, load.error = WindowStatus.LOADED, ""
        load.rows = {table.name: rows[table.name] for table in load.tables}
        load.rows_before = sum(held[key][1] for one in entry.months if (key := (*entry.scope, one)) in held)
        load.rejected_count, load.superseded = len(load.rejected), entry.superseded
        load.opened, load.closed = done.opened[load.load_id], done.closed[load.load_id]
        load.tables, load.rejected = (), ()

    return fill_in
