"""Due months: those missing, open, or to be asked again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pipelines.catalogue.reports import report
from pipelines.months import Month, months_between
from pipelines.planning.due import Calendar, HeldMonths, Wanted, months_in_scope, wanted_months

TODAY = date(2026, 11, 21)
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 13, 12)
LAST_NIGHT = datetime(2026, 11, 20, 4, tzinfo=UTC)
LAST_MONTH = datetime(2026, 10, 31, 4, tzinfo=UTC)


@dataclass(frozen=True)
class HeldMonth:
    fetched_at_utc: datetime = LAST_NIGHT
    state: str = "held"


def every_month_held(held: HeldMonth) -> dict[Month | None, HeldMonth]:
    return dict.fromkeys(months_between(Month(2024, 1), Month(2026, 11)), held)


def wanted(held: HeldMonths, *, name: str = "sales", refresh: bool = False) -> Wanted:
    one = report(name)
    return wanted_months(months_in_scope(one, CALENDAR), held, one, CALENDAR, refresh=refresh)


def written(months: Iterable[Month]) -> list[str]:
    return [str(month) for month in months]


def test_a_first_sync_wants_every_month_from_the_start() -> None:
    assert wanted({}).months == tuple(months_between(Month(2024, 1), Month(2026, 11)))


def test_a_usual_night_wants_the_current_and_the_two_previous_months() -> None:
    assert written(wanted(every_month_held(HeldMonth())).months) == ["2026-09", "2026-10", "2026-11"]


def test_the_first_night_of_a_month_wants_thirteen_months() -> None:
    assert len(wanted(every_month_held(HeldMonth(LAST_MONTH))).months) == 13


def test_a_fetch_before_local_midnight_of_the_first_still_belongs_to_the_old_month() -> None:
    just_before = datetime(2026, 10, 31, 22, 59, tzinfo=UTC)
    just_after = datetime(2026, 10, 31, 23, 1, tzinfo=UTC)
    assert len(wanted(every_month_held(HeldMonth(just_before))).months) == 13
    assert len(wanted(every_month_held(HeldMonth(just_after))).months) == 3


def test_a_month_that_was_left_open_is_wanted_however_old_it_is() -> None:
    held = every_month_held(HeldMonth()) | {Month(2024, 2): HeldMonth(state="open")}
    assert written(wanted(held).months) == ["2024-02", "2026-09", "2026-10", "2026-11"]


def test_refresh_wants_everything() -> None:
    assert len(wanted(every_month_held(HeldMonth()), refresh=True).months) == 35


def test_live_commissions_are_never_asked_beyond_the_latest_three_months() -> None:
    assert written(wanted({}, name="live_commissions").months) == ["2026-09", "2026-10", "2026-11"]


@pytest.mark.parametrize("name", ["budget_commission", "office_budget_crm"])
def test_budgets_are_asked_for_months_to_come_as_well(name: str) -> None:
    assert written(wanted(every_month_held(HeldMonth()), name=name).months)[-1] == "2027-11"


def test_months_to_come_are_due_every_night() -> None:
    ahead = every_month_held(HeldMonth()) | dict.fromkeys(
        months_between(Month(2026, 12), Month(2027, 11)), HeldMonth()
    )
    assert len(wanted(ahead, name="budget_crm").months) == 15


def changed(*months: Month) -> dict[Month, datetime]:
    return dict.fromkeys(months, LAST_NIGHT + timedelta(hours=1))


def test_a_month_read_before_a_sale_of_it_was_changed_is_wanted() -> None:
    one, held = report("sales"), every_month_held(HeldMonth())
    held[Month(2025, 5)] = HeldMonth(LAST_NIGHT + timedelta(hours=2))
    since = changed(Month(2025, 4), Month(2025, 5))
    found = wanted_months(
        months_in_scope(one, CALENDAR), held, one, CALENDAR, changed_since=since, most_changed=9
    )
    assert (found.changed, found.postponed) == ((Month(2025, 4),), ())


def test_more_changed_months_than_a_night_asks_for_are_postponed_the_oldest_first() -> None:
    one, months = report("sales"), tuple(months_between(Month(2025, 1), Month(2025, 4)))
    found = wanted_months(
        months_in_scope(one, CALENDAR),
        every_month_held(HeldMonth()),
        one,
        CALENDAR,
        changed_since=changed(*months),
        most_changed=3,
    )
    assert (found.changed, found.postponed, found.left) == (months[1:], months[:1], 29)
