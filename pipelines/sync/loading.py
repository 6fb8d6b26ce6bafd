"""How do fetched windows reach the tables? In groups, one transaction each, while requests go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.sync.fetched import Fetched, load_of
from pipelines.sync.outcomes import Outcome, Status
from warehouse.errors import WarehouseError
from warehouse.loads import Loaded

if TYPE_CHECKING:
    from warehouse.store import Store

LOADS_IN_A_GROUP = 100
ROWS_IN_A_GROUP = 250_000
LOADS_WAITING = 16
"""How many fetched windows may wait for the loader: what keeps memory flat."""


def outcome_of(fetched: Fetched, loaded: Loaded) -> Outcome:
    """What became of a window that was loaded."""
    superseded = tuple(f"{Month.of(day)} was left alone: a newer fetch is held" for day in loaded.superseded)
    return Outcome(
        report=fetched.report.name,
        customer=fetched.customer,
        months=fetched.window.months,
        window=fetched.window,
        landing=fetched.landing,
        fetched_at_utc=fetched.fetched_at_utc,
        status=Status.LOADED,
        reason="; ".join(fetched.notes),
        rows=loaded.rows,
        rows_before=loaded.rows_before,
        rejected=len(fetched.flat.rejected),
        requests=fetched.requests,
        bytes=fetched.bytes,
        seconds=fetched.seconds,
        load_id=fetched.load_id,
        warnings=(*fetched.warnings, *superseded),
    )


@dataclass
class Loader:
    """Takes fetched windows from a short queue and loads what is waiting as one group.

    A group that the store refuses is tried again one by one, so that one bad window costs only itself;
    an error of the store itself (a full disk, a lost lock) is raised to the run.
    """

    store: Store
    timezone: str
    report: Callable[[Outcome], None]
    queue: asyncio.Queue[Fetched | None] = field(default_factory=lambda: asyncio.Queue(LOADS_WAITING))

    async def run(self) -> None:
        """Load until a None comes out of the queue."""
        over = False
        while not over:
            group: list[Fetched] = []
            first = await self.queue.get()
            over = first is None
            if first is not None:
                group.append(first)
            over = self._gather(group) or over
            if group:
                await self._load(group)

    async def finish(self, running: asyncio.Task[None]) -> None:
        """Let what has been fetched be loaded, also when the run is being stopped."""
        if not running.done():
            await self.queue.put(None)
        await running

    def _gather(self, group: list[Fetched]) -> bool:
        rows = sum(one.rows for one in group)
        while group and len(group) < LOADS_IN_A_GROUP and rows < ROWS_IN_A_GROUP and not self.queue.empty():
            following = self.queue.get_nowait()
            if following is None:
                return True
            group.append(following)
            rows += following.rows
        return False

    async def _load(self, group: Sequence[Fetched]) -> None:
        try:
            loaded = await asyncio.to_thread(self.store.load, [load_of(one, self.timezone) for one in group])
        except WarehouseError:
            raise
        except Exception as error:  # noqa: BLE001 - one window's trouble must not stop the others
            if len(group) > 1:
                for one in group:
                    await self._load([one])
                return
            self.report(_unloadable(group[0], error))
            return
        for one, done in zip(group, loaded, strict=True):
            self.report(outcome_of(one, done))


def _unloadable(fetched: Fetched, error: Exception) -> Outcome:
    reason = f"the rows could not be loaded ({type(error).__name__}: {error}); the answer is kept in landing"
    failed = outcome_of(fetched, Loaded(fetched.load_id, {}, 0, (), (), 0, 0))
    return replace(failed, status=Status.FAILED, reason=reason)
