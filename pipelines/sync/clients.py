"""Who asks for which customer? One client per login, all of them keeping one pace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.connect.client import Client
from pipelines.connect.host import Host
from pipelines.connect.login import Login
from pipelines.connect.pace import Pace
from pipelines.sync.surroundings import Surroundings

if TYPE_CHECKING:
    from pipelines.connect.exchange import Try
    from pipelines.settings.model import Customer, Settings


async def clients_of(
    settings: Settings,
    surroundings: Surroundings,
    customers: Sequence[Customer],
    pace: Pace,
    host: Host,
    stack: AsyncExitStack,
    on_try: Callable[[Try], None] | None = None,
) -> Mapping[str, Client]:
    """One client per login, all keeping one pace: the service sees a single caller."""
    by_login: dict[Login, Client] = {}
    clients: dict[str, Client] = {}
    for customer in customers:
        login = settings.login_of(customer)
        if login not in by_login:
            client = Client(
                settings.base_url,
                login,
                pace=pace,
                host=host,
                retrying=settings.retrying,
                limits=replace(settings.limits, spool=settings.data_dir / "work"),
                transport=surroundings.transport,
                clock=surroundings.clock,
                on_try=on_try,
            )
            by_login[login] = await stack.enter_async_context(client)
        clients[customer.id] = by_login[login]
    return clients
