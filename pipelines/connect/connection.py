"""The HTTP connections of one login: sends one request, and collects its answer whole or not at all."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import quote, urlencode, urlsplit

import httpx

from pipelines.connect.clock import Clock
from pipelines.connect.models import (
    OK,
    Answer,
    Limits,
    Login,
    Request,
    Trouble,
    Try,
    checked_address,
    is_loopback,
)

NEVER_KEPT = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "authorization"})
UNREACHABLE = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    ConnectionRefusedError,
)
KEEP_OPEN_SECONDS = 30.0
GZIP = 16 + zlib.MAX_WBITS
GZIP_BEGINS = b"\x1f"


class HalfBody(Exception):
    """Some of the body is missing or damaged: worth asking again."""


class TooManyBytes(Exception):
    """The body is larger than allowed."""


class Connection:
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
            trust_env=not is_loopback(self._base_url),
            verify=_trusted_certificates(self._base_url),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(self, request: Request, number: int) -> tuple[Try, Answer | None]:
        """Send once and collect the whole body; a refusal counts even when its body breaks off.

        What goes wrong is in the try. The answer is None when there was not even a status.
        """
        url = f"{self._base_url}{request.path}"
        if request.query:
            url = f"{url}?{urlencode(request.query, quote_via=quote)}"
        began = self._clock.monotonic()
        received = _Received(self._limits.largest_bytes)
        trouble, detail = await self._collect(url, received)
        seconds = self._clock.monotonic() - began
        answer = self._answer(request, url, received, seconds, number, whole=trouble is None)
        if received.status is not None and not OK <= received.status < OK + 100:
            trouble, detail = None, ""
        size = len(received.body)
        return Try(request, number, received.status, size, seconds, trouble, self._login.hide(detail)), answer

    async def _collect(self, url: str, received: _Received) -> tuple[Trouble | None, str]:
        try:
            async with (
                asyncio.timeout(self._limits.whole_seconds),
                self._http.stream("GET", url) as response,
            ):
                await received.read(response)
        except UNREACHABLE as error:
            return Trouble.UNREACHABLE, _one_line(error)
        except (TimeoutError, httpx.TimeoutException):
            return Trouble.TIMED_OUT, ""
        except TooManyBytes:
            return Trouble.TOO_LARGE, ""
        except (httpx.HTTPError, OSError, HalfBody) as error:
            return Trouble.BROKEN, _one_line(error)
        return None, ""

    def _answer(
        self, request: Request, url: str, received: _Received, seconds: float, number: int, *, whole: bool
    ) -> Answer | None:
        if received.status is None:
            return None
        hide, body = self._login.hide, bytes(received.body)
        return Answer(
            request=request,
            url=url,
            status=received.status,
            body=body if received.status == OK else self._login.hide_in_bytes(body),
            content_type=hide(received.headers.get("content-type", "")),
            headers={name: hide(text) for name, text in received.headers.items() if name not in NEVER_KEPT},
            seconds=seconds,
            tries=number,
            fetched_at_utc=self._clock.utc_now(),
            whole=whole,
        )


@dataclass(slots=True)
class _Received:
    """What has come of one answer so far: status, headers, and the body decompressed.

    The body never grows beyond the limit, however tightly it was compressed.
    """

    largest: int
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytearray = field(default_factory=bytearray, repr=False)

    async def read(self, response: httpx.Response) -> None:
        """Read to the end; raises HalfBody for a body shorter than it says, and TooManyBytes."""
        self.status, self.headers = response.status_code, dict(response.headers)
        if response.is_stream_consumed:  # a transport in memory has read and decompressed it already
            self._add(response.content)
            return
        length = self.headers.get("content-length", "").strip()
        has_length = length.isascii() and length.isdigit() and "transfer-encoding" not in self.headers
        unzip = _unzip_of(self.headers.get("content-encoding", "").strip().lower())
        received = 0
        async for chunk in response.aiter_raw():
            received += len(chunk)
            if received > self.largest:
                raise TooManyBytes
            self._add(unzip.data(chunk, self.largest + 1 - len(self.body)) if unzip else chunk)
        if has_length and received < int(length):
            raise HalfBody(f"the answer ended after {received} of {int(length)} bytes")
        if unzip and received and not unzip.is_whole:
            raise HalfBody("the answer ended in the middle of its compression")

    def _add(self, data: bytes) -> None:
        self.body += data[: self.largest + 1 - len(self.body)]
        if len(self.body) > self.largest:
            raise TooManyBytes


class _Unzip:
    """Decompresses gzip, one member after the other as the format allows, at most so many bytes at a time."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(GZIP)

    def data(self, received: bytes, most: int) -> bytes:
        """The decompressed bytes; raises HalfBody when they are damaged."""
        data = bytearray()
        try:
            while received and len(data) < most:
                if self._member.eof:
                    if not received.startswith(GZIP_BEGINS):
                        break
                    self._member = zlib.decompressobj(GZIP)
                data += self._member.decompress(received, most - len(data))
                received = self._member.unused_data
        except zlib.error:
            raise HalfBody("the answer is damaged: it cannot be decompressed") from None
        return bytes(data)

    @property
    def is_whole(self) -> bool:
        """Whether the compression has come to its end."""
        return self._member.eof


def _unzip_of(encoding: str) -> _Unzip | None:
    if encoding in {"", "identity"}:
        return None
    if encoding in {"gzip", "x-gzip"}:
        return _Unzip()
    raise HalfBody(f"the answer is compressed as {encoding[:20]}, which was not asked for")


def _trusted_certificates(base_url: str) -> SSLContext | bool:
    """The usual certificates, or none where there is nothing to be verified (loopback without TLS)."""
    unencrypted = urlsplit(base_url).scheme == "http" and is_loopback(base_url)
    return SSLContext(PROTOCOL_TLS_CLIENT) if unencrypted else True


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
