"""Due months: those missing, open, or to be asked again."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pipelines.catalogue.reports import report
from pipelines.months import Month, months_between
from pipelines.planning.due import Calendar, HeldMonths, Wanted, months_in_scope, wanted_months
from warehouse.ledger import HeldMonth

TODAY = date(2026, 11, 21)
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 13, 12)
LAST_NIGHT = datetime(2026, 11, 20, 4, tzinfo=UTC)
LAST_MONTH = datetime(2026, 10, 31, 4, tzinfo=UTC)


def held_month(fetched_at_utc: datetime = LAST_NIGHT, state: str = "held") -> HeldMonth:
    return HeldMonth(fetched_at_utc, state)


def every_month_held(held: HeldMonth) -> dict[Month | None, HeldMonth]:
    return dict.fromkeys(months_between(Month(2024, 1), Month(2026, 11)), held)


def wanted(held: HeldMonths, *, name: str = "sales", refresh: bool = False) -> Wanted:
    one = report(name)
    return wanted_months(months_in_scope(one, CALENDAR), held, one, CALENDAR, refresh=refresh)


ALL_HELD = every_month_held(held_month())
HELD_LONG = every_month_held(held_month(LAST_MONTH))
LEFT_OPEN = ALL_HELD | {Month(2024, 2): held_month(state="open")}
HELD_AHEAD: HeldMonths = dict.fromkeys(months_between(Month(2024, 1), Month(2027, 11)), held_month())
LATEST = ["2026-09", "2026-10", "2026-11"]
TO_COME = [str(month) for month in months_between(Month(2026, 12), Month(2027, 11))]
EVER = [str(month) for month in ALL_HELD]
WANTED: dict[str, tuple[str, HeldMonths, list[str]]] = {
    "a first sync wants every month from the start": ("sales", {}, EVER),
    "a usual night wants the current and the two previous months": ("sales", ALL_HELD, LATEST),
    "the first night of a month wants thirteen": ("sales", HELD_LONG, EVER[-13:]),
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


def test_a_fetch_before_local_midnight_of_the_first_still_belongs_to_the_old_month() -> None:
    just_before = datetime(2026, 10, 31, 22, 59, tzinfo=UTC)
    just_after = datetime(2026, 10, 31, 23, 1, tzinfo=UTC)
    assert len(wanted(every_month_held(held_month(just_before))).months) == 13
    assert len(wanted(every_month_held(held_month(just_after))).months) == 3


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
