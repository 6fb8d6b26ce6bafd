"""Does the sandbox behave the same on a socket and as a transport of httpx?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from pipelines.sandbox.faults import Fault
from pipelines.sandbox.handle import Handle
from pipelines.sandbox.service import Service
from pipelines.sandbox.serving import running
from pipelines.sandbox.transport import SandboxTransport
from tests.unit.sandbox.asking import BI, MAY, own_world, world

RUNNING = f"{BI}/RunningCommissions"
ASKED = {"customerId": "G1", **MAY}
LOGIN = ("sandbox", "sandbox")
PATIENT, IMPATIENT = 30.0, 0.2
"""Seconds a client waits: a busy machine is no fault of the service, an answer after 0.6 s may be."""


@pytest.fixture(scope="module")
def served() -> Iterator[Handle]:
    with running(world()) as handle:
        yield handle


@pytest.fixture
async def clients(served: Handle) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """One client on the socket, one on the transport."""
    served.faults()
    service = Service(world())
    async with (
        httpx.AsyncClient(base_url=served.base_url, auth=LOGIN, timeout=PATIENT) as socket,
        httpx.AsyncClient(
            base_url="http://sandbox", auth=LOGIN, timeout=PATIENT, transport=SandboxTransport(service)
        ) as transport,
    ):
        await socket.get(RUNNING, params=ASKED)
        yield {"socket": socket, "transport": transport}


async def _outcomes(served: Handle, clients: dict[str, httpx.AsyncClient], fault: Fault) -> set[object]:
    served.faults(fault)
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
    served: Handle, clients: dict[str, httpx.AsyncClient], kind: str, error: type[Exception]
) -> None:
    assert await _outcomes(served, clients, Fault(kind, seconds=0.6)) == {error}


@pytest.mark.parametrize(
    "kind", ["half_without_length", "empty", "gzip", "html", "charset", "500", "slow_body"]
)
async def test_a_broken_body_is_the_same_body_on_both(
    served: Handle, clients: dict[str, httpx.AsyncClient], kind: str
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
    with running(world()) as handle:
        async with httpx.AsyncClient(base_url=handle.base_url, auth=LOGIN) as client:
            await client.get(RUNNING, params=ASKED)
        [entry] = handle.log.entries
    assert (entry.method, entry.path, entry.customer, entry.status, entry.in_flight) == (
        "GET",
        RUNNING,
        "G1",
        200,
        1,
    )
    assert entry.query == {name.lower(): value for name, value in ASKED.items()}


async def test_the_log_and_the_truth_are_served_without_a_login(served: Handle) -> None:
    async with httpx.AsyncClient(base_url=served.base_url) as client:
        truth = await client.get(
            "/_sandbox/truth", params={"customerId": "G1", "from": "2025-01-01", "to": "2025-01-31"}
        )
        requests = await client.get("/_sandbox/requests")
    assert (truth.json()["asOf"], "requests" in requests.json()) == ("2025-12-31", True)


async def test_a_budget_can_be_posted_over_a_socket() -> None:
    with running(own_world()) as handle:
        async with httpx.AsyncClient(base_url=handle.base_url, auth=LOGIN) as client:
            users = (await client.get(f"{BI}/External/Users", params={"customerId": "M30016"})).json()
            path = f"{BI}/Budget/M30016/FIR30016/{users[0]['id']}/2026/1"
            posted = await client.post(path, json={"commission": 5})
            assert (posted.status_code, posted.content) == (204, b"")
            assert (
                await client.get(f"{BI}/External/Users", params={"customerId": "M30016"})
            ).status_code == 200


async def test_nonsense_is_answered_with_400(served: Handle) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(served.base_url.rpartition(":")[2]))
    writer.write(b"hello\r\n\r\n")
    answered = await reader.read()
    writer.close()
    assert answered.startswith(b"HTTP/1.1 400 ")
