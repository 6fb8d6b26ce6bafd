"""How do fetched windows reach the tables? In groups, one transaction each, while requests go on."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.sync.fetched import Fetched, load_of
from warehouse.errors import WarehouseError
from warehouse.loads import leaves_small_rest
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from warehouse.database import Store, WriteSession

LOADS_IN_A_GROUP = 200
BYTES_IN_A_GROUP = 10_000_000
"""A group is full with so many loads or so much memory; no more than one waits, which keeps memory flat."""
MOST_BYTES_IN_A_GROUP = 20_000_000
"""How far it may go beyond that, if a few windows more mean that fewer rows are written twice."""
PATIENCE_SECONDS = 2.0
"""How long a fetched window waits for others; what waits is asked again when the run is killed."""
GLANCE_SECONDS = 0.05
"""How often a loader that waits with the file open looks whether somebody else wants it."""

Groups = deque[list[Fetched]]
"""At most one group, to be taken out: who loads it is the last to hold on to its rows."""


def outcome_of(fetched: Fetched, loaded: WindowResult) -> WindowResult:
    """What became of a window that was loaded."""
    superseded = tuple(f"{Month.of(day)} was left alone: a newer fetch is held" for day in loaded.superseded)
    return WindowResult(
        report=fetched.report.name,
        customer=fetched.customer,
        months=tuple(month.first_day for month in fetched.window.months),
        window_start=fetched.window.first,
        window_end=fetched.window.last,
        landing=fetched.landing,
        fetched_at_utc=fetched.fetched_at_utc,
        status=WindowStatus.LOADED,
        reason="; ".join(fetched.notes),
        rows=loaded.rows,
        rows_before=loaded.rows_before,
        rejected_count=len(fetched.flat.rejected),
        requests=fetched.requests,
        bytes=fetched.bytes,
        seconds=fetched.seconds,
        load_id=fetched.load_id,
        warnings=(*fetched.warnings, *superseded),
    )


@dataclass
class Loader:
    """Gathers fetched windows and loads them as one group, when it is full or has waited long enough.

    The working file stays open while one full group comes after the other. A group that the store
    refuses is tried again in halves, so that one bad window costs only itself; an error of the store
    itself (a full disk, a lost lock) is raised to the run.
    """

    store: Store
    timezone: str
    report: Callable[[WindowResult], None]
    patience: float = PATIENCE_SECONDS
    _waiting: list[Fetched] = field(default_factory=list)
    _bytes: int = 0
    _rows: Counter[str] = field(default_factory=Counter)  # by table
    _over: bool = False
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def put(self, fetched: Fetched) -> None:
        """Hand over a fetched window; waits while a full group does."""
        async with self._news:
            await self._news.wait_for(lambda: not self._is_full)
            self._waiting.append(fetched)
            self._bytes += fetched.size
            for table in fetched.flat.tables:
                self._rows[table.name] += table.height
            self._news.notify_all()

    async def run(self) -> None:
        """Load until there is nothing more to come."""
        loop = asyncio.get_running_loop()
        while groups := await self._groups():
            await asyncio.to_thread(self._sit, groups, loop)

    async def finish(self, running: asyncio.Task[None]) -> None:
        """Let what has been fetched be loaded, also when the run is being stopped."""
        async with self._news:
            self._over = True
            self._news.notify_all()
        await running

    @property
    def _is_full(self) -> bool:
        if len(self._waiting) >= LOADS_IN_A_GROUP or self._bytes >= MOST_BYTES_IN_A_GROUP:
            return True
        return self._bytes >= BYTES_IN_A_GROUP and not any(map(leaves_small_rest, self._rows.values()))

    async def _groups(self) -> Groups:
        """The next group, worth opening the file for; none when nothing more comes."""
        async with self._news:
            await self._news.wait_for(lambda: self._waiting or self._over)
            await self._fill()
            return self._take()

    async def _full_groups(self) -> Groups:
        """The next group, worth keeping the file open for; none when it does not come soon."""
        async with self._news:
            await self._fill()
            return self._take() if self._is_full or self._over else deque()

    async def _fill(self) -> None:
        """Wait until there is a full group, or all that ever comes, but not for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                await self._news.wait_for(lambda: self._is_full or self._over)

    def _take(self) -> Groups:
        groups = deque([self._waiting] if self._waiting else [])
        self._waiting, self._bytes, self._rows = [], 0, Counter()
        self._news.notify_all()
        return groups

    async def _tell(self, outcomes: Sequence[WindowResult]) -> Groups:
        """Report what was loaded, and answer the next group."""
        for outcome in outcomes:
            self.report(outcome)
        return await self._full_groups()

    def _sit(self, groups: Groups, loop: asyncio.AbstractEventLoop) -> None:
        """Load a group and those that follow it soon; in a thread, while the loop goes on asking.

        Whoever waits for the file gets it while this waits for the loop: it may be the loop itself.
        """
        with self.store.session() as session:
            while groups:
                outcomes = self._load(session, groups.popleft())
                following = asyncio.run_coroutine_threadsafe(self._tell(outcomes), loop)
                while not wait([following], GLANCE_SECONDS).done:
                    session.make_way()
                groups = following.result()

    def _load(self, session: WriteSession, group: Sequence[Fetched]) -> list[WindowResult]:
        try:
            results = [load_of(one, self.timezone) for one in group]
            session.load(results)
        except WarehouseError:
            raise
        except Exception as error:  # noqa: BLE001 - one window's trouble must not stop the others
            half = len(group) // 2
            if not half:
                return [_unloadable(group[0], error, self.timezone)]
            return self._load(session, group[:half]) + self._load(session, group[half:])
        return [outcome_of(one, done) for one, done in zip(group, results, strict=True)]


def _unloadable(fetched: Fetched, error: Exception, timezone: str) -> WindowResult:
    reason = f"the rows could not be loaded ({type(error).__name__}: {error}); the answer is kept in landing"
    return replace(outcome_of(fetched, load_of(fetched, timezone)), status=WindowStatus.FAILED, reason=reason)
