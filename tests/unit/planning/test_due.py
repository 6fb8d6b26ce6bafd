"""Due months: those missing, open, or to be asked again."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from pipelines.catalogue.reports import REPORTS, report
from pipelines.months import Month, months_between
from pipelines.planning.due import (
    Calendar,
    HeldMonths,
    MayWait,
    Rhythm,
    Wanted,
    months_in_scope,
    wanted_months,
)
from warehouse.ledger import HeldMonth

TODAY = date(2026, 11, 21)
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 13, 12)
LAST_NIGHT = datetime(2026, 11, 20, 4, tzinfo=UTC)
LONG_AGO = datetime(2026, 9, 30, 4, tzinfo=UTC)


def held_month(fetched_at_utc: datetime = LAST_NIGHT, state: str = "held") -> HeldMonth:
    return HeldMonth(fetched_at_utc, state)


def every_month_held(held: HeldMonth) -> dict[Month | None, HeldMonth]:
    return dict.fromkeys(months_between(Month(2024, 1), Month(2026, 11)), held)


def wanted(held: HeldMonths, *, name: str = "sales", refresh: bool = False) -> Wanted:
    one = report(name)
    return wanted_months(months_in_scope(one, CALENDAR), held, one, CALENDAR, refresh=refresh)


ALL_HELD = every_month_held(held_month())
HELD_LONG = every_month_held(held_month(LONG_AGO))
LEFT_OPEN = ALL_HELD | {Month(2024, 2): held_month(state="open")}
HELD_AHEAD: HeldMonths = dict.fromkeys(months_between(Month(2024, 1), Month(2027, 11)), held_month())
LATEST = ["2026-09", "2026-10", "2026-11"]
TO_COME = [str(month) for month in months_between(Month(2026, 12), Month(2027, 11))]
EVER = [str(month) for month in ALL_HELD]
WANTED: dict[str, tuple[str, HeldMonths, list[str]]] = {
    "a first sync wants every month from the start": ("sales", {}, EVER),
    "a usual night wants the current and the two previous months": ("sales", ALL_HELD, LATEST),
    "after two months without a night thirteen are wanted": ("sales", HELD_LONG, EVER[-13:]),
    "a month that was left open is wanted however old it is": ("sales", LEFT_OPEN, ["2024-02", *LATEST]),
    "live commissions are never asked beyond the latest three months": ("live_commissions", {}, LATEST),
    "budgets are asked for months to come": ("budget_commission", ALL_HELD, LATEST + TO_COME),
    "budgets of users and offices as well": ("office_budget_crm", ALL_HELD, LATEST + TO_COME),
    "months to come are due every night": ("budget_crm", HELD_AHEAD, LATEST + TO_COME),
}


@pytest.mark.parametrize(("name", "held", "months"), WANTED.values(), ids=list(WANTED))
def test_the_months_that_are_wanted(name: str, held: HeldMonths, months: list[str]) -> None:
    assert [str(month) for month in wanted(held, name=name).months] == months


def test_refresh_wants_everything() -> None:
    assert wanted(ALL_HELD, refresh=True).months == tuple(ALL_HELD)


def nights(
    name: str, rhythm: Rhythm, first: date, count: int, *, skipped: Iterable[int] = ()
) -> list[tuple[Month, ...]]:
    """What each of so many nights asks for, when everything was held the night before the first."""
    one, asked = report(name), []
    before = datetime.combine(first, time(2), ZoneInfo("Europe/Stockholm")) - timedelta(days=1)
    held: dict[Month | None, HeldMonth] = {
        month: held_month(before) for month in months_in_scope(one, replace(CALENDAR, today=first))
    }
    for number in range(count):
        if number not in skipped:
            then = replace(CALENDAR, today=first + timedelta(days=number))
            months = wanted_months(months_in_scope(one, then), held, one, then, rhythm=rhythm).months
            held |= dict.fromkeys(months, held_month(before + timedelta(days=number + 1)))
            asked.append(months)
    return asked


def times_asked(asked: list[tuple[Month, ...]]) -> Counter[Month]:
    return Counter(month for months in asked for month in months)


@pytest.mark.parametrize("name", ["commission_user", "running_commissions", "sales"])
@pytest.mark.parametrize("place", [0, 11, 27])
def test_each_of_thirteen_months_has_its_turn_once_in_a_calendar_month(name: str, place: int) -> None:
    asked = nights(name, Rhythm(place), date(2026, 11, 1), 30)
    assert times_asked(asked) == dict.fromkeys(
        months_between(Month(2025, 11), Month(2026, 8)), 1
    ) | dict.fromkeys(months_between(Month(2026, 9), Month(2026, 11)), 30)


@pytest.mark.parametrize(("budgets_have_months", "most"), [(True, 4), (False, 5)])
def test_few_requests_of_a_night_are_turns_of_a_month(budgets_have_months: bool, most: int) -> None:
    """Where a new report makes this fail, look for a SHARE_BETWEEN_PLACES that fits better."""
    for number in range(1, 13):
        then, requests = replace(CALENDAR, today=date(2026, number, 28)), set[tuple[date, str, int]]()
        for one in (one for one in REPORTS.values() if one.enabled and one.has_months):
            by_turns = one.by_turns and not budgets_have_months
            rhythm, together = Rhythm(one.turn, by_turns=by_turns), 1 if by_turns else one.max_months
            for month in months_in_scope(one, then):
                if then.due_months <= then.age(month) < then.due_months_monthly:
                    day = rhythm.turn_of_month(month, together, then)
                    requests.add((day, one.name, (month.year * 12 + month.number - 1) // together))
        assert max(Counter(day for day, _, _ in requests).values()) <= most


def test_turns_of_a_month_that_fall_into_missed_nights_are_made_up_for() -> None:
    asked = nights("commission_user", Rhythm(5), date(2026, 11, 1), 30, skipped=range(3, 29))
    assert set(times_asked(asked)) == set(months_between(Month(2025, 11), Month(2026, 11)))


BY_TURNS = Rhythm(4, by_turns=True, nightly=3, may_wait="to come")
LATEST_BUDGETS = set(months_between(Month(2026, 9), Month(2027, 11)))


def test_a_budget_is_asked_within_a_week_and_the_current_and_the_next_two_months_every_night() -> None:
    asked = nights("office_budget_crm", BY_TURNS, date(2026, 11, 4), 7)
    found = times_asked(asked)
    assert {month for month in found if found[month] == 7} == set(
        months_between(Month(2026, 11), Month(2027, 1))
    )
    assert set(found) >= LATEST_BUDGETS
    assert max(len(months) for months in asked) <= 7


def test_a_budget_that_follows_its_twin_is_asked_for_something_every_night() -> None:
    asked = nights("office_budget_crm", Rhythm(by_turns=True), date(2026, 11, 4), 7)
    assert all(1 <= len(months) <= 4 for months in asked)


def test_the_month_that_comes_into_reach_waits_for_its_turn_of_the_week() -> None:
    asked = nights("office_budget_crm", BY_TURNS, date(2026, 11, 30), 9)
    assert [Month(2027, 12) in months for months in asked[1:]].count(True) == 1


def test_months_that_were_never_read_are_read_once_each_by_their_first_turn() -> None:
    one, held, first_read = report("office_budget_crm"), dict[Month | None, HeldMonth](), Counter[Month]()
    rhythm = Rhythm(4, by_turns=True, nightly=3, may_wait="all")
    for number in range(31):
        then = replace(CALENDAR, today=TODAY + timedelta(days=number))
        found = wanted_months(months_in_scope(one, then), held, one, then, rhythm=rhythm)
        first_read.update(found.missing)
        late = [month for month, day in found.waiting.items() if day <= then.today]
        assert (late, set(found.waiting) & set(found.months)) == ([], set())
        held |= dict.fromkeys(found.months, held_month(LAST_NIGHT + timedelta(days=number + 1)))
    assert first_read == dict.fromkeys(months_between(Month(2024, 1), Month(2027, 12)), 1)


@pytest.mark.parametrize(("may_wait", "at_once"), [("none", 47), ("to come", 39), ("all", 29)])
def test_what_may_wait_is_not_part_of_a_first_sync(may_wait: MayWait, at_once: int) -> None:
    one = report("office_budget_crm")
    rhythm = Rhythm(4, by_turns=True, nightly=3, may_wait=may_wait)
    found = wanted_months(months_in_scope(one, CALENDAR), {}, one, CALENDAR, rhythm=rhythm)
    assert len(found.missing) == at_once


def test_a_budget_that_something_else_tells_a_change_of_is_asked_at_once() -> None:
    one, changed = report("office_budget_crm"), {Month(2027, 6): LAST_NIGHT + timedelta(hours=1)}
    rhythm = Rhythm(by_turns=True, changed=changed)
    found = wanted_months(months_in_scope(one, CALENDAR), HELD_AHEAD, one, CALENDAR, rhythm=rhythm)
    assert found.followed == (Month(2027, 6),)


def test_a_turn_counts_from_local_midnight() -> None:
    turn = Rhythm().turn_of_month(Month(2026, 3), 1, CALENDAR)
    midnight = datetime.combine(turn, time(), ZoneInfo("Europe/Stockholm"))
    for minutes, is_wanted in ((-1, True), (1, False)):
        held = ALL_HELD | {Month(2026, 3): held_month(midnight + timedelta(minutes=minutes))}
        assert (Month(2026, 3) in wanted(held, name="commission_user").months) is is_wanted


@pytest.mark.parametrize("held", [ALL_HELD, {}], ids=["held from before", "never held"])
def test_a_month_that_failed_is_due_however_old_it_is_and_waits_for_no_turn(held: HeldMonths) -> None:
    one, may = report("office_budget_crm"), Month(2026, 5)
    rhythm = Rhythm(4, by_turns=True, nightly=3, may_wait="all")
    found = wanted_months([may], held, one, CALENDAR, rhythm=rhythm, failed={may})
    assert found.months == (may,)


def changed(held: HeldMonths, months: Iterable[Month], most: int) -> Wanted:
    """What is wanted when sales of these months were changed an hour after last night."""
    one, since = report("sales"), dict.fromkeys(months, LAST_NIGHT + timedelta(hours=1))
    scope = months_in_scope(one, CALENDAR)
    return wanted_months(scope, held, one, CALENDAR, changed_since=since, most_changed=most)


def test_a_month_read_before_a_sale_of_it_was_changed_is_wanted() -> None:
    held = ALL_HELD | {Month(2025, 5): held_month(LAST_NIGHT + timedelta(hours=2))}
    found = changed(held, (Month(2025, 4), Month(2025, 5)), 9)
    assert (found.changed, found.postponed) == ((Month(2025, 4),), ())


def test_more_changed_months_than_a_night_asks_for_are_postponed_the_oldest_first() -> None:
    months = tuple(months_between(Month(2025, 1), Month(2025, 4)))
    found = changed(ALL_HELD, months, 3)
    assert (found.changed, found.postponed, found.left) == (months[1:], months[:1], 29)
