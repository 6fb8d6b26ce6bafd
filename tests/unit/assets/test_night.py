"""Does the night ask for what is due of everybody, and apart from it for what single customers lack?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from assets.night import Rectangle, tonight, usual_night
from pipelines.catalogue.reports import report
from pipelines.months import Month
from pipelines.planning.due import Calendar
from pipelines.planning.holdings import outlined
from pipelines.planning.plan import Planner
from pipelines.planning.selection import Selection
from pipelines.settings.model import Customer
from tests.unit.assets.rehearsal import TODAY, held, ledger
from warehouse.ledger import HeldMonth, Ledger

REPORTS = ("sales", "running_commissions")
EVERYBODY = ("c01", "c02", "c03")
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 13, 12)
SINCE_2024 = tuple(Month(2024 + number // 12, number % 12 + 1) for number in range(35))


def night(known: Ledger, calendar: Calendar = CALENDAR) -> tuple[Rectangle, list[Rectangle]]:
    months: dict[tuple[str, str], dict[date | None, HeldMonth]] = {}
    for (name, customer, day), one in known.months.items():
        months.setdefault((name, customer), {})[day] = one
    planner = Planner(calendar, known, outlined(months), Selection(), 1000, {}, 12)
    planned = planner.plan([report(name) for name in REPORTS], [Customer(id=name) for name in EVERYBODY])
    return tonight(tuple(planned), known.denied, EVERYBODY, calendar)


def everything(customers: Iterable[str] = EVERYBODY, **held_as: object) -> Ledger:
    return ledger(held(customers, REPORTS, months=SINCE_2024, **held_as))  # type: ignore[arg-type]


def test_a_usual_night_is_all_customers_by_the_current_and_two_previous_months() -> None:
    assert night(everything()) == (Rectangle(EVERYBODY, Month(2026, 9), Month(2026, 11)), [])


def test_the_first_night_of_a_month_reaches_back_thirteen_months() -> None:
    whole, older = night(everything(loaded=datetime(2026, 10, 30, 4, tzinfo=UTC)))
    assert (whole.first, older) == (Month(2025, 11), [])


def test_a_night_after_standstill_reaches_back_to_the_month_that_was_left_open() -> None:
    known = ledger(
        held(EVERYBODY, REPORTS, months=SINCE_2024[:30]),
        held(EVERYBODY, REPORTS, months=SINCE_2024[30:31], state="open"),
    )
    whole, older = night(known)
    assert whole.first == Month(2026, 9)
    assert older == [Rectangle((name,), Month(2026, 7), Month(2026, 8)) for name in EVERYBODY]


def test_a_new_customer_is_fetched_from_the_start_by_a_run_of_its_own() -> None:
    assert night(everything(["c01", "c02"])) == (
        Rectangle(EVERYBODY, Month(2026, 9), Month(2026, 11)),
        [Rectangle(("c03",), Month(2024, 1), Month(2026, 8))],
    )


def test_an_empty_warehouse_is_filled_by_the_night_and_one_run_for_each_customer() -> None:
    whole, older = night(ledger())
    assert whole == Rectangle(EVERYBODY, Month(2026, 9), Month(2026, 11))
    assert older == [Rectangle((name,), Month(2024, 1), Month(2026, 8)) for name in EVERYBODY]


def test_one_customers_open_month_does_not_stretch_the_night_of_all() -> None:
    known = ledger(
        held(EVERYBODY, REPORTS, months=SINCE_2024),
        held(["c02"], ["sales"], months=[Month(2024, 5)], state="open"),
    )
    assert night(known) == (
        Rectangle(EVERYBODY, Month(2026, 9), Month(2026, 11)),
        [Rectangle(("c02",), Month(2024, 5), Month(2024, 5))],
    )


def test_older_months_of_a_report_that_was_refused_are_not_asked_for_night_after_night() -> None:
    known = ledger(
        held(EVERYBODY, ["sales"], months=SINCE_2024),
        held(["c01", "c02"], ["running_commissions"], months=SINCE_2024),
    )
    yesterday = {("running_commissions", "c03"): datetime(2026, 11, 20, 4, tzinfo=UTC)}
    assert night(replace(known, denied=yesterday))[1] == []


def test_the_night_does_not_reach_back_before_the_start() -> None:
    young = replace(CALENDAR, start=Month(2026, 10))
    assert night(ledger(), young) == (Rectangle(EVERYBODY, Month(2026, 10), Month(2026, 11)), [])
    assert usual_night(EVERYBODY, young).first == Month(2026, 10)


def test_months_that_were_changed_are_read_by_the_night_itself_and_by_no_other_run() -> None:
    changed = {("sales", "c02", Month(2024, 5).first_day): datetime(2026, 11, 20, 20, tzinfo=UTC)}
    known = replace(everything(), changed=changed)
    assert night(known) == (Rectangle(EVERYBODY, Month(2026, 9), Month(2026, 11)), [])
