"""How is the service asked? One client for each login: patient with what may heal, final with refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

import httpx

from pipelines.connect.accounting import account, log
from pipelines.connect.clock import Clock, SystemClock
from pipelines.connect.content import Content
from pipelines.connect.errors import ConnectError, Unauthorized
from pipelines.connect.exchange import Answer, Request, Try
from pipelines.connect.host import Host
from pipelines.connect.limits import Limits
from pipelines.connect.login import Login
from pipelines.connect.pace import Pace
from pipelines.connect.retrying import Retrying, wished_delay
from pipelines.connect.sentences import CHECK_THE_LOGIN, MARKUP, exhausted, refusal, too_large
from pipelines.connect.wire import OK, TOO_MANY, Outcome, Trouble, Wire

__all__ = ["Answer", "Client", "Limits", "Login", "Request", "Try"]

UNAUTHORIZED = 401
LOOKED_AT = 1000  # bytes of an answer in which its first sign is looked for

T = TypeVar("T")


class Client:
    """Asks the service with one login; use it as an async context manager.

    A request is repeated after 429, 5xx, time-outs, resets, half bodies and answers with status 200
    that are not JSON, and after nothing else. After a 401 the login is never used again. Refuses a
    base address that carries credentials.
    """

    def __init__(
        self,
        base_url: str,
        login: Login,
        *,
        pace: Pace,
        host: Host | None = None,
        retrying: Retrying | None = None,
        limits: Limits | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
        on_try: Callable[[Try], None] | None = None,
    ) -> None:
        self._login = login
        self._pace = pace
        self._host = host or Host(pace)
        self._retrying = retrying or Retrying()
        self._clock = clock or SystemClock()
        self._on_try = on_try
        self._wire = Wire(base_url, login, limits or Limits(), transport, self._clock)
        self._unauthorized = False
        self._alone = asyncio.Lock()
        self._is_tried = False

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.close()

    async def get(self, request: Request, read: Callable[[Content], T]) -> tuple[Answer, T]:
        """The answer to a request, whole, and what `read` makes of its body.

        `read` runs in a thread; its ValueError says that the body is not JSON. The bound: at most
        `retrying.tries` requests go out, and none once `retrying.total_seconds` have passed since the
        first, not counting the wait for a turn. Raises a ConnectError in every other case, without a
        request when the login was refused before or the host is given up.
        """
        outcomes: list[Outcome] = []
        began: float | None = None
        while True:
            self._check(request)
            asked_at, outcome = await self._first_alone(request, len(outcomes) + 1)
            began = asked_at if began is None else began
            outcome, parsed = await self._parse(outcome, read)
            outcomes.append(outcome)
            self._note(request, len(outcomes), outcome)
            if parsed and outcome.answer:
                return outcome.answer, parsed[0]
            delay = self._delay(outcomes, self._clock.monotonic() - began)
            if delay is None:
                raise self._error(request, outcomes)
            await self._clock.sleep(delay)

    async def _first_alone(self, request: Request, number: int) -> tuple[float, Outcome]:
        """Ask; the first try of a login goes alone, so that a wrong one costs one request."""
        if not self._is_tried:
            async with self._alone:
                if not self._is_tried:
                    try:
                        return await self._ask(request, number)
                    finally:
                        self._is_tried = True
        return await self._ask(request, number)

    async def _ask(self, request: Request, number: int) -> tuple[float, Outcome]:
        """What comes of one try, and when it went out."""
        async with self._pace.turn():
            self._check(request)
            asked_at = self._clock.monotonic()
            outcome = await self._wire.ask(request, number)
            self._unauthorized = self._unauthorized or outcome.status == UNAUTHORIZED
        return asked_at, outcome

    def _check(self, request: Request) -> None:
        self._host.check(request)
        if self._unauthorized:
            raise Unauthorized(
                f"The login was refused (401) and is not used again. Not asked: {request}. {CHECK_THE_LOGIN}",
                request=request,
            )

    async def _parse(self, outcome: Outcome, read: Callable[[Content], T]) -> tuple[Outcome, list[T]]:
        """What `read` makes of a whole 200; an empty list, and the trouble, when that is nothing."""
        answer = outcome.answer
        if answer is None or outcome.trouble is not None or not OK <= answer.status < OK + 100:
            return outcome, []
        if answer.status != OK:
            return _not_json(outcome, f"status {answer.status} where a report was asked for"), []
        if answer.body[:LOOKED_AT].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            kind = answer.content_type.partition(";")[0].strip()[:80]
            return _not_json(outcome, f"{MARKUP}, {kind or 'without a content type'}"), []
        try:
            return outcome, [await asyncio.to_thread(read, answer.body)]
        except ValueError as error:
            said = self._login.hide(" ".join(str(error).split()))
        return _not_json(outcome, said[:300]), []

    def _note(self, request: Request, number: int, outcome: Outcome) -> None:
        one = account(request, number, outcome)
        log(one)
        self._host.note_try(request, outcome.status, struggling=_may_heal(outcome))
        if self._on_try is not None:
            self._on_try(one)

    def _delay(self, outcomes: list[Outcome], elapsed: float) -> float | None:
        last = outcomes[-1]
        if not _may_heal(last):
            return None
        headers = last.answer.headers if last.answer else {}
        wished = wished_delay(headers.get("retry-after"), self._clock.utc_now())
        return self._retrying.delay(len(outcomes), elapsed, wished)

    def _error(self, request: Request, outcomes: list[Outcome]) -> ConnectError:
        last = outcomes[-1]
        if last.trouble is Trouble.TOO_LARGE:
            return too_large(request, last, len(outcomes))
        if last.answer is not None and not _may_heal(last):
            return refusal(request, last.answer, self._login)
        error = exhausted(request, outcomes)
        self._host.note_exhausted(error)
        return error


def _may_heal(outcome: Outcome) -> bool:
    """Whether it is worth asking again (429, 5xx, and trouble that may pass)."""
    if outcome.trouble is not None:
        return outcome.trouble is not Trouble.TOO_LARGE
    return outcome.status is not None and (outcome.status == TOO_MANY or 500 <= outcome.status < 600)


def _not_json(outcome: Outcome, detail: str) -> Outcome:
    return replace(outcome, trouble=Trouble.NOT_JSON, detail=detail)
