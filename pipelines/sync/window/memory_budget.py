"""Memory budget of one sync, for answers from their request until they are loaded."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

BYTES_UNDER_WAY = 32_000_000
"""The limit for answers that are requested, parsed or waiting to be loaded. A larger window runs alone."""
MIN_WINDOW_BYTES = 50_000
"""A window counts as at least this large: frames take memory even with few rows."""


@dataclass
class MemoryBudget:
    """Lets a window begin only if all windows under way fit into the budget.

    A fetched window counts with its own size until it is loaded. A window that is being fetched counts with
    the size of its report's largest window so far. If its report has none yet, the largest window of any
    report counts. Until one size is known, windows run one at a time.
    """

    total: int = BYTES_UNDER_WAY
    _largest: dict[str, int] = field(default_factory=dict)
    _fetching: Counter[str] = field(default_factory=Counter)
    _fetched_bytes: int = 0
    _entry_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def enter(self, report: str) -> None:
        """Wait until there is room for a window of a report, then count it as under way."""
        async with self._entry_lock:
            while (self._fetching.total() or self._fetched_bytes) and self._expected_bytes(
                report
            ) > self.total:
                self._changed.clear()
                await self._changed.wait()
            self._fetching[report] += 1

    def record_size(self, report: str, size: int, *, is_complete: bool = False) -> None:
        """Record the size that a window has reached; a report's first window counts only if `is_complete`."""
        if is_complete or report in self._largest:
            self._largest[report] = max(self._largest.get(report, MIN_WINDOW_BYTES), size)

    def record_fetched(self, report: str, size: int) -> None:
        """Record that a window of this size is fetched and waits to be loaded."""
        self._fetched_bytes += max(size, MIN_WINDOW_BYTES)
        self.leave(report)

    def record_loaded(self, *sizes: int) -> None:
        """Record that windows of these sizes were loaded."""
        self._fetched_bytes -= sum(max(size, MIN_WINDOW_BYTES) for size in sizes)
        self._changed.set()

    def leave(self, report: str) -> None:
        """Record that a window is no longer being fetched."""
        self._fetching[report] -= 1
        self._largest.setdefault(report, MIN_WINDOW_BYTES)
        self._changed.set()

    def _expected_bytes(self, report: str) -> int:
        expected = max(self._largest.values(), default=self.total)
        fetching = self._fetching + Counter([report])
        return self._fetched_bytes + sum(
            count * self._largest.get(name, expected) for name, count in fetching.items()
        )
