"""Plan of a sync: the windows of every report of every customer, their requests and the likely time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Each, Report
from pipelines.catalogue.reports import REPORTS
from pipelines.catalogue.sales import DAYS_AT_ONCE, changed_sales
from pipelines.months import Month
from pipelines.planning.due import (
    PlanInputs,
    Rules,
    Wanted,
    calendar,
    days_due,
    months_in_scope,
    rules_for,
    wanted_months,
)
from pipelines.planning.selection import Pair, Selection, chosen_customers, chosen_reports
from pipelines.planning.windows import NOW, Span, Window, spans_of_days, windows
from warehouse.ledger.ids import known_ids, months_with_rows
from warehouse.ledger.ledger import Cap, Ledger, read_ledger, write_due_days

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Customer, Settings
    from warehouse.store.database import Connection, Store

PAGES_ALLOWED = 6
"""Most requests of a paged window that was never requested: one page, and proofs that it is the whole."""
ASSUMED_REQUEST_SECONDS = 0.5
OVERLAP = timedelta(days=2)  # asked about again, for changes that are reported late
LONGEST = timedelta(days=365)  # that one question about changes covers
Catalogue = Mapping[str, Report]
SWITCHED_OFF = "the customer is switched off in the settings; the stored rows stay"
DENIED_TODAY = "no access (403 today); requested again tomorrow, or with --refresh"
JUST_LOADED = "another command loaded it a moment ago"
NO_MONTH = "no selected month can be requested today"
NO_IDS = "no {} in {} yet: the sync after it is loaded requests them"
ON_DEMAND = "requested on demand only: name an id with --estate"


@dataclass(frozen=True)
class PlannedReport:
    """One report of one customer: its wanted months, their windows and the requests that those take.

    `requests` is the most if nothing fails, `requests_expected` the likely number. `postponed` counts due ids
    beyond those that a night requests, `out_of_reach` are selected months that cannot be requested today, and
    `skipped` is the reason if nothing is.
    """

    report: Report
    customer: Customer
    wanted: Wanted = field(default_factory=Wanted)
    windows: tuple[Window, ...] = ()
    requests: int = 0
    requests_expected: int = 0
    postponed: int = 0
    out_of_reach: tuple[Month, ...] = ()
    skipped: str | None = None

    @property
    def pair(self) -> Pair:
        return (self.report.name, self.customer.id)


@dataclass(frozen=True)
class PlannedProbe:
    """The question which sales of a customer were changed: through which report, and about which days."""

    customer: Customer
    asked_of: str
    report: Report
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Plan:
    """Everything a sync would request, in this order; answers of `probes`, asked first, make more due."""

    planned: tuple[PlannedReport, ...]
    requests_per_second: float
    concurrency: int
    request_seconds: float
    probes: tuple[PlannedProbe, ...] = ()

    @property
    def windows(self) -> int:
        return sum(len(planned.windows) for planned in self.planned)

    @property
    def requests(self) -> int:
        most = sum(planned.requests for planned in self.planned)
        return most + sum(len(probe.spans) for probe in self.probes)

    @property
    def requests_expected(self) -> int:
        expected = sum(planned.requests_expected for planned in self.planned)
        return expected + sum(len(probe.spans) for probe in self.probes)

    @property
    def seconds(self) -> float:
        """The likely time: bounded by the rate, or by the service's own slowness."""
        per_second = min(self.requests_per_second, self.concurrency / max(self.request_seconds, 0.001))
        return self.requests_expected / per_second


def make_plan(
    settings: Settings, selection: Selection, store: Store, clock: Clock, catalogue: Catalogue = REPORTS
) -> tuple[Plan, Ledger]:
    """The plan for a selection and the ledger it is made from; raises SettingsError for unknown names."""
    with store.reading() as connection:
        return read_plan(connection, settings, selection, settings.today_local(clock), catalogue)


