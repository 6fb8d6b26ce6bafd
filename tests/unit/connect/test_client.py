"""The client: what it sends, returns and reports, and what it retries, and how often."""

from __future__ import annotations

import asyncio
import os
import time
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from random import Random

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.connect.denied_logins import SECONDS_TO_SECOND_TRY, DeniedLogins
from pipelines.connect.errors import AnswerTooLarge, ConnectError, Unauthorized, Unavailable
from pipelines.connect.models import MEGABYTE, Limits, Request, Try
from pipelines.connect.pace import RetryPolicy
from tests.unit.connect.fake_service import (
    BASE_URL,
    FINAL,
    HTML,
    LOGIN,
    MAY_PASS,
    NOON,
    ROWS,
    SALES,
    Reply,
    Service,
    StillClock,
    answered,
    client,
    error_of,
    read,
    reply,
)


async def ended(service: Service, times: int, concurrency: int = 5) -> list[type[object]]:
    """The types of the results of this many equal requests that start together."""
    async with client(service, concurrency=concurrency) as asking:
        results = await asyncio.gather(
            *(asking.get(SALES, read) for _ in range(times)), return_exceptions=True
        )
    return [type(result) for result in results]


async def test_a_request_accepts_json_and_has_basic_authentication_in_utf_8() -> None:
    service = Service(ROWS)
    await answered(service)
    (asked,) = service.asked
    login = b64encode("byrå-partner:löjrom & dill: 7".encode()).decode()
    names = ("authorization", "accept", "accept-encoding", "cache-control")
    assert [asked.method, *(asked.headers[name] for name in names)] == [
        "GET",
        f"Basic {login}",
        "application/json",
        "gzip",
        "no-cache",
    ]


async def test_the_path_follows_the_base_address_and_the_query_is_encoded_once() -> None:
    service = Service(ROWS)
    request = Request(
        "/Sales/M%2F1%20%C3%A5", {"customerId": "M&1 å", "dateFrom": "2024-01-01T00:00:00"}, "s", "c"
    )
    answer, _ = await answered(service, request)
    assert service.asked[0].url.raw_path == (
        b"/api/Sales/M%2F1%20%C3%A5?customerId=M%261%20%C3%A5&dateFrom=2024-01-01T00%3A00%3A00"
    )
    assert answer.url.startswith(BASE_URL)


async def test_an_answer_states_its_request_its_time_and_the_number_of_tries() -> None:
    answer, rows = await answered(Service(reply(503), ROWS))
    assert rows == [{"id": 1}]
    assert (answer.request, answer.status, answer.body, answer.tries) == (SALES, 200, b'[{"id": 1}]', 2)
    assert answer.content_type == "application/json; charset=utf-8"
    assert (answer.fetched_at_utc - NOON).total_seconds() < 2


async def test_every_try_is_reported() -> None:
    tries: list[Try] = []
    await answered(Service(reply(500, b"oops"), ROWS), on_try=tries.append)
    assert [(one.number, one.status, one.failure, one.bytes) for one in tries] == [
        (1, 500, "status 500", 4),
        (2, 200, "", 11),
    ]


@pytest.mark.parametrize(
    "path", ["", "Sales", "/Sales/M 1", "/Sales/å", "/Sales/../M1", "/Sales/.", "/Sales?x=1", "/a//b", "/a\n"]
)
def test_a_path_that_is_not_encoded_or_leads_upwards_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match=r"percent-encoded|only dots"):
        Request(path, {}, "sales", "M1")


@pytest.mark.parametrize("fault", MAY_PASS)
async def test_a_request_is_repeated_after_a_transient_error(fault: str) -> None:
    response, kind = MAY_PASS[fault]
    service = Service(response, response, ROWS)
    answer, rows = await answered(service)
    assert (len(service.asked), answer.tries, rows) == (3, 3, [{"id": 1}])
    error = await error_of(response)
    assert (type(error), error.tries) == (kind, 5)


async def test_an_answer_without_content_is_null() -> None:
    service = Service(reply(204), ROWS)
    answer, rows = await answered(service)
    assert (len(service.asked), answer.status, rows) == (1, 204, None)


@pytest.mark.parametrize("status", FINAL)
async def test_a_rejected_request_is_never_repeated(status: str) -> None:
    response, kind = FINAL[status]
    error = await error_of(response)
    assert (type(error), error.tries) == (kind, 1)


async def test_a_request_is_not_repeated_after_an_answer_that_is_too_large() -> None:
    limits = Limits(largest_bytes=MEGABYTE)
    error = await error_of(reply(200, b" " * (MEGABYTE + 1)), limits=limits)
    assert (type(error), error.tries) == (AnswerTooLarge, 1)
    assert "is larger than 1 MB. Request a shorter period, or raise BROKERBI_LARGEST_ANSWER_MB." in str(error)


@pytest.mark.parametrize("concurrency", [1, 5])
async def test_a_wrong_login_is_sent_once_even_if_many_requests_start_together(concurrency: int) -> None:
    service = Service(reply(401))
    assert await ended(service, 9, concurrency) == [Unauthorized] * 9
    assert len(service.asked) == 1


async def test_a_second_denial_is_recorded_as_the_second_even_after_an_outage(tmp_path: Path) -> None:
    denied, folder = DeniedLogins(tmp_path, BASE_URL), tmp_path
    denied.remember(LOGIN)
    for file in folder.iterdir():
        os.utime(file, (time.time() - SECONDS_TO_SECOND_TRY,) * 2)
    service = Service(reply(503), reply(401))
    async with client(service, denied_logins=denied) as asking:
        tries = (asking.get(SALES, read) for _ in range(9))
        results = await asyncio.gather(*tries, return_exceptions=True)
    assert [type(result) for result in results] == [Unauthorized] * 9
    assert (len(service.asked), [file.stat().st_size for file in folder.iterdir()]) == (2, [1])


