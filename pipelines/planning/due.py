"""Due months: which months of a report are missing, still open, or to be asked again."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Literal
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.months import Month, months_between
from warehouse.ledger import HeldMonth

NO_CHANGES: Mapping[Month, datetime] = {}

HeldMonths = Mapping[Month | None, HeldMonth]
"""What is held of one report of one customer; a report without months is held under None."""
MayWait = Literal[
    "none",
    "to come",  # months to come, after the next two
    "all",  # every month that has turns, but for the current and the next two
]
"""Which months that were never read may wait for their first turn, of a report that is asked by turns."""


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

    def age(self, month: Month) -> int:
        """How many months ago it was; negative for one to come."""
        return (self.this_month.year - month.year) * 12 + self.this_month.number - month.number


@dataclass(frozen=True)
class Rhythm:
    """When the months of one report of one customer have their turn, where not all are asked every night.

    `place` and `shift` are those of the report and the customer: they have their turns on different nights.
    `by_turns` is for a report of which a request covers one month: then only the first `nightly` months from
    the current one on are asked every night, the others of the latest and those to come once a week, and any
    month as soon as something else has `changed` that tells of it. `may_wait` says which months that were
    never read need not be asked before their first turn.
    """

    place: int = 0
    shift: int = 0
    by_turns: bool = False
    nightly: int = 0
    changed: Mapping[Month, datetime] = field(default_factory=dict)
    may_wait: MayWait = "none"

    def turn_of_week(self, month: Month, calendar: Calendar) -> date:
        """The latest day, until today, on which the month had its weekly turn; no night is without one."""
        days = _days_between_weekly_turns(calendar)
        since = (calendar.today.toordinal() - _number(month) - self.place - self.shift) % days
        return calendar.today - timedelta(days=since)

    def turn_of_month(self, month: Month, together: int, calendar: Calendar) -> date:
        """The latest day, until today, on which the month had its turn of every calendar month."""
        day = self._day_of_month(month, together, calendar)
        in_month = calendar.this_month if calendar.today.day >= day else calendar.this_month.plus(-1)
        return in_month.first_day + timedelta(days=day - 1)

    def first_turn(self, month: Month, held: HeldMonths, calendar: Calendar) -> date | None:
        """The day until which a month that is not held waits; None if it is to be asked for now.

        It waits from the day on which anything of the report was first read, or on which it came into reach.
        """
        if not self.lets_wait(month, calendar):
            return None
        read = (one.fetched_at_utc.astimezone(calendar.timezone).date() for one in held.values())
        since = max(min(read, default=calendar.today), month.plus(-calendar.months_ahead).first_day)
        if calendar.age(month) < calendar.due_months:
            latest = self.turn_of_week(month, calendar)
            following = latest + timedelta(days=_days_between_weekly_turns(calendar))
        else:
            latest = self.turn_of_month(month, 1, calendar)
            following = latest.replace(day=1) + timedelta(days=DAYS_OF_LONGEST_MONTH)
            following = following.replace(day=latest.day)
        return following if latest < since else None

    def lets_wait(self, month: Month, calendar: Calendar) -> bool:
        """Whether a month need not be asked before its first turn."""
        age = calendar.age(month)
        if self.may_wait == "none" or 0 <= -age < MONTHS_WITHOUT_DELAY:
            return False
        return age < (calendar.due_months_monthly if self.may_wait == "all" else 0)

    def _day_of_month(self, month: Month, together: int, calendar: Calendar) -> int:
        """The day of every calendar month that is the month's turn.

        The months that have such turns are neighbours, so counted in rounds of as many they are spread evenly
        over the days. Neighbours that one request covers, `together` of them, have the same day; `turns` is
        in how many such groups the months may lie.
        """
        older = calendar.due_months_monthly - calendar.due_months
        turns = max(1 + math.ceil((older - 1) / together), 1)
        position = _number(month) // together / turns + self.place * SHARE_BETWEEN_PLACES
        return 1 + (int(position % 1 * DAYS_OF_SHORTEST_MONTH) + self.shift) % DAYS_OF_SHORTEST_MONTH


DAYS_OF_WEEK = 7
DAYS_OF_SHORTEST_MONTH, DAYS_OF_LONGEST_MONTH = 28, 31
MONTHS_WITHOUT_DELAY = 3
"""The current month of a budget and the next two."""
SHARE_BETWEEN_PLACES = 0.534
"""Of the days of a month, from the turns of one report to those of the next: found by trial for the catalogue
as it is (`test_due.py` says when another fits better)."""
USUAL = Rhythm()


def _days_between_weekly_turns(calendar: Calendar) -> int:
    return min(DAYS_OF_WEEK, calendar.due_months + calendar.months_ahead)


def _number(month: Month) -> int:
    """Months since the beginning of the calendar; that of a January is a multiple of 12."""
    return month.year * 12 + month.number - 1


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


def is_due(month: Month, held: HeldMonth, report: Report, calendar: Calendar, rhythm: Rhythm = USUAL) -> bool:
    """Whether a held month is to be asked again because it may have changed since.

    The latest months always are, unless the rhythm gives them turns, and so are a month that was not over
    when it was last asked and one that something else has changed of. Once in every calendar month each of
    the thirteen latest has its turn. Whether a turn was missed is found by when the month was last asked,
    so that nights without a run need nothing special.
    """
    return _is_due_every_night(month, held, report, calendar, rhythm) or _has_its_turn(
        month, held, report, calendar, rhythm
    )


def _is_due_every_night(
    month: Month, held: HeldMonth, report: Report, calendar: Calendar, rhythm: Rhythm
) -> bool:
    age = calendar.age(month)
    if rhythm.by_turns:
        return 0 <= -age < rhythm.nightly or _has_changed(month, held, rhythm)
    return report.months_ahead if age < 0 else age < calendar.due_months or held.state == "open"


def _has_changed(month: Month, held: HeldMonth, rhythm: Rhythm) -> bool:
    return month in rhythm.changed and held.fetched_at_utc < rhythm.changed[month]


def _has_its_turn(month: Month, held: HeldMonth, report: Report, calendar: Calendar, rhythm: Rhythm) -> bool:
    """Whether the month's turn of the week or the month has come since it was last asked."""
    age, asked_on = calendar.age(month), held.fetched_at_utc.astimezone(calendar.timezone).date()
    if age < calendar.due_months:
        return rhythm.by_turns and asked_on < rhythm.turn_of_week(month, calendar)
    is_watched = age < calendar.due_months_monthly
    together = 1 if rhythm.by_turns else report.max_months
    return is_watched and asked_on < rhythm.turn_of_month(month, together, calendar)


