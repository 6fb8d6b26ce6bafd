"""Due months: missing ones, and stored ones that a rule requests again on its day."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pipelines.catalogue.reports import report
from pipelines.months import Month, months_between
from pipelines.planning.due import (
    Calendar,
    Due,
    PlannedMonths,
    Rules,
    StoredMonths,
    months_in_scope,
    next_due_days,
    plan_months,
)
from pipelines.planning.selection import Selection
from warehouse.ledger.ledger import StoredMonth

TODAY = date(2026, 11, 21)
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 12)
LAST_NIGHT = datetime(2026, 11, 20, 4, tzinfo=UTC)
LONG_AGO = datetime(2026, 9, 30, 4, tzinfo=UTC)


def held_month(fetched_at_utc: datetime = LAST_NIGHT, state: str = "held") -> StoredMonth:
    return StoredMonth(fetched_at_utc, state)


def every_month_held(held: StoredMonth) -> dict[Month | None, StoredMonth]:
    return dict.fromkeys(months_between(Month(2024, 1), Month(2026, 11)), held)


def rules_of(name: str, today: date = TODAY, **more: Any) -> Rules:
    """The usual rules of a report."""
    declared, calendar = report(name), replace(CALENDAR, today=today)
    return replace(Rules(declared, calendar, declared.endpoint.window_months, offset=1), **more)


def wanted(held: StoredMonths, rules: Rules, max_changed_months: int | None = None) -> PlannedMonths:
    return plan_months(months_in_scope(rules.report, rules.calendar), held, rules, max_changed_months)


ALL_HELD = every_month_held(held_month())
HELD_LONG = every_month_held(held_month(LONG_AGO))
LEFT_OPEN = ALL_HELD | {Month(2024, 2): held_month(state="open")}
HELD_AHEAD: StoredMonths = dict.fromkeys(months_between(Month(2024, 1), Month(2027, 11)), held_month())
LATEST = ["2026-09", "2026-10", "2026-11"]
TO_COME = [str(month) for month in months_between(Month(2026, 12), Month(2027, 11))]
EVER = [str(month) for month in ALL_HELD]
WANTED: dict[str, tuple[str, StoredMonths, list[str]]] = {
    "a first sync requests every month from the start": ("sales", {}, EVER),
    "a usual night requests the current and the two previous months": ("sales", ALL_HELD, LATEST),
    "after two months without a night thirteen are requested": ("sales", HELD_LONG, EVER[-13:]),
    "a month that was left open is requested at any age": ("sales", LEFT_OPEN, ["2024-02", *LATEST]),
    "live commissions are requested for the latest three months only": ("live_commissions", {}, LATEST),
    "budgets are requested for future months too": ("budget_commission", ALL_HELD, LATEST + TO_COME),
    "future months are due every night": ("budget_crm", HELD_AHEAD, LATEST + TO_COME),
}


@pytest.mark.parametrize(("name", "held", "months"), WANTED.values(), ids=list(WANTED))
def test_requested_months(name: str, held: StoredMonths, months: list[str]) -> None:
    assert [str(month) for month in wanted(held, rules_of(name)).requested] == months


def test_refresh_requests_every_month() -> None:
    assert wanted(ALL_HELD, rules_of("sales", selection=Selection(refresh=True))).requested == tuple(ALL_HELD)


def nights(
    rules: Rules, first: date, count: int, *, skipped: Iterable[int] = (), held: StoredMonths | None = None
) -> list[PlannedMonths]:
    """The plans of `count` nights, if every month was loaded the night before the first."""
    before, asked = datetime.combine(first, time(2), CALENDAR.timezone) - timedelta(days=1), []
    if held is None:
        scope = months_in_scope(rules.report, replace(CALENDAR, today=first))
        held = {month: held_month(before) for month in scope}
    for number in {*range(count)} - {*skipped}:
        then = replace(CALENDAR, today=first + timedelta(days=number))
        asked.append(wanted(held, replace(rules, calendar=then)))
        held = {**held, **dict.fromkeys(asked[-1].requested, held_month(before + timedelta(days=number + 1)))}
    return asked


def times_asked(asked: list[PlannedMonths]) -> Counter[Month]:
    return Counter(month for night in asked for month in night.requested)


@pytest.mark.parametrize("name", ["commission_user", "running_commissions", "sales"])
@pytest.mark.parametrize("offset", [0, 11, 27])
def test_each_of_thirteen_months_is_requested_once_in_four_weeks(name: str, offset: int) -> None:
    asked = nights(rules_of(name, offset=offset), date(2026, 11, 1), 28)
    assert times_asked(asked) == dict.fromkeys(
        months_between(Month(2025, 11), Month(2026, 8)), 1
    ) | dict.fromkeys(months_between(Month(2026, 9), Month(2026, 11)), 28)


def test_months_that_one_request_covers_are_requested_on_the_same_night() -> None:
    asked = nights(rules_of("running_commissions"), date(2026, 11, 1), 28)
    groups = [night.due_for("monthly") for night in asked if night.due_for("monthly")]
    assert sorted(len(months) for months in groups) == [2, 2, 3, 3]


def test_months_due_on_missed_nights_are_requested_later() -> None:
    asked = nights(rules_of("commission_user"), date(2026, 11, 1), 28, skipped=range(3, 27))
    assert set(times_asked(asked)) == set(months_between(Month(2025, 11), Month(2026, 11)))


BY_MONTH = rules_of("office_budget_crm", offset=4)


def test_monthly_requests_of_a_budget_are_spread_over_a_week_and_those_for_older_months_over_four() -> None:
    asked = nights(BY_MONTH, date(2026, 11, 2), 28)
    assert times_asked(asked) == dict.fromkeys(
        months_between(Month(2025, 11), Month(2026, 8)), 1
    ) | dict.fromkeys(months_between(Month(2026, 9), Month(2027, 11)), 4)
    assert all(2 <= len(night.requested) <= 4 for night in asked)


def test_a_budget_with_few_months_is_still_requested_every_night() -> None:
    few = replace(BY_MONTH, calendar=replace(CALENDAR, months_ahead=0))
    assert all(night.due_for("weekly") for night in nights(few, date(2026, 11, 2), 7))


def test_a_day_begins_at_local_midnight() -> None:
    rules, march = rules_of("commission_user"), Month(2026, 3)
    following = rules.next_due(march, held_month(datetime(2026, 11, 21, 3, tzinfo=UTC)))
    assert following is not None
    on_the_day = replace(rules, calendar=replace(CALENDAR, today=following.day))
    midnight = datetime.combine(following.day, time(), CALENDAR.timezone)
    asked = [held_month(midnight + timedelta(minutes=minutes)) for minutes in (-1, 1)]
    assert [on_the_day.reason(march, one) for one in asked] == ["monthly", None]


def test_a_failed_month_is_due_at_any_age() -> None:
    may = Month(2024, 5)
    assert plan_months([may], ALL_HELD, replace(BY_MONTH, failed={may})).due_for("failed") == (may,)


def changed(held: StoredMonths, months: Iterable[Month], most: int) -> PlannedMonths:
    """The plan if sales of these months changed an hour after last night."""
    since = dict.fromkeys(months, LAST_NIGHT + timedelta(hours=1))
    return wanted(held, rules_of("sales", changed_at=since), most)


def test_a_month_is_requested_again_if_a_sale_changed_after_it_was_fetched() -> None:
    held = ALL_HELD | {Month(2025, 5): held_month(LAST_NIGHT + timedelta(hours=2))}
    found = changed(held, (Month(2025, 4), Month(2025, 5)), 9)
    assert (found.due_for("changed"), found.postponed) == ((Month(2025, 4),), ())


def test_the_oldest_changed_months_beyond_the_nightly_cap_are_postponed() -> None:
    months = tuple(months_between(Month(2025, 1), Month(2025, 4)))
    found = changed(ALL_HELD, months, 3)
    assert (found.due_for("changed"), found.postponed, found.not_requested) == (months[1:], months[:1], 29)


@pytest.mark.parametrize(
    ("name", "month", "rule"),
    [
        ("sales", Month(2026, 10), "nightly"),
        ("sales", Month(2026, 5), "monthly"),
        ("office_budget_crm", Month(2027, 5), "weekly"),
        ("sales", Month(2025, 11), "monthly"),  # and in December none of the thirteen latest
        ("sales", Month(2025, 10), None),
    ],
)
@pytest.mark.parametrize("offset", range(0, 28, 9))
def test_the_recorded_due_day_is_the_first_night_that_requests_the_month(
    name: str, month: Month, rule: str | None, offset: int
) -> None:
    held: StoredMonths = {month: held_month()}
    days = (TODAY + timedelta(days=number) for number in range(40))
    plans = ((day, plan_months([month], held, rules_of(name, day, offset=offset)).due) for day in days)
    first = next((Due(day, due[month]) for day, due in plans if due), None)
    assert next_due_days(held, rules_of(name, offset=offset)).get(month) == first
    assert first is None or first.reason in (rule, "nightly")
