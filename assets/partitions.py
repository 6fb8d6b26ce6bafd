"""Which squares are there? Every customer of the settings, and every month since the start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import dagster as dg

from pipelines.months import Month

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

CUSTOMER = "customer"
MONTH = "month"


def customer_months(settings: Settings, customers: Sequence[str]) -> dg.MultiPartitionsDefinition:
    """One square for each customer and month up to the current one, in the brokerage's time."""
    return dg.MultiPartitionsDefinition(
        {CUSTOMER: dg.StaticPartitionsDefinition(list(customers)), MONTH: _months(settings)}
    )


def customers_in_order(settings: Settings, former: Iterable[str] = ()) -> list[str]:
    """The customers that are asked, those switched off, and those of whom only data is left.

    Those that are asked come first, so that one range of squares holds exactly them.
    """
    active = [customer.id for customer in settings.customers if customer.active]
    known = {customer.id for customer in settings.customers}
    resting = [customer.id for customer in settings.customers if not customer.active]
    return [*active, *resting, *sorted(set(former) - known)]


def key_of(customer: str, month: Month) -> str:
    """The partition key of a square."""
    return str(dg.MultiPartitionKey({CUSTOMER: customer, MONTH: str(month)}))


def square_of(key: str) -> tuple[str, Month]:
    """Customer and month of a partition key."""
    customer, _, month = key.partition("|")
    return customer, Month.parse(month)


def _months(settings: Settings) -> dg.MonthlyPartitionsDefinition:
    """The months from the start to the current one, or to the day it is said to be in a rehearsal."""
    now = Month.of(datetime.now(UTC).astimezone(ZoneInfo(settings.timezone)).date())
    last = Month.of(settings.today) if settings.today else now
    ahead = (last.year - now.year) * 12 + last.number - now.number
    return dg.MonthlyPartitionsDefinition(
        start_date=str(settings.start),
        end_date=str(last.plus(1)) if ahead < 0 else None,
        fmt="%Y-%m",
        timezone=settings.timezone,
        end_offset=1 + max(ahead, 0),
    )