async def test_the_first_try_is_sent_alone_and_the_others_concurrently() -> None:
    service = Service(ROWS, slow=50)
    await ended(service, 9)
    assert (service.beside[0], max(service.beside)) == (1, 5)


async def test_the_client_waits_for_the_time_in_retry_after() -> None:
    clock = StillClock()
    await answered(Service(reply(429, retry_after="17"), ROWS), clock=clock)
    assert 17 in clock.waited


async def test_an_error_states_whether_most_tries_timed_out() -> None:
    slow = httpx.ReadTimeout("slow")
    mostly = await error_of(slow, reply(500), slow, reply(504), slow)
    once = await error_of(slow, reply(500))
    assert isinstance(mostly, Unavailable)
    assert isinstance(once, Unavailable)
    assert (mostly.timed_out, once.timed_out) == (True, False)


@given(
    faults=st.lists(st.sampled_from([*MAY_PASS, *FINAL, "rows"]), min_size=1, max_size=12),
    tries=st.integers(1, 6),
    total=st.floats(0, 100),
    seed=st.integers(0, 999),
)
def test_tries_and_total_time_are_limited(faults: list[str], tries: int, total: float, seed: int) -> None:
    replies = [ROWS if name == "rows" else (MAY_PASS | FINAL)[name][0] for name in faults]
    service, clock = Service(*replies), StillClock()
    retry = RetryPolicy(tries, total, random=Random(seed))

    async def ask() -> None:
        async with client(service, clock, retry=retry) as asking:
            with suppress(ConnectError):
                await asking.get(SALES, read)

    asyncio.run(ask())
    assert len(service.asked) <= tries
    assert sum(clock.waited) <= total + 0.002 * tries


LONG = b'{"message":\n "' + b"x" * 500 + b'"}'


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (
            reply(400, b'{"message":\r\n"too \x1b[31mlong"}'),
            'says: {"message": "too [31mlong"} Ask the service',
        ),
        (reply(401), "tried on two nights, then only if it changes. Correct BROKERBI_"),
        (reply(403), "answered 403: the login has no access to this report. Ask the service's support"),
        (reply(404), "answered 404: it has no such report or customer. Check BROKERBI_BASE_URL and the"),
        (reply(503), "There was no usable answer in several tries; the last answered 503. The next run"),
        (httpx.ReadTimeout(""), "the last took too long. Run again later, or raise BROKERBI_TIMEOUT"),
        (reply(200, b"[1]", age="90000"), "the last answered from a cache (25 hours old). Configure"),
        (reply(200, HTML, content_type="text/html"), "BROKERBI_REPORTS. If all reports fail, check that"),
        (reply(200, b""), "If the error lasts, ask the service's support"),
        (reply(429), "the last answered 429. Lower BROKERBI_REQUESTS_PER_SECOND"),
        (httpx.ConnectError("no\nroute"), "the last could not connect (no route). Check BROKERBI_BASE_URL"),
    ],
)
async def test_an_error_states_the_answer_and_the_remedy_and_contains_the_request(
    response: Reply, sentence: str
) -> None:
    error = await error_of(response)
    assert sentence in str(error)
    assert error.request == SALES


@pytest.mark.parametrize(
    ("response", "facts"),
    [
        (reply(401), (401, "", LOGIN.name)),
        (reply(404), (404, "", "")),
        (reply(503), (503, "answered 503", "")),
        (httpx.ReadTimeout(""), (None, "took too long", "")),
    ],
)
async def test_an_error_has_the_status_the_last_try_and_the_login_as_attributes(
    response: Reply, facts: tuple[int | None, str, str]
) -> None:
    error = await error_of(response)
    assert (error.http_status, error.last_try, error.login) == facts


async def test_a_validation_error_is_quoted_and_truncated() -> None:
    error = await error_of(reply(400, LONG))
    assert error.issue.endswith('The answer says: {"message": "' + "x" * 287 + "...")


WRITTEN = Request("/Budget/M1", {}, "budget_pushes", "M1", b'{"commission": 1}')


async def _posted(*replies: Reply) -> tuple[Service, ConnectError | int]:
    """The service after a request that writes, and the status or error of the request."""
    service = Service(*replies)
    async with client(service) as asking:
        try:
            return service, (await asking.post(WRITTEN)).status
        except ConnectError as error:
            return service, error


async def test_a_writing_request_is_sent_as_json_exactly_once() -> None:
    service, status = await _posted(reply(204))
    sent = [(one.method, one.headers["content-type"], one.content) for one in service.asked]
    assert (status, sent) == (204, [("POST", "application/json", b'{"commission": 1}')])


@pytest.mark.parametrize("fault", [*FINAL, "429", "500", "a time-out", "a reset", "no connection"])
async def test_a_writing_request_is_never_sent_twice(fault: str) -> None:
    response, kind = {**MAY_PASS, **FINAL}[fault]
    service, error = await _posted(response, reply(204))
    assert (len(service.asked), type(error)) == (1, kind)


async def test_a_write_is_accepted_even_if_its_answer_breaks_off() -> None:
    _, status = await _posted(reply(200, b"[", end=httpx.ReadError("reset")))
    assert status == 200
