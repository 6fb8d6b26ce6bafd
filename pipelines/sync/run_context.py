"""Context of a run: its clock, network and catalogue, which tests replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.client import Client
from pipelines.connect.models import MEGABYTE, Limits, Login, Try
from pipelines.connect.rate_limit import RateLimit
from pipelines.connect.refused_logins import RefusedLogins
from pipelines.connect.retry import RetryPolicy
from pipelines.settings.model import login_in_words

if TYPE_CHECKING:
    import httpx

    from pipelines.settings.model import Customer, Settings


Clients = Callable[[str, str], Client]
"""The client for a customer and a path of the service, with the login of its function."""


@dataclass(frozen=True)
class RunContext:
    """`transport` replaces the network, `clock` the time, `catalogue` the reports.

    `held_back` are reports that are not requested, each with the sentence that says why.
    """

    clock: Clock = field(default_factory=SystemClock)
    transport: httpx.AsyncBaseTransport | None = None
    catalogue: Mapping[str, Report] = field(default_factory=lambda: REPORTS)
    held_back: Mapping[str, str] = field(default_factory=dict)

    def rate_limit(self, settings: Settings) -> RateLimit:
        """The limit that all clients of a run share."""
        return RateLimit(settings.concurrency, settings.requests_per_second, clock=self.clock)

    def open_clients(
        self,
        settings: Settings,
        rate_limit: RateLimit,
        circuit_breaker: CircuitBreaker,
        stack: AsyncExitStack,
        on_try: Callable[[Try], None] | None = None,
    ) -> Clients:
        """A function that returns the client for a customer and a path, one per login, under one rate limit.

        `stack` closes them.
        """
        retry = RetryPolicy(total_seconds=settings.retry_seconds)
        largest_bytes = settings.largest_answer_mb * MEGABYTE
        limits = Limits(seconds=settings.timeout_seconds, largest_bytes=largest_bytes)
        refused_logins = refused_logins_of(settings)
        by_id, by_login = {customer.id: customer for customer in settings.customers}, dict[Login, Client]()

        @cache
        def client(customer: str, path: str) -> Client:
            login = login_of(settings, by_id[customer], path)
            if login not in by_login:
                by_login[login] = Client(
                    settings.base_url,
                    login,
                    rate_limit=rate_limit,
                    circuit_breaker=circuit_breaker,
                    retry=retry,
                    limits=limits,
                    transport=self.transport,
                    clock=self.clock,
                    on_try=on_try,
                    refused_logins=refused_logins,
                )
                stack.push_async_callback(by_login[login].aclose)
            return by_login[login]

        return client


def login_of(settings: Settings, customer: Customer, path: str = "") -> Login:
    """The login for a customer at a path, with the name that messages give it."""
    return Login(*settings.login_of(customer, path), login_in_words(settings, customer, path))


def refused_logins_of(settings: Settings) -> RefusedLogins:
    """The logins that the service denied (401), as the data directory remembers them."""
    return RefusedLogins(settings.data_dir / "work" / "refused_logins", settings.base_url)
