"""The mart of users and months against a few written rows."""

from __future__ import annotations

from decimal import Decimal

from duckdb import DuckDBPyConnection

from tests.marts.given import Row, built, earned, held, loaded, sold, warehouse

U1 = {"user_id": "U1"}


def user_report(given: DuckDBPyConnection, customer: str, month: str, users: list[Row]) -> None:
    loaded(given, "commission_user", customer, month, users)


def test_a_user_is_zero_in_held_months_after_the_first_trace_and_absent_before() -> None:
    given = warehouse()
    user_report(given, "M1", "2026-01", [])
    user_report(given, "M1", "2026-02", [earned(U1, 70)])
    user_report(given, "M1", "2026-03", [])
    found = built(given, "SELECT strftime(month, '%m'), commission FROM marts.user_month")
    assert found == [("02", Decimal(70)), ("03", Decimal(0))]


def test_a_user_reported_by_two_offices_is_added_up() -> None:
    given = warehouse()
    for office, amount in (("M1", 70), ("M2", 5)):
        loaded(given, "commission_office", office, "2026-01",
               [earned({"office_customer_id": office}, amount)])  # fmt: skip
        user_report(given, office, "2026-01", [earned(U1, amount)])
    assert built(given, "SELECT commission, _customer FROM marts.user_month") == [(Decimal(75), "M1, M2")]


def test_a_user_of_an_office_whose_group_is_configured_too_is_counted_once() -> None:
    given = warehouse()
    offices = [earned({"office_customer_id": office}, 70) for office in ("M1", "M2")]
    loaded(given, "commission_office", "G1", "2026-01", offices)
    loaded(given, "commission_office", "M1", "2026-01", offices[:1])
    for customer in ("G1", "M1"):
        user_report(given, customer, "2026-01", [earned(U1, 70)])
    assert built(given, "SELECT commission, _customer FROM marts.user_month") == [(Decimal(70), "G1")]


def test_the_office_of_a_user_is_that_of_the_months_sales_and_carried_to_other_months() -> None:
    given = warehouse()
    for month in ("2026-01", "2026-02", "2026-03"):
        user_report(given, "G1", month, [earned(U1, 70)])
    sold(given, "G1", "2026-02", "M1", "E1", agents=[{"id": "U1", "primary_office_customer_id": "M2"}])
    found = built(given, "SELECT strftime(month, '%m'), office_id, office_basis FROM marts.user_month")
    assert found == [("01", "M2", "later month"), ("02", "M2", "this month"), ("03", "M2", "earlier month")]


def test_the_office_of_a_user_without_a_trace_is_the_customer_asked_if_that_is_an_office() -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 7)])
    user_report(given, "M1", "2026-01", [earned(U1, 7)])
    assert built(given, "SELECT office_id, office_basis FROM marts.user_month") == [("M1", "customer asked")]


def test_the_name_of_a_user_comes_from_the_directory() -> None:
    given = warehouse()
    user_report(given, "M1", "2026-01", [earned(U1, 7)])
    given.execute(
        "INSERT INTO bi.users_history BY NAME SELECT 'M1' AS _customer, 'U1' AS id, 'Åsa Ek' AS name"
    )
    assert built(given, "SELECT user_name FROM marts.user_month") == [("Åsa Ek",)]


def test_a_user_without_a_commission_report_has_unknown_commission() -> None:
    given = warehouse()
    step = {"customer_id": "M1", "user_id": "U1", "amount": 100, "exchange_rate": 1}
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 7)])
    loaded(given, "running_commissions", "M1", "2026-01", [step])
    held(given, "tips_and_leads", "M1", ["2026-01"])
    found = built(
        given, "SELECT commission, running_commission_sek_excl_vat, incoming_lead_count FROM marts.user_month"
    )
    assert found == [(None, Decimal(100), 0)]
