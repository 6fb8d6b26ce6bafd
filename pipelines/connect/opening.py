"""How do settings become a client? The pace and the clients that a run asks with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pipelines.connect.client import Client
from pipelines.connect.exchange import Try
from pipelines.connect.pace import Pace
from pipelines.connect.retrying import Retrying
from pipelines.connect.wire import MEGABYTE, Limits

if TYPE_CHECKING:
    import httpx

    from pipelines.connect.clock import Clock
    from pipelines.connect.host import Host
    from pipelines.connect.login import Login
    from pipelines.settings import Settings


def open_pace(settings: Settings, clock: Clock | None = None) -> Pace:
    """The pace of these settings; everything that shares their data directory keeps it."""
    return Pace(settings.data_dir, settings.concurrency, settings.requests_per_second, clock=clock)


def open_client(
    settings: Settings,
    login: Login,
    *,
    pace: Pace,
    host: Host,
    transport: httpx.AsyncBaseTransport | None = None,
    clock: Clock | None = None,
    on_try: Callable[[Try], None] | None = None,
) -> Client:
    """A client for one login of these settings; `pace` and `host` are shared by all clients of a run."""
    return Client(
        settings.base_url,
        login,
        pace=pace,
        host=host,
        retrying=Retrying(tries=settings.tries, total_seconds=settings.retry_seconds),
        limits=Limits(
            seconds=settings.timeout_seconds,
            whole_seconds=settings.try_seconds,
            largest_bytes=settings.largest_answer_mb * MEGABYTE,
        ),
        transport=transport,
        clock=clock,
        on_try=on_try,
    )
