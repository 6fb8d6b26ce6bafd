"""Who asks for which customer? One client per login, all of them keeping one pace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.client import Client
from pipelines.connect.models import Login
from pipelines.connect.rate_limit import RateLimit
from pipelines.sync.surroundings import Surroundings

if TYPE_CHECKING:
    from pipelines.connect.models import Try
    from pipelines.settings.model import Customer, Settings


async def clients_of(
    settings: Settings,
    surroundings: Surroundings,
    customers: Sequence[Customer],
    rate_limit: RateLimit,
    circuit_breaker: CircuitBreaker,
    stack: AsyncExitStack,
    on_try: Callable[[Try], None] | None = None,
) -> Mapping[str, Client]:
    """One client per login, all under one rate limit: the service sees a single caller."""
    by_login: dict[Login, Client] = {}
    clients: dict[str, Client] = {}
    for customer in customers:
        login = settings.login_of(customer)
        if login not in by_login:
            client = Client(
                settings.base_url,
                login,
                rate_limit=rate_limit,
                circuit_breaker=circuit_breaker,
                retry=settings.retry,
                limits=settings.limits,
                transport=surroundings.transport,
                clock=surroundings.clock,
                on_try=on_try,
            )
            by_login[login] = await stack.enter_async_context(client)
        clients[customer.id] = by_login[login]
    return clients
