"""Scheduler of one sync: requests windows with bounded concurrency, and hands over what may be loaded."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from pipelines.connect.errors import BadRequest, ConnectError, Forbidden, HostDown
from pipelines.planning.windows import Span, Window, halves_of, windows
from pipelines.sync.guard import Comparison, reason, remedy
from pipelines.sync.loader import Loader
from pipelines.sync.summary import Summary
from pipelines.sync.window.answers import RowsWithoutMonths, read_landed_tables
from pipelines.sync.window.bisect import RefusedTogether
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.task import TaskState, newest_first
from warehouse.ledger.window_result import Failure, WindowResult, WindowStatus
from warehouse.load.profile import read_profiles

if TYPE_CHECKING:
    from pipelines.connect.circuit_breaker import CircuitBreaker
    from pipelines.sync.run_context import Clients

WORKERS_PER_SLOT = 2
"""More windows under way than requests in flight, so that parsing leaves no slot idle."""
THREADS = 3
"""How many answers are parsed, compressed or loaded at a time: each takes memory of its own."""
MOST_REJECTED_MONTHS = 2
"""After so many rejected months in a row the older ones are not requested."""


@dataclass
class Scheduler:
    """Works through the windows of all tasks; the outcome of each is added to the summary."""

    fetcher: Fetcher
    loader: Loader
    clients: Clients
    circuit_breaker: CircuitBreaker
    summary: Summary
    today: date
    concurrency: int
    accept_shrink: bool
    waiting: deque[TaskState] = field(default_factory=deque)

    async def run(self, tasks: Sequence[TaskState]) -> None:
        """Request all windows of all tasks; a failure is recorded and stops nothing else.

        Fetched windows are loaded in any case. Raises errors of the store (a full disk, a lost lock).
        """
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
        if not self.accept_shrink:
            await asyncio.to_thread(self._prepare_comparisons, tasks)
        self.waiting.extend(in_turns(tasks))
        loading = asyncio.create_task(self.loader.run())
        workers = [asyncio.create_task(self._work()) for _ in range(self.concurrency * WORKERS_PER_SLOT)]
        asking = asyncio.gather(*workers)
        watched: list[asyncio.Future[Any]] = [loading, asking]
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self.loader.finish(loading)
        await asking

    def _prepare_comparisons(self, tasks: Sequence[TaskState]) -> None:
        """Give every task with stored rows of the requested months a profile of them.

        Reports that are requested by id have none: an answer is about a few of all ids.
        """
        months = {
            task.planned.pair: stored
            for task in tasks
            if not task.planned.report.is_by_id
            and (stored := [month for month in task.months if task.rows_held.get(month)])
        }
        if not months:
            return
        with self.loader.store.reading() as connection:
            profiles = read_profiles(connection, months)
        for task in tasks:
            if task.planned.pair in months:
                limits = task.planned.report.shrink_limits
                task.comparison = Comparison(limits, task.rows_held, profiles[task.planned.pair])

    async def _work(self) -> None:
        """Request the windows of one task after the other, but the first window of every task before."""
        while self.waiting:
            task = self.waiting.popleft()
            is_first, task.has_begun = not task.has_begun, True
            await self._window(task, task.next_window(self.today))
            if not task.windows:
                await self._release(task)
            elif is_first:
                self.waiting.append(task)
            else:
                self.waiting.appendleft(task)

    async def _window(self, task: TaskState, window: Window) -> None:
        """One window from its request to the loader, or to the summary if it comes to nothing."""
        result = task.begin(window, self.summary.run_id)
        memory = self.fetcher.memory
        await memory.enter(result.report)
        fetched = await self._fetch(task, window, result, held=task.comparison is not None)
        if fetched is not None:
            if task.comparison is None:
                await self.loader.put(fetched)
                return
            task.comparison.add(fetched.tables)
            task.held_back.append(fetched.without_rows())
        memory.leave(result.report, fetched.bytes if fetched else 0)

    async def _fetch(
        self, task: TaskState, window: Window, result: WindowResult, *, held: bool
    ) -> WindowResult | None:
        """Fetch a window; None if it failed, or if the outcome of others is a reason not to request it."""
        client = self.clients(result.customer, task.planned.report.endpoint.path)
        if not task.denied and self.circuit_breaker.refuses_customer(result.customer, client.login):
            task.denied = True
            task.closed = "not asked: this login was refused every report of the customer so far (403)"
        if task.denied:
            self.summary.add(result.ended(WindowStatus.NO_ACCESS, task.closed))
        elif stopped := self.summary.stopped:
            self.summary.add(result.ended(WindowStatus.NOT_ASKED, stopped.found, failure=failure_of(stopped)))
        elif task.closed:
            self.summary.add(result.ended(WindowStatus.NOT_ASKED, task.closed))
        else:
            fetched, error = await self.fetcher.fetch(client, task, window, result, held=held)
            if error is None:
                task.rejected_in_a_row = 0
                return fetched
            if isinstance(error, RowsWithoutMonths):
                self._ask_by_month(task, window, fetched)
            elif isinstance(error, RefusedTogether):
                self._ask_in_halves(task, window, fetched)
            else:
                self._note_failure(task, fetched, error)
        return None

    def _ask_by_month(self, task: TaskState, window: Window, result: WindowResult) -> None:
        """Replace what is left of a task by single months: its rows carry no month of their own."""
        reason = "its rows carry no year and month, so its months are asked one by one"
        self.summary.add(result.ended(WindowStatus.SKIPPED, reason))
        task.limit.months, task.lacks_months = 1, True
        months = [month for unread in (window, *task.windows) for month in unread.months]
        if (wanted := task.planned.one_by_one) is not None:
            months = [month for month in months if month in wanted.months]
            self.summary.add_waiting(result.pair, wanted.waiting)
        task.windows = newest_first(
            replace(single, ids=window.ids) for single in windows(months, 1, self.today)
        )

    def _ask_in_halves(self, task: TaskState, window: Window, result: WindowResult) -> None:
        """Request the halves of a rejected window: a shorter or a later one may be answered."""
        reason = "its months were refused together (400), so they are asked in parts"
        self.summary.add(result.ended(WindowStatus.SKIPPED, reason))
        task.limit.learn(Span(window.spans[0].first, window.spans[-1].last))
        task.windows.extendleft(halves_of(window, self.today, task.planned.report.endpoint.limit))

    def _note_failure(self, task: TaskState, result: WindowResult, error: Exception) -> None:
        """Record a window that could not be fetched, and the consequences for others."""
        status, reason = WindowStatus.FAILED, getattr(error, "found", str(error))
        match error:
            case Forbidden():
                status, task.denied, task.closed = WindowStatus.NO_ACCESS, True, reason
            case BadRequest() if not task.planned.report.is_by_id:
                task.rejected_in_a_row += 1
                if task.rejected_in_a_row >= MOST_REJECTED_MONTHS:
                    task.closed = f"later months were rejected: {reason}"
            case HostDown():
                status = WindowStatus.NOT_ASKED
        self.summary.stopped = self.circuit_breaker.over
        stopped = self.summary.stopped if isinstance(error, HostDown) else None
        self.summary.add(result.ended(status, reason, failure=failure_of(stopped or error)))

    async def _release(self, task: TaskState) -> None:
        """Load the windows that waited for the whole task, unless the guard holds them back."""
        sys.audit("brokerbi.before_release")
        waiting, task.held_back = task.held_back, []
        comparison, task.comparison = task.comparison, None
        doubts = comparison.doubts(waiting) if comparison else ()
        for result in waiting:
            if doubts:  # warnings are of emptied months, which are among what is held back
                failure = Failure(doubts[0].kind.value, remedy(doubts))
                why = reason(doubts)
                self.summary.add(result.ended(WindowStatus.HELD_BACK, why, failure=failure, warnings=()))
                continue
            await self.fetcher.memory.enter(result.report)
            landing, report = self.fetcher.landing, task.planned.report
            released = replace(result, landing=landing.release(result.landing))
            await self.loader.put(
                await asyncio.to_thread(read_landed_tables, landing, released, report, self.fetcher.timezone)
            )


def failure_of(error: Exception) -> Failure:
    """The record of an error that a window ended with."""
    name = type(error).__name__
    if not isinstance(error, ConnectError):
        return Failure(name)
    return Failure(name, error.remedy, error.trouble, error.http_status, error.last_try, error.login)


def in_turns(tasks: Sequence[TaskState]) -> list[TaskState]:
    """The tasks in an order in which each customer begins with another report.

    A denied report or customer then costs one request, and neighbouring requests are about all customers and
    reports: if all are denied, access rights are not the cause.
    """
    customers = list(dict.fromkeys(task.planned.customer.id for task in tasks))
    reports = list(dict.fromkeys(task.planned.report.name for task in tasks))
    customer_at = {name: place for place, name in enumerate(customers)}
    report_at = {name: place for place, name in enumerate(reports)}
    step = -(-len(reports) // max(len(customers), 1))  # so far apart that few turns reach every report

    def turn(task: TaskState) -> tuple[int, int]:
        customer = customer_at[task.planned.customer.id]
        return (report_at[task.planned.report.name] - customer * step) % len(reports), customer

    return sorted(tasks, key=turn)
