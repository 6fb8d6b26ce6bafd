"""How fast may the service be asked? As one client, however many runs and processes ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from pipelines.connect.clock import Clock, SystemClock
from pipelines.connect.slots import Slots
from pipelines.connect.tempo import Tempo


class Pace:
    """The limits on requests in flight and per second, counted over all that share the data directory.

    Every request takes a turn. Processes with different settings each obey their own: there are never
    more requests in flight than the largest allows, and after each request everybody waits for the
    interval of the one who made it. Make one for each event loop, and let its clients share it. Holds
    on one machine: locks and clock are the machine's. Refuses a directory that cannot be written.
    """

    def __init__(
        self,
        data_dir: Path,
        concurrency: int,
        requests_per_second: float,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        if concurrency < 1 or not requests_per_second > 0:
            raise ValueError("a pace needs at least one slot and more than no requests per second")
        clock = clock or SystemClock()
        directory = data_dir / "work" / "pace"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._slots = Slots(directory, concurrency, clock, random or Random())  # noqa: S311 - who looks first is no secret
        self._tempo = Tempo(directory, requests_per_second, clock)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a slot and for the moment, and hold the slot as long as the request lasts."""
        async with self._slots.one():
            await self._tempo.beat()
            yield

    def slow_down(self) -> None:
        """Halve the rate of all processes; it recovers by itself, one halving a minute."""
        self._tempo.slow_down()

    @property
    def halvings(self) -> int:
        """How often the rate is halved at this moment."""
        return self._tempo.halvings()
