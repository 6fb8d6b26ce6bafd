"""Memory budget of one sync: windows under way and loads wait for each other before they take too much."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress

MEMORY = 80_000_000
"""Bytes for answers under way and rows being loaded, beside what the program itself takes."""
MEMORY_OF_A_BYTE = 8
"""Bytes of memory that a byte of an answer takes until it is rows: itself, its values and the rows."""
PATIENCE_SECONDS = 30.0
"""How long a window or a load waits for memory."""


class MemoryBudget:
    """Memory that windows under way share: one waits while those before it are expected to need it all.

    A window is expected to be as large as the largest of its report so far, or of any report if it is the
    first; the first of all go two at a time.
    """

    def __init__(self, total: int = MEMORY) -> None:
        self._total = self._free = total
        self._largest: dict[str, int] = {}
        self._first_in_line = 0
        self._in_turn = asyncio.Lock()
        self._freed = asyncio.Condition()

    def note(self, report: str, size: int) -> None:
        """Remember how many bytes one window of a report brought."""
        self._largest[report] = max(self._largest.get(report, 0), size)

    def expected(self, report: str) -> int:
        """Bytes of memory that a window of a report is expected to take."""
        size = self._largest.get(report) or max(self._largest.values(), default=0)
        return size * MEMORY_OF_A_BYTE or self._total // 2

    @asynccontextmanager
    async def reserve(self, wanted: Callable[[], int], *, first: bool = False) -> AsyncIterator[None]:
        """Keep so many bytes for the body, or all there are; first come, first served, `first` before all.

        Waits until they are free, but not for ever: whoever has them may be waiting for the service.
        """
        async with nullcontext() if first else self._in_turn, self._freed:
            self._first_in_line += first
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self._freed.wait_for(
                        lambda: (
                            self._free >= min(wanted(), self._total) and (first or not self._first_in_line)
                        )
                    )
            self._first_in_line -= first
            size = min(wanted(), self._total)
            self._free -= size
        try:
            yield
        finally:
            async with self._freed:
                self._free += size
                self._freed.notify_all()
