"""Scheduler of one sync: requests windows with bounded concurrency, and hands answers to the loader."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from pipelines.connect.errors import BadRequest, CircuitOpen, ConnectError, Forbidden
from pipelines.planning.windows import Span, Window, windows
from pipelines.sync.guard import HeldBack
from pipelines.sync.loader import Loader
from pipelines.sync.summary import Summary
from pipelines.sync.window.answers import RowsWithoutMonths
from pipelines.sync.window.bisect import RejectedTogether
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.task import TaskState
from warehouse.ledger.window_result import Failure, WindowResult, WindowStatus

if TYPE_CHECKING:
    from pipelines.connect.circuit_breaker import CircuitBreaker
    from pipelines.sync.run_context import Clients

WINDOWS_PER_REQUEST = 2
"""Windows in progress for each concurrent request, so that requests go on while answers are parsed."""
THREADS = 3
"""Threads that parse, compress and load answers. Each needs memory of its own."""
MAX_WINDOWS_AT_A_TIME = 4
"""The most windows of one report and customer that are requested at a time. The first is requested alone."""
MAX_REJECTED_MONTHS = 2
"""After this many rejections in a row, older months are not requested."""


@dataclass
class Scheduler:
    """Requests the windows of all tasks. Fetched windows go to the loader, all others to the summary."""

    fetcher: Fetcher
    loader: Loader
    clients: Clients
    circuit_breaker: CircuitBreaker
    summary: Summary
    today: date
    concurrency: int

    async def run(self, tasks: Sequence[TaskState]) -> None:
        """Request the windows of all tasks; a failed window does not stop other tasks.

        Fetched windows are loaded even if the run is cancelled. Raises errors of the store, like a full disk.
        """
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
        slots = asyncio.Semaphore(self.concurrency * WINDOWS_PER_REQUEST)
        loading = asyncio.create_task(self.loader.run())
        running = [asyncio.create_task(self._run_task(task, slots)) for task in round_robin(tasks)]
        requesting = asyncio.gather(*running)
        watched: list[asyncio.Future[Any]] = [loading, requesting]
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for running_task in running:
                running_task.cancel()
            await asyncio.gather(*running, requesting, return_exceptions=True)
            await self.loader.finish(loading)
        await requesting

    async def _run_task(self, task: TaskState, slots: asyncio.Semaphore) -> None:
        """Request all windows of a task, the newest first: one, then two, then four at a time.

        After a rejection, the next batch has one window, as the service may reject older windows too.
        """
        at_a_time = 1
        while task.windows:
            batch = task.next_windows(at_a_time, self.today)
            failures = await asyncio.gather(*(self._fetch_window(task, window, slots) for window in batch))
            at_a_time = min(2 * at_a_time, MAX_WINDOWS_AT_A_TIME)
            for window, failure in zip(batch, failures, strict=True):
                if failure is None:
                    task.rejected_in_a_row = 0
                    continue
                self._note_failure(task, window, *failure)
                if isinstance(failure[1], BadRequest | RejectedTogether):
                    at_a_time = 1
            if task.rejected_in_a_row >= MAX_REJECTED_MONTHS and not task.stop_reason:
                task.stop_reason = f"{task.rejected_in_a_row} newer months in a row were rejected (400)"

    async def _fetch_window(
        self, task: TaskState, window: Window, slots: asyncio.Semaphore
    ) -> tuple[WindowResult, Exception] | None:
        """Fetch a window for the loader. If that fails, returns its record and the error, otherwise None."""
        result = task.begin(window, self.summary.run_id)
        memory = self.fetcher.memory
        async with slots:
            client = self.clients(result.customer, task.planned.report.endpoint.path)
            if record := self._unrequested_record(task, result):
                self.summary.add(record)
                return None
            await memory.enter(result.report)
            fetched, error = await self.fetcher.fetch(client, task, window, result)
            if error is not None:
                memory.leave(result.report)
                return fetched, error
            await self.loader.put(fetched)
            return None

    def _unrequested_record(self, task: TaskState, result: WindowResult) -> WindowResult | None:
        """The record of a window that earlier failures rule out, or None if the window may be requested."""
        if task.denied:
            return result.ended(WindowStatus.NO_ACCESS, task.stop_reason)
        if stopped := self.summary.stopped:
            return result.ended(WindowStatus.NOT_REQUESTED, stopped.issue, failure=failure_of(stopped))
        return result.ended(WindowStatus.NOT_REQUESTED, task.stop_reason) if task.stop_reason else None

    def _note_failure(self, task: TaskState, window: Window, result: WindowResult, error: Exception) -> None:
        status, reason = WindowStatus.FAILED, getattr(error, "issue", str(error))
        match error:
            case RowsWithoutMonths():
                status, reason = WindowStatus.SKIPPED, "rows state no month; now requested month by month"
                self._request_by_month(task, window)
            case RejectedTogether():
                status = WindowStatus.SKIPPED
                reason = "the months failed together, so the window is halved"
                task.limit.learn(Span(window.spans[0].first, window.spans[-1].last))
                task.put_back([window])
            case HeldBack():
                status = WindowStatus.HELD_BACK
            case Forbidden():
                status, task.denied, task.stop_reason = WindowStatus.NO_ACCESS, True, reason
            case BadRequest() if not task.planned.report.is_tracked_by_id:
                task.rejected_in_a_row += 1
            case CircuitOpen():
                status = WindowStatus.NOT_REQUESTED
        if status is WindowStatus.SKIPPED:
            self.summary.add(result.ended(status, reason))
            return
        self.summary.stopped = self.circuit_breaker.stop_error
        stop_error = self.summary.stopped if isinstance(error, CircuitOpen) else None
        self.summary.add(result.ended(status, reason, failure=failure_of(stop_error or error)))

    def _request_by_month(self, task: TaskState, window: Window) -> None:
        task.limit.months, task.rows_lack_months = 1, True
        months = [month for remaining in (window, *task.windows) for month in remaining.months]
        task.windows.clear()
        task.put_back(replace(single, ids=window.ids) for single in windows(months, 1, self.today))


def failure_of(error: Exception) -> Failure:
    """The facts that the ledger records about an error that ended a window."""
    name = type(error).__name__
    if isinstance(error, HeldBack):
        return Failure(error.rule, error.remedy)
    if not isinstance(error, ConnectError):
        return Failure(name)
    return Failure(name, error.remedy, error.trouble, error.http_status, error.last_try, error.login)


def round_robin(tasks: Sequence[TaskState]) -> list[TaskState]:
    """Order the tasks so that neighbours rarely share a customer or a report: A-x, B-y, C-z, A-y, B-z, C-x.

    Many denials in a row end the run. In this order, those of one customer or report are rarely in a row.
    """
    customers = list(dict.fromkeys(task.planned.customer.id for task in tasks))
    reports = list(dict.fromkeys(task.planned.report.name for task in tasks))
    customer_at = {name: index for index, name in enumerate(customers)}
    report_at = {name: index for index, name in enumerate(reports)}
    step = -(-len(reports) // max(len(customers), 1))  # spreads the first tasks over all reports

    def position(task: TaskState) -> tuple[int, int]:
        customer = customer_at[task.planned.customer.id]
        return (report_at[task.planned.report.name] - customer * step) % len(reports), customer

    return sorted(tasks, key=position)
