"""HTTP server of the sandbox, on a loopback address only, with a thread for each connection."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Thread

from pipelines.sandbox.calls import Call, Reply
from pipelines.sandbox.service import Service

SLOW_BODY_PIECES = 8


def loopback(host: str) -> str:
    """The host as a loopback address (127.0.0.1 for localhost); raises ValueError for any other host."""
    try:
        is_own = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_own = False
    if not is_own:
        raise ValueError(
            f"the sandbox listens on a loopback address only, not on {host!r}, because its password is "
            f"public; use 127.0.0.1"
        )
    return "127.0.0.1" if host == "localhost" else host


class SandboxServer(ThreadingTCPServer):
    """Serves a sandbox service over HTTP.

    Raises ValueError if the host is not a loopback address, and OSError if the port cannot be used.
    """

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, service: Service, host: str, port: int) -> None:
        self.service = service
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((loopback(host), port), _Handler)
        shown_host = f"[{host}]" if ":" in host else loopback(host)
        self.base_url = f"http://{shown_host}:{self.server_address[1]}"
        self.username = service.logins[0].username
        self.password = service.logins[0].password
        self.customers = service.world.customers

    @property
    def introduction(self) -> str:
        """Text for the person who started the sandbox: its addresses, login, customers and history."""
        world = self.service.world
        return (
            f"Sandbox: {self.base_url}\n"
            f"Login: {self.username} / {self.password}\n"
            f"Customers: {','.join(self.customers)}\n"
            f"History: from {world.history.start} to {world.as_of}\n"
            f"Control: {self.base_url}/_sandbox/world\n"
        )


@contextmanager
def serving(service: Service) -> Iterator[SandboxServer]:
    """Serve the service on a free loopback port until the block ends."""
    with SandboxServer(service, "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), name="sandbox", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: SandboxServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, ValueError):  # the caller is gone, or a simulated fault closed the socket
            self.close_connection = True

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the request broke off")
        call = Call(self.command, self.path, headers, body)
        with self.server.service.answering(call) as reply:
            self._deliver(reply)

    do_POST = do_GET  # noqa: N815

    def _deliver(self, reply: Reply) -> None:
        time.sleep(reply.first_byte_after)
        if reply.ending == "reset":
            self._reset()
            return
        has_length = reply.ending != "half_without_length"
        self.send_response_only(reply.status)
        self.send_header("Date", self.date_time_string())
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "keep-alive" if has_length and not self.close_connection else "close")
        if has_length:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if reply.ending != "whole":
            self.close_connection = True
        body = reply.body if reply.ending == "whole" else reply.half
        size = max(1, -(-len(body) // SLOW_BODY_PIECES)) if reply.body_takes else max(1, len(body))
        for start in range(0, len(body), size):
            time.sleep(reply.body_takes / SLOW_BODY_PIECES)
            self.wfile.write(body[start : start + size])
            self.wfile.flush()
        self.wfile.flush()
        if reply.ending == "reset_inside":
            time.sleep(0.01)  # the written bytes must be sent before the reset discards them
            self._reset()

    def _reset(self) -> None:
        # The connection is reset, because the caller could take an ordinary close for the end of the answer.
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Do nothing: the service has its own log."""
