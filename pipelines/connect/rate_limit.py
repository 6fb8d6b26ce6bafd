"""Rate limit and concurrency limit: every request takes a turn of the pace that all who ask share."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Protocol, Self

from pipelines.clock import Clock, SystemClock

POLL_SECONDS = (0.01, 0.03)  # between two looks while others hold every slot
AHEAD = 1.0  # seconds; no moment is granted further ahead, so who loses sight of the others soon stops
LATEST = 0.1  # seconds; what a turn may be late by where the interval is shorter
WIDER = 1.02  # a little more than even, so that jitter on the way puts no extra request into a second
MOST_HALVINGS = 3
HALVED_ONCE_IN = 5.0  # seconds; failures of requests that were in flight together count once
RECOVERS_AFTER = 60.0  # seconds without trouble until one halving is taken back
LONGEST_INTERVAL = 120.0  # the slowest rate of the settings, halved as often as allowed, is below this
HEAD_SECONDS = 0.25  # whoever waits longest for a slot goes first, as long as it is seen waiting
AFTER_A_TRY = 30.0  # seconds; a slot is leased for as long as one request may take, and so much more
LONGEST_LEASE = 7200.0 + AFTER_A_TRY  # of the settings; one that ends later was written by another clock


@dataclass(frozen=True, slots=True)
class Grant:
    """A slot, and the moment to send one request at, in seconds of this machine's monotonic clock."""

    slot: int
    token: str
    at: float
    latest: float
    login: str = ""


class Pace(Protocol):
    """What all who ask share: a number of slots, and the moment of the next request."""

    async def take(self, login: str) -> Grant | float:
        """A slot with its moment; or, where there is none yet, the seconds until it is worth trying again."""

    async def give_back(self, grant: Grant) -> None:
        """The request is over; a slot that was lost meanwhile stays with who has it now."""

    def slow_down(self) -> None:
        """Halve the rate of all; many calls at once count as one, and one a minute is taken back."""

    async def aclose(self) -> None:
        """Let go of what was opened."""


class RateLimit:
    """At most so many requests in flight and per second, counted over all that share a pace.

    Requests are evenly spaced: after each of them everybody waits for the interval of the one that made it,
    so processes with different settings each obey their own, and there are never more in flight than the
    largest allows. A slot is leased: who is stopped, or cut off, while it has one costs the others that
    lease and no more, and sends nothing on a turn that is over. Make one for each event loop, and let its
    clients share it.
    """

    def __init__(
        self, pace: Pace, concurrency: int, *, clock: Clock | None = None, random: Random | None = None
    ) -> None:
        self.pace = pace
        self.slow_down = pace.slow_down
        self._clock = clock or SystemClock()
        self._random = random or Random()  # noqa: S311 - who polls first is no secret
        self._in_process = asyncio.Semaphore(concurrency)
        self._first: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.pace.aclose()

    @asynccontextmanager
    async def turn(self, login: str = "") -> AsyncIterator[None]:
        """Wait for a slot and for the moment, and hold the slot as long as the request lasts.

        The slot is free again at the end, also after an error or a cancellation. One of a process waits at
        a time, so that processes take turns.
        """
        async with self._in_process, AsyncExitStack() as held:
            async with self._first[login]:
                await self._wait(login, held)
            yield

    async def _wait(self, login: str, held: AsyncExitStack) -> None:
        """Take a turn and wait for its moment; one that is over before it is used is given back."""
        while True:
            grant = await self.pace.take(login)
            if isinstance(grant, float):
                await self._clock.sleep(grant + self._random.uniform(*POLL_SECONDS))
                continue
            held.push_async_callback(self.pace.give_back, grant)
            if (seconds := grant.at - self._clock.monotonic()) > 0:
                await self._clock.sleep(seconds)
            if self._clock.monotonic() <= grant.latest:
                return
            await held.aclose()
