"""What answers in a race? A service with its answers ready: a process of its own, with latency to choose.

Run as `python -m tests.tools.bench.serving STAGE SIZE`; it prints its port and serves until its input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from tests.tools.bench.contents import empty_page, pages
from tests.tools.bench.stages import STAGES, Stage

END = b"\r\n\r\n"
Key = tuple[str, str, str]  # customer, first day, page
Answers = Mapping[Key, bytes]


def answers(stage: Stage) -> dict[Key, bytes]:
    """The whole answer, headers and all, to every request of a stage."""
    ready: dict[Key, bytes] = {}
    for number, (customer, first, _) in enumerate(stage.windows()):
        for page, body in enumerate(pages(stage, number, customer, first)):
            ready[customer, first.isoformat(), str(page) if stage.paged else ""] = _answer(body)
    return ready


def _answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Serving(asyncio.Protocol):
    """One connection: a request after the other, each answered as its address says."""

    def __init__(self, path: str, ready: Answers, latency: float) -> None:
        self._path, self._ready, self._latency = path, ready, latency
        self._received = b""
        self._rest = _answer(empty_page())
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport if isinstance(transport, asyncio.Transport) else None

    def data_received(self, data: bytes) -> None:
        self._received += data
        while END in self._received:
            request, _, self._received = self._received.partition(END)
            asyncio.get_running_loop().call_later(self._latency, self._tell, self._found(request))

    def _found(self, request: bytes) -> bytes:
        target = urlsplit(request.split(b" ", 2)[1].decode())
        query = parse_qs(target.query)
        first, page = query.get("dateFrom", [""])[0][:10], query.get("pageIndex", [""])[0]
        ready = self._ready.get((query.get("customerId", [""])[0], first, page))
        if target.path != self._path or (ready is None and not page):
            return _answer(b"[]", "404 Not Found")
        return ready or self._rest

    def _tell(self, answer: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(answer)


async def serve(stage: Stage, latency: float, port: int) -> None:
    """Serve until nobody holds the other end of our input any more."""
    ready, loop = answers(stage), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Serving(stage.path, ready, latency), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], sum(map(len, ready.values())), flush=True)  # noqa: T201
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("stage", choices=STAGES)
    asked.add_argument("size", type=int)
    asked.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    asked.add_argument("--port", type=int, default=0)
    given = asked.parse_args()
    asyncio.run(serve(STAGES[given.stage](given.size), given.latency, given.port))
