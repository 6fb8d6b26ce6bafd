"""What users did, from a report whose shape nobody has documented."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from tests.marts.given import Row, arrived, asked_for, built, earned, held, loaded, rows, warehouse

TOLD = "SELECT office_id, user_id, measure, amount, _customer FROM marts.activity ORDER BY ALL"


def test_every_number_of_a_user_is_a_measure_under_the_services_name() -> None:
    given = warehouse()
    held(given, "live_activity", "M1", ["2026-01"])
    table = "live_activity__users"
    arrived(
        given,
        table,
        user_id="VARCHAR",
        customer_id="VARCHAR",
        role_id="BIGINT",
        calls="BIGINT",
        hours="DOUBLE",
    )
    user = {"user_id": "U1", "customer_id": "M1", "role_id": 3, "calls": 7, "hours": 2.5}
    rows(given, table, "M1", "2026-01", [user])
    assert built(given, TOLD) == [
        ("M1", "U1", "calls", Decimal(7), "M1"), ("M1", "U1", "hours", Decimal("2.5"), "M1"),
    ]  # fmt: skip


def test_users_may_be_listed_below_their_offices() -> None:
    given = warehouse()
    held(given, "live_activity", "M1", ["2026-01"])
    arrived(given, "live_activity__offices", customer_id="VARCHAR")
    arrived(given, "live_activity__offices__users", _parent_row="BIGINT", id="VARCHAR", phone_calls="BIGINT")
    [office] = rows(given, "live_activity__offices", "M1", "2026-01", [{"customer_id": "M1"}])
    user: Row = {"_parent_row": office, "id": "U1", "phone_calls": 7}
    rows(given, "live_activity__offices__users", "M1", "2026-01", [user])
    assert built(given, TOLD) == [("M1", "U1", "phone_calls", Decimal(7), "M1")]


def test_an_office_that_answers_beside_its_group_counts_once() -> None:
    given = warehouse()
    table = "live_activity__users"
    arrived(given, table, user_id="VARCHAR", customer_id="VARCHAR", calls="BIGINT")
    for customer in ("G1", "M1"):
        loaded(given, "commission_office", customer, "2026-01", [earned({"customer_id": "M1"}, 5)])
        held(given, "live_activity", customer, ["2026-01"])
        rows(given, table, customer, "2026-01", [{"user_id": "U1", "customer_id": "M1", "calls": 7}])
    assert built(given, TOLD) == [("M1", "U1", "calls", Decimal(7), "M1")]


def test_another_shape_is_no_activity() -> None:
    given = warehouse()
    held(given, "live_activity", "M1", ["2026-01"])
    arrived(given, "live_activity__users", person="VARCHAR", calls="BIGINT")
    rows(given, "live_activity__users", "M1", "2026-01", [{"person": "Bo", "calls": 7}])
    assert built(given, TOLD) == []
    query = "SELECT state, missing_columns FROM meta.assumptions WHERE query = 'staging.live_activity_users'"
    assert given.execute(query).fetchall() == [("differs", ["user_id"])]


def test_a_month_that_is_over_and_was_cut_short_is_not_open() -> None:
    given = warehouse()
    asked_for(given, "M2", M1="off")
    table = "live_activity__users"
    arrived(given, table, user_id="VARCHAR", customer_id="VARCHAR", calls="BIGINT")
    for customer, day in (("M1", 20), ("M2", 28)):
        held(
            given,
            "live_activity",
            customer,
            ["2026-02"],
            at_utc=datetime(2026, 2, day, tzinfo=UTC),
            is_open=True,
        )
        row = {"user_id": f"U-{customer}", "customer_id": customer, "calls": 7}
        rows(given, table, customer, "2026-02", [row])
    held(given, "live_activity", "M2", ["2026-03"], at_utc=datetime(2026, 3, 2, tzinfo=UTC), is_open=True)
    query = "SELECT user_id, is_open FROM marts.activity ORDER BY ALL"
    assert built(given, query) == [("U-M1", False), ("U-M2", True)]
