"""The service sees one even stream of requests, however many tasks ask."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from pipelines.connect.rate_limit import MOST_HALVINGS, RECOVERS_AFTER, WIDER, RateLimit
from tests.unit.connect.fake_service import StillClock

SECONDS = 30.0


async def moments(limit: RateLimit, clock: StillClock, times: int) -> list[float]:
    """The seconds between requests that are sent as fast as the limit allows."""
    sent = []
    for _ in range(times):
        async with limit.slot():
            sent.append(clock.seconds)
    return [round(later - earlier, 6) for earlier, later in pairwise(sent)]


async def test_requests_are_evenly_spaced() -> None:
    clock = StillClock()
    assert await moments(RateLimit(5, 10, clock=clock), clock, 4) == pytest.approx([WIDER / 10] * 3)


async def test_no_more_are_in_flight_than_the_settings_allow() -> None:
    limit, in_flight, most = RateLimit(2, 1e6), 0, 0

    async def request() -> None:
        nonlocal in_flight, most
        async with limit.slot():
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0)
            in_flight -= 1

    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(request() for _ in range(9)))
    assert most == 2


async def test_errors_of_requests_in_flight_together_halve_the_rate_once_for_a_minute() -> None:
    clock = StillClock()
    limit = RateLimit(5, 10, clock=clock)
    limit.slow_down()
    limit.slow_down()
    assert await moments(limit, clock, 3) == pytest.approx([WIDER / 5] * 2)
    clock.seconds += RECOVERS_AFTER
    assert await moments(limit, clock, 3) == pytest.approx([WIDER / 10] * 2)


async def test_the_rate_is_halved_so_many_times_at_most() -> None:
    clock = StillClock()
    limit = RateLimit(5, 10, clock=clock)
    for _ in range(MOST_HALVINGS + 2):
        clock.seconds += 10
        limit.slow_down()
    assert limit.halvings == MOST_HALVINGS


async def test_a_task_that_is_cancelled_gives_its_slot_back() -> None:
    limit, inside = RateLimit(1, 1e6), asyncio.Event()

    async def hold() -> None:
        async with limit.slot():
            inside.set()
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(hold()) for _ in range(2)]
    await inside.wait()
    for task in reversed(tasks):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(SECONDS), limit.slot():
        pass
