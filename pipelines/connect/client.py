"""The client of the Connect service: it sends requests with one login, and retries after some errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import httpx

from pipelines.clock import Clock
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.connection import Connection
from pipelines.connect.denied_logins import DeniedLogins
from pipelines.connect.errors import (
    MARKUP,
    ConnectError,
    TooManyObjects,
    exhausted_error,
    final_error,
    too_large_error,
    unauthorized_error,
)
from pipelines.connect.models import (
    NO_CONTENT,
    NULL_BODY,
    OK,
    UNAUTHORIZED,
    Answer,
    Limits,
    Login,
    Request,
    Try,
)
from pipelines.connect.pace import RateLimit, RetryPolicy, retry_after_seconds

SNIFFED_BYTES = 1000  # leading bytes of an answer that are checked for markup
BLANKS = b"\xef\xbb\xbf \t\r\n"  # a byte order mark and white space

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Client:
    """Sends requests with one login; `aclose` closes its connections.

    A GET request is repeated only after a try that is retryable (`Try.is_retryable`). After a 401, the client
    sends nothing more; `denied_logins` decides when a later client may try the login again. Raises ValueError
    if the base address is invalid or contains a login.
    """

    base_url: str
    login: Login
    rate_limit: RateLimit
    circuit_breaker: CircuitBreaker
    retry: RetryPolicy
    limits: Limits
    clock: Clock
    transport: httpx.AsyncBaseTransport | None = None
    on_try: Callable[[Try], None] | None = None
    denied_logins: DeniedLogins | None = None
    _is_denied: bool = False
    _is_accepted: bool = False
    _first_try_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._connection = Connection(self.base_url, self.login, self.limits, self.transport, self.clock)
        self.aclose = self._connection.http.aclose

    async def get(
        self, request: Request, read: Callable[[bytes], T], *, tries: int | None = None
    ) -> tuple[Answer, T]:
        """Send a request; returns its complete answer and the result of `read` for the body.

        Raises ConnectError after the last try, or after an error that is not retried.

        `read` runs in a thread. It may raise TooManyObjects; any other ValueError means that the body is not
        JSON. `tries` can only lower `retry.tries`. If the login was denied or the circuit breaker has stopped
        the run, raises without sending anything.
        """
        retry = replace(self.retry, tries=min(tries or self.retry.tries, self.retry.tries))
        attempts: list[Try] = []
        last_answer: Answer | None = None
        started_at: float | None = None
        while True:
            sent_at, attempt, answer = await self._try(request, len(attempts) + 1)
            started_at = sent_at if started_at is None else started_at  # excludes the wait for a slot
            last_answer = answer or last_answer
            parsed: list[T] = []
            if answer is not None and attempt.error_kind is None and answer.status // 100 == 2:
                if answer.status == NO_CONTENT:
                    answer = replace(answer, body=NULL_BODY)
                attempt, parsed = await self._parse(attempt, answer, read)
            attempts.append(attempt)
            self._note(attempt)
            if answer is not None and parsed:
                return answer, parsed[0]
            if attempt.error_kind == "too large":
                raise too_large_error(request, answer, attempt, self.limits)
            if answer is not None and not attempt.is_retryable:
                raise final_error(answer, self.login)
            header = answer.headers.get("retry-after") if answer is not None else None
            retry_after = retry_after_seconds(header, self.clock.utc_now())
            delay = retry.delay(len(attempts), self.clock.monotonic() - started_at, retry_after)
            if delay is None:
                raise self._exhausted(attempts, last_answer)
            await self.clock.sleep(delay)

    async def post(self, request: Request) -> Answer:
        """Send a writing request once, without retries; returns a 2xx answer, else raises ConnectError.

        The service may have written in spite of an error: read the value before sending the request again.
        """
        _, attempt, answer = await self._try(request, 1)
        self._note(attempt)
        if answer is not None and answer.status // 100 == 2:
            return answer
        if answer is not None and not attempt.is_retryable:
            raise final_error(answer, self.login)
        raise self._exhausted([attempt], answer)

    def _note(self, attempt: Try) -> None:
        self.circuit_breaker.note_try(attempt)
        if self.on_try is not None:
            self.on_try(attempt)

    def _exhausted(self, attempts: Sequence[Try], answer: Answer | None) -> ConnectError:
        error = exhausted_error(attempts, answer)
        self.circuit_breaker.note_exhausted(error)
        return error

    async def _try(self, request: Request, number: int) -> tuple[float, Try, Answer | None]:
        """Make one try; returns the time of sending, the try, and the answer if one arrived."""
        self._check(request)
        if not self._is_accepted:  # one try at a time, so that a wrong login costs one request
            async with self._first_try_lock:
                if not self._is_accepted:
                    return await self._send(request, number)
        return await self._send(request, number)

    async def _send(self, request: Request, number: int) -> tuple[float, Try, Answer | None]:
        denied_logins = self.denied_logins
        if denied_logins and not self._is_accepted and not self._is_denied:
            self._is_denied = await asyncio.to_thread(denied_logins.blocks, self.login)
        async with self.rate_limit.slot():
            self._check(request)
            sent_at = self.clock.monotonic()
            attempt, answer = await self._connection.send(request, number)
            if attempt.status == UNAUTHORIZED and not self._is_denied:
                self._is_denied = True
                if denied_logins:
                    await asyncio.to_thread(denied_logins.remember, self.login)
            elif attempt.shows_accepted_login and not self._is_accepted:
                self._is_accepted = True
                if denied_logins:
                    await asyncio.to_thread(denied_logins.forget, self.login)
        return sent_at, attempt, answer

    def _check(self, request: Request) -> None:
        self.circuit_breaker.check(request)
        if self._is_denied:
            raise unauthorized_error(request, self.login)

    async def _parse(self, attempt: Try, answer: Answer, read: Callable[[bytes], T]) -> tuple[Try, list[T]]:
        """The try and a list with the result of `read`; a failed try and [] if the answer is unusable."""
        if answer.status not in (OK, NO_CONTENT):
            detail = f"status {answer.status} in place of a report"
        elif answer.body[:SNIFFED_BYTES].lstrip(BLANKS).startswith(b"<"):
            kind = answer.content_type.partition(";")[0].strip()[:80]
            detail = f"{MARKUP}, {kind or 'without a content type'}"
        else:
            try:
                return attempt, [await asyncio.to_thread(read, answer.body)]
            except TooManyObjects as error:
                return replace(attempt, error_kind="too large", detail=str(error)), []
            except ValueError as error:
                detail = self.login.hide(" ".join(str(error).split()))[:300]
        return replace(attempt, error_kind="not json", detail=detail), []
