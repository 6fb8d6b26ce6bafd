"""Sync: plan what is missing or due, ask for it, load it, and report what became of every window."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.planning.plan import Plan, PlannedReport, note_next_due, read_plan
from pipelines.planning.selection import Selection
from pipelines.sync.changed_sales import ask_what_changed
from pipelines.sync.declaration import declare_catalogue
from pipelines.sync.loader import Loader
from pipelines.sync.privacy import private_rows
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.run_context import RunContext
from pipelines.sync.scheduler import Scheduler
from pipelines.sync.summary import Summary
from pipelines.sync.window.bisect import WindowLimit
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.paging import PageSize
from pipelines.sync.window.task import TaskState
from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import (
    Cap,
    add_requests,
    deny,
    read_rows,
    record_failures,
    remember_cap,
)
from warehouse.ledger.status import read_conditions
from warehouse.ledger.window_result import WindowResult, WindowStatus, results_by_pair
from warehouse.load.landing import Landing
from warehouse.store.database import Connection, Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

RECORDED = frozenset({WindowStatus.FAILED, WindowStatus.HELD_BACK, WindowStatus.NO_ACCESS})
POSTPONED = (
    "{} more months were changed than the {} that one night reads again (BROKERBI_CHANGED_MONTHS); "
    "the next nights read them"
)
POSTPONED_IDS = (
    "{} more ids are due than the {} that a night requests (BROKERBI_IDS_A_NIGHT); the next nights "
    "request them"
)


def ignore(news: object) -> None:
    """Listen to nothing."""


def sync(
    settings: Settings,
    selection: Selection,
    *,
    context: RunContext | None = None,
    on_plan: Callable[[Plan], None] = ignore,
    on_result: Callable[[WindowResult], None] = ignore,
) -> Summary:
    """Ask what is missing or due, load it, and report what became of every window.

    One customer's or report's failure stops nothing else and is in the summary. Raises WarehouseError
    when nothing can be kept at all (a full disk, an unwritable directory), SettingsError for logins.
    """
    context = context or RunContext()
    clock = settings.clock_of_day(context.clock)
    context = replace(context, clock=clock)
    store = Store(settings.data_dir, now=clock.utc_now, transform=private_rows(settings))
    run_id = f"{clock.utc_now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"  # sorts by time
    summary = Summary(run_id, clock.utc_now(), on_result)
    run = _Run(settings, selection, context, store, summary, on_plan)
    plan, tasks = run.prepare()
    if tasks or plan.probes:
        asyncio.run(run.ask_and_load(plan, tasks))
    else:
        on_plan(plan)
        run.announce(plan.planned)
        with store.reading() as connection:
            summary.conditions = read_conditions(connection)
    summary.seconds = (clock.utc_now() - summary.started_utc).total_seconds()
    return summary


@dataclass(frozen=True)
class _Run:
    """One sync under way."""

    settings: Settings
    selection: Selection
    context: RunContext
    store: Store
    summary: Summary
    on_plan: Callable[[Plan], None]

    def prepare(self) -> tuple[Plan, list[TaskState]]:
        """The first plan and its tasks; every documented table is declared, with the file opened once.

        What killed syncs left unfinished in landing is removed.
        """
        with self.store.writing() as connection:
            Landing(self.settings.data_dir / "landing").clear_unfinished()
            declare_catalogue(connection, self.settings, self.context.catalogue, self.context.clock)
            return self._plan(connection)

    def plan_again(self) -> tuple[Plan, list[TaskState]]:
        """The plan as of now, and its tasks."""
        with self.store.reading() as connection:
            return self._plan(connection)

    def _plan(self, connection: Connection) -> tuple[Plan, list[TaskState]]:
        today = self.settings.today_local(self.context.clock)
        plan, ledger = read_plan(connection, self.settings, self.selection, today, self.context.catalogue)
        to_ask = [planned for planned in plan.planned if planned.windows]
        rows = read_rows(connection, [planned.pair for planned in to_ask])
        tasks = []
        for planned in to_ask:
            cap = ledger.caps.get(planned.pair) or Cap()
            limit = WindowLimit(cap.months, cap.days)
            page_size = PageSize(self.settings.page_size, cap.page_size)
            tasks.append(TaskState(planned, rows.get(planned.pair, {}), limit, page_size))
        return plan, tasks

    def announce(self, plan: Sequence[PlannedReport]) -> None:
        """Report what a part of the plan leaves alone, and why."""
        for planned in plan:
            self.summary.held[planned.pair] += planned.wanted.left
            self.summary.add_waiting(planned.pair, planned.wanted.waiting)
            if planned.skipped:
                self.summary.add(WindowResult(*planned.pair).ended(WindowStatus.SKIPPED, planned.skipped))
            if planned.out_of_reach:
                months = tuple(month.first_day for month in planned.out_of_reach)
                reason = "the service does not calculate these months; what is held stays"
                self.summary.add(WindowResult(*planned.pair, months).ended(WindowStatus.SKIPPED, reason))
            if planned.wanted.postponed:
                months = tuple(month.first_day for month in planned.wanted.postponed)
                reason = POSTPONED.format(len(months), len(planned.wanted.due_as("changed")))
                result = WindowResult(*planned.pair, months, warnings=(reason,))
                self.summary.add(result.ended(WindowStatus.SKIPPED, reason))
            if planned.postponed:
                reason = POSTPONED_IDS.format(planned.postponed, self.settings.ids_a_night)
                self.summary.add(WindowResult(*planned.pair).ended(WindowStatus.WAITING, reason))

    async def ask_and_load(self, plan: Plan, tasks: Sequence[TaskState]) -> None:
        """Ask and load, then write down what came of it; what was asked is added up however the run ends."""
        log = RequestLogger(self.settings.data_dir, self.summary.run_id, self.context.clock)
        try:
            tasks = await self._ask_and_load(plan, tasks, log)
        except BaseException:  # what ended the run is more important to report
            with suppress(
                WarehouseError
            ):  # in a thread: one that is loading needs the loop to let go of the file
                await asyncio.to_thread(self._count_requests, log)
            raise
        with self.store.writing() as connection:
            add_requests(connection, log.counts)
            self._record(connection, tasks)
            note_next_due(connection, self.settings, self.context.clock, self.context.catalogue)

    async def _ask_and_load(
        self, plan: Plan, tasks: Sequence[TaskState], log: RequestLogger
    ) -> Sequence[TaskState]:
        """Ask what was changed, then for all that is wanted: one client per login, one rate limit for all."""
        settings, clock, run_id = self.settings, self.context.clock, self.summary.run_id
        reports_wanted = len({task.planned.report.name for task in tasks})
        landing = Landing(settings.data_dir / "landing")
        fetcher = Fetcher(landing, clock, settings.timezone)
        async with self.context.rate_limit(settings) as rate_limit, AsyncExitStack() as stack:
            breaker = CircuitBreaker(rate_limit, reports_wanted)
            asked = [task.planned.customer for task in tasks] + [probe.customer for probe in plan.probes]
            customers = list({customer.id: customer for customer in asked}.values())
            clients = self.context.open_clients(
                settings,
                customers,
                rate_limit,
                breaker,
                stack,
                log.record,
            )
            if plan.probes:
                reports = list(self.context.catalogue.values())
                asked_for = [customer.id for customer in settings.active_customers]
                for result in await ask_what_changed(
                    plan.probes, clients, fetcher, self.store, reports, asked_for, run_id
                ):
                    self.summary.add(result)
                plan, tasks = self.plan_again()
            self.on_plan(plan)
            scheduler = Scheduler(
                fetcher=fetcher,
                loader=Loader(self.store, self.summary, fetcher.memory),
                clients=clients,
                circuit_breaker=breaker,
                summary=self.summary,
                today=settings.today_local(clock),
                concurrency=settings.concurrency,
                accept_shrink=self.selection.accept_shrink,
            )
            self.announce(plan.planned)
            if not tasks:
                return tasks
            await scheduler.run(tasks)
            return [*tasks, *await self._ask_what_follows(scheduler, tasks)]

    async def _ask_what_follows(self, scheduler: Scheduler, tasks: Sequence[TaskState]) -> list[TaskState]:
        """Ask for the months of budgets of which an answer of this sync, a changed one, makes another due."""
        reports = self.context.catalogue
        changed = [
            one for one in self.summary.results if one.history and (one.loaded.opened or one.loaded.closed)
        ]
        if self.summary.stopped or not any(reports[one.report].timing.weekly for one in changed):
            return []
        plan, _ = self.plan_again()
        refused = {task.planned.pair for task in tasks if task.denied}
        followed = {
            one.pair: months
            for one in plan.planned
            if one.report.timing.weekly
            and one.pair not in refused
            and (months := one.wanted.due_as("changed"))
        }
        if not followed:
            return []
        _, followers = replace(self, selection=Selection(exact=followed)).plan_again()
        loader = Loader(self.store, self.summary, scheduler.fetcher.memory)
        await replace(scheduler, loader=loader).run(followers)
        return followers

    def _count_requests(self, log: RequestLogger) -> None:
        with self.store.writing() as connection:
            add_requests(connection, log.counts)

    def _record(self, connection: Connection, tasks: Sequence[TaskState]) -> None:
        """Write down what failed and why, who has no access, and which windows and pages the service accepts.

        A run that was stopped because everybody was refused marks nobody: the trouble is elsewhere.
        """
        now = self.context.clock.utc_now()
        failures = [
            replace(
                one,
                load_id=one.load_id or f"{now:%Y%m%dT%H%M%S%f}-{one.report}-{one.customer}-{one.when}",
                sha256="",
                fetched_at_utc=one.fetched_at_utc or now,
            )
            for one in [*self.summary.results, *_not_asked(self.summary)]
            if one.status in RECORDED
        ]
        denied = [task for task in tasks if task.denied and not self.summary.stopped]
        results = results_by_pair(self.summary.results)
        learned = {task.planned.pair: task.learned(results.get(task.planned.pair, ())) for task in tasks}
        record_failures(connection, failures, now)
        for task in denied:
            deny(connection, *task.planned.pair, now)
        for pair, cap in learned.items():
            if cap != Cap():
                remember_cap(connection, *pair, cap, now)
        self.summary.conditions = read_conditions(connection)


def _not_asked(summary: Summary) -> Iterator[WindowResult]:
    """What a run that gave up did not ask any more: one failed window for each report and customer."""
    left = (one for one in summary.results if one.status is WindowStatus.NOT_ASKED and one.failure.error)
    for windows in results_by_pair(left).values():
        months = sorted({month for one in windows for month in one.months})
        yield replace(
            windows[0], months=tuple(months), window_start=None, window_end=None, status=WindowStatus.FAILED
        )
