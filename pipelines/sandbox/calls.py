"""Calls to the service, its replies and errors, and the log of calls."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qsl, unquote

from pipelines.sandbox.answers.formats import json_body

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Call:
    """A request; its header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path as sent, still percent-encoded."""
        return self.target.partition("?")[0]

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path, decoded."""
        return tuple(unquote(part) for part in self.path.strip("/").split("/"))

    @property
    def query(self) -> dict[str, str]:
        """Parameters by name in lower case; if one is repeated, its last value counts."""
        text = self.target.partition("?")[2]
        return {name.lower(): value for name, value in parse_qsl(text, keep_blank_values=True)}


@dataclass(frozen=True)
class Reply:
    """An answer and its delivery, with times in seconds; `ending` is "whole" or one of faults.ENDINGS."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    first_byte_after: float = 0.0
    body_takes: float = 0.0
    ending: str = "whole"

    @property
    def half(self) -> bytes:
        """The part of the body that is sent if the answer breaks off."""
        return self.body[: len(self.body) // 2]


class HttpError(Exception):
    """An error that the service answers with; `fields` has the messages for each wrong parameter."""

    def __init__(self, status: int, message: str, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.fields = dict(fields or {})


def json_reply(status: int, answer: object, headers: Mapping[str, str] | None = None) -> Reply:
    """An answer as JSON in UTF-8."""
    return Reply(status, {"Content-Type": JSON, **(headers or {})}, json_body(answer))


@dataclass
class LoggedCall:
    """A request, with times from `time.monotonic()`.

    `in_flight` is how many requests, this one included, were in progress when it started.
    """

    method: str
    path: str
    query: dict[str, str]
    customer: str | None
    started: float
    in_flight: int
    status: int = 0
    ended: float | None = None
    faults: list[str] = field(default_factory=list)


class CallLog:
    """The requests since the log was last cleared. A `file` gets every request as a line of JSON."""

    def __init__(self, file: Path | None = None) -> None:
        if file is not None:
            file.touch()
        self._file = file
        self._lock = Lock()
        self._in_flight = 0
        self.entries: list[LoggedCall] = []

    @contextmanager
    def entry(self, call: Call, customer: str | None) -> Iterator[LoggedCall]:
        """Log a request, from its arrival until its answer is delivered."""
        with self._lock:
            self._in_flight += 1
            entry = LoggedCall(
                call.method, call.path, call.query, customer, time.monotonic(), self._in_flight
            )
            self.entries.append(entry)
        try:
            yield entry
        finally:
            with self._lock:
                self._in_flight -= 1
                entry.ended = time.monotonic()
                if self._file is not None:
                    with self._file.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")

    def clear(self) -> None:
        with self._lock:
            self.entries = []

    @property
    def most_in_flight(self) -> int:
        return max((entry.in_flight for entry in self.entries), default=0)
