"""The service of a race, which runs in a separate process and prepares its answers.

`python -m tests.tools.bench.service WINDOWS ROWS` answers each of that many windows with that many rows of
running commissions. It prints its port, and serves until its input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import date, timedelta
from random import Random
from urllib.parse import parse_qs, urlsplit

from pipelines.months import Month

CUSTOMER, FIRST, MONTHS_OF_WINDOW = "C1", Month(2016, 1), 3
PATH = "/BusinessIntelligence/RunningCommissions"
VARIANTS = 4
"""Different bodies; windows take them in turn."""
MONTH_MARKS = ("@0@-@", "@1@-@")
"""Placeholders in a body for the first two months of its window."""
AGENTS = 60
END = b"\r\n\r\n"
Answers = Mapping[date, bytes]
"""Answers by the first day of their window."""


def windows(count: int) -> list[tuple[date, date]]:
    """The first and the last day of each window."""
    firsts = [FIRST.plus(number * MONTHS_OF_WINDOW) for number in range(count)]
    return [(first.first_day, first.plus(MONTHS_OF_WINDOW - 1).last_day) for first in firsts]


def answers(window_count: int, row_count: int) -> Answers:
    """The whole HTTP answer to each window, with its headers."""
    bodies = [_body(row_count, Random(variant)) for variant in range(VARIANTS)]
    by_first_day = {}
    for number, (first, _) in enumerate(windows(window_count)):
        body = bodies[number % VARIANTS]
        for later, mark in enumerate(MONTH_MARKS):
            body = body.replace(mark, str(Month.of(first).plus(later)))
        by_first_day[first] = _answer(body.encode())
    return by_first_day


def _body(row_count: int, chance: Random) -> str:
    rows = [
        {
            "userId": f"{CUSTOMER}U{chance.randrange(AGENTS):04}",
            "customerId": CUSTOMER,
            "estateId": f"{CUSTOMER}E{chance.randrange(1_000_000):07}",
            "amount": chance.randrange(100, 9_000_000) / 100,
            "exchangeRate": 1 if number % 20 else 11.2345,
            "obtainedAt": _moment(chance, MONTH_MARKS[number % 2]),
        }
        for number in range(row_count)
    ]
    return json.dumps(rows, separators=(",", ":"))


def _moment(chance: Random, month: str) -> str:
    day, second = divmod(chance.randrange(28 * 86_400), 86_400)
    return f"{month}-{day + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def _answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """Answers one request after another."""

    def __init__(self, ready: Answers) -> None:
        self._ready = ready
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport if isinstance(transport, asyncio.Transport) else None

    def data_received(self, data: bytes) -> None:
        self._received += data
        while END in self._received and self._transport is not None:
            request, _, self._received = self._received.partition(END)
            self._transport.write(self._answer_to(request))

    def _answer_to(self, request: bytes) -> bytes:
        """The answer to the window whose second day is in the requested period; otherwise an empty list.

        The client requests a window in one or more parts, with an extra day on each side.
        """
        target = urlsplit(request.split(b" ", 2)[1].decode())
        query = parse_qs(target.query)
        if target.path != PATH or query.get("customerId") != [CUSTOMER]:
            return _answer(b"[]", "404 Not Found")
        since, until = (date.fromisoformat(query[name][0][:10]) for name in ("dateFrom", "dateTo"))
        second = timedelta(days=1)
        parts = (body for first, body in self._ready.items() if since <= first + second <= until)
        return next(parts, _answer(b"[]"))


async def serve(ready: Answers) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(ready), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(answers(int(sys.argv[1]), int(sys.argv[2]))))
