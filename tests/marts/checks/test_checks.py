"""Does each check find what offends it, and stay quiet when nothing does? One of each per check."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import arrived, build, earned, held, loaded, rows, sold, warehouse
from warehouse.checks import CheckResult, run_checks
from warehouse.marts import build_marts
from warehouse.queries import SQL, queries

CHECKS = SQL / "checks"
M1, U1 = {"office_customer_id": "M1"}, {"user_id": "U1"}
AGENT = {
    "id": "U1", "name": "Åsa", "primary_office_customer_id": "M1", "responsible": True,
    "commission_value": 100, "commission_percentage_of_total": 100,
}  # fmt: skip
Given = DuckDBPyConnection


def quiet() -> Given:
    """A small warehouse that offends no check."""
    given = warehouse()
    now = datetime.now(UTC).replace(tzinfo=None)  # freshness is measured by the reader's clock
    for report, earner in (("commission_office", M1), ("commission_user", U1)):
        loaded(given, report, report, "M1", "2026-01", [earned(earner, 100, 1, 2000)], at_utc=now)
    step = {"customer_id": "M1", "user_id": "U1", "amount": 5, "exchange_rate": 1}
    loaded(given, "running_commissions", "running_commissions", "M1", "2026-01", [step], at_utc=now)
    sold(given, "M1", "2026-01", "M1", "E1", final_price=2000, agents=[AGENT], at_utc=now)
    load_id = held(given, "tips_and_leads", "M1", ["2026-01"], at_utc=now)
    lead = {"lead_id": "L1", "receiver_company_customer_number": "M1"}
    rows(given, "incoming_leads", "M1", "2026-01", [lead], load_id=load_id, at_utc=now)
    return given


def sql(statement: str) -> Callable[[Given], object]:
    return lambda given: given.execute(statement)


def key_twice(given: Given) -> None:
    given.execute("INSERT INTO bi.commission_user SELECT * FROM bi.commission_user")


def overlap(given: Given) -> None:
    office = [earned(M1, 100, 1, 2000), earned({"office_customer_id": "M2"}, 0, 0, 0)]
    loaded(given, "commission_office", "commission_office", "G1", "2026-01", office)


def other_shape(given: Given) -> None:
    arrived(given, "office_budget_crm_history", goal="BIGINT")
    rows(given, "office_budget_crm_history", "M1", "2026-01", [{"goal": 5}])


def quarantined(given: Given) -> None:
    given.execute("INSERT INTO meta.quarantine_rows BY NAME SELECT 'sales' AS report, 'M1' AS customer")


def month_emptied(given: Given) -> None:
    build(given, "restatements")
    loaded(given, "commission_office", "commission_office", "M1", "2026-01", [])


def estate_in_two_months(given: Given) -> None:
    sold(given, "M1", "2026-02", "M1", "E1", final_price=2000, agents=[AGENT], at_utc=datetime(2026, 2, 1))


def budget_of_nothing(given: Given) -> None:
    table = "office_budget_commission_history"
    arrived(given, table, customer_id="VARCHAR", user_id="VARCHAR", commission="BIGINT")
    load_id = held(given, "office_budget_commission", "M1", ["2026-01"])
    rows(given, table, "M1", "2026-01", [{"customer_id": "M1", "commission": None}], load_id=load_id)


OFFENCES: dict[str, Callable[[Given], object]] = {
    "documented_keys_are_unique": key_twice,
    "no_month_stands_twice": sql("UPDATE bi.running_commissions SET _load_id = 'another'"),
    "totals_are_not_negative": sql("UPDATE bi.commission_office SET writing_parts = -1"),
    "commissions_are_not_negative": sql("UPDATE bi.commission_office SET commission = -1"),
    "shares_of_a_sale_are_whole": sql("UPDATE bi.sales_agents SET commission_percentage_of_total = 90"),
    "foreign_money_has_a_rate": sql("UPDATE bi.sales_estates SET commission_foreign = 10"),
    "reports_are_fresh": sql("UPDATE meta.loads SET fetched_at_utc = fetched_at_utc - INTERVAL 3 DAY"),
    "reports_reconcile": sql("UPDATE bi.commission_user SET commission = 100.01"),
    "customers_do_not_overlap": overlap,
    "assumptions_hold": other_shape,
    "quarantine_is_empty": quarantined,
    "months_keep_their_rows": month_emptied,
    "sales_stand_in_one_month": estate_in_two_months,
    "running_commissions_have_an_office": sql(
        "UPDATE bi.running_commissions SET customer_id = 'M9', amount = 89635.13, exchange_rate = 11.2345"
    ),
    "leads_have_an_office": sql(
        "UPDATE bi.incoming_leads SET _customer = 'G1', receiver_company_customer_number = 'S9'"
    ),
    "budgets_are_understood": budget_of_nothing,
}


def checked(given: Given, name: str, tmp_path: Path) -> CheckResult:
    """What one check finds, with no more built than it reads."""
    (tmp_path / f"{name}.sql").symlink_to(CHECKS / f"{name}.sql")
    [check] = queries(given, tmp_path, "checks")
    read = sorted(table for schema, table in check.reads if schema == "marts")
    build(given, *(read or ["budgets"]))  # what is assumed is examined when something leans on it
    [result] = run_checks(given, tmp_path)
    return result


def test_no_check_is_offended_by_a_warehouse_that_is_right() -> None:
    given = quiet()
    build_marts(given)
    assert [result for result in run_checks(given) if not result.passed] == []


@pytest.mark.parametrize("name", OFFENCES)
def test_a_check_finds_what_offends_it(name: str, tmp_path: Path) -> None:
    given = quiet()
    OFFENCES[name](given)
    found = checked(given, name, tmp_path)
    assert (found.rows > 0, found.message) == (True, "")


def test_every_check_is_tried() -> None:
    assert {path.stem for path in CHECKS.glob("*.sql")} == {*OFFENCES}


def test_only_what_makes_numbers_wrong_keeps_the_file_from_being_published() -> None:
    found = queries(warehouse(), CHECKS, "checks")
    assert {check.name for check in found if check.severity == "error"} == {
        "no_month_stands_twice",
        "totals_are_not_negative",
    }
