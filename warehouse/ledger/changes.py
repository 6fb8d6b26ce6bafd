"""Months to request again: the service listed changed sales in them, or the marts suggest a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import insert_rows, mappings, quoted
from warehouse.store.meta_schema import aware, naive_utc, replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.ledger.window_result import WindowResult

SETTLING = timedelta(hours=12)
"""A month that is read this soon after a change may not show the change: clocks differ, a time without an
offset may be in another zone, and a report may lag."""
ANSWERED, FAILED = "answered", "failed"
_TIMES = ("changed_at_utc", "noticed_at_utc")
_RESULT_COLUMNS = (
    "load_id", "run_id", "customer", "window_start", "window_end", "requests", "bytes", "seconds", "landing",
)  # fmt: skip
CHANGES = Path(__file__).resolve().parents[2] / "sql" / "changes"


@dataclass(frozen=True, slots=True)
class ChangedMonth:
    """A month of a customer's report in which something may have changed at the service.

    `estates` is the number of changed estates that affect the month. It is 0 if `record_disagreements`
    recorded the month.
    """

    report: str
    customer: str
    month: date
    changed_at_utc: datetime
    noticed_at_utc: datetime
    estates: int
    load_id: str

    @property
    def key(self) -> tuple[str, str, date]:
        return self.report, self.customer, self.month

    @property
    def due_since_utc(self) -> datetime:
        """12 hours after the change, or when it was noticed, if that was earlier.

        A month last read before this time is due again. Example: a change was made at 09:00, and noticed at
        03:00 on the next day. The month is due if it was last read before 21:00.
        """
        return min(self.changed_at_utc + SETTLING, self.noticed_at_utc)


def record_probe(
    connection: DuckDBPyConnection,
    result: WindowResult,
    asked_of: str,
    changed: Iterable[ChangedMonth] = (),
    *,
    error: str = "",
    note: str = "",
    estates: int = 0,
) -> None:
    """Record a probe (a request for recently changed sales), and the months that these changes affect.

    `asked_of` is the name of the report that the probe requested. A month keeps its recorded change unless
    the new one is later (see `_is_new`).
    """
    row = {
        **{name: getattr(result, name) for name in _RESULT_COLUMNS},
        "asked_of": asked_of,
        "fetched_at_utc": naive_utc(result.fetched),
        "status": FAILED if error else ANSWERED,
        "error": error,
        "estates": estates,
        "note": note,
    }
    insert_rows(connection, "meta.probes", [row])
    recorded = {change.key: change for change in read_changes(connection)}
    _write_changes(connection, [change for change in changed if _is_new(change, recorded.get(change.key))])


def record_disagreements(connection: DuckDBPyConnection, reports: Sequence[str]) -> list[ChangedMonth]:
    """Record the months of these reports that disagreeing_months.sql finds; returns the new records.

    These months are due again. Example: the service does not list a cancelled sale as changed, but reports
    read before and after the cancellation disagree. A month already due keeps its recorded change.
    """
    connection.execute("SET VARIABLE reports = $1", [[*reports]])
    rows = connection.execute((CHANGES / "disagreeing_months.sql").read_text(encoding="utf-8")).fetchall()
    due = {change.key: change.due_since_utc for change in read_changes(connection)}
    changes = []
    for report, customer, month, read_at, changed_at, load_id in rows:
        since = due.get((report, customer, month))
        if since is None or since <= aware(read_at):
            at = aware(changed_at)
            changes.append(ChangedMonth(report, customer, month, at, at, 0, load_id))
    _write_changes(connection, changes)
    return changes


def read_changes(connection: DuckDBPyConnection) -> list[ChangedMonth]:
    """The recorded changes: the latest of each report, customer and month."""
    names = ", ".join(ChangedMonth.__dataclass_fields__)
    rows = mappings(connection.execute(f"SELECT {names} FROM meta.changes"))
    return [ChangedMonth(**{**row, **{name: aware(row[name]) for name in _TIMES}}) for row in rows]


def months_with_estates(
    connection: DuckDBPyConnection,
    reports: Mapping[str, tuple[str, str]],
    customer: str,
    estates: Sequence[str],
) -> dict[str, list[tuple[str, date]]]:
    """By report, each pair of estate and month for which the customer has rows.

    `reports` names, for each report, a table of schema bi and its column of estate ids.
    """
    months: dict[str, list[tuple[str, date]]] = {}
    for report, (table, column) in reports.items():
        rows = connection.execute(
            f"SELECT DISTINCT {quoted(column)}, _month FROM bi.{quoted(table)} "
            f"WHERE _customer = $1 AND _month IS NOT NULL AND list_contains($2, {quoted(column)}) "
            "ORDER BY ALL",
            [customer, list(estates)],
        )
        months[report] = [(estate, month) for estate, month in rows.fetchall()]
    return months


def _write_changes(connection: DuckDBPyConnection, changed: Iterable[ChangedMonth]) -> None:
    rows = [
        {**asdict(change), **{name: naive_utc(getattr(change, name)) for name in _TIMES}}
        for change in changed
    ]
    replace_rows(connection, "changes", rows, key=["report", "customer", "month"])


def _is_new(change: ChangedMonth, recorded: ChangedMonth | None) -> bool:
    if recorded is None or change.changed_at_utc > recorded.changed_at_utc:
        return True
    # If only the day of a change is known, the end of that day is stored as its time. A second change on that
    # day then has the same time. It counts as new if the first was noticed before the day ended.
    return change.changed_at_utc > recorded.noticed_at_utc
