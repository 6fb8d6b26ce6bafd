"""Due months: which months of a report are missing, still open, or to be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
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

    def age(self, month: Month) -> int:
        """How many months ago it was; negative for one to come."""
        return (self.this_month.year - month.year) * 12 + self.this_month.number - month.number


@dataclass(frozen=True)
class Rhythm:
    """When the months of one report of one customer have their turn, where not all are asked every night.

    `place` shifts the turns, so that reports and customers have theirs on different nights. `by_turns` is
    for a report of which a request covers one month: then only the first `nightly` months from the current
    one on are asked every night, the others of the latest and those to come once a week, and any month as
    soon as something else has `changed` that tells of it.
    """

    place: int = 0
    by_turns: bool = False
    nightly: int = 0
    changed: Mapping[Month, datetime] = field(default_factory=dict)

    def turn_of_week(self, month: Month, calendar: Calendar) -> date:
        """The latest day, until today, on which the month had its weekly turn; no night is without one."""
        days = min(DAYS_OF_WEEK, calendar.due_months + calendar.months_ahead)
        since = (calendar.today.toordinal() - _number(month) - self.place) % days
        return calendar.today - timedelta(days=since)

    def turn_of_month(self, month: Month, together: int, calendar: Calendar) -> date:
        """The latest day, until today, on which the month had its turn of every calendar month.

        Neighbours that one request covers, `together` of them, have it on the same day.
        """
        first = _number(month) - _number(month) % together
        day = 1 + (first * DAYS_BETWEEN_MONTHS + self.place * DAYS_BETWEEN_PLACES) % DAYS_OF_SHORTEST_MONTH
        in_month = calendar.this_month if calendar.today.day >= day else calendar.this_month.plus(-1)
        return in_month.first_day + timedelta(days=day - 1)


DAYS_OF_WEEK = 7
DAYS_OF_SHORTEST_MONTH = 28
DAYS_BETWEEN_MONTHS, DAYS_BETWEEN_PLACES = 5, 3
"""From one turn of the month to the next, of a month and of a report. No other pair spreads the turns of the
catalogue better: at most five requests of a night are such turns, or seven where budgets have no months."""
USUAL = Rhythm()


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


def _can_wait(month: Month, calendar: Calendar, rhythm: Rhythm) -> bool:
    """Whether a month that has just come into reach may wait for its first turn, within a week."""
    is_new = rhythm.by_turns and month == calendar.this_month.plus(calendar.months_ahead)
    return is_new and rhythm.turn_of_week(month, calendar) < calendar.this_month.first_day


@dataclass(frozen=True)
class Wanted:
    """The months to ask for, by why, and how many are left alone because they are held.

    `changed` are those of the months due that are asked only because a sale of theirs was changed, and
    `postponed` more of that kind than one night asks for. `followed` are those that are asked because
    another answer has changed, `older` those that have their turn of the month.
    """

    missing: tuple[Month, ...]
    due: tuple[Month, ...]
    left: int
    changed: tuple[Month, ...] = ()
    postponed: tuple[Month, ...] = ()
    followed: tuple[Month, ...] = ()
    older: tuple[Month, ...] = ()

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
    followed: list[Month] = []
    older: list[Month] = []
    left = 0
    for month in scope:
        known = held.get(month)
        if known is None:
            if refresh or not held or not _can_wait(month, calendar, rhythm):
                missing.append(month)
        elif refresh or _is_due_every_night(month, known, report, calendar, rhythm):
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
    )
