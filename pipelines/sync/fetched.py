"""What was fetched? A window read whole, on its way from the landing into the tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report, StoredAs
from pipelines.months import Month
from pipelines.normalize.tables import Normalized
from pipelines.planning.windows import Window
from warehouse.window_result import WindowResult


@dataclass(frozen=True)
class Fetched:
    """A window of one report of one customer, flattened; its bytes rest in the landing file."""

    report: Report
    customer: str
    window: Window
    load_id: str
    run_id: str
    flat: Normalized
    landing: str
    sha256: str
    requests: int
    bytes: int
    seconds: float
    fetched_at_utc: datetime
    asked: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(table.height for table in self.flat.tables)

    @property
    def size(self) -> int:
        """Bytes of memory that its rows take."""
        return sum(table.size for table in self.flat.tables)


def load_of(fetched: Fetched, timezone: str) -> WindowResult:
    """The warehouse's own words for a fetched window."""
    return WindowResult(
        load_id=fetched.load_id,
        run_id=fetched.run_id,
        report=fetched.report.name,
        customer=fetched.customer,
        window_start=fetched.window.first,
        window_end=fetched.window.last,
        months=tuple(month.first_day for month in fetched.window.months),
        open_months=open_months(fetched.window, fetched.fetched_at_utc, timezone),
        history=fetched.report.stored_as is StoredAs.HISTORY,
        asked=fetched.asked,
        tables=fetched.flat.tables,
        rejected=fetched.flat.rejected,
        requests=fetched.requests,
        bytes=fetched.bytes,
        sha256=fetched.sha256,
        seconds=fetched.seconds,
        fetched_at_utc=fetched.fetched_at_utc,
        landing=fetched.landing,
        notes=fetched.notes,
        warnings=fetched.warnings,
    )


def open_months(window: Window, fetched_at_utc: datetime, timezone: str) -> frozenset[date]:
    """The months of a window that were not over when it was asked, or that it does not reach the end of."""
    asked_on = fetched_at_utc.astimezone(ZoneInfo(timezone)).date()
    reached = min(window.last, asked_on - timedelta(days=1)) if window.last else asked_on
    return frozenset(month.first_day for month in window.months if month.last_day > reached)


def rows_by_month(flat: Normalized, window: Window) -> dict[Month, int]:
    """How many rows each month of a window turned out to have, over all tables."""
    counts = dict.fromkeys(window.months, 0)
    for table in flat.tables:
        if "_month" in table.frame.columns:
            for day, number in table.frame["_month"].value_counts().iter_rows():
                if day is not None:
                    month = Month.of(day)
                    counts[month] = counts.get(month, 0) + number
    return counts
