"""Request log: a line in a standard form for every request, and counts by customer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipelines.connect.models import Request, Try
from pipelines.sandbox.faults import Fault
from pipelines.sync.request_log import FILE, RequestLogger
from tests.scenarios.scenario import Scenario, whole_chain
from tests.unit.connect.fake_service import StillClock
from warehouse.ledger.window_result import WindowStatus

SALES = Request("/Sales", {"customerId": "M1", "dateFrom": "2026-01-01"}, "sales", "M1")
COUNTED = "SELECT customer, report, requests, repeated, failed FROM meta.requests_by_day ORDER BY ALL"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def small(directory: Path) -> Scenario:
    return whole_chain(directory, ["sales"], customers="G1,M30016", retry_seconds="5")


def test_a_line_has_the_request_and_its_outcome(tmp_path: Path) -> None:
    log = RequestLogger(tmp_path, "a run", StillClock(1000.25))
    log.record(Try(SALES, 2, 503, 12, 0.25))
    assert lines(tmp_path / "work" / FILE) == [
        {
            "timestamp": "2024-03-01T12:00:00.250000Z",
            "severity_text": "WARN",
            "body": "sales of M1: 503",
            "attributes": {
                "brokerbi.run_id": "a run",
                "brokerbi.report": "sales",
                "brokerbi.customer": "M1",
                "brokerbi.window": "dateFrom=2026-01-01",
                "brokerbi.try": 2,
                "http.request.method": "GET",
                "http.request.resend_count": 1,
                "http.response.status_code": 503,
                "http.response.body.size": 12,
                "http.client.request.duration": 0.25,
                "error.type": "status 503",
            },
        }
    ]


def test_the_file_is_private_and_rotated_when_it_is_full(tmp_path: Path) -> None:
    log = RequestLogger(tmp_path, "a run", StillClock(), max_bytes=1000)
    for number in range(30):
        log.record(Try(SALES, number, 200, 1, 0.1))
    kept = sorted(path.name for path in (tmp_path / "work").glob(f"{FILE}*") if path.suffix != ".lock")
    assert kept == [FILE, f"{FILE}.1"]
    assert all(path.stat().st_size <= 1000 for path in (tmp_path / "work").iterdir())
    assert (tmp_path / "work" / FILE).stat().st_mode & 0o777 == 0o600


def test_a_sync_adds_its_requests_to_the_counts_of_the_day_and_customer(tmp_path: Path) -> None:
    world = small(tmp_path)
    for asked in (1, 2):
        world.sync()
        assert world.rows(COUNTED) == [("G1", "sales", asked, 0, 0), ("M30016", "sales", asked, 0, 0)]
    assert len(lines(tmp_path / "work" / FILE)) == 4


def test_failed_and_repeated_requests_are_counted_separately(tmp_path: Path) -> None:
    world = small(tmp_path)
    faults = Fault("503", customer="G1", tries=1), Fault("404", customer="M30016")
    assert {one.status for one in world.sync(*faults).failing} == {WindowStatus.FAILED}
    assert world.rows(COUNTED) == [("G1", "sales", 2, 1, 1), ("M30016", "sales", 1, 0, 1)]
