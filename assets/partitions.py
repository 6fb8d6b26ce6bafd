"""Partitions of the monthly reports: one for each customer and month since BROKERBI_START."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import dagster as dg

from pipelines.catalogue.model import Report
from pipelines.months import Month, months_between
from pipelines.planning.due import Calendar
from pipelines.planning.selection import Pair
from pipelines.settings.model import Settings

CUSTOMER = "customer"
MONTH = "month"


def customer_months(settings: Settings, customers: Sequence[str]) -> dg.MultiPartitionsDefinition:
    """One partition for each customer and month up to the current month in the brokerage's time zone.

    BROKERBI_TODAY, if set, stands for the current day.
    """
    now = Month.of(datetime.now(UTC).astimezone(ZoneInfo(settings.timezone)).date())
    last = Month.of(settings.today) if settings.today else now
    months = dg.MonthlyPartitionsDefinition(
        str(settings.start), fmt="%Y-%m", timezone=settings.timezone, end_offset=1 + last.since(now)
    )
    return dg.MultiPartitionsDefinition(
        {CUSTOMER: dg.StaticPartitionsDefinition(list(customers)), MONTH: months}
    )


def customers_in_order(settings: Settings) -> list[str]:
    """Ids of active, then of inactive customers, so that one range of partitions covers all active ones."""
    return [customer.id for customer in sorted(settings.customers, key=lambda customer: not customer.active)]


def partition_key(customer: str, month: Month) -> str:
    """The partition key of a customer and month."""
    return str(dg.MultiPartitionKey({CUSTOMER: customer, MONTH: str(month)}))


def parse_partition_key(key: str) -> tuple[str, Month]:
    """The customer and month of a partition key."""
    customer, _, month = key.partition("|")
    return customer, Month.parse(month)


@dataclass(frozen=True, slots=True)
class ReportPartition:
    """One month of one report of one customer; `month` is None if the report has no months."""

    report: Report
    customer: str
    month: Month | None

    @property
    def key(self) -> str | None:
        """The partition key; None if the report has no months."""
        return partition_key(self.customer, self.month) if self.month else None

    @property
    def pair(self) -> Pair:
        return (self.report.name, self.customer)

    def ledger_keys(self, calendar: Calendar) -> list[tuple[str, str, date | None]]:
        """The ledger keys of the partition's months: report, customer, and first day of the month.

        The day is None if the report has no months. For a budget report, the partition of the current month
        also covers the future months.
        """
        if self.month is None:
            return [(*self.pair, None)]
        has_more = self.report.timing.months_ahead and self.month == calendar.this_month
        last = self.month.plus(calendar.months_ahead) if has_more else self.month
        return [(*self.pair, month.first_day) for month in months_between(self.month, last)]
