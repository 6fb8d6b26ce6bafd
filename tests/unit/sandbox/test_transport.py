"""The same service on a socket and as a transport of httpx."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from pipelines.sandbox.faults import Fault
from pipelines.sandbox.server import SandboxServer, serving
from pipelines.sandbox.service import Service
from tests.sandbox_transport import SandboxTransport
from tests.unit.sandbox.asking import BI, MAY, world

RUNNING = f"{BI}/RunningCommissions"
ASKED = {"customerId": "G1", **MAY}
LOGIN = ("sandbox", "sandbox")
PATIENT, IMPATIENT = 30.0, 0.2
"""Seconds a client waits: a busy machine is no fault of the service, an answer after 0.6 s may be."""


@pytest.fixture(scope="module")
def served() -> Iterator[SandboxServer]:
    with serving(Service(world())) as server:
        yield server


@pytest.fixture
async def clients(served: SandboxServer) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """One client on the socket, one on the transport."""
    served.service.faults.switch([])
    transport = SandboxTransport(served.service)
    async with (
        httpx.AsyncClient(base_url=served.base_url, auth=LOGIN, timeout=PATIENT) as on_socket,
        httpx.AsyncClient(base_url="http://x", auth=LOGIN, timeout=PATIENT, transport=transport) as other,
    ):
        await on_socket.get(RUNNING, params=ASKED)
        yield {"socket": on_socket, "transport": other}


BROKEN: dict[str, type[Exception] | None] = {
    "reset": httpx.ReadError,
    "reset_inside": httpx.ReadError,
    "half": httpx.RemoteProtocolError,
    "slow_start": httpx.ReadTimeout,
    **dict.fromkeys(("half_without_length", "empty", "gzip", "html", "charset", "500", "slow_body")),
}


@pytest.mark.parametrize(("kind", "error"), BROKEN.items())
async def test_a_broken_answer_gives_the_same_error_or_body_on_both(
    served: SandboxServer, clients: dict[str, httpx.AsyncClient], kind: str, error: type[Exception] | None
) -> None:
    is_late = kind == "slow_start"
    served.service.faults.switch([Fault(kind, seconds=0.6 if is_late else 0.01)])
    found: set[object] = set()
    for client in clients.values():
        try:
            answer = await client.get(RUNNING, params=ASKED, timeout=IMPATIENT if is_late else PATIENT)
            found.add((answer.status_code, answer.content))
        except httpx.TransportError as caught:
            found.add(type(caught))
    [outcome] = found
    assert outcome is error if error else isinstance(outcome, tuple)
