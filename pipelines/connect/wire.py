"""What becomes of one try? One request on the wire, and what it ended in; trouble is told, not raised."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import quote, urlencode, urlsplit

import httpx

from pipelines.connect.address import checked_address, is_this_machine
from pipelines.connect.body import Body, BodyError, BodyTooLarge
from pipelines.connect.clock import Clock
from pipelines.connect.exchange import Answer, Request
from pipelines.connect.limits import Limits
from pipelines.connect.login import Login

NEVER_KEPT = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "authorization"})
NOBODY_THERE = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    ConnectionRefusedError,
)
OK = 200
TOO_MANY = 429
KEEP_OPEN_SECONDS = 30.0


class Trouble(StrEnum):
    """Why a try brought no answer that can be read; the value completes a sentence."""

    UNREACHABLE = "found nobody to connect to"
    TIMED_OUT = "took too long"
    BROKEN = "broke off"
    TOO_LARGE = "was answered with too much"
    NOT_JSON = "was answered with something that is not JSON"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one try ended in: an answer, trouble, or both when the body of a 200 broke off."""

    answer: Answer | None
    trouble: Trouble | None
    detail: str
    seconds: float

    @property
    def status(self) -> int | None:
        return self.answer.status if self.answer else None


@dataclass(slots=True)
class _Received:
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body | None = None


class Wire:
    """The connections of one login to one host, kept open between requests.

    Cookies are not kept, so that every request is like the first. Redirects are not followed: the
    login would travel along.
    """

    def __init__(
        self,
        base_url: str,
        login: Login,
        limits: Limits,
        transport: httpx.AsyncBaseTransport | None,
        clock: Clock,
    ) -> None:
        self._base_url = checked_address(base_url)
        self._login = login
        self._limits = limits
        self._clock = clock
        self._http = httpx.AsyncClient(
            transport=transport,
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "Authorization": login.authorization(),
                "User-Agent": "brokerbi",
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=limits.seconds,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEEP_OPEN_SECONDS),
            follow_redirects=False,
            trust_env=not is_this_machine(self._base_url),
            verify=_trusted(self._base_url),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def ask(self, request: Request, number: int) -> Outcome:
        """Ask once and collect the whole body; a refusal counts even when its body breaks off."""
        url = f"{self._base_url}{request.path}"
        if request.query:
            url = f"{url}?{urlencode(request.query, quote_via=quote)}"
        began = self._clock.monotonic()
        received = _Received()
        trouble, detail = await self._collect(url, received)
        seconds = self._clock.monotonic() - began
        answer = self._answer(request, url, received, seconds, number, whole=trouble is None)
        if answer is not None and not OK <= answer.status < OK + 100:
            return Outcome(answer, None, "", seconds)
        return Outcome(answer, trouble, self._login.hide(detail), seconds)

    async def _collect(self, url: str, received: _Received) -> tuple[Trouble | None, str]:
        try:
            async with asyncio.timeout(self._limits.whole_seconds):
                await self._receive(url, received)
        except NOBODY_THERE as error:
            return Trouble.UNREACHABLE, _said(error)
        except (TimeoutError, httpx.TimeoutException):
            return Trouble.TIMED_OUT, ""
        except BodyTooLarge as error:
            return Trouble.TOO_LARGE, _said(error)
        except (httpx.HTTPError, OSError, BodyError) as error:
            return Trouble.BROKEN, _said(error)
        return None, ""

    async def _receive(self, url: str, received: _Received) -> None:
        async with self._http.stream("GET", url) as response:
            received.status, received.headers = response.status_code, dict(response.headers)
            if response.is_stream_consumed:  # a transport in memory has read and decompressed it already
                received.body = body = Body(_decompressed(received.headers), self._limits)
                body.add(response.content)
            else:
                received.body = body = Body(received.headers, self._limits)
                async for chunk in response.aiter_raw():
                    body.add(chunk)
            body.finish()

    def _answer(
        self, request: Request, url: str, received: _Received, seconds: float, number: int, *, whole: bool
    ) -> Answer | None:
        if received.status is None:
            return None
        body = received.body.content if received.body else b""
        hide = self._login.hide
        return Answer(
            request=request,
            url=url,
            status=received.status,
            body=body if received.status == OK else self._login.hide_in_bytes(body[:]),
            content_type=hide(received.headers.get("content-type", "")),
            headers={name: hide(text) for name, text in received.headers.items() if name not in NEVER_KEPT},
            seconds=seconds,
            tries=number,
            fetched_at_utc=self._clock.utc_now(),
            whole=whole,
        )


def _trusted(base_url: str) -> SSLContext | bool:
    """Whose certificates count: the usual ones, or nobody's where there are none to be judged."""
    in_clear = urlsplit(base_url).scheme == "http" and is_this_machine(base_url)
    return SSLContext(PROTOCOL_TLS_CLIENT) if in_clear else True


def _decompressed(headers: Mapping[str, str]) -> dict[str, str]:
    if "content-encoding" not in headers:
        return dict(headers)
    return {
        name: text for name, text in headers.items() if name not in {"content-encoding", "content-length"}
    }


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
