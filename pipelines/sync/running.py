"""How does a plan become rows? Asks every window with bounded concurrency, and loads while it asks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.connect.errors import Forbidden, HostDown, Refused
from pipelines.operations.rereading import reread
from pipelines.planning.ordering import in_turns
from pipelines.planning.windows import Window, windows
from pipelines.sync.fetched import Fetched
from pipelines.sync.guards import merged, shrink_reason
from pipelines.sync.loading import Loader
from pipelines.sync.pairs import MOST_REFUSED_WINDOWS, AtRest, Pair
from pipelines.sync.reading import ByMonthInstead, Missed, Reading
from pipelines.sync.summary import Summary
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from datetime import date

    from pipelines.connect.circuit_breaker import CircuitBreaker
    from pipelines.connect.client import Client

WORKERS_PER_SLOT = 2
"""More windows under way than requests allowed in flight, so that parsing never leaves a slot idle."""
THREADS = 3
"""How many answers are parsed, compressed or loaded at a time: each takes memory of its own."""


@dataclass
class Run:
    """One sync under way: its windows still to ask, and what has become of the others."""

    reading: Reading
    loader: Loader
    clients: Mapping[str, Client]
    circuit_breaker: CircuitBreaker
    today: date
    concurrency: int
    accept_shrink: bool
    summary: Summary
    note: Callable[[WindowResult], None]
    jobs: deque[tuple[Pair, Window]] = field(default_factory=deque)

    async def work(self, pairs: Sequence[Pair]) -> None:
        """Ask all windows of all pairs; what fails is noted, and stops nothing else.

        Raises what the store raises (a full disk, a lost lock): then nothing can be kept any more.
        """
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
        for pair in pairs:
            pair.windows_left = len(pair.planned.windows)
        self.jobs.extend(in_turns(pairs))
        loading = asyncio.create_task(self.loader.run())
        workers = [asyncio.create_task(self._worker()) for _ in range(self.concurrency * WORKERS_PER_SLOT)]
        try:
            await _all_unless_one_fails([loading, *workers], until=workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self.loader.finish(loading)

    async def _worker(self) -> None:
        while self.jobs:
            pair, window = self.jobs.popleft()
            await self._one(pair, window)
            pair.windows_left -= 1
            if pair.windows_left == 0:
                await self._release(pair)

    async def _one(self, pair: Pair, window: Window) -> None:
        customer = pair.planned.customer.id
        if not pair.denied and self.circuit_breaker.refuses_customer(customer):
            pair.denied, pair.closed = True, "no access (403): the customer was refused every report so far"
        if reason := self.summary.stopped or pair.closed:
            status = WindowStatus.NO_ACCESS if pair.denied else WindowStatus.NOT_ASKED
            self.note(_outcome(pair, window, status, reason))
            return
        held = pair.is_guarded and not self.accept_shrink
        read = await self.reading.read(self.clients[customer], pair, window, held=held)
        match read:
            case Missed() as missed:
                self.note(self._missed(pair, window, missed))
            case ByMonthInstead() as instead:
                self._ask_by_month(pair, window, instead)
            case Fetched() as fetched if held:
                pair.waiting.append(AtRest.of(fetched))
            case Fetched() as fetched:
                await self.loader.put(fetched)

    def _ask_by_month(self, pair: Pair, window: Window, instead: ByMonthInstead) -> None:
        """Put a window's months in the queue one by one: its rows carry no month of their own."""
        reason = "its rows carry no year and month, so its months are asked one by one"
        self.note(replace(_outcome(pair, window, WindowStatus.SKIPPED, reason), requests=instead.requests))
        pair.cap.months = 1
        single = list(windows(window.months, 1, self.today))
        pair.windows_left += len(single)
        self.jobs.extendleft((pair, one) for one in reversed(single))

    def _missed(self, pair: Pair, window: Window, missed: Missed) -> WindowResult:
        """Say what became of a window that could not be fetched, and draw the conclusions for others."""
        status, reason = WindowStatus.FAILED, str(missed.error)
        match missed.error:
            case Forbidden():
                status, pair.denied, pair.closed = WindowStatus.NO_ACCESS, True, reason
            case Refused():
                pair.refused_windows += 1
                if pair.refused_windows >= MOST_REFUSED_WINDOWS:
                    pair.closed = f"earlier windows were refused: {reason}"
            case HostDown():
                status = WindowStatus.NOT_ASKED
        self.summary.stopped = self.summary.stopped or self.circuit_breaker.open_because
        return _outcome(pair, window, status, reason, missed)

    async def _release(self, pair: Pair) -> None:
        """Load what waited for the whole pair to be in, unless too much of it would vanish."""
        waiting, pair.waiting = pair.waiting, []
        if not waiting:
            return
        lost = shrink_reason(pair.total_before, pair.before, merged(one.rows for one in waiting))
        for one in waiting:
            if lost:
                self.note(_held_back(one.fetched, lost))
            else:
                released = replace(one.fetched, landing=self.reading.landing.release(one.fetched.landing))
                await self.loader.put(await reread(self.reading, released))


def _held_back(fetched: Fetched, reason: str) -> WindowResult:
    return WindowResult(
        report=fetched.report.name,
        customer=fetched.customer,
        months=tuple(month.first_day for month in fetched.window.months),
        window_start=fetched.window.first,
        window_end=fetched.window.last,
        status=WindowStatus.HELD_BACK,
        reason=reason,
        requests=fetched.requests,
        bytes=fetched.bytes,
        seconds=fetched.seconds,
        load_id=fetched.load_id,
        landing=fetched.landing,
        fetched_at_utc=fetched.fetched_at_utc,
    )


def _outcome(
    pair: Pair, window: Window, status: WindowStatus, reason: str, missed: Missed | None = None
) -> WindowResult:
    return WindowResult(
        report=pair.planned.report.name,
        customer=pair.planned.customer.id,
        months=tuple(month.first_day for month in window.months),
        window_start=window.first,
        window_end=window.last,
        status=status,
        reason=reason,
        error=type(missed.error).__name__ if missed else "",
        requests=missed.requests if missed else 0,
        bytes=missed.bytes if missed else 0,
        seconds=missed.seconds if missed else 0.0,
        load_id=missed.load_id if missed else "",
        landing=missed.landing if missed else "",
        fetched_at_utc=missed.fetched_at_utc if missed else None,
    )


async def _all_unless_one_fails(
    tasks: Sequence[asyncio.Task[None]], until: Sequence[asyncio.Task[None]]
) -> None:
    """Wait until the tasks in `until` are done; raise at once what any task raises."""
    pending = set(tasks)
    while not all(task.done() for task in until):
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
