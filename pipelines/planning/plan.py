"""Plan of a sync: the windows of every report of every customer, their requests and the likely time."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Each, Report
from pipelines.catalogue.reports import REPORTS
from pipelines.catalogue.sales import DAYS_AT_ONCE, changed_sales
from pipelines.months import Month
from pipelines.planning.due import (
    DAYS_OF_FOUR_WEEKS,
    DUE_MONTHS_MONTHLY,
    NO_MONTHS,
    WITHOUT_DELAY,
    Calendar,
    Due,
    HeldMonths,
    Rules,
    Wanted,
    calendar,
    days_due,
    held_by_month,
    is_due,
    months_in_scope,
    wanted_months,
)
from pipelines.planning.selection import Pair, Selection, chosen_customers, chosen_reports
from pipelines.planning.windows import NOW, Span, Window, spans_of_days, windows
from warehouse.ledger.ids import KnownId, known_ids
from warehouse.ledger.ledger import read_outline, write_due_days

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Customer, Settings
    from warehouse.ledger.ledger import Cap, Ledger
    from warehouse.store.database import Connection, Store

PAGES_ALLOWED = 6
"""Requests a window of a paged report is allowed in a plan before it has ever been asked: with pages of
the usual size one holds a window, and the rest is for the empty page and the second look at the first."""
ASSUMED_REQUEST_SECONDS = 0.5
NOTHING = Wanted()
NOTHING_HELD: HeldMonths = {}
PROBE_OVERLAP = timedelta(days=2)
"""So many days before the last question are asked about again, for changes that are reported late."""
LONGEST_PROBE = timedelta(days=365)
TWIN_DAYS = 3
"""A twin that was not asked for so many days tells of no changes."""
OLDER_MONTHS = 10
"""About as many months of a report have a day of four weeks; those of the next report come after them."""
NIGHT_UTC = time(12, tzinfo=UTC)
"""The moment that stands for a night to come: on the same day in every time zone that is asked about."""


IdsOf = Callable[[Report, str], Sequence[KnownId]]
"""The ids that a report is asked for one by one, of a customer."""


@dataclass(frozen=True)
class PlannedReport:
    """One report of one customer: what is wanted, in which windows, at the price of how many requests.

    `requests` is the most it may take when nothing fails, `requests_expected` the likely number; `postponed`
    counts the ids that are due beyond those that a night requests. `out_of_reach` are months that were
    selected and cannot be asked today; `skipped` says why nothing is asked, if so. What `was_refused` is
    asked with one window first.
    `one_by_one` is what is wanted should its rows turn out to lack a month.
    """

    report: Report
    customer: Customer
    wanted: Wanted = NOTHING
    one_by_one: Wanted | None = None
    rules: Rules | None = None
    held: HeldMonths = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    requests: int = 0
    requests_expected: int = 0
    postponed: int = 0
    out_of_reach: tuple[Month, ...] = ()
    skipped: str | None = None
    was_refused: bool = False

    @property
    def pair(self) -> Pair:
        return (self.report.name, self.customer.id)

    @property
    def next_due(self) -> dict[Month | None, Due]:
        """When each month is asked next, tonight or later, as far as a rule asks for it again."""
        return days_due(self.held, self.rules) if self.rules else {}


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


@dataclass(frozen=True)
class Plan:
    """Everything a sync would ask, in the order it would ask it.

    `probes` are asked first: their answers make more months due, which nobody can know before.
    """

    planned: tuple[PlannedReport, ...]
    requests_per_second: float
    concurrency: int
    request_seconds: float
    probes: tuple[PlannedProbe, ...] = ()

    @property
    def windows(self) -> int:
        return sum(len(one.windows) for one in self.planned)

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.planned) + sum(len(one.spans) for one in self.probes)

    @property
    def requests_expected(self) -> int:
        return sum(one.requests_expected for one in self.planned) + sum(len(one.spans) for one in self.probes)

    @property
    def seconds(self) -> float:
        """The likely time: bounded by the rate, or by the service's own slowness."""
        per_second = min(self.requests_per_second, self.concurrency / max(self.request_seconds, 0.001))
        return self.requests_expected / per_second


def make_plan(
    settings: Settings,
    selection: Selection,
    store: Store,
    clock: Clock,
    catalogue: Mapping[str, Report] = REPORTS,
) -> tuple[Plan, Ledger]:
    """The plan for a selection and the outline it is made from; raises SettingsError for unknown names."""
    with store.reading() as connection:
        outline, ids_of = read_outline(connection), partial(ids_in, connection, settings.today_local(clock))
        return plan_from(outline, ids_of, settings, selection, clock, catalogue), outline


