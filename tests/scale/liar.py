"""An object store that lies: a server before another one, which takes every object twice, or is often busy.

    python -m tests.scale.liar PORT ADDRESS [SHARE]

As some servers do, it does not know the header that says "only if there is none". With a share it knows
that, and answers 503 to this share of the requests instead: half of these it has carried out.
"""

from __future__ import annotations

import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

NOT_HANDED_ON, NOT_KNOWN = ("host", "connection"), "if-none-match"


class Handler(BaseHTTPRequestHandler):
    """Hands every request on without what the store does not know."""

    address = ""
    share: float | None = None

    def _hand_on(self) -> None:
        is_busy, is_done = random.random() < (self.share or 0), random.random() < 0.5
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        left_out = NOT_HANDED_ON if self.share is not None else (*NOT_HANDED_ON, NOT_KNOWN)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in left_out}
        if is_busy and not is_done:
            self._say_busy()
            return
        with httpx.Client(timeout=30) as client:
            answer = client.request(self.command, self.address + self.path, headers=headers, content=body)
        if is_busy:
            self._say_busy()
            return
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() not in ("content-length", "content-encoding", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = answer.headers.get("Content-Length", "0") if self.command == "HEAD" else len(answer.content)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(answer.content)

    def _say_busy(self) -> None:
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _hand_on  # noqa: N815 the names of http.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as http.server has it
        """Say nothing."""


if __name__ == "__main__":
    Handler.address = sys.argv[2]
    Handler.share = float(sys.argv[3]) if len(sys.argv) > 3 else None
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
