"""The service sees one client, however many tasks, processes and hosts ask, and whatever keeps their pace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
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
    slow, fast = await granted(shared(5, 4)), await granted(shared(5, 100))
    assert fast.at - slow.at >= 0.25


async def test_struggling_halves_the_rate_of_everybody(shared: Shared) -> None:
    one, other = shared(20, 50), shared(20, 50)
    await granted(one)
    for _ in range(4):  # many at once count once
        one.slow_down()
    moments = [(await granted(pace)).at for pace in (one, other, other, other)]
    assert all(0.035 < later - earlier < 0.06 for earlier, later in pairwise(moments))


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
    assert order.index("patient") < 10


async def test_who_is_stopped_with_a_slot_costs_the_others_its_lease_and_no_more(shared: Shared) -> None:
    stopped, other = shared(1, 1000, lease=0.3), shared(1, 1000, lease=60)
    lost = await granted(stopped)
    kept = await granted(other)
    assert kept.at - lost.at >= 0.25
    await stopped.give_back(lost)  # woken, it takes the slot from nobody
    assert isinstance(await stopped.take("somebody"), float)


async def test_a_slot_that_is_given_back_is_free(shared: Shared) -> None:
    one, other = shared(1, 1000), shared(1, 1000)
    await one.give_back(await granted(one))
    assert (await granted(other)).slot == 0


class Overslept(SystemClock):
    """A clock whose first wait takes much longer than it should, as for a process that was stopped."""

    waited = 0

    async def sleep(self, seconds: float) -> None:
        type(self).waited += 1
        await super().sleep(seconds + 0.6 * (self.waited == 1))


async def test_a_turn_that_is_over_is_not_used(shared: Shared) -> None:
    class OversleptOnce(Overslept):
        pass

    one, other = shared(5, 5), shared(5, 5)
    await granted(other)
    async with asyncio.timeout(SECONDS), limit(one, clock=OversleptOnce()).turn("somebody"):
        began = SystemClock().monotonic()
    latest = (await granted(other)).at - 0.2  # the moment of the request before this one
    assert abs(began - latest) < 0.2


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