def read_plan(
    connection: Connection, settings: Settings, selection: Selection, today: date, catalogue: Catalogue
) -> tuple[Plan, Ledger]:
    """The same with the working file open."""
    inputs = read_inputs(connection, settings, selection, today, catalogue)
    probes = plan_probes(inputs) if inputs.most_changed and selection.asks_for_changes else ()
    request_seconds = inputs.ledger.request_seconds or ASSUMED_REQUEST_SECONDS
    rates = settings.requests_per_second, settings.concurrency, request_seconds
    return Plan(tuple(plan_reports(inputs)), *rates, tuple(probes)), inputs.ledger


def read_inputs(
    connection: Connection, settings: Settings, selection: Selection, today: date, catalogue: Catalogue
) -> PlanInputs:
    """The inputs of a plan for today or for a night to come."""
    ledger = read_ledger(connection)
    reports = chosen_reports(settings, selection, catalogue)
    customers = chosen_customers(settings, selection)
    ids = {
        (report.name, customer.id): known_ids(connection, report.name, customer.id, each.ids_from, today)
        for report in reports
        if (each := report.endpoint.each)
        for customer in customers
    }
    unsettled = {
        (report.name, customer): months
        for report in reports
        if (rows := report.timing.unsettled)
        for customer, months in months_with_rows(connection, rows.table, rows.condition).items()
    }
    caps = settings.ids_a_night, settings.changed_months
    return PlanInputs(calendar(settings, today), ledger, selection, reports, customers, ids, unsettled, *caps)


def planned_now(
    settings: Settings, store: Store, clock: Clock, catalogue: Catalogue = REPORTS
) -> tuple[PlannedReport, ...]:
    """The reports that a sync would request; none before the settings name customers and a start."""
    if not settings.model_fields_set >= {"customers", "start"}:
        return ()
    plan, _ = make_plan(settings, Selection(), store, clock, catalogue)
    return plan.planned


def note_next_due(
    connection: Connection, settings: Settings, clock: Clock, catalogue: Catalogue = REPORTS
) -> None:
    """Write down when every month is requested next, from the next night on, and by which rule."""
    tomorrow = settings.today_local(clock) + timedelta(days=1)
    inputs = read_inputs(connection, settings, Selection(), tomorrow, catalogue)
    days = {
        (report.name, customer.id, month.first_day if month else None): due
        for report in inputs.reports
        for customer in settings.active_customers
        if (held := inputs.held.get((report.name, customer.id)))
        for month, due in days_due(held, rules_for(inputs, report, customer.id)).items()
    }
    write_due_days(connection, days)


def plan_reports(inputs: PlanInputs) -> Iterator[PlannedReport]:
    """Every report of every active or named customer, those without months first."""
    selection = inputs.selection
    for report in sorted(inputs.reports, key=lambda report: report.has_months):
        for customer in inputs.customers:
            is_named = customer.active or customer.id in selection.customers
            if (report.name, customer.id) in selection.exact or (is_named and not selection.exact):
                yield _plan_report(inputs, PlannedReport(report, customer))


def _plan_report(inputs: PlanInputs, planned: PlannedReport) -> PlannedReport:
    """One report of one customer, with its windows or why nothing is requested."""
    report, each, calendar = planned.report, planned.report.endpoint.each, inputs.calendar
    denied = inputs.ledger.denied.get(planned.pair)
    if not planned.customer.active:
        return replace(planned, skipped=SWITCHED_OFF)
    if denied and calendar.day_of(denied) == calendar.today and not inputs.selection.refresh:
        return replace(planned, skipped=DENIED_TODAY)
    if each and each.ids_from and not inputs.ids.get(planned.pair):
        tables = " or ".join(dict.fromkeys(f"bi.{source.table}" for source in each.ids_from))
        return replace(planned, skipped=NO_IDS.format(" and ".join(each.names), tables))
    if report.has_months:
        planned = _choose_months(inputs, planned)
    else:
        since = inputs.selection.fresh_since
        stored = inputs.held.get(planned.pair, {}).get(None)
        if stored and not each and Rules(report, calendar, 1, fresh_since=since).is_fresh(stored):
            return replace(planned, skipped=JUST_LOADED)
        planned = _choose_ids(inputs, planned, each) if each else replace(planned, windows=(NOW,))
    return _price(inputs, planned)


