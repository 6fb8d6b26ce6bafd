"""The plan of a sync: the windows of every report and customer, their requests and the likely time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from pipelines.catalogue.model import ById, Report
from pipelines.catalogue.reports import REPORTS
from pipelines.catalogue.sales import DAYS_PER_REQUEST, changed_sales
from pipelines.months import Month
from pipelines.planning.due import (
    PlanInputs,
    PlannedMonths,
    make_calendar,
    months_in_scope,
    next_due_days,
    plan_months,
    rules_for,
)
from pipelines.planning.selection import Pair, Selection, chosen_customers, chosen_reports
from pipelines.planning.windows import UNDATED_WINDOW, Span, Window, spans_of_days, windows
from pipelines.settings.messages import SettingsError
from warehouse.ledger.ids import known_ids, months_with_rows
from warehouse.ledger.ledger import Cap, Ledger, read_ledger, write_due_days

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Customer, Settings
    from warehouse.store.database import Connection, Store

ASSUMED_REQUEST_SECONDS = 0.5
PROBE_OVERLAP = timedelta(days=2)  # probes ask which sales changed; they overlap, as some changes arrive late
ID_INTERVAL = timedelta(days=7)  # an answered id is requested again after this time
MAX_PROBE = timedelta(days=365)  # a probe goes back at most this far
Catalogue = Mapping[str, Report]
SWITCHED_OFF = "the customer is switched off in the settings; the stored rows stay"
DENIED_TODAY = "no access (403 today); requested again tomorrow, or with --refresh"
NO_MONTH = "no selected month can be requested today"
NO_IDS = "no {} in {} yet; the report is requested once they are loaded"


@dataclass(frozen=True)
class PlannedReport:
    """One report of one customer: its months to request, their windows and the likely number of requests.

    `postponed_ids` counts the due ids that exceed the nightly cap. `out_of_scope` are selected months that
    cannot be requested today. If the whole report is skipped, `skipped` is the reason.
    """

    report: Report
    customer: Customer
    months: PlannedMonths = field(default_factory=PlannedMonths)
    windows: tuple[Window, ...] = ()
    requests: int = 0
    postponed_ids: int = 0
    out_of_scope: tuple[Month, ...] = ()
    skipped: str | None = None

    @property
    def pair(self) -> Pair:
        return (self.report.name, self.customer.id)


@dataclass(frozen=True)
class PlannedProbe(PlannedReport):
    """A probe asks which sales of a customer changed. `report` is a variant of the report named `source`."""

    source: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything that a sync requests; `probes` come first, and their answers may make more months due."""

    planned: tuple[PlannedReport, ...]
    requests_per_second: float
    concurrency: int
    request_seconds: float
    probes: tuple[PlannedProbe, ...] = ()

    @property
    def window_count(self) -> int:
        return sum(len(planned.windows) for planned in self.planned)

    @property
    def requests(self) -> int:
        """The likely number of requests if nothing fails."""
        return sum(planned.requests for planned in (*self.probes, *self.planned))

    @property
    def seconds(self) -> float:
        """The likely duration in seconds: the rate limit or a slow service sets the pace."""
        per_second = min(self.requests_per_second, self.concurrency / max(self.request_seconds, 0.001))
        return self.requests / per_second


def make_plan(
    settings: Settings, selection: Selection, store: Store, clock: Clock, catalogue: Catalogue = REPORTS
) -> tuple[Plan, Ledger]:
    """The plan of a selection, and the ledger that it is based on.

    Raises ValueError if a report or customer is unknown, or the start is in the future.
    """
    with store.reading() as connection:
        return plan_sync(connection, settings, selection, settings.today_local(clock), catalogue)


def plan_sync(
    connection: Connection, settings: Settings, selection: Selection, today: date, catalogue: Catalogue
) -> tuple[Plan, Ledger]:
    """The same as `make_plan`, with an open connection and for the day `today`."""
    if settings.start > Month.of(today):
        raise SettingsError([f"BROKERBI_START is {settings.start}, which is in the future; correct it."])
    inputs = read_inputs(connection, settings, selection, today, catalogue)
    probes = plan_probes(inputs) if inputs.max_changed_months and selection.requests_changes else ()
    request_seconds = inputs.ledger.request_seconds or ASSUMED_REQUEST_SECONDS
    rates = settings.requests_per_second, settings.concurrency, request_seconds
    return Plan(tuple(plan_reports(inputs)), *rates, tuple(probes)), inputs.ledger


