"""Real connections that misbehave: a small server on loopback that breaks on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from random import Random

import pytest

from pipelines.connect.errors import ConnectError, Unavailable
from pipelines.connect.models import Limits
from pipelines.connect.retry import RetryPolicy
from tests.unit.connect.fake_service import SALES, client, read

Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PATIENT = Limits(seconds=5, whole_seconds=5)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def _says(*pieces: bytes, pause: float = 0.0) -> Speak:
    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return speak


async def _waits_for_the_end(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


SLOW_BODY = [HEAD + b"Content-Length: 10000\r\n\r\n", *([b" "] * 10_000)]
SLOW: dict[str, tuple[Speak, Limits]] = {
    "never begins": (_waits_for_the_end, Limits(seconds=0.2, whole_seconds=5)),
    "drips": (_says(*SLOW_BODY, pause=0.01), Limits(seconds=5, whole_seconds=0.2)),
}


@asynccontextmanager
async def _server(speak: Speak, *, keeps_open: bool = False) -> AsyncIterator[tuple[str, list[int]]]:
    """The address of a server, and how many requests it has heard over each connection.

    It hears one request on a connection, all of them when it keeps open, and speaks as it is told.
    """
    heard: list[int] = []
    serving: list[asyncio.Task[None]] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(0)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                heard[-1] += 1
                await speak(reader, writer)
                if not keeps_open:
                    break
        writer.close()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.create_task(hear(reader, writer)))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard
        await asyncio.gather(*serving)


async def _error(address: str, limits: Limits = PATIENT) -> ConnectError:
    two_tries = RetryPolicy(tries=2, random=Random(1))
    async with client(None, base_url=address, retry=two_tries, limits=limits) as asking:
        with pytest.raises(ConnectError) as caught:
            await asking.get(SALES, read)
    return caught.value


@pytest.mark.parametrize("manner", SLOW)
async def test_an_answer_that_takes_too_long_is_tried_again_and_then_timed_out(manner: str) -> None:
    speak, limits = SLOW[manner]
    async with _server(speak) as (address, _):  # on a busy machine the time may be up before it hears
        error = await _error(address, limits)
    assert isinstance(error, Unavailable)
    assert (error.tries, error.timed_out) == (2, True)


async def test_connections_are_kept_for_the_next_request() -> None:
    async with (
        _server(_says(HEAD + b"Content-Length: 3\r\n\r\n[1]"), keeps_open=True) as (address, connections),
        client(None, base_url=address, limits=PATIENT) as asking,
    ):
        for _ in range(3):
            await asking.get(SALES, read)
    assert connections == [3]
