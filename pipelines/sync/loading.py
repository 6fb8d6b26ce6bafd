"""How do fetched windows reach the tables? In groups, one transaction each, while requests go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.sync.fetched import Fetched, load_of
from pipelines.sync.outcomes import Outcome, Status
from warehouse.errors import WarehouseError
from warehouse.loads import Loaded

if TYPE_CHECKING:
    from warehouse.store import Store

LOADS_IN_A_GROUP = 200
BYTES_IN_A_GROUP = 10_000_000
"""A group is full with so many loads or so much memory; no more than one waits, which keeps memory flat."""
PATIENCE_SECONDS = 2.0
"""How long a fetched window waits for others; what waits is asked again when the run is killed."""


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
    """Gathers fetched windows and loads them as one group, when it is full or has waited long enough.

    To open and to close the working file costs as much as to load several small windows, so they share
    it. A group that the store refuses is tried again in halves, so that one bad window costs only
    itself; an error of the store itself (a full disk, a lost lock) is raised to the run.
    """

    store: Store
    timezone: str
    report: Callable[[Outcome], None]
    patience: float = PATIENCE_SECONDS
    _waiting: list[Fetched] = field(default_factory=list)
    _bytes: int = 0
    _over: bool = False
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def put(self, fetched: Fetched) -> None:
        """Hand over a fetched window; waits while a full group does."""
        async with self._news:
            await self._news.wait_for(lambda: not self._is_full)
            self._waiting.append(fetched)
            self._bytes += fetched.size
            self._news.notify_all()

    async def run(self) -> None:
        """Load until there is nothing more to come."""
        while group := await self._group():
            await self._load(group)

    async def finish(self, running: asyncio.Task[None]) -> None:
        """Let what has been fetched be loaded, also when the run is being stopped."""
        async with self._news:
            self._over = True
            self._news.notify_all()
        await running

    @property
    def _is_full(self) -> bool:
        return len(self._waiting) >= LOADS_IN_A_GROUP or self._bytes >= BYTES_IN_A_GROUP

    async def _group(self) -> Sequence[Fetched]:
        """The next group, worth opening the file for; an empty one when nothing more comes."""
        async with self._news:
            await self._news.wait_for(lambda: self._waiting or self._over)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.patience):
                    await self._news.wait_for(lambda: self._is_full or self._over)
            group, self._waiting, self._bytes = self._waiting, [], 0
            self._news.notify_all()
        return group

    async def _load(self, group: Sequence[Fetched]) -> None:
        try:
            loaded = await asyncio.to_thread(self.store.load, [load_of(one, self.timezone) for one in group])
        except WarehouseError:
            raise
        except Exception as error:  # noqa: BLE001 - one window's trouble must not stop the others
            half = len(group) // 2
            if not half:
                self.report(_unloadable(group[0], error))
                return
            await self._load(group[:half])
            await self._load(group[half:])
            return
        for one, done in zip(group, loaded, strict=True):
            self.report(outcome_of(one, done))


def _unloadable(fetched: Fetched, error: Exception) -> Outcome:
    reason = f"the rows could not be loaded ({type(error).__name__}: {error}); the answer is kept in landing"
    failed = outcome_of(fetched, Loaded(fetched.load_id, {}, 0, (), (), 0, 0))
    return replace(failed, status=Status.FAILED, reason=reason)
