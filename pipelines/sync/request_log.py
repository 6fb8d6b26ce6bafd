"""Request log: a JSON line for every try of a request, and counts by day, customer and report."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from pipelines.clock import Clock
from pipelines.connect.models import Try
from warehouse.store.files import PRIVATE_FILE, make_folder

FILE = "requests.log"
MAX_BYTES = 10_000_000


@dataclass
class RequestLogger:
    """Appends to `work/requests.log`; several processes may do so at the same time.

    Lines follow OpenTelemetry's log model and its semantic conventions for HTTP clients. They contain no
    headers, logins or bodies. While the disk is full, lines are lost.
    The sync adds `counts` to `meta.requests_by_day`. There each try counts as one request.
    """

    data_dir: Path
    run_id: str
    clock: Clock
    max_bytes: int = MAX_BYTES
    counts: dict[tuple[date, str, str], dict[str, float]] = field(default_factory=dict)

    def record(self, attempt: Try) -> None:
        """Log a try and count it."""
        key = (self.clock.utc_now().date(), attempt.request.customer, attempt.request.report)
        counts = self.counts.setdefault(key, defaultdict(float))
        counts["requests"] += 1
        counts["repeated"] += attempt.number > 1
        counts["failed"] += bool(attempt.failure)
        counts["bytes"] += attempt.bytes
        counts["seconds"] += attempt.seconds
        attributes = {
            "brokerbi.run_id": self.run_id,
            "brokerbi.report": attempt.request.report,
            "brokerbi.customer": attempt.request.customer,
            "brokerbi.window": attempt.request.window,
            "brokerbi.try": attempt.number,
            "http.request.method": attempt.request.method,
            "http.request.resend_count": attempt.number - 1,
            "http.response.status_code": attempt.status,
            "http.response.body.size": attempt.bytes,
            "http.client.request.duration": round(attempt.seconds, 3),
            "error.type": attempt.failure or None,
        }
        line = {
            "timestamp": f"{self.clock.utc_now():%Y-%m-%dT%H:%M:%S.%f}Z",
            "severity_text": "WARN" if attempt.failure else "INFO",
            "body": f"{key[2]} of {key[1]}: {attempt.status or 'no answer'}",
            "attributes": {name: value for name, value in attributes.items() if value is not None},
        }
        with suppress(OSError):
            self._append(json.dumps(line, ensure_ascii=False) + "\n")

    def _append(self, line: str) -> None:
        path = self.data_dir / "work" / FILE
        make_folder(path.parent)
        if path.exists() and path.stat().st_size + len(line) > self.max_bytes:
            path.replace(path.with_name(f"{FILE}.1"))
        descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, PRIVATE_FILE)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
