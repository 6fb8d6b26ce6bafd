"""What is held, refused and learned so far? The ledger, read in one go as a plain value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from warehouse.loads import LandedLoad

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
    """

    months: Mapping[tuple[str, str, date | None], HeldMonth] = field(default_factory=dict)
    denied: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    caps: Mapping[tuple[str, str], Cap] = field(default_factory=dict)
    pages: Mapping[tuple[str, str], int] = field(default_factory=dict)
    request_seconds: float | None = None


def read_ledger(connection: DuckDBPyConnection) -> Ledger:
    """The whole ledger."""
    ask = connection.execute
    months = ask(
        "SELECT report, customer, month, load_id, rows, loaded_at_utc, fetched_at_utc, state FROM meta.months"
    )
    held = {
        (report, customer, month): HeldMonth(load_id, rows, aware(loaded), aware(fetched), state)
        for report, customer, month, load_id, rows, loaded, fetched, state in months.fetchall()
    }
    denied = ask("SELECT report, customer, denied_at_utc FROM meta.access").fetchall()
    caps = ask("SELECT report, customer, days, months FROM meta.window_caps").fetchall()
    pages = ask(
        "SELECT report, customer, max(requests) FROM meta.loads WHERE status = 'loaded' GROUP BY ALL"
    ).fetchall()
    [(seconds,)] = ask(
        "SELECT sum(seconds) / nullif(sum(requests), 0) FROM meta.loads WHERE status = 'loaded'"
    ).fetchall()
    return Ledger(
        months=held,
        denied={(report, customer): aware(at) for report, customer, at in denied},
        caps={(report, customer): Cap(days, months_) for report, customer, days, months_ in caps},
        pages={(report, customer): most for report, customer, most in pages},
        request_seconds=seconds,
    )


_NEEDED = """
FROM meta.loads AS load WHERE status = 'loaded' AND landing IS NOT NULL
AND ($1 IS NULL OR list_contains($1, report)) AND ($2 IS NULL OR list_contains($2, customer))
AND (history OR EXISTS (FROM meta.months AS held WHERE held.load_id = load.load_id))
AND ($3 = false OR EXISTS (FROM meta.quarantine_rows AS bad WHERE bad.load_id = load.load_id))
ORDER BY fetched_at_utc, load_number
"""


def effective_loads(
    connection: DuckDBPyConnection,
    reports: Sequence[str] | None,
    customers: Sequence[str] | None,
    *,
    only_quarantined: bool,
) -> list[LandedLoad]:
    """The loads in force and every merged snapshot, oldest first."""
    names = list(LandedLoad.__dataclass_fields__)
    found = connection.execute(
        f"SELECT {', '.join(names)} {_NEEDED}",
        [
            None if reports is None else list(reports),
            None if customers is None else list(customers),
            only_quarantined,
        ],
    )
    return [
        LandedLoad(**{name: _from_file(value) for name, value in zip(names, row, strict=True)})
        for row in found.fetchall()
    ]


def _from_file(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return aware(value) if isinstance(value, datetime) else value


def aware(moment: datetime) -> datetime:
    """A moment of one of our _utc columns, with its time zone."""
    return moment.replace(tzinfo=UTC)
