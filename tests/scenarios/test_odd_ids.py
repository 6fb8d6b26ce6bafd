"""Does a customer whose id holds a blank and a slash go all the way, from settings to published file?"""

from __future__ import annotations

from pathlib import Path

import duckdb
import httpx

from pipelines.months import Month
from pipelines.sync.run_context import RunContext
from tests.scenarios.rehearsal import TODAY, rehearsal

ODD = "M 1/2"


def test_an_id_with_a_blank_and_a_slash_is_asked_landed_and_published(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode().partition("?")[0])
        return httpx.Response(200, json=[{"office": {"customerId": ODD}, "commission": 5}])

    reports = {"BROKERBI_CUSTOMERS": ODD, "BROKERBI_REPORTS": "commission_office"}
    world = rehearsal(tmp_path / "data", start=Month(2026, 11), as_of=TODAY, service=None, **reports)
    world.context = RunContext(transport=httpx.MockTransport(answer))
    assert world.sync().is_well
    assert asked == ["/BusinessIntelligence/CommissionOfficeReport/M%201%2F2"]
    assert world.publish().publication.published
    with duckdb.connect(str(tmp_path / "data" / "warehouse.duckdb"), read_only=True) as file:
        assert file.execute("SELECT office_id, _customer FROM marts.office_month").fetchall() == [(ODD, ODD)]
    assert [path.name for path in (tmp_path / "data" / "landing" / "commission_office").iterdir()] == [
        "M%201%2F2"
    ]
