"""The client of the Connect service, one for each login: retries what may pass, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import httpx

from pipelines.clock import Clock, SystemClock
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.connection import Connection
from pipelines.connect.errors import (
    MARKUP,
    UNAUTHORIZED,
    TooManyObjects,
    exhausted,
    refusal,
    too_large,
    unauthorized,
)
from pipelines.connect.models import NO_CONTENT, NOTHING, OK, Answer, Limits, Login, Request, Try
from pipelines.connect.rate_limit import RateLimit
from pipelines.connect.refused_logins import RefusedLogins
from pipelines.connect.retry import RetryPolicy, retry_after_seconds

LOOKED_AT = 1000  # bytes of an answer in which its first character is looked for
BLANKS = b"\xef\xbb\xbf \t\r\n"  # a byte order mark and white space

T = TypeVar("T")


class Client:
    """Asks the service with one login; keeps connections open until `aclose`.

    A request is repeated after 429, 5xx, time-outs, resets, half bodies and answers with status 200
    that are not JSON, and after nothing else. After a 401 the login is not used again until `refused_logins`
    lets it be tried a second time, except with `try_refused`.
    Refuses a base address that carries credentials.
    """

    def __init__(
        self,
        base_url: str,
        login: Login,
        *,
        rate_limit: RateLimit,
        circuit_breaker: CircuitBreaker | None = None,
        retry: RetryPolicy | None = None,
        limits: Limits | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
        on_try: Callable[[Try], None] | None = None,
        refused_logins: RefusedLogins | None = None,
        try_refused: bool = False,
    ) -> None:
        self.login = login
        self._refused_logins = refused_logins
        self._try_refused = try_refused
        self._rate_limit = rate_limit
        self._circuit_breaker = circuit_breaker or CircuitBreaker(rate_limit)
        self._retry = retry or RetryPolicy()
        self._limits = limits or Limits()
        self._clock = clock or SystemClock()
        self._on_try = on_try
        self._connection = Connection(base_url, login, self._limits, transport, self._clock)
        self.aclose = self._connection.http.aclose
        self._unauthorized = False
        self._first_try = asyncio.Lock()
        self._is_tried = False

    async def get(
        self, request: Request, read: Callable[[bytes], T], *, tries: int | None = None
    ) -> tuple[Answer, T]:
        """The answer to a request, whole, and what `read` makes of its body.

        `read` runs in a thread; its ValueError says that the body is not JSON. The bound: at most
        `retry.tries` requests go out, or fewer if fewer `tries` are wanted, and none once
        `retry.total_seconds` have passed since the first, not counting the wait for a turn. Raises a
        ConnectError in every other case, without a request when the login was refused before or the circuit
        is open.
        """
        retry = replace(self._retry, tries=min(tries or self._retry.tries, self._retry.tries))
        tried: list[Try] = []
        last_answer: Answer | None = None
        began: float | None = None
        while True:
            sent_at, one, answer = await self._one_try(request, len(tried) + 1)
            began = sent_at if began is None else began
            if answer is not None and answer.status == NO_CONTENT:  # nothing to tell, in JSON
                answer = replace(answer, body=NOTHING)
            last_answer = answer or last_answer
            parsed: list[T] = []
            if answer is not None and one.trouble is None and answer.status // 100 == 2:
                one, parsed = await self._parse(one, answer, read)
            tried.append(one)
            self._note(one)
            if answer is not None and parsed:
                return answer, parsed[0]
            if one.trouble == "too large":
                raise too_large(request, answer, len(tried), self._limits, one.detail)
            if answer is not None and not one.is_retryable:
                raise refusal(answer, self.login)
            headers = answer.headers if answer is not None else {}
            wanted = retry_after_seconds(headers.get("retry-after"), self._clock.utc_now())
            delay = retry.delay(len(tried), self._clock.monotonic() - began, wanted)
            if delay is None:
                error = exhausted(tried, last_answer)
                self._circuit_breaker.note_exhausted(error)
                raise error
            await self._clock.sleep(delay)

    async def post(self, request: Request) -> Answer:
        """Send a request that writes, once, whatever becomes of it; the answer to one that was accepted.

        Raises a ConnectError in every other case. Of TooManyRequests, Unavailable and Unreachable nobody
        knows whether the service has written: look before it is sent again.
        """
        _, one, answer = await self._one_try(request, 1)
        self._note(one)
        if answer is not None and answer.status // 100 == 2:
            return answer
        if answer is not None and not one.is_retryable:
            raise refusal(answer, self.login)
        error = exhausted([one], answer)
        self._circuit_breaker.note_exhausted(error)
        raise error

    def _note(self, one: Try) -> None:
        self._circuit_breaker.note_try(one, self.login)
        if self._on_try is not None:
            self._on_try(one)

    async def _one_try(self, request: Request, number: int) -> tuple[float, Try, Answer | None]:
        """Send once, unless the login, the circuit or the clock is against it.

        The first try of a login goes alone, so that a wrong one costs one request.
        """
        self._check(request)
        if not self._is_tried:
            async with self._first_try:
                if not self._is_tried:
                    try:
                        return await self._introduce(request, number)
                    finally:
                        self._is_tried = True
        return await self._send(request, number)

    async def _introduce(self, request: Request, number: int) -> tuple[float, Try, Answer | None]:
        """Send the first try of a login, unless it was denied before."""
        known, login = self._refused_logins, self.login
        if known is None:
            return await self._send(request, number)
        self._unauthorized = not self._try_refused and await asyncio.to_thread(known.holds, login)
        self._check(request)
        sent = await self._send(request, number)
        if known.knows(login) and sent[1].status not in (None, UNAUTHORIZED):
            await asyncio.to_thread(known.forget, login)
        return sent

    async def _send(self, request: Request, number: int) -> tuple[float, Try, Answer | None]:
        """When one try went out, and what became of it."""
        async with self._rate_limit.slot():
            self._check(request)
            sent_at = self._clock.monotonic()
            one, answer = await self._connection.send(request, number)
            if one.status == UNAUTHORIZED and not self._unauthorized:
                self._unauthorized = True
                if self._refused_logins is not None:
                    await asyncio.to_thread(self._refused_logins.remember, self.login)
        return sent_at, one, answer

    def _check(self, request: Request) -> None:
        self._circuit_breaker.check(request)
        if self._unauthorized:
            raise unauthorized(request, self.login)

    async def _parse(self, one: Try, answer: Answer, read: Callable[[bytes], T]) -> tuple[Try, list[T]]:
        """What `read` makes of the body, in a list; else an empty list, and the trouble in the try."""
        if answer.status not in (OK, NO_CONTENT):
            said = f"status {answer.status} where a report was asked for"
        elif answer.body[:LOOKED_AT].lstrip(BLANKS).startswith(b"<"):
            kind = answer.content_type.partition(";")[0].strip()[:80]
            said = f"{MARKUP}, {kind or 'without a content type'}"
        else:
            try:
                return one, [await asyncio.to_thread(read, answer.body)]
            except TooManyObjects as error:
                return replace(one, trouble="too large", detail=str(error)), []
            except ValueError as error:
                said = self.login.hide(" ".join(str(error).split()))[:300]
        return replace(one, trouble="not json", detail=said), []
