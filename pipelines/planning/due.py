"""Due months: which months of a report are missing, still open, or to be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.months import Month, months_between
from warehouse.ledger import HeldMonth

NO_CHANGES: Mapping[Month, datetime] = {}

HeldMonths = Mapping[Month | None, HeldMonth]
"""What is held of one report of one customer; a report without months is held under None."""


@dataclass(frozen=True)
class Calendar:
    """Today, and how far back and ahead of it a sync looks; months in the brokerage's local time."""

    today: date
    start: Month
    timezone: ZoneInfo
    due_months: int
    due_months_monthly: int
    months_ahead: int

    @cached_property
    def this_month(self) -> Month:
        return Month.of(self.today)


def months_in_scope(report: Report, calendar: Calendar) -> Iterator[Month]:
    """Every month the report may be asked for at all.

    Months to come are never asked, budgets aside; a report that the service calculates only for its
    latest months (interface, Limits: LiveData/CommissionReport) is not asked for older ones.
    """
    first, last = calendar.start, calendar.this_month
    if report.latest_months is not None:
        first = max(first, last.plus(1 - report.latest_months))
    if report.months_ahead:
        last = last.plus(calendar.months_ahead)
    return months_between(first, last)


def is_due(month: Month, held: HeldMonth, report: Report, calendar: Calendar) -> bool:
    """Whether a held month is to be asked again because it may have changed since.

    The latest months always are, a month that was not over when it was last asked is, and so is, once
    in every calendar month, each of the thirteen latest: found by when it was last asked, so that nights
    without a run need nothing special.
    """
    age = (calendar.this_month.year - month.year) * 12 + calendar.this_month.number - month.number
    if age < 0:
        return report.months_ahead
    if age < calendar.due_months or held.state == "open":
        return True
    asked_in = Month.of(held.fetched_at_utc.astimezone(calendar.timezone).date())
    return age < calendar.due_months_monthly and asked_in < calendar.this_month


@dataclass(frozen=True)
class Wanted:
    """The months to ask for, by why, and how many are left alone because they are held.

    `changed` are those of the months due that are asked only because a sale of theirs was changed;
    `postponed` are more of that kind than one night asks for.
    """

    missing: tuple[Month, ...]
    due: tuple[Month, ...]
    left: int
    changed: tuple[Month, ...] = ()
    postponed: tuple[Month, ...] = ()

    @property
    def months(self) -> tuple[Month, ...]:
        return tuple(sorted((*self.missing, *self.due)))


def wanted_months(
    scope: Iterable[Month],
    held: HeldMonths,
    report: Report,
    calendar: Calendar,
    *,
    refresh: bool = False,
    changed_since: Mapping[Month, datetime] = NO_CHANGES,
    most_changed: int = 0,
) -> Wanted:
    """Sort the months in scope into missing, due, and held well enough to be left alone.

    `changed_since` says since when a month is to be read again because a sale of it was changed;
    `most_changed` is how many such months one night asks for, the latest first: an answer that names
    everything must not turn a night into a backfill.
    """
    missing: list[Month] = []
    due: list[Month] = []
    changed: list[Month] = []
    left = 0
    for month in scope:
        known = held.get(month)
        if known is None:
            missing.append(month)
        elif refresh or is_due(month, known, report, calendar):
            due.append(month)
        elif month in changed_since and known.fetched_at_utc < changed_since[month]:
            changed.append(month)
        else:
            left += 1
    taken = sorted(sorted(changed, reverse=True)[:most_changed])
    postponed = tuple(month for month in changed if month not in taken)
    return Wanted(
        tuple(missing), tuple(sorted((*due, *taken))), left + len(postponed), tuple(taken), postponed
    )
