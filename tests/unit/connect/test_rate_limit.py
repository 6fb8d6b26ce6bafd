"""The service sees one client, however many tasks, processes and hosts ask, and whatever keeps their pace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from pipelines.clock import Clock, SystemClock
from pipelines.connect.file_pace import FilePace
from pipelines.connect.rate_limit import Grant, Pace, RateLimit

SECONDS = 30.0
"""For what must happen at all; how quickly is a matter of the machine."""
Shared = Callable[..., Pace]


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    """Makes one end of a pace: of so many slots, requests per second and seconds of a lease."""

    def pace(concurrency: int, requests_per_second: float, lease: float = 60.0) -> Pace:
        return FilePace(tmp_path, concurrency, requests_per_second, lease=lease)

    return pace


def limit(pace: Pace, concurrency: int = 50, clock: Clock | None = None) -> RateLimit:
    return RateLimit(pace, concurrency, clock=clock)


async def began(several: list[RateLimit], times: int) -> list[float]:
    """When the turns of several limits began, each taken so many times at once."""
    moments = []

    async def one(limit: RateLimit) -> None:
        async with limit.turn("somebody"):
            moments.append(SystemClock().monotonic())

    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(one(limit) for limit in several for _ in range(times)))
    return sorted(moments)


async def granted(pace: Pace) -> Grant:
    """A slot that somebody takes, and does not give back by itself."""
    async with asyncio.timeout(SECONDS):
        while isinstance(grant := await pace.take("somebody"), float):  # noqa: ASYNC110 - no event of ours
            await asyncio.sleep(grant + 0.01)
    return grant


async def test_all_together_are_no_faster_than_one_may_be(shared: Shared) -> None:
    moments = await began([limit(shared(20, 50)) for _ in range(3)], 5)
    assert moments[-1] - moments[0] >= 14 * 0.02 - 0.05  # the first may be noticed late


async def test_after_a_request_everybody_waits_for_the_interval_of_its_maker(shared: Shared) -> None:
    before = SystemClock().monotonic()
    await granted(shared(5, 4))
    assert (await granted(shared(5, 100))).at - before >= 0.25


async def test_struggling_halves_the_rate_of_everybody(shared: Shared) -> None:
    one, other = shared(20, 50), shared(20, 50)
    await granted(one)
    one.slow_down()
    before = SystemClock().monotonic()
    moments = [(await granted(pace)).at for pace in (one, other, other, other)]
    assert moments[-1] - before >= 3 * 0.04


async def test_all_together_have_no_more_under_way_than_one_may(shared: Shared) -> None:
    under_way, most = 0, 0

    async def one(limit: RateLimit) -> None:
        nonlocal under_way, most
        async with limit.turn("somebody"):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.02)
            under_way -= 1

    limits = [limit(shared(2, 1000)) for _ in range(3)]
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(one(limit) for limit in limits for _ in range(5)))
    assert most == 2


async def test_who_has_just_had_a_slot_lets_the_others_go_first(shared: Shared) -> None:
    order: list[str] = []

    async def take(name: str, limit: RateLimit, times: int) -> None:
        for _ in range(times):
            async with limit.turn("somebody"):
                order.append(name)
                await asyncio.sleep(0.01)

    greedy, patient = (limit(shared(1, 1000)) for _ in range(2))
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(take("greedy", greedy, 30), take("patient", patient, 3))
    assert order.index("patient") < 20


async def test_who_is_stopped_with_a_slot_costs_the_others_its_lease_and_no_more(shared: Shared) -> None:
    stopped, other = shared(1, 1000, lease=0.3), shared(1, 1000, lease=60)
    before = SystemClock().monotonic()
    lost = await granted(stopped)
    assert (await granted(other)).at - before >= 0.3
    await stopped.give_back(lost)  # woken, it takes the slot from nobody
    assert isinstance(await stopped.take("somebody"), float)


async def test_a_slot_that_is_given_back_is_free(shared: Shared) -> None:
    one, other = shared(1, 1000), shared(1, 1000)
    await one.give_back(await granted(one))
    assert (await granted(other)).slot == 0


@dataclass
class Overslept:
    """A clock whose first wait takes much longer than it should, as for a process that was stopped."""

    real: Clock = field(default_factory=SystemClock)
    longer: float = 1.0

    def utc_now(self) -> datetime:
        return self.real.utc_now()

    def monotonic(self) -> float:
        return self.real.monotonic()

    async def sleep(self, seconds: float) -> None:
        longer, self.longer = self.longer, 0.0
        await self.real.sleep(seconds + longer)


async def test_a_turn_that_is_over_is_not_used(shared: Shared) -> None:
    pace, before = shared(5, 2), SystemClock().monotonic()
    await granted(pace)  # so that the next has to wait half a second for its moment
    async with asyncio.timeout(SECONDS), limit(pace, clock=Overslept()).turn("somebody"):
        pass
    assert (await granted(pace)).at - before >= 0.5 + 1.0 + 0.5  # half a second after the new turn


async def test_a_task_that_is_cancelled_gives_everything_back(shared: Shared) -> None:
    one, inside = limit(shared(1, 1000), 5), asyncio.Event()

    async def hold() -> None:
        async with one.turn("somebody"):
            inside.set()
            await asyncio.Event().wait()

    holder, waiter = asyncio.create_task(hold()), asyncio.create_task(hold())
    await inside.wait()
    waiter.cancel()
    holder.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    assert len(await began([one, limit(shared(1, 1000))], 1)) == 2