def read_inputs(
    connection: Connection, settings: Settings, selection: Selection, today: date, catalogue: Catalogue
) -> PlanInputs:
    """The inputs of a plan for the day `today`."""
    ledger = read_ledger(connection)
    reports = chosen_reports(settings, selection, catalogue)
    customers = chosen_customers(settings, selection)
    ids = {
        (report.name, customer.id): known_ids(connection, report.name, customer.id, by_id.ids_from, today)
        for report in reports
        if (by_id := report.endpoint.by_id)
        for customer in customers
    }
    unsettled = {
        (report.name, customer): months
        for report in reports
        if (rows := report.timing.unsettled)
        for customer, months in months_with_rows(connection, rows.table, rows.condition).items()
    }
    nightly_caps = settings.ids_a_night, settings.changed_months
    return PlanInputs(
        make_calendar(settings, today), ledger, selection, reports, customers, ids, unsettled, *nightly_caps
    )


def plan_full_sync(
    settings: Settings, store: Store, clock: Clock, catalogue: Catalogue = REPORTS
) -> tuple[PlannedReport, ...]:
    """The planned reports of a sync without any selection; none if settings lack customers or a start."""
    if not settings.model_fields_set >= {"customers", "start"}:
        return ()
    plan, _ = make_plan(settings, Selection(), store, clock, catalogue)
    return plan.planned


def record_next_due(
    connection: Connection, settings: Settings, clock: Clock, catalogue: Catalogue = REPORTS
) -> None:
    """Record the next due day of each stored month, tomorrow at the earliest, and the rule behind it."""
    tomorrow = settings.today_local(clock) + timedelta(days=1)
    inputs = read_inputs(connection, settings, Selection(), tomorrow, catalogue)
    days = {
        (report.name, customer.id, month.first_day if month else None): due
        for report in inputs.reports
        for customer in settings.active_customers
        if (stored := inputs.stored.get((report.name, customer.id)))
        for month, due in next_due_days(stored, rules_for(inputs, report, customer.id)).items()
    }
    write_due_days(connection, days)


def plan_reports(inputs: PlanInputs) -> Iterator[PlannedReport]:
    """Plan the selected reports for each customer; reports without months come first.

    If the selection has `exact` pairs of report and customer, only these are planned. If not, each report is
    planned for each customer that is active or that the selection names.
    """
    selection = inputs.selection
    for report in sorted(inputs.reports, key=lambda report: report.has_months):
        for customer in inputs.customers:
            is_included = customer.active or customer.id in selection.customers
            if (report.name, customer.id) in selection.exact or (is_included and not selection.exact):
                yield _plan_report(inputs, PlannedReport(report, customer))


def _plan_report(inputs: PlanInputs, planned: PlannedReport) -> PlannedReport:
    report, by_id, calendar = planned.report, planned.report.endpoint.by_id, inputs.calendar
    denied = inputs.ledger.denied.get(planned.pair)
    if not planned.customer.active:
        return replace(planned, skipped=SWITCHED_OFF)
    if denied and calendar.local_day(denied) == calendar.today and not inputs.selection.refresh:
        return replace(planned, skipped=DENIED_TODAY)
    if by_id and by_id.ids_from and not inputs.ids.get(planned.pair):
        tables = " or ".join(dict.fromkeys(f"bi.{source.table}" for source in by_id.ids_from))
        return replace(planned, skipped=NO_IDS.format(" and ".join(by_id.parameters), tables))
    if report.has_months:
        planned = _choose_months(inputs, planned)
    else:
        stored = inputs.stored.get(planned.pair, {}).get(None)
        if stored and not by_id and inputs.selection.is_fresh(stored.fetched_at_utc):
            return replace(planned, skipped="it has just been loaded")
        planned = (
            _choose_ids(inputs, planned, by_id) if by_id else replace(planned, windows=(UNDATED_WINDOW,))
        )
    return replace(planned, requests=_likely_requests(inputs, planned))


