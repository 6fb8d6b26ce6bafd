"""Overdue reports: months that failed, were never fetched, or were not read again for too long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from assets.metadata import LATE_AFTER, markdown_table
from assets.project import Project
from pipelines.months import Month, months_in_words
from pipelines.operations.causes import LATE, NEVER, UNPUBLISHED
from pipelines.planning.plan import Plan, PlannedReport, make_plan
from pipelines.planning.selection import Pair, Selection
from warehouse.ledger.ledger import Ledger, read_ledger
from warehouse.ledger.status import Overview, overview
from warehouse.store.meta_schema import aware
from warehouse.store.versions import PUBLISHED

MOST_LINES = 100


@dataclass(frozen=True)
class DataState:
    """The plan of what is missing or due, the ledger it was made from, and the status of all loads."""

    plan: Plan
    ledger: Ledger
    status: Overview

    @property
    def published(self) -> datetime | None:
        """When a file was published last."""
        made = [aware(one.at_utc) for one in self.status.publications if one.status == PUBLISHED]
        return max(made, default=None)


@dataclass(frozen=True)
class Overdue:
    """What is overdue of a report of a customer: since when, and why; `kind` names the error in a word."""

    report: str
    customer: str
    what: str
    since: str
    why: str
    kind: str = ""
    months: tuple[Month, ...] = ()
    last_try: str = ""


def read_data_state(project: Project) -> DataState:
    """What is held, missing and failed right now; nothing is asked of the service."""
    store, catalogue = project.store, project.run_context.catalogue
    with store.reading() as connection:
        plan, _ = make_plan(project.settings, Selection(), store, project.clock, catalogue)
        return DataState(plan, read_ledger(connection), overview(store))


def find_overdue(state: DataState, now: datetime, being_fetched: Collection[str] = ()) -> Iterator[Overdue]:
    """Everything overdue, report by report; missing months of customers being fetched are left out.

    Reports without access (403) and customers that are switched off are never overdue.
    """
    failures = {(one.report, one.customer): one for one in state.status.failures}
    late = {
        (one.report, one.customer): one.last_success_utc
        for one in state.status.standings
        if one.due_utc and aware(one.due_utc) < now
    }
    for one in state.plan.planned:
        if not one.customer.active or one.pair in state.ledger.denied:
            continue
        failed, success = failures.get(one.pair), late.get(one.pair)
        if failed:
            months = tuple(Month.of(day) for day in failed.months)
            what = months_in_words(months) or "as it stands now"
            since = f"{failed.since_utc:%Y-%m-%d %H:%M} UTC"
            yield Overdue(*one.pair, what, since, failed.error, failed.cause, months, failed.last_try)
        elif success:
            since = f"{success:%Y-%m-%d %H:%M} UTC"
            yield Overdue(*one.pair, "nothing new", since, "it was not read again", LATE)
        elif one.customer.id not in being_fetched and _was_never_fetched(one, state.ledger):
            yield Overdue(*one.pair, months_in_words(one.wanted.missing), "", "it was never fetched", NEVER)
    if state.published and now - state.published > LATE_AFTER:
        since = f"{state.published:%Y-%m-%d %H:%M} UTC"
        yield Overdue(
            "the published file",
            "all customers",
            "nothing new",
            since,
            "it was not published again",
            UNPUBLISHED,
        )


def lost_rights(state: DataState) -> set[Pair]:
    """Reports and customers that were answered once and are refused (403) now, as far as they are asked.

    A customer that is refused every report, answered before or not, is there once and without a report.
    """
    active = {one.pair for one in state.plan.planned if one.customer.active}
    customers = {customer for _, customer in active}
    shut_out = {("", customer) for customer in state.status.shut_out if customer in customers}
    return shut_out | (state.status.rights_lost & active)


def group_overdue(overdue: Iterable[Overdue]) -> dict[tuple[str, str, str, str], list[str]]:
    """The customers of whom the same of the same report is overdue for the same reason."""
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for one in overdue:
        grouped.setdefault((one.report, one.what, one.since, one.why), []).append(one.customer)
    return grouped


def overdue_table(overdue: Iterable[Overdue]) -> str:
    """What is overdue as a markdown table; empty when nothing is."""
    rows = [
        (report, ", ".join(customers), what, since, why)
        for (report, what, since, why), customers in group_overdue(overdue).items()
    ]
    if len(rows) > MOST_LINES:
        rows[MOST_LINES:] = [(f"and {len(rows) - MOST_LINES} more", "", "", "", "")]
    return markdown_table(("report", "customers", "what", "since", "why"), rows)


def _was_never_fetched(one: PlannedReport, ledger: Ledger) -> bool:
    missing = set(one.wanted.missing) - set(one.wanted.waited)
    return bool(missing) if one.report.has_months else (*one.pair, None) not in ledger.months
