"""A scripted service with every kind of error, and a clock that moves on request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from pipelines.connect import errors
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.client import Client
from pipelines.connect.denied_logins import DeniedLogins
from pipelines.connect.models import Answer, Limits, Login, Request, Try
from pipelines.connect.pace import RateLimit, RetryPolicy

BASE_URL = "https://service.example/api"
LOGIN = Login("byrå-partner", SecretStr("löjrom & dill: 7"))
SALES = Request(
    "/Sales/M1", {"dateFrom": "2024-01-01T00:00:00", "dateTo": "2024-01-31T23:59:59"}, "sales", "M1"
)
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
Reply = Callable[[httpx.Request], httpx.Response] | Exception


@dataclass
class StillClock:
    """Waiting takes no time, but moves the clock; what was waited is remembered."""

    seconds: float = 1000.0
    waited: list[float] = field(default_factory=list)
    noon: datetime = NOON

    def utc_now(self) -> datetime:
        return self.noon + timedelta(seconds=self.seconds - 1000.0)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


class Chunks(httpx.AsyncByteStream):
    """A body in pieces, which may end in an error."""

    def __init__(self, *pieces: bytes, end: Exception | None = None) -> None:
        self._pieces = pieces
        self._end = end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if self._end is not None:
            raise self._end


class Service(httpx.AsyncBaseTransport):
    """Gives one reply after the other, and the last one for ever; remembers what it was asked.

    `beside` says of every request how many were under way when it came, itself included.
    """

    def __init__(self, *replies: Reply, slow: int = 1) -> None:
        self._replies = replies
        self._slow = slow
        self._under_way = 0
        self.asked: list[httpx.Request] = []
        self.beside: list[int] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        number = len(self.asked)
        self._under_way += 1
        self.beside.append(self._under_way)
        for _ in range(self._slow):  # as on a network, others get their turn meanwhile
            await asyncio.sleep(0)
        self._under_way -= 1
        reply = self._replies[min(number, len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply(request)


def reply(status: int, body: bytes = b"", *, end: Exception | None = None, **headers: str) -> Reply:
    """A reply; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx.Response(status, headers=named, stream=Chunks(body, end=end))


ROWS = reply(200, b'[{"id": 1}]', content_type="application/json; charset=utf-8")
HTML = b"\xef\xbb\xbf\n <html><body>Maintenance</body></html>"
MAY_PASS: dict[str, tuple[Reply, type[errors.ConnectError]]] = {
    "429": (reply(429), errors.TooManyRequests),
    "500": (reply(500), errors.Unavailable),
    "502": (reply(502), errors.Unavailable),
    "503": (reply(503), errors.Unavailable),
    "504": (reply(504), errors.Unavailable),
    "a time-out": (httpx.ReadTimeout("slow"), errors.Unavailable),
    "a reset": (httpx.ReadError("reset"), errors.Unavailable),
    "a reset socket": (ConnectionResetError("reset"), errors.Unavailable),
    "half a body": (reply(200, b"[1,", end=httpx.RemoteProtocolError("peer closed")), errors.Unavailable),
    "an answer of a cache": (reply(200, b"[1]", age="3601"), errors.Unavailable),
    "a broken gzip": (reply(200, b"\x1f\x8b[1]", content_encoding="gzip"), errors.Unavailable),
    "another compression": (reply(200, b"[1]", content_encoding="br"), errors.Unavailable),
    "no connection": (httpx.ConnectError("refused"), errors.Unreachable),
    "HTML": (reply(200, HTML, content_type="text/html"), errors.NotJson),
    "XML": (reply(200, b"<Rows/>", content_type="application/xml"), errors.NotJson),
    "broken JSON": (reply(200, b"[1,"), errors.NotJson),
    "nothing": (reply(200, b""), errors.NotJson),
    "another 2xx": (reply(206), errors.NotJson),
}
FINAL: dict[str, tuple[Reply, type[errors.ConnectError]]] = {
    "400": (reply(400, b'{"message": "too long"}'), errors.BadRequest),
    "401": (reply(401), errors.Unauthorized),
    "403": (reply(403), errors.Forbidden),
    "404": (reply(404), errors.NotFound),
    "406": (reply(406), errors.Unexpected),
    "408": (reply(408), errors.Unexpected),
    "418": (reply(418), errors.Unexpected),
    "301": (reply(301, location="https://elsewhere.example/x"), errors.Redirected),
    "304": (reply(304), errors.Unexpected),
    "a refusal whose body breaks off": (reply(403, b"no", end=httpx.ReadError("reset")), errors.Forbidden),
}


def read(body: bytes) -> object:
    """What the sync hands in: a parser whose ValueError means that there is no JSON."""
    parsed: object = json.loads(body)
    return parsed


def client(
    transport: httpx.AsyncBaseTransport | None,
    clock: StillClock | None = None,
    *,
    base_url: str = BASE_URL,
    login: Login = LOGIN,
    circuit_breaker: CircuitBreaker | None = None,
    retry: RetryPolicy | None = None,
    limits: Limits | None = None,
    concurrency: int = 5,
    on_try: Callable[[Try], None] | None = None,
    denied_logins: DeniedLogins | None = None,
) -> aclosing[Client]:
    """The real client, with nothing about it changed but where it asks and what time it is."""
    clock = clock or StillClock()
    limit = RateLimit(concurrency, 1000, clock=clock)
    breaker, retry = circuit_breaker or CircuitBreaker(limit), retry or RetryPolicy(random=Random(1))
    return aclosing(
        Client(
            base_url,
            login,
            limit,
            breaker,
            retry,
            limits or Limits(),
            clock,
            transport,
            on_try,
            denied_logins,
        )
    )


async def answered(
    transport: httpx.AsyncBaseTransport, request: Request = SALES, **options: Any
) -> tuple[Answer, object]:
    """The answer to one request, and its rows."""
    async with client(transport, **options) as asking:
        return await asking.get(request, read)


async def error_of(*replies: Reply, limits: Limits | None = None) -> errors.ConnectError:
    """What asking for the sales raises when the service replies so."""
    async with client(Service(*replies), limits=limits) as asking:
        with pytest.raises(errors.ConnectError) as caught:
            await asking.get(SALES, read)
    return caught.value
