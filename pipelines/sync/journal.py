"""What was asked of the service? One line for every try of a request, and the same counted by day."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.connect.clock import Clock
from warehouse.accounts import RequestsOfDay
from warehouse.opening import private_folder

if TYPE_CHECKING:
    from pipelines.connect.exchange import Try

FILE = "requests.log"
LARGEST_BYTES = 10_000_000
FILES_KEPT = 5


@dataclass
class RequestJournal:
    """The journal of one run, in `work/requests.log`; several processes may write to the same file.

    A line is JSON in the words of OpenTelemetry's log model and of its semantic conventions for HTTP
    clients; it never holds a header, a login or a body. Who has no room for a line goes without it:
    the ledger will say so louder.
    """

    data_dir: Path
    run_id: str
    clock: Clock
    largest_bytes: int = LARGEST_BYTES
    counts: dict[tuple[date, str, str], RequestsOfDay] = field(default_factory=dict)

    def note(self, one: Try) -> None:
        """Write a try down and count it."""
        self._count(one)
        with suppress(OSError):
            self._append(json.dumps(self._line(one), ensure_ascii=False) + "\n")

    @property
    def path(self) -> Path:
        return self.data_dir / "work" / FILE

    def _count(self, one: Try) -> None:
        key = (self.clock.utc_now().date(), one.request.customer, one.request.report)
        known = self.counts.get(key) or RequestsOfDay(*key)
        self.counts[key] = known.with_one(
            is_repeated=one.number > 1, has_failed=bool(one.failure), size=one.bytes, seconds=one.seconds
        )

    def _line(self, one: Try) -> dict[str, object]:
        attributes = {
            "brokerbi.run_id": self.run_id,
            "brokerbi.report": one.request.report,
            "brokerbi.customer": one.request.customer,
            "brokerbi.window": one.request.window,
            "brokerbi.try": one.number,
            "http.request.method": "GET",
            "http.request.resend_count": one.number - 1,
            "http.response.status_code": one.status,
            "http.response.body.size": one.bytes,
            "http.client.request.duration": round(one.seconds, 3),
            "error.type": one.failure or None,
        }
        return {
            "timestamp": f"{self.clock.utc_now():%Y-%m-%dT%H:%M:%S.%f}Z",
            "severity_text": "WARN" if one.failure else "INFO",
            "body": f"{one.request.report} of {one.request.customer}: {one.status or 'no answer'}",
            "attributes": {name: value for name, value in attributes.items() if value is not None},
        }

    def _append(self, line: str) -> None:
        private_folder(self.path.parent)
        with self._alone():
            if self.path.exists() and self.path.stat().st_size + len(line) > self.largest_bytes:
                self._turn_over()
            descriptor = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)

    def _turn_over(self) -> None:
        """Begin a new file; the older ones move on by one number, and the oldest goes."""
        for number in range(FILES_KEPT - 1, 0, -1):
            with suppress(FileNotFoundError):
                self._older(number).replace(self._older(number + 1))
        self.path.replace(self._older(1))

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{FILE}.{number}")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep the other processes away from the file for one line."""
        descriptor = os.open(self.path.with_name(f"{FILE}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
