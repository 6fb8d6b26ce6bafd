"""What is asked again, what never, and how often at most?"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from pipelines.connect.errors import (
    AnswerTooLarge,
    ConnectError,
    Unauthorized,
    Unavailable,
)
from pipelines.connect.models import MEGABYTE, Limits, Login
from pipelines.connect.retry import RetryPolicy
from tests.unit.connect.fake_service import ROWS, SALES, Service, StillClock, client, read, reply
from tests.unit.connect.troubles import FINAL, HEALING


class Crowded(Service):
    """Notes how many requests are under way when one comes in."""

    def __init__(self) -> None:
        super().__init__(ROWS)
        self.beside: list[int] = []
        self.under_way = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.under_way += 1
        self.beside.append(self.under_way)
        for _ in range(50):
            await asyncio.sleep(0)
        self.under_way -= 1
        return await super().handle_async_request(request)


@pytest.mark.parametrize("trouble", HEALING)
async def test_trouble_that_may_pass_is_asked_again(tmp_path: Path, trouble: str) -> None:
    service = Service(HEALING[trouble][0], HEALING[trouble][0], ROWS)
    async with client(service, tmp_path) as asking:
        answer, rows = await asking.get(SALES, read)
    assert (len(service.asked), answer.tries, rows) == (3, 3, [{"id": 1}])


@pytest.mark.parametrize("trouble", HEALING)
async def test_trouble_that_does_not_pass_ends_after_all_tries(tmp_path: Path, trouble: str) -> None:
    service = Service(HEALING[trouble][0])
    async with client(service, tmp_path) as asking:
        with pytest.raises(HEALING[trouble][1]) as caught:
            await asking.get(SALES, read)
    assert (len(service.asked), caught.value.tries) == (5, 5)


@pytest.mark.parametrize("status", FINAL)
async def test_a_refusal_is_never_repeated(tmp_path: Path, status: str) -> None:
    service = Service(FINAL[status][0])
    async with client(service, tmp_path) as asking:
        with pytest.raises(FINAL[status][1]) as caught:
            await asking.get(SALES, read)
    assert (len(service.asked), caught.value.tries) == (1, 1)


async def test_an_answer_larger_than_allowed_is_not_asked_for_again(tmp_path: Path) -> None:
    service = Service(reply(200, b" " * (MEGABYTE + 1)))
    async with client(service, tmp_path, limits=Limits(largest_bytes=MEGABYTE)) as asking:
        with pytest.raises(AnswerTooLarge, match=r"is larger than 1 MB.*raise BROKERBI_LARGEST_ANSWER_MB"):
            await asking.get(SALES, read)
    assert len(service.asked) == 1


async def test_after_a_401_the_login_is_never_used_again(tmp_path: Path) -> None:
    service = Service(reply(401), ROWS)
    async with client(service, tmp_path) as asking:
        for _ in range(3):
            with pytest.raises(Unauthorized):
                await asking.get(SALES, read)
    assert len(service.asked) == 1


async def test_after_a_401_a_request_that_waits_to_be_repeated_is_given_up(tmp_path: Path) -> None:
    service = Service(reply(503), reply(401))
    async with client(service, tmp_path) as asking:
        ended = await asyncio.gather(*(asking.get(SALES, read) for _ in range(2)), return_exceptions=True)
    assert [type(error) for error in ended] == [Unauthorized, Unauthorized]
    assert len(service.asked) == 2


async def test_a_wrong_login_costs_one_request_however_many_are_wanted_at_once(tmp_path: Path) -> None:
    service = Service(reply(401))
    async with client(service, tmp_path, concurrency=5) as asking:
        ended = await asyncio.gather(*(asking.get(SALES, read) for _ in range(9)), return_exceptions=True)
    assert ({type(error) for error in ended}, len(service.asked)) == ({Unauthorized}, 1)


async def test_after_the_first_try_requests_go_side_by_side(tmp_path: Path) -> None:
    service = Crowded()
    async with client(service, tmp_path, concurrency=5) as asking:
        await asyncio.gather(*(asking.get(SALES, read) for _ in range(9)))
    assert (service.beside[0], max(service.beside)) == (1, 5)


async def test_after_a_401_a_request_that_waits_for_its_turn_is_not_sent(tmp_path: Path) -> None:
    service = Service(reply(401))
    async with client(service, tmp_path, concurrency=1) as asking:
        ended = await asyncio.gather(*(asking.get(SALES, read) for _ in range(9)), return_exceptions=True)
    assert ({type(error) for error in ended}, len(service.asked)) == ({Unauthorized}, 1)


async def test_another_login_goes_on_after_a_401(tmp_path: Path) -> None:
    other = Login("annan", SecretStr("another password"))
    async with (
        client(Service(reply(401)), tmp_path) as refused,
        client(Service(ROWS), tmp_path, login=other) as fine,
    ):
        with pytest.raises(Unauthorized):
            await refused.get(SALES, read)
        _, rows = await fine.get(SALES, read)
    assert rows == [{"id": 1}]


async def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    clock = StillClock()
    async with client(Service(reply(429, retry_after="17"), ROWS), tmp_path, clock) as asking:
        await asking.get(SALES, read)
    assert 17 in clock.waited


async def test_a_retry_after_longer_than_the_patience_is_obeyed_by_giving_up(tmp_path: Path) -> None:
    service = Service(reply(503, retry_after="3600"))
    async with client(service, tmp_path) as asking:
        with pytest.raises(Unavailable):
            await asking.get(SALES, read)
    assert len(service.asked) == 1


async def test_one_that_mostly_timed_out_says_so(tmp_path: Path) -> None:
    slow = httpx.ReadTimeout("slow")
    for replies, timed_out in (
        ((slow, reply(500), slow, reply(504), slow), True),
        ((slow, reply(500)), False),
    ):
        async with client(Service(*replies), tmp_path) as asking:
            with pytest.raises(Unavailable) as caught:
                await asking.get(SALES, read)
        assert caught.value.timed_out is timed_out


async def test_the_last_answer_is_kept_even_when_later_tries_brought_none(tmp_path: Path) -> None:
    service = Service(
        reply(500, b"first"), reply(200, b"[1,", end=httpx.ReadError("reset")), httpx.ReadTimeout("")
    )
    async with client(service, tmp_path) as asking:
        with pytest.raises(Unavailable) as caught:
            await asking.get(SALES, read)
    answer = caught.value.answer
    assert answer is not None
    assert (answer.body, answer.whole) == (b"[1,", False)


async def test_an_error_of_the_reader_that_is_no_value_error_is_passed_on(tmp_path: Path) -> None:
    def broken(body: bytes) -> object:
        raise KeyError(len(body))

    service = Service(ROWS)
    async with client(service, tmp_path) as asking:
        with pytest.raises(KeyError):
            await asking.get(SALES, broken)
    assert len(service.asked) == 1


@given(
    troubles=st.lists(st.sampled_from([*HEALING, *FINAL, "rows"]), min_size=1, max_size=12),
    tries=st.integers(1, 6),
    total=st.floats(0, 100),
    seed=st.integers(0, 999),
)
def test_no_request_is_made_more_often_than_the_bound(
    troubles: list[str], tries: int, total: float, seed: int
) -> None:
    replies = [ROWS if name == "rows" else (HEALING | FINAL)[name][0] for name in troubles]
    service, clock = Service(*replies), StillClock()
    retrying = RetryPolicy(tries, total, random=Random(seed))

    async def ask() -> None:
        with tempfile.TemporaryDirectory() as directory:
            async with client(service, Path(directory), clock, retry=retrying) as asking:
                with suppress(ConnectError):
                    await asking.get(SALES, read)

    asyncio.run(ask())
    assert len(service.asked) <= tries
    assert sum(clock.waited) <= total + 0.002 * tries
