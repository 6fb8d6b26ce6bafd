"""What happens when an undocumented report arrives in another shape? The marts are empty, and it is said."""

from __future__ import annotations

from decimal import Decimal

import duckdb
from duckdb import DuckDBPyConnection

from tests.marts.given import arrived, build, rows, warehouse
from warehouse.queries import SQL, queries

STATE = "SELECT state, missing_columns FROM meta.assumptions WHERE query = 'staging.office_budget_commission'"


def state(given: DuckDBPyConnection) -> list[tuple[object, ...]]:
    build(given, "budgets")
    return given.execute(STATE).fetchall()


def test_a_report_that_has_sent_nothing_yet_is_no_contradiction() -> None:
    assert state(warehouse()) == [("nothing has arrived", ["customer_id", "user_id", "commission"])]


def test_a_report_that_fits_is_said_to_fit() -> None:
    given = warehouse()
    arrived(
        given,
        "office_budget_commission_history",
        customer_id="VARCHAR",
        user_id="VARCHAR",
        commission="BIGINT",
    )
    assert state(given) == [("fits", [])]


def test_a_report_of_another_shape_leaves_its_mart_empty_and_names_what_is_missing() -> None:
    given = warehouse()
    arrived(given, "office_budget_commission_history", customer_id="VARCHAR", goal="BIGINT")
    rows(given, "office_budget_commission_history", "G1", "2026-01", [{"customer_id": "M1", "goal": 5}])
    assert state(given) == [("differs", ["user_id", "commission"])]
    assert given.execute("SELECT count(*) FROM marts.budgets").fetchall() == [(0,)]


def test_the_empty_mart_keeps_its_columns_and_their_types() -> None:
    given = warehouse()
    build(given, "budgets")
    found = given.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'budgets'"
    ).fetchall()
    assert {("amount", "DECIMAL(18,4)"), ("valid_from_utc", "TIMESTAMP"), ("month", "DATE")} <= set(found)


def test_a_query_that_does_not_run_on_what_arrived_differs_with_the_reason() -> None:
    given = warehouse()
    arrived(given, "budget_commission__users_history", user_id="VARCHAR")
    arrived(given, "budget_commission__users__months_history", commission="BIGINT")
    build(given, "budgets")
    found = given.execute(
        "SELECT DISTINCT state, contains(message, 'does not run on what arrived') FROM meta.assumptions "
        "WHERE query = 'staging.budget_commission'"
    )
    assert found.fetchall() == [("differs", True)]


def test_a_budget_that_is_no_number_has_no_amount_and_the_others_stay() -> None:
    given = warehouse()
    table = "office_budget_commission_history"
    arrived(given, table, customer_id="VARCHAR", user_id="VARCHAR", commission="VARCHAR")
    found = [
        {"customer_id": "M1", "user_id": user, "commission": text}
        for user, text in (("U1", "7"), ("U2", "?"))
    ]
    rows(given, table, "G1", "2026-01", found)
    rows(given, "budget_commission_history", "G1", "2026-01", [{"customer_id": "M1"}])
    given.execute(
        "INSERT INTO meta.months BY NAME SELECT 'office_budget_commission' AS report, 'G1' AS customer, "
        "DATE '2026-01-01' AS month, 'held' AS state"
    )
    build(given, "budgets")
    budgets = given.execute("SELECT user_id, amount FROM marts.budgets").fetchall()
    assert budgets == [("U1", Decimal(7)), ("U2", None)]


def test_every_query_that_expects_something_carries_the_word_assumed_and_the_types_of_its_columns() -> None:
    with duckdb.connect() as connection:
        found = [query for query in queries(connection, SQL / "staging", "staging") if query.expects]
    assert [query.name for query in found if "assumed" not in query.path.read_text()] == []
    assert [query.name for query in found if not query.types or "" in query.types.values()] == []
