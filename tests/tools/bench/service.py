"""The service of a race, its answers ready: a process of its own, with latency to choose.

Run as `python -m tests.tools.bench.service STAGE SIZE`; it prints its port and how many bytes its answers
have, and serves until its input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

from tests.tools.bench.contents import answer
from tests.tools.bench.stages import OPTIONS, Stage

END = b"\r\n\r\n"
Answers = Mapping[tuple[str, date], bytes]
"""By customer and first day."""


def answers(stage: Stage) -> Answers:
    """The whole answer, headers and all, to every request of a stage."""
    return {
        (customer, first): _answer(answer(stage, number, customer, first))
        for number, (customer, first, _) in enumerate(stage.windows())
    }


def _answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """One request after the other, each answered as its address says."""

    def __init__(self, path: str, ready: Answers, latency: float) -> None:
        self._path, self._ready, self._latency = path, ready, latency
        self._customers = {customer for customer, _ in ready}
        self._first_days = {first for _, first in ready}
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport if isinstance(transport, asyncio.Transport) else None

    def data_received(self, data: bytes) -> None:
        self._received += data
        while END in self._received:
            request, _, self._received = self._received.partition(END)
            asyncio.get_running_loop().call_later(self._latency, self._send, self._found(request))

    def _found(self, request: bytes) -> bytes:
        target = urlsplit(request.split(b" ", 2)[1].decode())
        query = parse_qs(target.query)
        customer = query.get("customerId", [""])[0]
        if target.path != self._path or customer not in self._customers:
            return _answer(b"[]", "404 Not Found")
        first = self._first_day(*(date.fromisoformat(query[name][0][:10]) for name in ("dateFrom", "dateTo")))
        return self._ready.get((customer, first or date.max), _answer(b"[]"))

    def _first_day(self, since: date, until: date) -> date | None:
        """The first day of the window that is asked for, perhaps in parts and with a day more on both sides.

        All of it is in the part that has its second day.
        """
        second = timedelta(days=1)
        return next((first for first in self._first_days if since <= first + second <= until), None)

    def _send(self, answer: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(answer)


async def serve(stage: Stage, latency: float, port: int) -> None:
    """Serve until nobody holds the other end of our input any more."""
    ready, loop = answers(stage), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(stage.path, ready, latency), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], sum(map(len, ready.values())), flush=True)  # noqa: T201
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=OPTIONS)
    parser.add_argument("size", type=int)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    asyncio.run(serve(Stage.of(given.stage, given.size), given.latency, given.port))
