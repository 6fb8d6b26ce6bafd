"""Loader of one sync: loads fetched windows in groups, while requests go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.sync.summary import Summary
from pipelines.sync.window.memory_budget import BYTES_UNDER_WAY, MemoryBudget
from warehouse.errors import WarehouseError
from warehouse.ledger.window_result import WindowStatus
from warehouse.load.load import load_group

if TYPE_CHECKING:
    from warehouse.ledger.window_result import WindowResult
    from warehouse.store.database import Store

LOADS_IN_A_GROUP = 200
BYTES_IN_A_GROUP = BYTES_UNDER_WAY // 2
"""A group is full if it has this many windows or bytes. The other half of BYTES_UNDER_WAY is for requests."""
GATHERING_SECONDS = 2.0
"""How long a group waits for more windows. After a kill, the waiting windows are requested again."""


@dataclass
class Loader:
    """Collects fetched windows and loads them in groups, each in one transaction.

    If a group cannot be loaded, its halves are tried separately, so that one bad window fails alone. An error
    of the store itself (a full disk, a lost lock) ends the run.
    """

    store: Store
    summary: Summary
    memory: MemoryBudget = field(default_factory=MemoryBudget)
    gathering_seconds: float = GATHERING_SECONDS
    _waiting: list[WindowResult] = field(default_factory=list)
    _is_finishing: bool = False
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def put(self, result: WindowResult) -> None:
        """Queue a fetched window. It counts in the memory budget until its load has ended."""
        self.memory.record_fetched(result.report, result.bytes)
        async with self._changed:
            self._waiting.append(result)
            self._changed.notify_all()

    async def run(self) -> None:
        """Load groups until `finish` is called and no window waits."""
        while group := await self._next_group():
            for result in await asyncio.to_thread(self._load_group, group):
                self.summary.add(result)
            self.memory.record_loaded(*(result.bytes for result in group))

    async def _next_group(self) -> Sequence[WindowResult]:
        """Wait for windows; returns an empty group once `finish` is called and no window waits."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting or self._is_finishing)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.gathering_seconds):
                    await self._changed.wait_for(lambda: self._is_full or self._is_finishing)
            group, self._waiting = self._waiting, []
            return group

    async def finish(self, running: asyncio.Task[None]) -> None:
        """Wait until all queued windows are loaded; `running` is the task of `run`."""
        async with self._changed:
            self._is_finishing = True
            self._changed.notify_all()
        await running

    @property
    def _is_full(self) -> bool:
        size = sum(result.bytes for result in self._waiting)
        return len(self._waiting) >= LOADS_IN_A_GROUP or size >= BYTES_IN_A_GROUP

    def _load_group(self, group: Sequence[WindowResult]) -> Sequence[WindowResult]:
        try:
            return load_group(self.store, group)
        except WarehouseError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad window must not stop the others
            half = len(group) // 2
            if half:
                return [*self._load_group(group[:half]), *self._load_group(group[half:])]
            reason = f"the rows could not be loaded ({type(error).__name__}: {error})"
            return [group[0].ended(WindowStatus.FAILED, f"{reason}; the answer is kept in landing")]
