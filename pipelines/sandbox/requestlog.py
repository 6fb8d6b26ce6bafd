"""Which requests came in, when, and how many at once?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock

from pipelines.sandbox.calls import Call


@dataclass
class Entry:
    """One request; times are monotonic, `in_flight` counts those under way when it came, itself included."""

    method: str
    path: str
    query: dict[str, str]
    customer: str | None
    started: float
    in_flight: int
    status: int = 0
    ended: float | None = None
    faults: list[str] = field(default_factory=list)


class RequestLog:
    """Every request since it was last cleared; appended to a file as lines of JSON if one is named."""

    def __init__(self, file: Path | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        if file is not None:
            file.touch()
        self._file = file
        self._monotonic = monotonic
        self._lock = Lock()
        self._in_flight = 0
        self.entries: list[Entry] = []

    @contextmanager
    def entry(self, call: Call, customer: str | None) -> Iterator[Entry]:
        """Log a request from its arrival until its answer is delivered."""
        with self._lock:
            self._in_flight += 1
            entry = Entry(call.method, call.path, call.query, customer, self._monotonic(), self._in_flight)
            self.entries.append(entry)
        try:
            yield entry
        finally:
            with self._lock:
                self._in_flight -= 1
                entry.ended = self._monotonic()
            self._write(entry)

    def clear(self) -> None:
        with self._lock:
            self.entries = []

    def described(self) -> list[dict[str, object]]:
        return [asdict(entry) for entry in self.entries]

    @property
    def most_in_flight(self) -> int:
        return max((entry.in_flight for entry in self.entries), default=0)

    def _write(self, entry: Entry) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
