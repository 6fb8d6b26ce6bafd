"""Session of a plan or a push: its clients under the limits that all runs share, its clock and its log."""

from __future__ import annotations

import asyncio
import getpass
import os
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.clock import Clock
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.run_context import Clients, RunContext
from warehouse.ledger.ledger import add_requests
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


@dataclass(frozen=True)
class Session:
    """What a plan or a push asks with, and the customers that it may ask for."""

    run_id: str
    customers: Sequence[str]
    clients: Clients
    catalogue: Mapping[str, Report]
    clock: Clock
    store: Store


@asynccontextmanager
async def open_session(settings: Settings, context: RunContext) -> AsyncIterator[Session]:
    """The clients of all active customers; what they asked is added up however it ends."""
    clock = settings.clock_of_day(context.clock)
    run_id = f"{clock.utc_now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    log = RequestLogger(settings.data_dir, run_id, clock)
    store = Store(settings.data_dir, now=clock.utc_now)
    async with context.rate_limit(settings) as rate_limit, AsyncExitStack() as stack:
        clients = context.open_clients(
            settings,
            settings.active_customers,
            rate_limit,
            CircuitBreaker(rate_limit),
            stack,
            log.record,
        )
        try:
            customers = [one.id for one in settings.active_customers]
            yield Session(run_id, customers, clients, context.catalogue, clock, store)
        finally:
            await asyncio.to_thread(_count_requests, store, log)


def _count_requests(store: Store, log: RequestLogger) -> None:
    with store.writing() as connection:
        add_requests(connection, log.counts)


def os_user() -> str:
    """Who runs this process, as the operating system knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return str(os.getuid())
