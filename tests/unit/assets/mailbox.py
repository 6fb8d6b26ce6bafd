"""What does a mail server hear? The smallest one that speaks SMTP, for one mail."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread


class Mailbox:
    """The lines of the mail that came in, and where it listens."""

    def __init__(self, listening: socket.socket, *, refuses: bool = False) -> None:
        self.port: int = listening.getsockname()[1]
        self.lines: list[str] = []
        self._listening = listening
        self._refuses = refuses

    def serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection, connection.makefile("rw", newline="\r\n") as wire:
            print("220 here", file=wire, flush=True)
            for line in wire:
                verb = line.strip().split(" ")[0].upper()
                print(self._answer(verb), file=wire, flush=True)
                if verb == "DATA" and not self._refuses:
                    self._take(wire)
                    print("250 taken", file=wire, flush=True)
                if verb == "QUIT":
                    return

    def _answer(self, verb: str) -> str:
        if self._refuses and verb == "MAIL":
            return "550 no"
        return {"DATA": "354 go on", "QUIT": "221 bye"}.get(verb, "250 fine")

    def _take(self, wire: Iterator[str]) -> None:
        for line in wire:
            if line.strip() == ".":
                return
            self.lines.append(line.rstrip())


@contextmanager
def mailbox(*, refuses: bool = False) -> Iterator[Mailbox]:
    """A mail server on this machine for as long as the block lasts."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        box = Mailbox(listening, refuses=refuses)
        thread = Thread(target=box.serve, daemon=True)
        thread.start()
        yield box
        thread.join(timeout=5)
