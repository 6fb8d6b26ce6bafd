"""What would a sync ask right now? Settings, ledger and selection brought together; no request is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Each, Report
from pipelines.catalogue.reports import REPORTS, report
from pipelines.planning.due import Calendar
from pipelines.planning.holdings import outlined
from pipelines.planning.plan import ASSUMED_REQUEST_SECONDS, Plan, Planner
from pipelines.planning.selection import Selection
from pipelines.settings.messages import SettingsError
from pipelines.sync.guiding import probings
from pipelines.sync.rehearsing import clock_of

if TYPE_CHECKING:
    from pipelines.connect.clock import Clock
    from pipelines.settings.model import Customer, Settings
    from warehouse.outlines import Outline
    from warehouse.store import Store


def make_plan(
    settings: Settings,
    selection: Selection,
    store: Store,
    clock: Clock,
    catalogue: Mapping[str, Report] = REPORTS,
) -> tuple[Plan, Outline]:
    """The plan for a selection and the outline it rests on; raises SettingsError for unknown names."""
    outline = store.outline()
    return plan_on(outline, store.users, settings, selection, clock, catalogue), outline


def plan_on(
    outline: Outline,
    users_of: Callable[[str], Sequence[str]],
    settings: Settings,
    selection: Selection,
    clock: Clock,
    catalogue: Mapping[str, Report],
) -> Plan:
    """The same for an outline that was read before, and whoever knows the users of a customer."""
    clock = clock_of(settings, clock)
    reports = chosen_reports(settings, selection, catalogue)
    customers = chosen_customers(settings, selection)
    planner = Planner(
        calendar(settings, clock),
        outline,
        outlined(outline.held),
        selection,
        settings.page_size,
        _users(reports, customers, users_of),
        settings.changed_months,
    )
    asked = probings(reports, customers, planner.calendar, outline, planner.held)
    return Plan(
        tuple(planner.plan(reports, customers)),
        settings.requests_per_second,
        settings.concurrency,
        outline.request_seconds or ASSUMED_REQUEST_SECONDS,
        tuple(asked) if settings.changed_months and selection.asks_for_changes else (),
    )


def calendar(settings: Settings, clock: Clock) -> Calendar:
    """Today and the reach of a sync, as the settings say."""
    return Calendar(
        today=settings.today_local(clock),
        start=settings.start,
        timezone=ZoneInfo(settings.timezone),
        due_months=settings.due_months,
        due_months_monthly=settings.due_months_monthly,
        months_ahead=settings.budget_months_ahead,
    )


def chosen_reports(
    settings: Settings, selection: Selection, catalogue: Mapping[str, Report] = REPORTS
) -> list[Report]:
    """The reports a selection is about: those it names, else those the settings ask for."""
    if selection.exact:
        return [report(name, catalogue) for name in dict.fromkeys(name for name, _ in selection.exact)]
    if selection.reports:
        return [report(name, catalogue) for name in dict.fromkeys(selection.reports)]
    default = [name for name, one in catalogue.items() if one.enabled and not one.on_demand]
    return [catalogue[name] for name in settings.chosen_reports(default, list(catalogue))]


def chosen_customers(settings: Settings, selection: Selection) -> Sequence[Customer]:
    """The customers a selection is about; one that is not configured is refused with a sentence."""
    known = {customer.id: customer for customer in settings.customers}
    wanted = selection.customers or tuple(dict.fromkeys(owner for _, owner in selection.exact)) or known
    if unknown := [name for name in wanted if name not in known]:
        sentence = (
            f"Customer {unknown[0]!r} is not among the configured ones ({', '.join(known)}); "
            "add it to BROKERBI_CUSTOMERS or correct --customer."
        )
        raise SettingsError([sentence])
    return [known[name] for name in wanted]


def _users(
    reports: Sequence[Report], customers: Sequence[Customer], users_of: Callable[[str], Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """The users of each customer, looked up only when a report is asked user by user."""
    if not any(one.each is Each.USER for one in reports):
        return {}
    return {customer.id: users_of(customer.id) for customer in customers}