def _choose_months(inputs: PlanInputs, planned: PlannedReport) -> PlannedReport:
    report, pair, selection = planned.report, planned.pair, inputs.selection
    rules = rules_for(inputs, report, planned.customer.id)
    stored, scope = inputs.stored.get(pair, {}), dict.fromkeys(months_in_scope(report, inputs.calendar))
    first, last = selection.first, selection.last
    chosen = [month for month in scope if (first or month) <= month <= (last or month)]
    if (exact := selection.exact.get(pair)) is not None:
        chosen = sorted({*exact})
    if not chosen:
        return replace(planned, skipped=NO_MONTH)
    max_changed_months = inputs.max_changed_months if report.timing.follows_sales else None
    months = plan_months([month for month in chosen if month in scope], stored, rules, max_changed_months)
    days = inputs.ledger.caps.get(pair, Cap()).days
    limit, today = report.endpoint.limit, inputs.calendar.today
    ids = tuple(inputs.ids[pair]) if report.endpoint.by_id else None
    to_request = windows(months.requested, rules.months_at_once, today, days, limit)
    return replace(
        planned,
        months=months,
        windows=tuple(replace(window, ids=ids) for window in to_request),
        out_of_scope=tuple(month for month in chosen if month not in scope),
    )


def _choose_ids(inputs: PlanInputs, planned: PlannedReport, by_id: ById) -> PlannedReport:
    def is_due(answered_at: datetime | None) -> bool:
        if answered_at is None or inputs.selection.refresh:
            return True
        return inputs.calendar.today - inputs.calendar.local_day(answered_at) >= ID_INTERVAL

    requested_ids, postponed_ids, not_requested = inputs.selection.ids, 0, 0
    if by_id.ids_from:
        ids = inputs.ids.get(planned.pair, {})
        due_ids = [known_id for known_id, answered_at in ids.items() if is_due(answered_at)]
        requested_ids = tuple(due_ids[: inputs.max_ids])  # unanswered ids first, then the oldest answers
        postponed_ids, not_requested = len(due_ids) - len(requested_ids), len(ids) - len(requested_ids)
    elif not requested_ids:
        return replace(planned, skipped="requested only on demand: name an id with --estate")
    return replace(
        planned,
        months=PlannedMonths(not_requested=not_requested),
        windows=tuple(replace(UNDATED_WINDOW, ids=(requested_id,)) for requested_id in requested_ids),
        postponed_ids=postponed_ids,
    )


def _likely_requests(inputs: PlanInputs, planned: PlannedReport) -> int:
    """The likely number of requests, if nothing fails.

    Each span of a window takes one request or, in a report by id, one for each id. For a paged report, this
    number is multiplied by the likely number of pages.
    """
    fewest = sum((len(window.spans) or 1) * len(window.ids or (None,)) for window in planned.windows)
    if not planned.report.endpoint.paged:
        return fewest
    most_requests = inputs.ledger.most_requests.get(planned.pair)
    most_spans = max((len(window.spans) for window in planned.windows), default=1)
    return fewest * (math.ceil(most_requests / most_spans) if most_requests else 2)


def plan_probes(inputs: PlanInputs) -> Iterator[PlannedProbe]:
    """A probe for each active customer with stored months that a changed sale would make due.

    These are older months (not among the latest) of reports with `follows_sales`. The probe goes to the
    endpoint of the first of PROBE_REPORTS (catalogue/sales.py) that is selected and was not denied to the
    customer today. There is no probe if there is no such report, or if the probe was already denied today
    and the selection does not name the customer.
    """
    calendar, ledger, today = inputs.calendar, inputs.ledger, inputs.calendar.today
    reports = {report.name: report for report in inputs.reports}
    denied_today = {pair for pair, at in ledger.denied.items() if calendar.local_day(at) == today}
    for customer in inputs.customers:
        denied = [report for report, denied_customer in denied_today if denied_customer == customer.id]
        source_and_report, denied_at = changed_sales(reports, denied), ledger.probe_denied.get(customer.id)
        was_probe_denied = denied_at is not None and calendar.local_day(denied_at) == today
        days_fetched = [
            calendar.local_day(stored.fetched_at_utc)
            for report in inputs.reports
            if report.timing.follows_sales
            for month, stored in inputs.stored.get((report.name, customer.id), {}).items()
            if month and calendar.age(month) >= calendar.due_months
        ]
        may_ask = inputs.selection.customers or not was_probe_denied
        if days_fetched and source_and_report and customer.active and may_ask:
            first = max(ledger.probed.get(customer.id, min(days_fetched)) - PROBE_OVERLAP, today - MAX_PROBE)
            spans = tuple(spans_of_days(Span(min(first, today), today), DAYS_PER_REQUEST))
            source, report = source_and_report
            window = Window((), spans)
            yield PlannedProbe(report, customer, windows=(window,), requests=len(spans), source=source)
