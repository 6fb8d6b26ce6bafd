"""Probes: the question which sales of a customer were changed, so that their months are read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.sales import DAYS_AT_ONCE, changed_sales
from pipelines.planning.rules import PlanInputs, rules_for
from pipelines.planning.windows import Span, spans_of_days

if TYPE_CHECKING:
    from pipelines.settings.model import Customer

OVERLAP = timedelta(days=2)
"""So many days before the last question are asked about again, for changes that are reported late."""
LONGEST = timedelta(days=365)


@dataclass(frozen=True)
class PlannedProbe:
    """The question which sales of a customer were changed: through which report, and about which days."""

    customer: Customer
    asked_of: str
    report: Report
    spans: tuple[Span, ...]

    @property
    def first(self) -> date:
        return self.spans[0].first

    @property
    def last(self) -> date:
        return self.spans[-1].last


def plan_probes(inputs: PlanInputs) -> Iterator[PlannedProbe]:
    """One question for every customer with months that would be left alone otherwise."""
    calendar, ledger, today = inputs.calendar, inputs.ledger, inputs.calendar.today
    for customer in inputs.customers:
        oldest, source = _oldest_left_alone(inputs, customer.id), _source(inputs, customer.id)
        rejected = ledger.probe_refused.get(customer.id)
        was_today = rejected is not None and calendar.day_of(rejected) == today
        if oldest and source and customer.active and not was_today:
            first = max(ledger.probed.get(customer.id, oldest) - OVERLAP, today - LONGEST)
            spans = spans_of_days(Span(min(first, today), today), DAYS_AT_ONCE)
            yield PlannedProbe(customer, *source, tuple(spans))


def _oldest_left_alone(inputs: PlanInputs, customer: str) -> date | None:
    """The day on which the oldest of the months was read that no other rule makes due."""
    days = []
    for report in inputs.reports:
        months = inputs.held.get((report.name, customer), {})
        if report.timing.follows_sales and months:
            rules = replace(rules_for(inputs, report, customer), changed={})
            days += [
                inputs.calendar.day_of(held.fetched_at_utc)
                for month, held in months.items()
                if month is not None and rules.reason(month, held) is None
            ]
    return min(days, default=None)


def _source(inputs: PlanInputs, customer: str) -> tuple[str, Report] | None:
    """The report to ask: one that was never denied, or one whose access may be back today."""
    chosen = {report.name: report for report in inputs.reports}
    denied = {name: at for (name, owner), at in inputs.ledger.denied.items() if owner == customer}
    lasting = [
        name
        for name, at in denied.items()
        if inputs.calendar.day_of(at) == inputs.calendar.today or not inputs.held.get((name, customer))
    ]
    return changed_sales(chosen, list(denied)) or changed_sales(chosen, lasting)