def planned_now(
    settings: Settings, store: Store, clock: Clock, catalogue: Mapping[str, Report] = REPORTS
) -> tuple[PlannedReport, ...]:
    """What a sync would ask for, as far as these settings say of whom and since when."""
    if not settings.model_fields_set >= {"customers", "start"}:
        return ()
    plan, _ = make_plan(settings, Selection(), store, clock, catalogue)
    return plan.planned


def ids_in(connection: Connection, today: date, report: Report, customer: str) -> Sequence[KnownId]:
    """The known ids of a report of a customer, as of that day."""
    each = report.endpoint.each
    return known_ids(connection, report.name, customer, each.ids_from, today) if each else ()


def plan_from(
    outline: Ledger,
    ids_of: IdsOf,
    settings: Settings,
    selection: Selection,
    clock: Clock,
    catalogue: Mapping[str, Report],
    night: date | None = None,
) -> Plan:
    """The plan, given the outline of the ledger and a function that knows the ids to ask for one by one.

    It is made for today, or for a night to come.
    """
    if night:
        settings = settings.model_copy(update={"today": night})
    reports = chosen_reports(settings, selection, catalogue)
    customers = chosen_customers(settings, selection)
    planner = Planner(
        calendar(settings, clock),
        outline,
        held_by_month(outline.held),
        selection,
        ids_of,
        settings.ids_a_night,
        settings.changed_months,
        frozenset(one.name for one in reports),
    )
    asks_for_changes = settings.changed_months and selection.asks_for_changes
    return Plan(
        tuple(planner.plan(reports, customers)),
        settings.requests_per_second,
        settings.concurrency,
        outline.request_seconds or ASSUMED_REQUEST_SECONDS,
        tuple(planner.probes(reports, customers)) if asks_for_changes else (),
    )


def note_next_due(
    connection: Connection,
    settings: Settings,
    clock: Clock,
    catalogue: Mapping[str, Report] = REPORTS,
) -> None:
    """Write down when every month is asked next, and by which rule: as the plan of the next night says."""
    outline, tomorrow = read_outline(connection), settings.today_local(clock) + timedelta(days=1)
    plan = plan_from(
        outline, partial(ids_in, connection, tomorrow), settings, Selection(), clock, catalogue, tomorrow
    )
    days = {
        (*one.pair, month.first_day if month else None): due
        for one in plan.planned
        if one.pair in outline.held
        for month, due in one.next_due.items()
    }
    write_due_days(connection, days)


