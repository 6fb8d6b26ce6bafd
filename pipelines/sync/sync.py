"""Sync: plan the missing and due months, request and load them, and report every window."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from pipelines.planning.plan import Plan, PlannedReport, plan_sync, record_next_due
from pipelines.planning.selection import Pair, Selection
from pipelines.sync.changed_sales import probe_changed_sales
from pipelines.sync.declaration import declare_catalogue
from pipelines.sync.loader import Loader
from pipelines.sync.privacy import privacy_transform
from pipelines.sync.run_context import RunContext, Session
from pipelines.sync.scheduler import Scheduler
from pipelines.sync.summary import Summary
from pipelines.sync.window.bisect import WindowLimit
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.paging import PageSize
from pipelines.sync.window.task import TaskState
from pipelines.words import counted
from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import Cap, add_requests, record_cap, record_denial, record_failures
from warehouse.ledger.status import read_conditions
from warehouse.ledger.window_result import WindowResult, WindowStatus, results_by_pair
from warehouse.load.landing import Landing
from warehouse.load.profile import read_profiles
from warehouse.store.database import Connection, Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

RECORDED_AS_FAILURES = frozenset({WindowStatus.FAILED, WindowStatus.HELD_BACK, WindowStatus.NO_ACCESS})
POSTPONED = (
    "{} postponed to the next nightly runs, as one run reads at most {} changed months again "
    "(BROKERBI_CHANGED_MONTHS)"
)
POSTPONED_IDS = (
    "{} postponed to the next nightly runs, as one run requests at most {} ids (BROKERBI_IDS_A_NIGHT)"
)

Caps = Mapping[Pair, Cap]
"""The learned limits, by report and customer."""


def ignore(event: object) -> None:
    """Do nothing: the default for `on_plan` and `on_result`."""


def sync(
    settings: Settings,
    selection: Selection,
    *,
    context: RunContext | None = None,
    on_plan: Callable[[Plan], None] = ignore,
    on_result: Callable[[WindowResult], None] = ignore,
) -> Summary:
    """Request missing and due months, load them, and return the outcome of every window.

    A failed window is in the summary and does not stop the others. Many failures open the circuit breaker,
    which ends the run early.
    Raises ValueError for wrong settings or unknown names, and WarehouseError if nothing can be stored.
    """
    context = context or RunContext()
    clock = settings.run_clock(context.clock)
    context = replace(context, clock=clock)
    store = Store(settings.data_dir, now=clock.utc_now, transform=privacy_transform(settings))
    run_id = f"{clock.utc_now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"  # sorts by time
    summary = Summary(run_id, clock.utc_now(), on_result)
    run = _Run(settings, selection, context, store, summary, on_plan)
    plan, caps = run.prepare()
    if plan.probes or any(planned.windows for planned in plan.planned):
        asyncio.run(run.request_and_load(plan, caps))
    else:
        on_plan(plan)
        run.report_unrequested(plan.planned)
        with store.reading() as connection:
            summary.conditions = read_conditions(connection)
    summary.seconds = (clock.utc_now() - summary.started_utc).total_seconds()
    return summary


@dataclass(frozen=True)
class _Run:
    """A running sync."""

    settings: Settings
    selection: Selection
    context: RunContext
    store: Store
    summary: Summary
    on_plan: Callable[[Plan], None]

    def prepare(self) -> tuple[Plan, Caps]:
        """Remove the unfinished landing files of killed syncs, declare the tables, and make a plan."""
        with self.store.writing() as connection:
            Landing(self.settings.data_dir / "landing").clear_unfinished()
            declare_catalogue(connection, self.settings, self.context.catalogue, self.context.clock)
            return self._plan(connection)

    def _plan(self, connection: Connection) -> tuple[Plan, Caps]:
        today = self.settings.today_local(self.context.clock)
        plan, ledger = plan_sync(connection, self.settings, self.selection, today, self.context.catalogue)
        return plan, ledger.caps

    def _tasks(self, connection: Connection, plan: Plan, caps: Caps) -> list[TaskState]:
        requested = [planned for planned in plan.planned if planned.windows]
        # The guard compares an answer with the stored rows. Reports tracked by id are left out, because an
        # answer has the rows of one id, and the table has those of all ids.
        months: dict[Pair, Sequence[date | None]] = {
            planned.pair: [month.first_day for window in planned.windows for month in window.months] or [None]
            for planned in requested
            if not planned.report.is_tracked_by_id
        }
        stored = read_profiles(connection, months)
        return [
            TaskState(
                planned,
                limit=WindowLimit(cap.months, cap.days, rows=cap.rows, whole_rows=cap.whole_rows or 0),
                page_size=PageSize(self.settings.page_size, cap.page_size),
                stored=stored.get(planned.pair, {}),
                accept_shrink=self.selection.accept_shrink,
            )
            for planned, cap in ((planned, caps.get(planned.pair, Cap())) for planned in requested)
        ]

    def report_unrequested(self, planned_reports: Sequence[PlannedReport]) -> None:
        """Report the skipped and postponed months, with reasons."""
        for planned in planned_reports:
            add, months = partial(self.summary.add_skipped, planned.pair), planned.months
            if planned.skipped:
                add(planned.skipped)
            if planned.out_of_scope:
                add("the service does not calculate these months; the stored rows stay", planned.out_of_scope)
            if months.postponed:
                changed = len(months.due_for("changed"))
                reason = POSTPONED.format(counted(len(months.postponed), "month"), changed)
                add(reason, months.postponed, warnings=(reason,))
            if planned.postponed_ids:
                add(POSTPONED_IDS.format(counted(planned.postponed_ids, "due id"), self.settings.ids_a_night))

    async def request_and_load(self, plan: Plan, caps: Caps) -> None:
        """Request and load the planned windows, then record the outcome.

        The number of requests is recorded even if an error ends the run.
        """
        async with self.context.open_session(self.settings, self.summary.run_id) as session:
            try:
                tasks = await self._request_and_load(plan, caps, session)
            except BaseException:
                with suppress(WarehouseError):  # the error that ended the run matters more
                    # in a thread, as it may have to wait for a load that has the file open
                    await asyncio.to_thread(self._count_requests, session)
                raise
        with self.store.writing() as connection:
            add_requests(connection, session.log.counts)
            self._record(connection, tasks)
            record_next_due(connection, self.settings, self.context.clock, self.context.catalogue)

    async def _request_and_load(self, plan: Plan, caps: Caps, session: Session) -> Sequence[TaskState]:
        settings, clock = self.settings, self.context.clock
        fetcher = Fetcher(Landing(settings.data_dir / "landing"), clock, settings.timezone)
        if plan.probes:
            for result in await probe_changed_sales(
                plan.probes, session.clients, fetcher, self.store, self.context.catalogue, self.summary.run_id
            ):
                self.summary.add(result)
            with self.store.reading() as connection:
                plan, caps = self._plan(connection)  # again, as changed sales may make more months due
        with self.store.reading() as connection:
            tasks = self._tasks(connection, plan, caps)
        session.breaker.report_count = len({task.planned.report.name for task in tasks})
        session.breaker.customer_count = len({task.planned.customer.id for task in tasks})
        self.on_plan(plan)
        scheduler = Scheduler(
            fetcher=fetcher,
            loader=Loader(self.store, self.summary, fetcher.memory),
            clients=session.clients,
            circuit_breaker=session.breaker,
            summary=self.summary,
            today=settings.today_local(clock),
            concurrency=settings.concurrency,
        )
        self.report_unrequested(plan.planned)
        if tasks:
            await scheduler.run(tasks)
        return tasks

    def _count_requests(self, session: Session) -> None:
        with self.store.writing() as connection:
            add_requests(connection, session.log.counts)

    def _record(self, connection: Connection, tasks: Sequence[TaskState]) -> None:
        now = self.context.clock.utc_now()
        failures = [
            replace(
                result,
                load_id=result.load_id
                or f"{now:%Y%m%dT%H%M%S%f}-{result.report}-{result.customer}-{result.when}",
                sha256="",
                fetched_at_utc=result.fetched_at_utc or now,
                # a stopped run did not request some windows: they count as failed
                status=WindowStatus.FAILED if result.status is WindowStatus.NOT_REQUESTED else result.status,
            )
            for result in self.summary.results
            if result.status in RECORDED_AS_FAILURES or result.failure.error
        ]
        # a stopped run records no denials, because they may all have one cause
        denied_tasks = [task for task in tasks if task.denied and not self.summary.stopped]
        results = results_by_pair(self.summary.results)
        learned = {task.planned.pair: task.learned(results.get(task.planned.pair, ())) for task in tasks}
        record_failures(connection, failures, now)
        for task in denied_tasks:
            record_denial(connection, *task.planned.pair, now, self.summary.started_utc)
        for pair, cap in learned.items():
            if cap != Cap():
                record_cap(connection, *pair, cap, now)
        self.summary.conditions = read_conditions(connection)
