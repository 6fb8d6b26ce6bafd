"""Context of a run: its clock, network and catalogue, which tests replace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.client import Client
from pipelines.connect.denied_logins import DeniedLogins
from pipelines.connect.models import MEGABYTE, Limits, Login
from pipelines.connect.pace import RateLimit, RetryPolicy
from pipelines.settings.model import login_in_words
from pipelines.sync.request_log import RequestLogger

if TYPE_CHECKING:
    import httpx

    from pipelines.settings.model import Customer, Settings

Clients = Callable[[str, str], Client]
"""Returns the client with the login that is set for this customer and this path of the service."""


@dataclass(frozen=True)
class Session:
    """The clients of a run, the circuit breaker that they share, and the log that counts their requests."""

    clients: Clients
    breaker: CircuitBreaker
    log: RequestLogger


@dataclass(frozen=True)
class RunContext:
    """The clock, network and reports of a run. The default `transport` is the real network."""

    clock: Clock = field(default_factory=SystemClock)
    transport: httpx.AsyncBaseTransport | None = None
    catalogue: Mapping[str, Report] = field(default_factory=lambda: REPORTS)

    @asynccontextmanager
    async def open_session(self, settings: Settings, run_id: str) -> AsyncIterator[Session]:
        """Open the clients of one run: one per login, all under one rate limit."""
        rate_limit = RateLimit(settings.concurrency, settings.requests_per_second, clock=self.clock)
        breaker = CircuitBreaker(rate_limit)
        log = RequestLogger(settings.data_dir, run_id, settings.run_clock(self.clock))
        largest_bytes = settings.largest_answer_mb * MEGABYTE
        limits = Limits(seconds=settings.timeout_seconds, largest_bytes=largest_bytes)
        customers = {customer.id: customer for customer in settings.customers}
        by_login = dict[Login, Client]()

        @cache
        def client(customer: str, path: str) -> Client:
            login = login_of(settings, customers[customer], path)
            if login not in by_login:
                by_login[login] = Client(
                    settings.base_url,
                    login,
                    rate_limit,
                    breaker,
                    RetryPolicy(total_seconds=settings.retry_seconds),
                    limits,
                    self.clock,
                    self.transport,
                    log.record,
                    DeniedLogins(settings.data_dir / "work" / "refused_logins", settings.base_url),
                )
                stack.push_async_callback(by_login[login].aclose)
            return by_login[login]

        async with AsyncExitStack() as stack:
            yield Session(client, breaker, log)


def login_of(settings: Settings, customer: Customer, path: str = "") -> Login:
    """The login for a customer and path, with the words by which messages name it."""
    return Login(*settings.login_of(customer, path), login_in_words(settings, customer, path))
