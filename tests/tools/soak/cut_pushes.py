"""Pushes of budgets whose connection is cut after each byte of a request and of its answer.

The service gets a request whole or not at all, as a real one does, and each budget must reach it once.
Run it with `python -m tests.tools.soak.cut_pushes`.
"""

from __future__ import annotations

import argparse
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from tempfile import TemporaryDirectory
from threading import Thread

from pipelines.months import months_between
from pipelines.sandbox.calls import Call
from pipelines.sandbox.service import Service
from tests.scenarios.budgets import DECEMBER, BudgetScenario, budget_scenario
from tests.tools.telling import say

MONTHS = 25
AT_ONCE = 3 * MONTHS
"""Budgets of one push: each is cut at another place."""
LONGEST = 5_000
"""No request and answer are longer together."""


class CuttingServer(ThreadingTCPServer):
    """A service on a socket that cuts the first setting of each budget at the next of these places."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, service: Service, places: Sequence[int]) -> None:
        super().__init__(("127.0.0.1", 0), _Cutting)
        self.service = service
        self.places = iter(places)
        self.cut: set[str] = set()
        self.longest = 0
        self.base_url = f"http://127.0.0.1:{self.server_address[1]}"


class _Cutting(StreamRequestHandler):
    """Hears one request after the other; a cut one ends the connection."""

    server: CuttingServer

    def handle(self) -> None:
        with suppress(ConnectionError):
            while self._answer():
                pass

    def _answer(self) -> bool:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return False
            head += line
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines) if name}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        method, target, _ = first.split(" ")
        call = Call(method, target, headers, body)
        place = None
        if method == "POST" and target not in self.server.cut:
            self.server.cut.add(target)
            place = next(self.server.places, None)
        heard = len(head + body)
        if place is not None and place < heard:
            return self._cut()
        with self.server.service.answering(call) as reply:
            said = [f"HTTP/1.1 {reply.status} -", f"Content-Length: {len(reply.body)}", "", ""]
            answer = "\r\n".join(said).encode() + reply.body
        if method == "POST":
            self.server.longest = max(self.server.longest, heard + len(answer))
        if place is not None and place < heard + len(answer):
            self.wfile.write(answer[: place - heard])
            return self._cut()
        self.wfile.write(answer)
        return True

    def _cut(self) -> bool:
        """End the connection: whoever reads gets a reset, after what was written."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False


@contextmanager
def cutting(here: BudgetScenario, places: Sequence[int]) -> Iterator[CuttingServer]:
    """The scenario on a socket, cut at these places."""
    with CuttingServer(here.service, places) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        here.settings = here.settings.model_copy(update={"base_url": server.base_url})
        here.on_socket = True
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def push_cut_at(folder: Path, places: Sequence[int]) -> tuple[int, list[str]]:
    """The longest request with its answer, and what is wrong after a push that was cut at these places."""
    here = budget_scenario(folder)
    months = months_between(DECEMBER, DECEMBER.plus(MONTHS - 1))
    rows = [{"user_id": user, "month": month} for month in months for user in here.users][: len(places)]
    wanted = [{**row, "commission": 100_000 + at, "sold": 1} for at, row in enumerate(rows)]
    with cutting(here, places) as server:
        plan = here.plan(*wanted)
        pushed = here.push(plan)
        sent = [entry.path for entry in here.service.log.entries if entry.method == "POST"]
    wrong = [
        f"{path} reached the service {sent.count(path)} times" for path in {*sent} if sent.count(path) > 1
    ]
    wrong += [f"{one.user_id} in {one.month} never did" for one in plan.changes][len(set(sent)) :]
    wrong += [f"{whose}: {one.status}" for whose, one in pushed.pushes.items() if one.status != "confirmed"]
    return server.longest, wrong


def main() -> int:
    """Cut everywhere; 1 if anything was ever wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="cut only at every so manieth byte")
    given = parser.parse_args()
    failed = first = 0
    longest = LONGEST
    while first < longest:
        places = range(first, longest, given.every)[:AT_ONCE]
        with TemporaryDirectory() as folder:
            longest, wrong = push_cut_at(Path(folder), places)
        for sentence in wrong:
            say(sentence)
        failed += len(wrong)
        first = places[-1] + given.every
    say(f"{longest} bytes of requests and answers, wrong {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
