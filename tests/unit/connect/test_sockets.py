"""Real connections that misbehave: a small server on loopback that breaks on purpose."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from pipelines.connect.errors import ConnectError, Unavailable, Unreachable
from pipelines.connect.models import Limits
from pipelines.connect.retry import RetryPolicy
from tests.unit.connect.fake_service import SALES, client, read

Speak = Callable[[asyncio.StreamWriter], Awaitable[None]]
HASTE = Limits(seconds=0.2, whole_seconds=5)
PATIENT = Limits(seconds=5, whole_seconds=5)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def _says(*pieces: bytes, pause: float = 0.0) -> Speak:
    async def speak(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return speak


async def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _reset_inside(writer: asyncio.StreamWriter) -> None:
    await _says(HEAD + b"Content-Length: 100\r\n\r\n[1,")(writer)
    await _reset(writer)


SLOW_BODY = [HEAD + b"Content-Length: 10000\r\n\r\n", *([b" "] * 10_000)]
BREAKING: dict[str, tuple[Speak, Limits, bool]] = {
    "closes without a word": (_says(), PATIENT, False),
    "resets before the answer": (_reset, PATIENT, False),
    "resets inside the body": (_reset_inside, PATIENT, False),
    "says half of what it announced": (_says(HEAD + b"Content-Length: 9\r\n\r\n[1]"), PATIENT, False),
    "stops between chunks": (_says(HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n"), PATIENT, False),
    "speaks something else": (_says(b"SSH-2.0-server\r\n"), PATIENT, False),
    "never begins": (_says(b"", pause=60), HASTE, True),
    "drips": (_says(*SLOW_BODY, pause=0.01), Limits(seconds=5, whole_seconds=0.2), True),
}


@dataclass
class BreakingServer:
    """Hears one request on each connection (all of them when it keeps open), and speaks as it is told."""

    speak: Speak
    keeps_open: bool = False
    heard: list[int] = field(default_factory=list)  # for each connection, how many requests came over it
    serving: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._hear(reader, writer))
        self.serving.add(task)
        await asyncio.wait([task])
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(0)
        mine = len(self.heard) - 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                self.heard[mine] += 1
                await self.speak(writer)
                if not self.keeps_open:
                    break


@asynccontextmanager
async def _server(speak: Speak, *, keeps_open: bool = False) -> AsyncIterator[tuple[str, list[int]]]:
    """The address of a server, and what it has heard."""
    breaking = BreakingServer(speak, keeps_open)
    server = await asyncio.start_server(breaking.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", breaking.heard
    finally:
        server.close()
        for task in breaking.serving:
            task.cancel()
        await asyncio.gather(*breaking.serving, return_exceptions=True)
        await asyncio.sleep(0)


@pytest.mark.parametrize("manner", BREAKING)
async def test_a_connection_that_breaks_is_tried_again_and_then_given_up(tmp_path: Path, manner: str) -> None:
    speak, limits, timed_out = BREAKING[manner]
    two_tries = RetryPolicy(tries=2, random=Random(1))
    async with (
        _server(speak) as (address, connections),
        client(None, tmp_path, base_url=address, retry=two_tries, limits=limits) as asking,
    ):
        with pytest.raises(Unavailable) as caught:
            await asking.get(SALES, read)
    assert (caught.value.tries, caught.value.timed_out) == (2, timed_out)
    assert timed_out or sum(connections) == 2  # on a busy machine the time may be up before one is heard


async def test_an_unlimited_body_that_ends_early_is_caught_by_the_reader(tmp_path: Path) -> None:
    one_try = RetryPolicy(tries=1)
    async with (
        _server(_says(HEAD + b"Connection: close\r\n\r\n[1,")) as (address, _),
        client(None, tmp_path, base_url=address, retry=one_try, limits=PATIENT) as asking,
    ):
        with pytest.raises(ConnectError, match="not JSON"):
            await asking.get(SALES, read)


async def test_connections_are_kept_for_the_next_request(tmp_path: Path) -> None:
    async with (
        _server(_says(HEAD + b"Content-Length: 3\r\n\r\n[1]"), keeps_open=True) as (address, connections),
        client(None, tmp_path, base_url=address, limits=PATIENT) as asking,
    ):
        for _ in range(3):
            await asking.get(SALES, read)
    assert connections == [3]


async def test_a_request_that_is_cancelled_leaves_its_slot_to_the_next(tmp_path: Path) -> None:
    arrived: asyncio.Queue[None] = asyncio.Queue()

    async def never_answers(_: asyncio.StreamWriter) -> None:
        arrived.put_nowait(None)
        await asyncio.Event().wait()

    async with (
        _server(never_answers) as (address, connections),
        client(None, tmp_path, base_url=address, limits=PATIENT, concurrency=1) as asking,
    ):
        for _ in range(2):
            hanging = asyncio.create_task(asking.get(SALES, read))
            await arrived.get()
            hanging.cancel()
            await asyncio.gather(hanging, return_exceptions=True)
    assert connections == [1, 1]


async def test_an_address_where_nobody_listens_is_unreachable(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        two_tries = RetryPolicy(tries=2, random=Random(1))
        async with client(None, tmp_path, base_url=address, retry=two_tries, limits=PATIENT) as asking:
            with pytest.raises(Unreachable, match="BROKERBI_BASE_URL"):
                await asking.get(SALES, read)
