"""The same service on a socket and as a transport of httpx."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from pipelines.sandbox.faults import Fault
from pipelines.sandbox.server import SandboxServer, serving
from pipelines.sandbox.service import Service
from pipelines.sandbox.transport import SandboxTransport
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
    service = Service(world())
    async with (
        httpx.AsyncClient(base_url=served.base_url, auth=LOGIN, timeout=PATIENT) as socket,
        httpx.AsyncClient(
            base_url="http://sandbox", auth=LOGIN, timeout=PATIENT, transport=SandboxTransport(service)
        ) as transport,
    ):
        await socket.get(RUNNING, params=ASKED)
        yield {"socket": socket, "transport": transport}


async def _outcomes(
    served: SandboxServer, clients: dict[str, httpx.AsyncClient], fault: Fault
) -> set[object]:
    served.service.faults.switch([fault])
    timeout = IMPATIENT if fault.kind == "slow_start" else PATIENT
    transport = SandboxTransport(Service(world(), faults=[fault]))
    found: set[object] = set()
    async with httpx.AsyncClient(base_url="http://x", auth=LOGIN, transport=transport) as other:
        for client in (clients["socket"], other):
            try:
                answer = await client.get(RUNNING, params=ASKED, timeout=timeout)
                found.add((answer.status_code, answer.content))
            except httpx.TransportError as error:
                found.add(type(error))
    return found


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("reset", httpx.ReadError),
        ("reset_inside", httpx.ReadError),
        ("half", httpx.RemoteProtocolError),
        ("slow_start", httpx.ReadTimeout),
    ],
)
async def test_a_broken_delivery_is_the_same_error_on_both(
    served: SandboxServer, clients: dict[str, httpx.AsyncClient], kind: str, error: type[Exception]
) -> None:
    assert await _outcomes(served, clients, Fault(kind, seconds=0.6)) == {error}


@pytest.mark.parametrize(
    "kind", ["half_without_length", "empty", "gzip", "html", "charset", "500", "slow_body"]
)
async def test_a_broken_body_is_the_same_body_on_both(
    served: SandboxServer, clients: dict[str, httpx.AsyncClient], kind: str
) -> None:
    assert len(await _outcomes(served, clients, Fault(kind, seconds=0.01))) == 1


async def test_answers_are_the_same_bytes_on_both(clients: dict[str, httpx.AsyncClient]) -> None:
    bodies = {(await client.get(RUNNING, params=ASKED)).content for client in clients.values()}
    assert len(bodies) == 1


async def test_a_connection_is_used_again(clients: dict[str, httpx.AsyncClient]) -> None:
    seen: set[object] = set()
    for _ in range(3):
        answer = await clients["socket"].get(RUNNING, params=ASKED)
        seen.add(answer.extensions["network_stream"].get_extra_info("client_addr"))
    assert len(seen) == 1


async def test_requests_are_logged_with_customer_status_and_how_many_were_under_way() -> None:
    with serving(Service(world())) as server:
        async with httpx.AsyncClient(base_url=server.base_url, auth=LOGIN) as client:
            await client.get(RUNNING, params=ASKED)
        [entry] = server.service.log.entries
    assert (entry.method, entry.path, entry.customer, entry.status, entry.in_flight) == (
        "GET",
        RUNNING,
        "G1",
        200,
        1,
    )
    assert entry.query == {name.lower(): value for name, value in ASKED.items()}


async def test_the_log_is_served_without_a_login(served: SandboxServer) -> None:
    async with httpx.AsyncClient(base_url=served.base_url) as client:
        assert "requests" in (await client.get("/_sandbox/requests")).json()
