"""HTTP connections of one login: they send a request once and collect the whole answer."""

from __future__ import annotations

import asyncio
import zlib
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from io import BytesIO
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import quote, urlencode, urlsplit

import httpx

from pipelines.address import checked_address, is_loopback
from pipelines.clock import Clock
from pipelines.connect.models import OK, Answer, ErrorKind, Limits, Login, Request, Try

HIDDEN_HEADERS = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "authorization"})
JSON_HEADERS = {"Content-Type": "application/json"}
UNREACHABLE_ERRORS = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    ConnectionRefusedError,
)
KEEP_OPEN_SECONDS = 30.0
MAX_AGE_SECONDS = 3600  # an answer that a cache has stored for longer is stale
GZIP_WINDOW_BITS = 16 + zlib.MAX_WBITS  # 16 selects the gzip format


@dataclass(eq=False, repr=False)
class Connection:
    """The connections of one login to one host. They stay open between requests.

    Cookies are dropped. Redirects are not followed, so that the login goes to no other address.
    """

    base_url: str
    login: Login
    limits: Limits
    transport: httpx.AsyncBaseTransport | None
    clock: Clock

    def __post_init__(self) -> None:
        self.base_url = checked_address(self.base_url)
        is_local = is_loopback(self.base_url)
        is_encrypted = urlsplit(self.base_url).scheme == "https"
        self.http = httpx.AsyncClient(
            transport=self.transport,
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "Authorization": self.login.authorization(),
                "Cache-Control": "no-cache",
                "User-Agent": "brokerbi",
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=self.limits.seconds,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEEP_OPEN_SECONDS),
            follow_redirects=False,
            trust_env=not is_local,
            # Plain HTTP to this machine needs no certificates, and loading them takes time.
            verify=SSLContext(PROTOCOL_TLS_CLIENT) if is_local and not is_encrypted else True,
        )

    async def send(self, request: Request, number: int) -> tuple[Try, Answer | None]:
        """Send a request once, as try `number`; returns the try, with its error if any, and the answer.

        The answer is None if no status arrived. If the body broke off, the answer has its beginning. If the
        status is not 2xx, errors while reading the body are ignored.
        """
        url = f"{self.base_url}{request.path}"
        if request.query:
            url = f"{url}?{urlencode(request.query, quote_via=quote)}"
        started_at = self.clock.monotonic()
        response: httpx.Response | None = None
        body = BytesIO()
        error_kind: ErrorKind | None = None
        detail = ""
        try:
            async with (
                asyncio.timeout(self.limits.try_seconds),
                self._stream(request, url) as response,
            ):
                if not await self._collect(response, body):
                    error_kind = "too large"
                elif (age := response.headers.get("age", "")).isdecimal() and int(age) > MAX_AGE_SECONDS:
                    error_kind, detail = "stale", f"{int(age) // 3600} hours old"
        except UNREACHABLE_ERRORS as error:
            error_kind, detail = "unreachable", _one_line(error)
        except (TimeoutError, httpx.TimeoutException):
            error_kind = "timed out"
        except (httpx.HTTPError, OSError) as error:
            error_kind, detail = "broken", _one_line(error)
        seconds = self.clock.monotonic() - started_at
        status = response.status_code if response is not None else None
        attempt = Try(request, number, status, body.tell(), seconds, error_kind, self.login.hide(detail))
        if response is None:
            return attempt, None
        answer = self._answer(attempt, url, response, body.getvalue())
        return attempt if response.is_success else replace(attempt, error_kind=None, detail=""), answer

    def _stream(self, request: Request, url: str) -> AbstractAsyncContextManager[httpx.Response]:
        headers = JSON_HEADERS if request.body is not None else None
        return self.http.stream(request.method, url, content=request.body, headers=headers)

    async def _collect(self, response: httpx.Response, body: BytesIO) -> bool:
        """Read and decompress a response into `body`. Returns False if the response is too large."""
        largest = self.limits.largest_bytes
        if response.is_stream_consumed:  # an in-memory transport has already read and decompressed it
            body.write(response.content[: largest + 1])
            return body.tell() <= largest
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in {"", "identity", "gzip", "x-gzip"}:
            raise httpx.DecodingError(f"the answer is compressed as {encoding[:20]}, which was not requested")
        unzip = zlib.decompressobj(GZIP_WINDOW_BITS) if encoding.endswith("gzip") else None
        received = 0
        async for chunk in response.aiter_raw():
            received += len(chunk)
            if received > largest:
                return False
            try:
                body.write(unzip.decompress(chunk, largest + 1 - body.tell()) if unzip else chunk)
            except zlib.error:
                raise httpx.DecodingError("the answer is damaged: it cannot be decompressed") from None
            if body.tell() > largest:
                return False
        if unzip and received and not unzip.eof:
            raise httpx.RemoteProtocolError("the compressed answer ended too early")
        return True

    def _answer(self, attempt: Try, url: str, response: httpx.Response, body: bytes) -> Answer:
        hide = self.login.hide
        is_ok = response.status_code == OK
        return Answer(
            request=attempt.request,
            url=url,
            status=response.status_code,
            body=self.login.hide_in_body(_in_utf_8(body, response.charset_encoding), has_rows=is_ok),
            content_type=hide(response.headers.get("content-type", "")),
            headers={key: hide(text) for key, text in response.headers.items() if key not in HIDDEN_HEADERS},
            seconds=attempt.seconds,
            tries=attempt.number,
            fetched_at_utc=self.clock.utc_now(),
        )


def _in_utf_8(body: bytes, charset: str | None) -> bytes:
    """The body, converted from its declared charset unless it is valid UTF-8 or the conversion fails."""
    if charset is not None and charset.lower() != "utf-8":
        try:
            body.decode()
        except UnicodeDecodeError:
            with suppress(LookupError, UnicodeDecodeError):
                return body.decode(charset).encode()
    return body


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
