"""Cost of the nights to come: what each would ask, if nothing changed and every night went well.

The plan of a night is made, what it asks for counts as held, and so on to the next. Nothing is asked, and
nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.planning.plan import NIGHT_UTC, Plan, PlannedReport, ids_in, plan_from
from pipelines.planning.selection import Pair, Selection, chosen_reports
from warehouse.ledger.ids import KnownId
from warehouse.ledger.ledger import HeldMonth, Ledger, read_outline

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Settings
    from warehouse.store.database import Store

NIGHTS = 31
"""So many nights hold the first of a month, whatever day it is."""


@dataclass(frozen=True)
class Night:
    """What one night would ask: requests by report and customer, and the questions what was changed."""

    day: date
    requests: Mapping[Pair, int]
    probes: int

    @property
    def total(self) -> int:
        return sum(self.requests.values()) + self.probes


def nights_to_come(
    settings: Settings,
    selection: Selection,
    store: Store,
    clock: Clock,
    count: int = NIGHTS,
) -> list[Night]:
    """So many nights from today on; raises SettingsError for unknown names."""
    with store.reading() as connection:
        outline = read_outline(connection)
        ids = {
            (report.name, one.id): ids_in(connection, report, one.id)
            for report in chosen_reports(settings, selection, REPORTS)
            for one in settings.customers
        }

    def ids_of(report: Report, customer: str) -> Sequence[KnownId]:
        return ids[report.name, customer]

    today, found = settings.today_local(clock), []
    for number in range(count):
        day = today + timedelta(days=number)
        plan = plan_from(outline, ids_of, settings, selection, clock, REPORTS, day)
        expected = {one.pair: one.requests_expected for one in plan.planned}
        found.append(Night(day, expected, sum(len(one.spans) for one in plan.probes)))
        outline = _after(plan, outline, day)
        ids |= {one.pair: _answered(one, ids[one.pair], day) for one in plan.planned if one.report.is_by_id}
    return found


def first_of_month(nights: Sequence[Night]) -> Night:
    """The first night that falls on the first of a month, after tonight if there is one."""
    firsts = [night for night in nights if night.day.day == 1]
    return next((night for night in firsts if night is not nights[0]), nights[0])


def by_pair(nights: Sequence[Night]) -> Counter[Pair]:
    """The requests of all nights together, by report and customer."""
    total: Counter[Pair] = Counter()
    for night in nights:
        total.update(night.requests)
    return total


def _answered(planned: PlannedReport, known: Sequence[KnownId], day: date) -> list[KnownId]:
    """The ids as they would be known if all that were asked on that day had been answered."""
    asked = {one for window in planned.windows for one in window.ids or ()}
    moment = datetime.combine(day, NIGHT_UTC)
    later = (replace(one, answered_utc=moment) if one.id in asked else one for one in known)
    return sorted(later, key=lambda one: (one.answered_utc is not None, one.answered_utc or moment, one.id))


def _after(plan: Plan, outline: Ledger, day: date) -> Ledger:
    """The ledger as it would be if all of a plan had gone well on that day."""
    moment = datetime.combine(day, NIGHT_UTC)
    held = dict(outline.held)
    for one in plan.planned:
        if one.windows and not one.report.is_by_id:
            asked: dict[date | None, HeldMonth] = {
                month.first_day: HeldMonth(moment, "open" if month.last_day >= day else "held")
                for month in one.wanted.months
            }
            held[one.pair] = {**held.get(one.pair, {}), **(asked or {None: HeldMonth(moment, "held")})}
    probed = dict.fromkeys((one.customer.id for one in plan.probes), day)
    return replace(outline, held=held, probed={**outline.probed, **probed})
