"""Months that the service changed after they were held, and the questions that found them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.duckdb_file import insert_rows, quoted
from warehouse.meta_schema import aware, naive_utc, replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SETTLING = timedelta(hours=12)
"""A month that was read so soon after a change may not hold it yet: clocks differ, a time without an offset
may be another zone's, and a report may lag behind."""
ANSWERED, FAILED = "answered", "failed"


@dataclass(frozen=True, slots=True)
class Changed:
    """A month of a report of a customer in which something was changed at the service."""

    report: str
    customer: str
    month: date
    changed_at_utc: datetime
    noticed_at_utc: datetime
    estates: int
    load_id: str

    @property
    def due_since_utc(self) -> datetime:
        """A month that was read before this moment is to be read again."""
        return min(self.changed_at_utc + SETTLING, self.noticed_at_utc)


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the service what was changed, and what came of it."""

    load_id: str
    run_id: str
    customer: str
    asked_of: str
    window_start: date
    window_end: date
    requests: int
    bytes: int
    seconds: float
    fetched_at_utc: datetime
    status: str
    error: str
    landing: str
    estates: int
    note: str


def remember_probe(connection: DuckDBPyConnection, probe: Probe, changed: Iterable[Changed]) -> None:
    """Write down a question and the months it named; a change that was known already stays as it was.

    Known is one that was noticed when it had happened already: what was read since then holds it.
    """
    row = {**asdict(probe), "fetched_at_utc": naive_utc(probe.fetched_at_utc)}
    insert_rows(connection, "meta.probes", [row])
    known = {(one.report, one.customer, one.month): one for one in read_changes(connection)}
    news = [one for one in changed if _is_news(one, known.get((one.report, one.customer, one.month)))]
    rows = [
        {
            **asdict(one),
            "changed_at_utc": naive_utc(one.changed_at_utc),
            "noticed_at_utc": naive_utc(one.noticed_at_utc),
        }
        for one in news
    ]
    replace_rows(connection, "changes", rows, key=["report", "customer", "month"])


def read_changes(connection: DuckDBPyConnection) -> list[Changed]:
    """Every month that was ever named, with its latest change."""
    names = ", ".join(Changed.__dataclass_fields__)
    found = [Changed(*row) for row in connection.execute(f"SELECT {names} FROM meta.changes").fetchall()]
    return [
        replace(one, changed_at_utc=aware(one.changed_at_utc), noticed_at_utc=aware(one.noticed_at_utc))
        for one in found
    ]


def months_naming(
    connection: DuckDBPyConnection,
    reports: Mapping[str, tuple[str, str]],
    customer: str,
    estates: Sequence[str],
) -> dict[str, list[tuple[str, date]]]:
    """The held months whose rows name one of these estates: by report, pairs of estate and month.

    `reports` says the table of schema bi and its column of estate ids for each report.
    """
    found: dict[str, list[tuple[str, date]]] = {}
    for report, (table, column) in reports.items():
        rows = connection.execute(
            f"SELECT DISTINCT {quoted(column)}, _month FROM bi.{quoted(table)} "
            f"WHERE _customer = $1 AND _month IS NOT NULL AND list_contains($2, {quoted(column)}) "
            "ORDER BY ALL",
            [customer, list(estates)],
        )
        found[report] = [(estate, month) for estate, month in rows.fetchall()]
    return found


def read_probes(connection: DuckDBPyConnection) -> dict[str, date]:
    """Through which day each customer's changes have been asked for, without a gap."""
    rows = connection.execute(
        "SELECT customer, max(window_end) FROM meta.probes WHERE status = $1 GROUP BY ALL", [ANSWERED]
    )
    return dict(rows.fetchall())


def _is_news(one: Changed, known: Changed | None) -> bool:
    if known is None or one.changed_at_utc > known.changed_at_utc:
        return True
    return one.changed_at_utc > known.noticed_at_utc
