"""What is fetched in a race? Which report, of how many customers and months, and in which windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from pipelines.months import Month

FIRST = Month(2016, 1)
MOST_MONTHS = 72
RUNNING = "/BusinessIntelligence/RunningCommissions"


@dataclass(frozen=True)
class Stage:
    """One report, asked in equal windows; every contestant asks for the same ones.

    `kind` says what the answers hold, `rows_of_item` how many rows of all tables come of one of them.
    """

    name: str
    kind: str
    report: str
    path: str
    months_of_window: int
    items_of_window: int
    customers: int
    windows_of_customer: int
    paged: bool = False
    page_size: int = 1000
    rows_of_item: int = 1

    @property
    def names(self) -> list[str]:
        """The customers."""
        return [f"C{number}" for number in range(1, self.customers + 1)]

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return self.items_of_window * self.customers * self.windows_of_customer * self.rows_of_item

    @property
    def requests(self) -> int:
        """Answers with rows."""
        pages = -(-self.items_of_window // self.page_size) if self.paged else 1
        return self.customers * self.windows_of_customer * pages

    @property
    def last(self) -> Month:
        """The last month of the last window."""
        return FIRST.plus(self.windows_of_customer * self.months_of_window - 1)

    def windows(self) -> Iterator[tuple[str, date, date]]:
        """Customer, first and last day of every request; of paged ones, of every first page."""
        for customer in self.names:
            for number in range(self.windows_of_customer):
                first = FIRST.plus(number * self.months_of_window)
                yield customer, first.first_day, first.plus(self.months_of_window - 1).last_day


def running(rows: int) -> Stage:
    """RunningCommissions: windows of two months with 20,000 rows each."""
    of_window = min(20_000, rows)
    customers, windows = _spread(-(-rows // of_window), MOST_MONTHS // 2)
    return Stage("running", "running", "running_commissions", RUNNING, 2, of_window, customers, windows)


def single(rows: int) -> Stage:
    """RunningCommissions in one answer, however large; 1,500,000 rows are 200 MB."""
    return Stage("single", "running", "running_commissions", RUNNING, 2, rows, 1, 1)


def small(rows: int) -> Stage:
    """RunningCommissions in many small windows of 200 rows: what is waited for is the service."""
    of_window = min(200, rows)
    customers, windows = _spread(-(-rows // of_window), MOST_MONTHS // 2)
    return Stage("small", "running", "running_commissions", RUNNING, 2, of_window, customers, windows)


def sales(estates: int) -> Stage:
    """The sales tree: windows of a year with at most 2,000 estates each."""
    of_window = min(2_000, estates)
    customers, windows = _spread(-(-estates // of_window), MOST_MONTHS // 12)
    path = "/BusinessIntelligence/GetSalesReport"
    return Stage("sales", "sales", "sales", path, 12, of_window, customers, windows, rows_of_item=6)


def leads(rows: int) -> Stage:
    """Tips and leads, page by page: windows of two months with at most 10,000 rows each."""
    of_window = min(10_000, rows)
    customers, windows = _spread(-(-rows // of_window), MOST_MONTHS // 2)
    path = "/BusinessIntelligence/TipsAndLeads/Report/Paged"
    return Stage("leads", "leads", "tips_and_leads", path, 2, of_window, customers, windows, paged=True)


STAGES: Mapping[str, Callable[[int], Stage]] = {
    "running": running,
    "sales": sales,
    "leads": leads,
    "single": single,
    "small": small,
}


def _spread(windows: int, of_customer: int) -> tuple[int, int]:
    """So many customers with so many windows each: at least as many as wanted."""
    customers = -(-windows // of_customer)
    return customers, -(-windows // customers)
