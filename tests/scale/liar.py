"""An object store that lies: a server before another one, which takes every object twice.

    python -m tests.scale.liar PORT ADDRESS

As some servers do, it does not know the header that says "only if there is none".
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

NOT_KNOWN = ("if-none-match", "host", "connection")


class Handler(BaseHTTPRequestHandler):
    """Hands every request on without what the store does not know."""

    address = ""

    def _hand_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_KNOWN}
        with httpx.Client(timeout=30) as client:
            answer = client.request(self.command, self.address + self.path, headers=headers, content=body)
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() not in ("content-length", "content-encoding", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = answer.headers.get("Content-Length", "0") if self.command == "HEAD" else len(answer.content)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _hand_on  # noqa: N815 the names of http.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as http.server has it
        """Say nothing."""


if __name__ == "__main__":
    Handler.address = sys.argv[2]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