def _choose_months(inputs: PlanInputs, planned: PlannedReport) -> PlannedReport:
    """The wanted months and their windows."""
    report, pair, selection = planned.report, planned.pair, inputs.selection
    rules = rules_for(inputs, report, planned.customer.id)
    held, scope = inputs.held.get(pair, {}), dict.fromkeys(months_in_scope(report, inputs.calendar))
    first, last = selection.first, selection.last
    chosen = [month for month in scope if (first or month) <= month <= (last or month)]
    if (exact := selection.exact.get(pair)) is not None:
        chosen = sorted({*exact})
    if not chosen:
        return replace(planned, skipped=NO_MONTH)
    askable = [month for month in chosen if month in scope]
    wanted = wanted_months(askable, held, rules, inputs.most_changed if report.timing.follows_sales else None)
    days = inputs.ledger.caps.get(pair, Cap()).days
    limit, today = report.endpoint.limit, inputs.calendar.today
    ids = tuple(inputs.ids[pair]) if report.endpoint.each else None
    return replace(
        planned,
        wanted=wanted,
        windows=tuple(
            replace(window, ids=ids) for window in windows(wanted.months, rules.together, today, days, limit)
        ),
        out_of_reach=tuple(month for month in chosen if month not in scope),
    )


def _choose_ids(inputs: PlanInputs, planned: PlannedReport, each: Each) -> PlannedReport:
    """The ids to request tonight, each a window: those first that were answered longest ago, up to a cap.

    One that was answered today waits, so a run that goes on requests nothing twice.
    """

    def is_due(answered: datetime | None) -> bool:
        if answered is None or inputs.selection.refresh:
            return True
        return (inputs.calendar.today - inputs.calendar.day_of(answered)).days >= each.days

    due, postponed, left = inputs.selection.ids, 0, 0
    if each.ids_from:
        ids = inputs.ids.get(planned.pair, {})
        wanted = [id_ for id_, answered in ids.items() if is_due(answered)]
        due = tuple(wanted[: inputs.most_ids])
        postponed, left = len(wanted) - len(due), len(ids) - len(due)
    elif not due:
        return replace(planned, skipped=ON_DEMAND)
    return replace(
        planned,
        wanted=Wanted(left=left),
        windows=tuple(replace(NOW, ids=(id_,)) for id_ in due),
        postponed=postponed,
    )


def _price(inputs: PlanInputs, planned: PlannedReport) -> PlannedReport:
    """The most requests that the windows may take, and the likely number."""
    report = planned.report
    spans = sum((len(window.spans) or 1) * len(window.ids or (None,)) for window in planned.windows)
    months = sum(len(window.months) for window in planned.windows)
    most, likely = spans, spans
    if report.endpoint.paged:
        pages = inputs.ledger.pages.get(planned.pair)
        together = max((len(window.spans) for window in planned.windows), default=1)
        most *= PAGES_ALLOWED if pages is None else math.ceil(pages * 1.5) + 2
        likely *= math.ceil(pages / together) if pages else 2
    elif (
        report.month_of_row.startswith("year and month")
        and not inputs.held.get(planned.pair)
        and months > spans
    ):
        most += months
    return replace(planned, requests=most, requests_expected=likely)


def plan_probes(inputs: PlanInputs) -> Iterator[PlannedProbe]:
    """One question for every customer with months that would be left alone otherwise.

    It is put to the first report that the service did not deny.
    """
    calendar, ledger, today = inputs.calendar, inputs.ledger, inputs.calendar.today
    reports = {report.name: report for report in inputs.reports}
    for customer in inputs.customers:
        denied = [report for report, owner in ledger.denied if owner == customer.id]
        oldest, source = _oldest_left_alone(inputs, customer.id), changed_sales(reports, denied)
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
