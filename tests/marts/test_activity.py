"""What users did, from a report with undocumented numbers."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from tests.marts.given import Given, arrived, built, earned, held, loaded, rows

TABLE = "live_activity"
TOLD = "SELECT office_id, user_id, measure, amount, _customer FROM marts.activity ORDER BY ALL"


def test_every_number_in_a_users_row_is_a_measure_under_the_services_name(given: Given) -> None:
    held(given, "live_activity", "M1", ["2026-01"])
    arrived(given, TABLE, role_id="BIGINT", calls="VARCHAR", hours="DOUBLE", phone="VARCHAR", note="VARCHAR")
    numbers = {"role_id": 3, "hours": 2.125, "phone": "70", "note": "7 x"}
    texts = {"7": 7, "1.250.000": 1_250_000, "524 321,51": Decimal("524321.51"), "363.000": None}
    for text, amount in texts.items():
        given.execute("DELETE FROM bi.live_activity")
        rows(given, TABLE, "M1", "2026-01", [{"user_id": "U1", "office_id": "M1", "calls": text, **numbers}])
        assert [row[2:4] for row in built(given, TOLD)] == [("calls", amount), ("hours", Decimal("2.125"))]


def test_an_office_that_answers_next_to_its_group_counts_once(given: Given) -> None:
    arrived(given, TABLE, calls="BIGINT")
    for customer in ("G1", "M1"):
        loaded(given, "commission_office", customer, "2026-01", [earned({"customer_id": "M1"}, 5)])
        held(given, "live_activity", customer, ["2026-01"])
        rows(given, TABLE, customer, "2026-01", [{"user_id": "U1", "office_id": "1", "calls": 7}])
    assert built(given, TOLD) == [("M1", "U1", "calls", Decimal(7), "M1")]


def test_meetings_are_compared_with_their_budget(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [earned({"customer_id": "M1"}, 5)])
    held(given, "live_activity", "M1", ["2026-01"])
    rows(given, TABLE, "M1", "2026-01", [{"user_id": "U1", "office_id": "M1", "meetings": 7}])
    held(given, "office_budget_crm", "M1", ["2026-01"])
    planned = {"user_id": "U1", "meetings_budget": 10, "valid_from_utc": datetime(2026, 1, 1)}
    rows(given, "office_budget_crm_history", "M1", "2026-01", [{"office_id": "M1", **planned}])
    reached = "SELECT budget, actual FROM marts.{}_budget_vs_actual WHERE measure = 'meetings'"
    found = [built(given, reached.format(level)) for level in ("office", "user")]
    assert found == [[(10, 7)], [(10, 7)]]
