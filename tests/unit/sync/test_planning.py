"""Is a plan for many customers what the plans for each of them alone would be?"""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from pipelines.catalogue.reports import report
from pipelines.months import Month, months_between
from pipelines.planning.due import Calendar
from pipelines.planning.holdings import HeldMonths, Holdings
from pipelines.planning.plan import Planned, Planner
from pipelines.planning.selection import Selection
from pipelines.settings.model import Customer
from warehouse.ledger import Cap
from warehouse.outlines import HeldBriefly, Outline

TODAY = date(2026, 11, 21)
CALENDAR = Calendar(TODAY, Month(2024, 1), ZoneInfo("Europe/Stockholm"), 3, 13, 12)
SALES = report("sales")
HELD = HeldBriefly(datetime(2026, 11, 20, 12, tzinfo=UTC), "held")
ALL: HeldMonths = dict.fromkeys(months_between(Month(2024, 1), Month(2026, 11)), HELD)
SHARED: Holdings = {("sales", name): ALL for name in ("M1", "M2", "M3")}
APART: Holdings = {pair: dict(months) for pair, months in SHARED.items()}


def planned(held: Holdings, outline: Outline, selection: Selection | None = None) -> list[Planned]:
    planner = Planner(CALENDAR, outline, held, selection or Selection(), 1000, {}, 12)
    return list(planner.plan([SALES], [Customer(id=name) for name in ("M1", "M2", "M3", "new")]))


def test_who_shares_what_is_held_is_planned_as_anybody_else() -> None:
    assert planned(SHARED, Outline({})) == planned(APART, Outline({}))


def test_a_window_learned_from_one_customer_is_not_anothers() -> None:
    found = planned(SHARED, Outline({}, caps={("sales", "M2"): Cap(months=1)}))
    assert [len(one.windows) for one in found] == [1, 3, 1, 3]


def test_a_change_noticed_for_one_customer_is_not_anothers() -> None:
    changed = {("sales", "M3", date(2024, 5, 1)): datetime(2026, 11, 21, tzinfo=UTC)}
    found = planned(SHARED, Outline({}, changed=changed))
    assert [one.wanted.changed for one in found] == [(), (), (Month(2024, 5),), ()]


def test_months_named_for_one_customer_are_not_anothers() -> None:
    exact = {("sales", "M1"): (Month(2026, 11),), ("sales", "new"): (Month(2024, 1), Month(2026, 11))}
    found = planned(SHARED, Outline({}), Selection(exact=exact))
    assert [(one.customer.id, one.wanted.months) for one in found] == [
        (name, exact[r, name]) for r, name in exact
    ]
