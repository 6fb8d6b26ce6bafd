"""The service sees one even stream of requests, and waits between the tries of one."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.connect.pace import (
    INTERVAL_FACTOR,
    MAX_HALVINGS,
    SECONDS_TO_RECOVER,
    RateLimit,
    RetryPolicy,
    retry_after_seconds,
)
from tests.unit.connect.fake_service import StillClock

SECONDS = 30.0
NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


async def moments(limit: RateLimit, clock: StillClock, times: int) -> list[float]:
    """The seconds between requests that are sent as fast as the limit allows."""
    sent = []
    for _ in range(times):
        async with limit.slot():
            sent.append(clock.seconds)
    return [round(later - earlier, 6) for earlier, later in pairwise(sent)]


async def test_requests_are_evenly_spaced() -> None:
    clock = StillClock()
    assert await moments(RateLimit(5, 10, clock=clock), clock, 4) == pytest.approx([INTERVAL_FACTOR / 10] * 3)


async def test_no_more_requests_are_in_flight_than_the_settings_allow() -> None:
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
    assert await moments(limit, clock, 3) == pytest.approx([INTERVAL_FACTOR / 5] * 2)
    clock.seconds += SECONDS_TO_RECOVER
    assert await moments(limit, clock, 3) == pytest.approx([INTERVAL_FACTOR / 10] * 2)


async def test_the_rate_is_halved_three_times_at_most() -> None:
    clock = StillClock()
    limit = RateLimit(5, 10, clock=clock)
    for _ in range(MAX_HALVINGS + 2):
        clock.seconds += 10
        limit.slow_down()
    assert limit.halvings == MAX_HALVINGS


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


def test_delays_double_up_to_the_longest_with_full_jitter() -> None:
    patience = RetryPolicy(tries=10, total_seconds=1e9, first_delay=1, longest_delay=5, random=Random(1))
    seen = [[patience.delay(tried, 0, None) or 0 for _ in range(500)] for tried in range(1, 6)]
    assert [round(max(delays)) for delays in seen] == [1, 2, 4, 5, 5]
    assert all(min(delays) < 0.1 for delays in seen)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("1.5", 1.5),
        ("Fri, 01 Mar 2024 12:00:30 GMT", 30),
        ("Fri, 01 Mar 2024 13:00:30 +0100", 30),
        ("-5", None),
        ("Fri, 01 Mar 2024 11:59:30 GMT", None),
        ("99999999", None),
        ("nan", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds


@given(header=st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d+:\d+:\d+ .*"))
def test_no_retry_after_leads_to_an_error_or_a_long_wait(header: str) -> None:
    seconds = retry_after_seconds(header, NOW)
    assert seconds is None or 0 <= seconds <= 86_400
