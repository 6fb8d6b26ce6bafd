"""Stages of a race: which report is fetched, of how many customers and months, and in which windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from pipelines.months import Month

FIRST = Month(2016, 1)
MOST_MONTHS = 72


@dataclass(frozen=True)
class Kind:
    """What answers hold; `rows_of_item` is how many rows of all tables come of one of their items."""

    report: str
    path: str
    months_of_window: int = 3
    rows_of_item: int = 1


KINDS = {
    "running": Kind("running_commissions", "RunningCommissions"),
    "sales": Kind("sales", "GetSalesReport", months_of_window=12, rows_of_item=6),
}


@dataclass(frozen=True)
class StageOption:
    """An option of `make bench`: how many items are fetched by default, and at most in one window.

    One row more than a round number: answers of a round number are requested in halves once.
    """

    kind: str
    default: int
    items_of_window: int
    help: str


OPTIONS: Mapping[str, StageOption] = {
    "running": StageOption("running", 480_000, 20_001, "rows of RunningCommissions, 20,000 a window"),
    "running-40k": StageOption("running", 480_000, 40_001, "the same, 40,000 a window"),
    "running-150k": StageOption("running", 600_000, 150_001, "the same, 150,000 a window"),
    "sales": StageOption("sales", 32_000, 2_000, "estates in the sales tree, 2,000 a window"),
}


@dataclass(frozen=True)
class Stage:
    """One report, asked in equal windows: every contestant asks for the same ones."""

    name: str
    kind: Kind
    items_of_window: int
    customers: int
    windows_of_customer: int

    @classmethod
    def of(cls, name: str, size: int) -> Stage:
        """A stage of at least so many items."""
        option = OPTIONS[name]
        of_window = min(option.items_of_window, size)
        windows, kind = -(-size // of_window), KINDS[option.kind]
        customers = -(-windows // (MOST_MONTHS // kind.months_of_window))
        return cls(name, kind, of_window, customers, -(-windows // customers))

    @property
    def answers_as(self) -> str:
        return OPTIONS[self.name].kind

    @property
    def names(self) -> list[str]:
        """The customers."""
        return [f"C{number}" for number in range(1, self.customers + 1)]

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return self.items_of_window * self.customers * self.windows_of_customer * self.kind.rows_of_item

    @property
    def path(self) -> str:
        return f"/BusinessIntelligence/{self.kind.path}"

    @property
    def last(self) -> Month:
        """The last month of the last window."""
        return FIRST.plus(self.windows_of_customer * self.kind.months_of_window - 1)

    def windows(self) -> Iterator[tuple[str, date, date]]:
        """Customer, first and last day of every request."""
        for customer in self.names:
            for number in range(self.windows_of_customer):
                first = FIRST.plus(number * self.kind.months_of_window)
                yield customer, first.first_day, first.plus(self.kind.months_of_window - 1).last_day