@dataclass(frozen=True)
class Planner:
    """What a plan is made from: the calendar, the ledger, the selection and the names of its reports."""

    calendar: Calendar
    ledger: Ledger
    held: Mapping[Pair, HeldMonths]
    selection: Selection
    ids_of: IdsOf = lambda _report, _customer: ()
    most_ids: int = 0
    most_changed: int = 0
    chosen: frozenset[str] = frozenset()

    def plan(self, reports: Sequence[Report], customers: Sequence[Customer]) -> Iterator[PlannedReport]:
        """Every report of every customer, those without months first: users before their budgets."""
        for report in sorted(reports, key=lambda report: report.has_months):
            for customer in customers:
                if not self.selection.exact or (report.name, customer.id) in self.selection.exact:
                    yield self._planned(report, customer)

    def probes(self, reports: Sequence[Report], customers: Sequence[Customer]) -> Iterator[PlannedProbe]:
        """One question for every customer of whom months are held that would be left alone otherwise."""
        chosen, today = {report.name: report for report in reports}, self.calendar.today
        for customer in customers:
            days = []
            for report in reports:
                months = self.held.get((report.name, customer.id), NOTHING_HELD)
                if report.timing.follows_sales and months:
                    rules = replace(self._rules(report, customer), changed={})
                    days += [
                        self.calendar.day_of(one.fetched_at_utc)
                        for month, one in months.items()
                        if month is not None and rules.reason(month, one) is None
                    ]
            oldest = min(days, default=None)  # the day on which what nothing else makes due was read
            refused = {name: at for (name, owner), at in self.ledger.denied.items() if owner == customer.id}
            lasting = [  # a right that was lost may be back the next day
                name
                for name, at in refused.items()
                if self.calendar.day_of(at) == today or not self.held.get((name, customer.id))
            ]
            found = changed_sales(chosen, [*refused]) or changed_sales(chosen, lasting)
            probe_refused = self.ledger.probe_refused.get(customer.id)
            was_today = probe_refused and self.calendar.day_of(probe_refused) == today
            if oldest and found and customer.active and not was_today:
                probed = self.ledger.probed.get(customer.id, oldest)
                since = (oldest if probed > today else probed) - PROBE_OVERLAP  # no clock is ahead for good
                span = Span(min(max(since, today - LONGEST_PROBE), today), today)
                yield PlannedProbe(customer, *found, tuple(spans_of_days(span, DAYS_AT_ONCE)))

    def _planned(self, report: Report, customer: Customer) -> PlannedReport:
        if not customer.active:
            switched_off = "the customer is switched off in the settings; what is held stays"
            return PlannedReport(report, customer, skipped=switched_off)
        denied: datetime | None = self.ledger.denied.get((report.name, customer.id))
        was_today = denied and self.calendar.day_of(denied) == self.calendar.today
        if was_today and not self.selection.refresh:
            refusal = "no access (403 today); asked again tomorrow, or with --refresh"
            return PlannedReport(report, customer, skipped=refusal)
        each = report.endpoint.each
        if each and report.is_by_id:
            return self._choose_ids(report, customer, each)
        if not report.has_months:
            return PlannedReport(
                report,
                customer,
                windows=(NOW,),
                requests=1,
                requests_expected=1,
                rules=Rules(report, self.calendar, report.endpoint.window_months),
            )
        chosen = self._choose_months(report, customer)
        if chosen is None:
            return PlannedReport(report, customer, skipped="no month that was selected can be asked today")
        planned = replace(chosen, customer=customer, was_refused=denied is not None)
        most, likely = self._requests(planned)
        if each is None:
            return replace(planned, requests=most, requests_expected=likely)
        ids = tuple(one.id for one in self.ids_of(report, customer.id))
        if not ids:
            return PlannedReport(report, customer, skipped=_no_ids(each))
        windows = tuple(replace(window, ids=ids) for window in planned.windows)
        return replace(
            planned, windows=windows, requests=most * len(ids), requests_expected=likely * len(ids)
        )

    def _choose_ids(self, report: Report, customer: Customer, each: Each) -> PlannedReport:
        """The ids to request tonight, each as a window of its own; a night requests so many at most.

        Those that were answered longest ago come first.
        """
        selection = self.selection
        if not each.ids_from:
            due, postponed, left = selection.ids, 0, 0
        else:
            known = self.ids_of(report, customer.id)
            wanted = [one.id for one in known if selection.refresh or is_due(one, each.days, self.calendar)]
            due, postponed = tuple(wanted[: self.most_ids]), len(wanted[self.most_ids :])
            left = len(known) - len(due)
        if not due and not left:
            return PlannedReport(report, customer, skipped=_no_ids(each))
        requests = len(due) * len(report.endpoint.questions)
        return PlannedReport(
            report,
            customer,
            wanted=Wanted(left=left),
            windows=tuple(replace(NOW, ids=(id_,)) for id_ in due),
            requests=requests,
            requests_expected=requests,
            rules=Rules(report, self.calendar, report.endpoint.window_months),
            postponed=postponed,
        )

    def _longest(self, report: Report, customer: Customer) -> int:
        """How many months are asked and loaded together, as far as is known."""
        cap: Cap | None = self.ledger.caps.get((report.name, customer.id))
        return (
            min(report.endpoint.window_months, cap.months)
            if cap and cap.months
            else report.endpoint.window_months
        )

    def _rules(self, report: Report, customer: Customer) -> Rules:
        """The rules for a report of a customer, with what has changed since its months were asked.

        A report that is asked month by month follows its twin, which is asked for all months every night; or,
        where there is none that says which months its rows are of, its own months: all of the latest and
        those to come are asked once one of them has changed.
        """
        pair, longest = (report.name, customer.id), self._longest(report, customer)
        if not report.timing.weekly or longest > 1:
            changed = self._changed.get(pair, {}) if report.timing.follows_sales else {}
            return replace(self._rules_without_changes(report, customer, longest), changed=changed)
        rules = self._rules_without_changes(report, customer, 1)
        if report.timing.twin and self._tells_of_changes(report.timing.twin, customer):
            of_twin = self.ledger.snapshots_changed.get((report.timing.twin, customer.id), {})
            changed = {Month.of(day): at for day, at in of_twin.items() if day}
            return replace(rules, nightly=NO_MONTHS, changed=changed)
        own = self.ledger.snapshots_changed.get(pair, {})
        scope = months_in_scope(report, self.calendar)
        latest = [month for month in scope if self.calendar.age(month) < self.calendar.due_months]
        noticed = [own[month.first_day] for month in latest if month.first_day in own]
        return replace(rules, changed=dict.fromkeys(latest, max(noticed)) if noticed else {})

    def _rules_without_changes(self, report: Report, customer: Customer, together: int) -> Rules:
        """The rules for a report of which a request covers so many months, as long as nothing has changed.

        Of one that is asked month by month, what was never read waits in a night for its day: months to come,
        and those of which the twin tells.
        """
        pair, ahead = (report.name, customer.id), -self.calendar.months_ahead
        rules = Rules(
            report,
            self.calendar,
            together,
            # the months of each customer come later than those of others, of most by another number of days
            offset=report.timing.place * OLDER_MONTHS + zlib.crc32(customer.id.encode()) % DAYS_OF_FOUR_WEEKS,
            nightly=range(ahead, self.calendar.due_months),
            failed={Month.of(day) for day in self.ledger.failed.get(pair, ())},
            refresh=self.selection.refresh,
        )
        if not rules.is_one_by_one:
            return rules
        twin = report.timing.twin
        is_told = (
            twin in self.chosen
            and twin not in self.ledger.not_understood
            and (twin, customer.id) not in self.ledger.denied
        )
        oldest = DUE_MONTHS_MONTHLY - 2  # which has its day before it is too old for one
        may_wait = range(ahead, oldest + 1 if is_told else 0) if self.selection.is_of_night else NO_MONTHS
        return replace(rules, nightly=WITHOUT_DELAY, may_wait=may_wait)

    def _tells_of_changes(self, name: str, customer: Customer) -> bool:
        """Whether the report of that name is asked these days, and for many months at once."""
        pair = (name, customer.id)
        current = self.held.get(pair, NOTHING_HELD).get(self.calendar.this_month)
        cap: Cap | None = self.ledger.caps.get(pair)
        if current is None or pair in self.ledger.denied or (cap and cap.months == 1):
            return False
        return self.calendar.day_of(current.fetched_at_utc) >= self.calendar.today - timedelta(days=TWIN_DAYS)

    def _choose_months(self, report: Report, customer: Customer) -> PlannedReport | None:
        """The months wanted, and their windows; None when no month that was selected can be asked today."""
        pair, rules = (report.name, customer.id), self._rules(report, customer)
        held, scope = self.held.get(pair, NOTHING_HELD), list(months_in_scope(report, self.calendar))
        exact, first, last = self.selection.exact.get(pair), self.selection.first, self.selection.last
        between = [month for month in scope if (first or month) <= month <= (last or month)]
        chosen = between if exact is None else exact
        if exact is not None and self.selection.guided:
            chosen = sorted({*exact, *wanted_months(scope, held, rules).due_anywhere})
        if not chosen:
            return None
        askable = set(scope)
        most = self.most_changed if report.timing.follows_sales else None
        of_these = partial(wanted_months, [month for month in chosen if month in askable], held)
        wanted = of_these(rules, most)
        cap: Cap | None = self.ledger.caps.get(pair)
        days = cap.days if cap else None
        may_lack_months = report.timing.weekly and not rules.is_one_by_one
        return PlannedReport(
            report,
            customer,
            wanted,
            of_these(self._rules_without_changes(report, customer, 1)) if may_lack_months else None,
            rules,
            held,
            tuple(windows(wanted.months, rules.together, self.calendar.today, days, report.endpoint.limit)),
            out_of_reach=tuple(month for month in chosen if month not in askable),
        )

    @cached_property
    def _changed(self) -> Mapping[Pair, Mapping[Month, datetime]]:
        """Since when which months of a pair are to be read again, where changes are followed at all."""
        changed: dict[Pair, dict[Month, datetime]] = {}
        for (report, customer, day), since in self.ledger.changed.items() if self.most_changed else ():
            changed.setdefault((report, customer), {})[Month.of(day)] = since
        return changed

    def _requests(self, planned: PlannedReport) -> tuple[int, int]:
        """The most requests that the windows may take, and the likely number."""
        report = planned.report
        spans = sum(len(window.spans) for window in planned.windows)
        months = sum(len(window.months) for window in planned.windows)
        if report.endpoint.paged:
            known = self.ledger.pages.get(planned.pair)
            most = PAGES_ALLOWED if known is None else math.ceil(known * 1.5) + 2
            together = max((len(window.spans) for window in planned.windows), default=1)
            return spans * most, spans * (math.ceil(known / together) if known else 2)
        is_assumed = report.month_of_row in ("year and month", "year and month within")
        if is_assumed and not any(self.held.get(planned.pair, NOTHING_HELD)):
            alone = months if planned.one_by_one is None else len(planned.one_by_one.months)
            return (spans + alone if months > spans else spans), spans
        return spans, spans


def _no_ids(each: Each) -> str:
    """Why nothing is asked of a report that is asked one by one."""
    if not each.ids_from:
        return "requested on demand only: name an id with --estate"
    tables = " or ".join(dict.fromkeys(f"bi.{one.table}" for one in each.ids_from))
    return f"no {' and '.join(each.names)} to ask for in {tables} yet: they are known once that is loaded"