@dataclass(frozen=True)
class Wanted:
    """The months to ask for, by why, and how many are left alone because they are held.

    `changed` are those of the months due that are asked only because a sale of theirs was changed, and
    `postponed` more of that kind than one night asks for. `followed` are those that are asked because
    another answer has changed, `older` those that have their turn of the month, and those that have waited
    for their first turn. `waiting` are missing months that are not asked yet, each with the day of its turn.
    """

    missing: tuple[Month, ...]
    due: tuple[Month, ...]
    left: int
    changed: tuple[Month, ...] = ()
    postponed: tuple[Month, ...] = ()
    followed: tuple[Month, ...] = ()
    older: tuple[Month, ...] = ()
    waiting: Mapping[Month, date] = field(default_factory=dict)

    @property
    def months(self) -> tuple[Month, ...]:
        return tuple(sorted((*self.missing, *self.due)))


def wanted_months(
    scope: Iterable[Month],
    held: HeldMonths,
    report: Report,
    calendar: Calendar,
    *,
    rhythm: Rhythm = USUAL,
    refresh: bool = False,
    failed: Collection[Month] = (),
    changed_since: Mapping[Month, datetime] = NO_CHANGES,
    most_changed: int = 0,
) -> Wanted:
    """Sort the months in scope into missing, due, and held well enough to be left alone.

    `changed_since` says since when a month is to be read again because a sale of it was changed;
    `most_changed` is how many such months one night asks for, the latest first: an answer that names
    everything must not turn a night into a backfill. `failed` are asked again, however old and whether or not
    they are held.
    """
    missing: list[Month] = []
    due: list[Month] = []
    changed: list[Month] = []
    followed: list[Month] = []
    older: list[Month] = []
    waiting: dict[Month, date] = {}
    left = 0
    for month in scope:
        known = held.get(month)
        if known is None:
            if turn := None if refresh or month in failed else rhythm.first_turn(month, held, calendar):
                waiting[month] = turn
                continue
            missing.append(month)
            if held and rhythm.lets_wait(month, calendar):
                older.append(month)
        elif refresh or month in failed or _is_due_every_night(month, known, report, calendar, rhythm):
            due.append(month)
            if _has_changed(month, known, rhythm):
                followed.append(month)
        elif _has_its_turn(month, known, report, calendar, rhythm):
            due.append(month)
            if calendar.age(month) >= calendar.due_months:
                older.append(month)
        elif month in changed_since and known.fetched_at_utc < changed_since[month]:
            changed.append(month)
        else:
            left += 1
    taken = sorted(sorted(changed, reverse=True)[:most_changed])
    postponed = tuple(month for month in changed if month not in taken)
    return Wanted(
        tuple(missing),
        tuple(sorted((*due, *taken))),
        left + len(postponed),
        tuple(taken),
        postponed,
        tuple(followed),
        tuple(older),
        waiting,
    )
