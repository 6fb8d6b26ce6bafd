"""When a run slows down, and when it stops asking altogether."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.errors import ConnectError, Forbidden, HostDown
from pipelines.connect.models import Try
from pipelines.connect.rate_limit import RateLimit
from pipelines.connect.retry import RetryPolicy
from tests.unit.connect.fake_service import ROWS, SALES, Reply, Service, StillClock, client, read, reply

ONE_TRY = RetryPolicy(tries=1)
DOWN = reply(500)
SALES_OF_M1 = ("M1", "sales")
EVERYBODY = ("M1", "M2", "M3", "M4", "M5", "M6")


async def asked(
    directory: Path, service: Service, pairs: list[tuple[str, str]], seconds_each: float = 0
) -> tuple[list[str], CircuitBreaker, int]:
    """What asking for each pair of customer and report ended in, and how often the rate is halved then."""
    clock = StillClock()
    rate_limit = RateLimit(directory, 5, 1000, clock=clock)
    breaker = CircuitBreaker(rate_limit)
    ended = []
    async with client(service, directory, clock, circuit_breaker=breaker, retry=ONE_TRY) as asking:
        for customer, report in pairs:
            clock.seconds += seconds_each
            try:
                await asking.get(replace(SALES, customer=customer, report=report), read)
                ended.append("rows")
            except ConnectError as error:
                ended.append(type(error).__name__)
    return ended, breaker, rate_limit.halvings


def pairs(customers: int, reports: int) -> list[tuple[str, str]]:
    return [
        (f"M{customer}", f"report {report}") for report in range(reports) for customer in range(customers)
    ]


async def test_ten_requests_in_a_row_that_fail_for_three_pairs_end_the_run(tmp_path: Path) -> None:
    service = Service(DOWN)
    ended, _, halvings = await asked(tmp_path, service, pairs(3, 4))
    assert (ended, len(service.asked)) == (["Unavailable"] * 10 + ["HostDown"] * 2, 10)
    assert halvings == 1


async def test_one_report_of_one_customer_that_always_fails_ends_nothing(tmp_path: Path) -> None:
    ended, breaker, _ = await asked(tmp_path, Service(DOWN), [SALES_OF_M1] * 15)
    assert (set(ended), breaker.open_because) == ({"Unavailable"}, "")


async def test_any_answer_in_between_shows_that_the_host_is_alive(tmp_path: Path) -> None:
    service = Service(*[DOWN] * 9, reply(404), *[DOWN] * 9, ROWS)
    ended, breaker, _ = await asked(tmp_path, service, pairs(4, 5))
    assert (ended.count("Unavailable"), breaker.open_because) == (18, "")


async def test_an_address_where_nobody_is_ends_the_run_after_three_requests(tmp_path: Path) -> None:
    ended, _, _ = await asked(tmp_path, Service(httpx.ConnectError("refused")), [SALES_OF_M1] * 5)
    assert ended == ["Unreachable"] * 3 + ["HostDown"] * 2


@pytest.mark.parametrize(
    ("replies", "tries", "seconds_each", "halvings"),
    [
        ([DOWN, ROWS] * 10, 20, 0, 1),  # half of the latest twenty
        ([DOWN, ROWS] * 20, 39, 1, 1),  # it takes twenty more to slow down further
        ([DOWN, ROWS, ROWS, ROWS] * 10, 40, 0, 0),  # a quarter slows nobody down
    ],
)
async def test_when_half_of_the_latest_tries_fail_everybody_slows_down(
    tmp_path: Path, replies: list[Reply], tries: int, seconds_each: float, halvings: int
) -> None:
    _, breaker, halved = await asked(tmp_path, Service(*replies), [SALES_OF_M1] * tries, seconds_each)
    assert (halved, breaker.open_because) == (halvings, "")


async def test_customers_that_are_refused_everything_end_the_run(tmp_path: Path) -> None:
    service = Service(reply(403))
    ended, _, halvings = await asked(tmp_path, service, pairs(3, 3))
    assert ended == ["Forbidden"] * 7 + ["HostDown"] * 2
    assert (len(service.asked), halvings) == (7, 1)


async def test_the_reason_says_why_and_what_was_not_asked(tmp_path: Path) -> None:
    clock = StillClock()
    breaker = CircuitBreaker(RateLimit(tmp_path, 5, 1000, clock=clock), reports=1)
    async with client(Service(reply(403)), tmp_path, clock, circuit_breaker=breaker) as asking:
        for customer in EVERYBODY:
            with pytest.raises(Forbidden):
                await asking.get(replace(SALES, customer=customer), read)
        with pytest.raises(
            HostDown, match=r"refuses every report with 403.*Not asked: report sales of customer M1"
        ):
            await asking.get(SALES, read)


async def test_once_the_run_is_over_nobody_even_waits_for_a_turn(tmp_path: Path) -> None:
    rate_limit = RateLimit(tmp_path, 1, 1000)
    breaker = CircuitBreaker(rate_limit)
    breaker.open_because = "It is over."
    async with client(Service(ROWS), tmp_path, circuit_breaker=breaker) as asking, rate_limit.turn():
        with pytest.raises(HostDown, match="It is over"):
            await asyncio.wait_for(asking.get(SALES, read), timeout=5)


def after(
    directory: Path, reports: int, *answers: tuple[Sequence[str], Sequence[str], int]
) -> CircuitBreaker:
    """A circuit breaker that was told of these statuses, for all these customers and reports."""
    breaker = CircuitBreaker(RateLimit(directory, 5, 1000, clock=StillClock()), reports=reports)
    for customers, names, status in answers:
        for customer in customers:
            for report in names:
                breaker.note_try(Try(replace(SALES, customer=customer, report=report), 1, status, 0, 0.1))
    return breaker


@pytest.mark.parametrize(
    ("reports", "answers", "is_open"),
    [
        (3, [(EVERYBODY, ["sales", "users"], 403)], False),  # others have not been asked
        (1, [(EVERYBODY, ["sales"], 403)], True),
        (2, [(["M1"], ["sales"], 200), (EVERYBODY[:3], ["sales", "users"], 403)], True),
        (
            2,
            [
                (["M1", "M2"], ["sales", "users"], 403),
                (["M3"], ["users"], 200),
                (["M3", "M4"], ["sales"], 403),
            ],
            False,
        ),
        (3, [(["M1", "M2"], ["sales", "users", "tips"], 403)], False),  # two customers are no mass
    ],
)
def test_every_report_refused_to_three_customers_in_a_row_ends_the_run(
    tmp_path: Path, reports: int, answers: list[tuple[list[str], list[str], int]], is_open: bool
) -> None:
    assert bool(after(tmp_path, reports, *answers).open_because) == is_open


THREE_REPORTS = ["sales", "users", "tips"]


@pytest.mark.parametrize(
    ("answers", "refused"),
    [
        ([(["M2"], ["sales"], 200)], True),
        ([(["M2"], ["trademarks"], 200)], False),  # nobody was answered what it was refused
        ([(["M2"], ["sales"], 200), (["M1"], ["trademarks"], 400)], False),  # it has access to something
    ],
)
def test_a_customer_is_refused_that_gets_nothing_of_what_others_get(
    tmp_path: Path, answers: list[tuple[list[str], list[str], int]], refused: bool
) -> None:
    breaker = after(tmp_path, 9, (["M1"], THREE_REPORTS, 403), *answers)
    assert (breaker.refuses_customer("M1"), breaker.refuses_customer("M2")) == (refused, False)
