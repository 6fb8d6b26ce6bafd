"""When a run slows down, and when it stops sending requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import httpx
import pytest

from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.errors import AllDenied, ConnectError, HostDown
from pipelines.connect.models import Try
from pipelines.connect.pace import RateLimit, RetryPolicy
from tests.unit.connect.fake_service import (
    ROWS,
    SALES,
    Reply,
    Service,
    StillClock,
    client,
    read,
    reply,
)

ONE_TRY = RetryPolicy(tries=1)
DOWN = reply(500)
HALF = reply(200, b'[{"commission": 1')
SALES_OF_M1 = ("M1", "sales")
EVERYBODY = ("M1", "M2", "M3", "M4", "M5", "M6")


async def asked(service: Service, pairs: list[tuple[str, str]]) -> tuple[list[str], CircuitBreaker, int]:
    """What asking for each pair of customer and report ended in, and how often the rate is halved then."""
    clock = StillClock()
    limit = RateLimit(5, 1000, clock=clock)
    breaker = CircuitBreaker(limit)
    ended = []
    async with client(service, clock, circuit_breaker=breaker, retry=ONE_TRY) as asking:
        for customer, report in pairs:
            clock.seconds += 1
            try:
                await asking.get(replace(SALES, customer=customer, report=report), read)
                ended.append("rows")
            except ConnectError as error:
                ended.append(type(error).__name__)
    return ended, breaker, limit.halvings


def pairs(customers: int, reports: int) -> list[tuple[str, str]]:
    return [
        (f"M{customer}", f"report {report}") for report in range(reports) for customer in range(customers)
    ]


# The replies, who asks for what, and how that ends until nothing more is asked.
ENDED = {
    "ten requests in a row that fail for three pairs": ([DOWN], pairs(3, 4), ["Unavailable"] * 10),
    "not one report of one customer that always fails": ([DOWN], [SALES_OF_M1] * 15, ["Unavailable"] * 15),
    "not two reports that fail for every customer": ([DOWN], pairs(6, 2), ["Unavailable"] * 12),
    "ten answers in a row that are no JSON, of three reports": ([HALF], pairs(4, 4), ["NotJson"] * 10),
    "not if any answer in between shows that the host is alive": (
        [*[DOWN] * 9, reply(404), *[DOWN] * 9, ROWS],
        pairs(4, 5),
        [*["Unavailable"] * 9, "NotFound", *["Unavailable"] * 9, "rows"],
    ),
    "three that find nobody": ([httpx.ConnectError("refused")], [SALES_OF_M1] * 5, ["Unreachable"] * 3),
    "customers that are refused everything": ([reply(403)], pairs(3, 3), ["Forbidden"] * 7),
}


@pytest.mark.parametrize(("replies", "asking", "ended"), ENDED.values(), ids=list(ENDED))
async def test_failures_and_denials_in_a_row_end_the_run(
    replies: list[Reply], asking: list[tuple[str, str]], ended: list[str]
) -> None:
    service, left = Service(*replies), len(asking) - len(ended)
    found, breaker, _ = await asked(service, asking)
    kind = "AllDenied" if ended[-1] == "Forbidden" else "HostDown"
    assert found == ended + [kind] * left
    assert len(service.asked) == len(ended)
    assert type(breaker.stop_error).__name__ == (kind if left else "NoneType")


@pytest.mark.parametrize(
    ("replies", "number", "halvings"),
    [
        ([DOWN, ROWS] * 10, 20, 1),  # half of the latest twenty
        ([DOWN, ROWS] * 20, 39, 1),  # it takes twenty more to slow down further
        ([DOWN, ROWS, ROWS, ROWS] * 10, 40, 0),  # a quarter slows nobody down
        ([DOWN], 10, 1),  # the run is over, and whoever comes next begins slowly
        ([reply(403)], 7, 1),
    ],
)
async def test_the_rate_is_halved_when_half_of_the_latest_tries_fail(
    replies: list[Reply], number: int, halvings: int
) -> None:
    _, _, halved = await asked(Service(*replies), pairs(3, 14)[:number])
    assert halved == halvings


async def test_no_request_waits_for_a_slot_after_the_run_has_ended() -> None:
    rate_limit = RateLimit(1, 1000)
    breaker = CircuitBreaker(rate_limit)
    breaker.stop_error = HostDown("It is over.", request=SALES)
    async with client(Service(ROWS), circuit_breaker=breaker) as asking, rate_limit.slot():
        with pytest.raises(HostDown, match="It is over"):
            await asyncio.wait_for(asking.get(SALES, read), timeout=5)


def after(reports: int, *answers: tuple[Sequence[str], Sequence[str], int]) -> CircuitBreaker:
    """A circuit breaker that was told of these statuses, for all these customers and reports."""
    breaker = CircuitBreaker(RateLimit(5, 1000, clock=StillClock()), report_count=reports, customer_count=4)
    for customers, names, status in answers:
        for customer in customers:
            for report in names:
                breaker.note_try(Try(replace(SALES, customer=customer, report=report), 1, status, 0, 0.1))
    return breaker


@pytest.mark.parametrize(
    ("reports", "answers", "is_open"),
    [
        (3, [(EVERYBODY, ["sales", "users"], 403)], False),  # others have not been asked
        (2, [(EVERYBODY[:3], ["sales", "users"], 403)], False),  # nor have the others been asked here
        (2, [(EVERYBODY[:4], ["sales", "users"], 403)], True),
        (2, [(["M1"], ["sales"], 200), (EVERYBODY, ["sales", "users"], 403)], False),  # one is served
        (
            2,
            [
                (["M1", "M2"], ["sales", "users"], 403),
                (["M3"], ["users"], 200),
                (["M3", "M4"], ["sales"], 403),
            ],
            False,
        ),
    ],
)
def test_the_run_ends_if_every_report_and_every_customer_is_denied_and_none_is_answered(
    reports: int, answers: list[tuple[list[str], list[str], int]], is_open: bool
) -> None:
    assert isinstance(after(reports, *answers).stop_error, AllDenied) == is_open
