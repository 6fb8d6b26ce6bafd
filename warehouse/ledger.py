"""What is held, refused and learned so far? The ledger, read in one go as a plain value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class HeldMonth:
    """The load in force for one month of one report of one customer; `state` is 'held' or 'open'."""

    load_id: str
    rows: int
    loaded_at_utc: datetime
    fetched_at_utc: datetime
    state: str


@dataclass(frozen=True, slots=True)
class Cap:
    """The longest window the service was seen to accept, in days or in calendar months."""

    days: int | None = None
    months: int | None = None


@dataclass(frozen=True)
class Ledger:
    """Everything a plan needs to know; a report without months stands under the month None.

    `pages` is the most requests that one window took, `request_seconds` how long a request takes.
    `changed` says since when a month is to be read again because a sale of it was changed, `probed`
    through which day each customer's changes have been asked for.
    """

    months: Mapping[tuple[str, str, date | None], HeldMonth] = field(default_factory=dict)
    denied: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    caps: Mapping[tuple[str, str], Cap] = field(default_factory=dict)
    pages: Mapping[tuple[str, str], int] = field(default_factory=dict)
    request_seconds: float | None = None
    changed: Mapping[tuple[str, str, date], datetime] = field(default_factory=dict)
    probed: Mapping[str, date] = field(default_factory=dict)


def holds_months(connection: DuckDBPyConnection) -> bool:
    """Whether anything was ever loaded."""
    return bool(connection.execute("SELECT 1 FROM meta.months LIMIT 1").fetchall())


def read_ledger(connection: DuckDBPyConnection) -> Ledger:
    """The whole ledger."""
    months = connection.execute(
        "SELECT report, customer, month, load_id, rows, loaded_at_utc, fetched_at_utc, state FROM meta.months"
    )
    held = {
        (report, customer, month): HeldMonth(load_id, rows, aware(loaded), aware(fetched), state)
        for report, customer, month, load_id, rows, loaded, fetched, state in months.fetchall()
    }
    return Ledger(months=held, **learned(connection))


def learned(connection: DuckDBPyConnection) -> dict[str, Any]:
    """All of the ledger but its months."""
    from warehouse.changes import read_changes, read_probes

    ask = connection.execute
    denied = ask("SELECT report, customer, denied_at_utc FROM meta.access").fetchall()
    caps = ask("SELECT report, customer, days, months FROM meta.window_caps").fetchall()
    pages = ask(
        "SELECT report, customer, max(requests) FROM meta.loads WHERE status = 'loaded' GROUP BY ALL"
    ).fetchall()
    [(seconds,)] = ask(
        "SELECT sum(seconds) / nullif(sum(requests), 0) FROM meta.loads WHERE status = 'loaded'"
    ).fetchall()
    return {
        "denied": {(report, customer): aware(at) for report, customer, at in denied},
        "caps": {(report, customer): Cap(days, months) for report, customer, days, months in caps},
        "pages": {(report, customer): most for report, customer, most in pages},
        "request_seconds": seconds,
        "changed": {
            (one.report, one.customer, one.month): one.due_since_utc for one in read_changes(connection)
        },
        "probed": read_probes(connection),
    }


def aware(moment: datetime) -> datetime:
    """A moment of one of our _utc columns, with its time zone."""
    return moment.replace(tzinfo=UTC)
