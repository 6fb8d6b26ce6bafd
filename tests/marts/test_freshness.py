"""Who is late, who is refused, and who is switched off? The view of freshness, and what stands on it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import build, built, held, sold, warehouse
from warehouse.ledger import deny, forget_healed_refusals
from warehouse.meta_schema import ConfiguredCustomer, ConfiguredReport, write_customers, write_reports

NOW = datetime.now(UTC).replace(tzinfo=None, microsecond=0)  # freshness is measured by the reader's clock
LONG_AGO = NOW - timedelta(days=9)
START = date(2026, 1, 1)
STATES = "SELECT report, customer, state, is_late FROM meta.freshness ORDER BY ALL"


def configure(given: DuckDBPyConnection, *, active: bool = True, **reports: bool) -> None:
    """One customer M1, and reports that are on or off."""
    described = [ConfiguredReport(name, "subject", "words", "/", is_on) for name, is_on in reports.items()]
    write_customers(given, [ConfiguredCustomer("M1", "Harbour", START, active)])
    write_reports(given, described)


@pytest.fixture
def given() -> DuckDBPyConnection:
    """A warehouse in which M1's sales were read long ago."""
    connection = warehouse()
    held(connection, "sales", "M1", ["2026-01"], at_utc=LONG_AGO)
    return connection


def test_what_was_not_read_for_a_day_and_a_half_is_late_and_says_when_it_was_due(
    given: DuckDBPyConnection,
) -> None:
    configure(given, sales=True)
    found = given.execute("SELECT last_success_utc, due_utc, state, is_late FROM meta.freshness").fetchall()
    assert found == [(LONG_AGO, LONG_AGO + timedelta(hours=36), "late", True)]


def test_what_was_read_a_moment_ago_is_fresh(given: DuckDBPyConnection) -> None:
    configure(given, sales=True)
    held(given, "sales", "M1", ["2026-02"], at_utc=NOW)
    assert given.execute(STATES).fetchall() == [("sales", "M1", "fresh", False)]


def test_a_report_that_is_switched_off_is_not_late(given: DuckDBPyConnection) -> None:
    configure(given, sales=False)
    assert given.execute(STATES).fetchall() == [("sales", "M1", "switched off", False)]


def test_a_customer_that_is_switched_off_or_gone_from_the_settings_is_not_late(
    given: DuckDBPyConnection,
) -> None:
    held(given, "sales", "M9", ["2026-01"], at_utc=LONG_AGO)
    configure(given, active=False, sales=True)
    found = [("sales", "M1", "switched off", False), ("sales", "M9", "switched off", False)]
    assert given.execute(STATES).fetchall() == found


def test_a_report_that_is_on_and_was_never_read_is_missed(given: DuckDBPyConnection) -> None:
    configure(given, sales=False, users=True)
    found = [("sales", "M1", "switched off", False), ("users", "M1", "never read", True)]
    assert given.execute(STATES).fetchall() == found


def test_a_refused_report_is_refused_and_not_late_until_an_answer_heals_it(given: DuckDBPyConnection) -> None:
    configure(given, sales=True)
    deny(given, "sales", "M1", (LONG_AGO + timedelta(days=1)).replace(tzinfo=UTC))
    assert given.execute(STATES).fetchall() == [("sales", "M1", "no access", False)]
    held(given, "sales", "M1", ["2026-02"], at_utc=NOW)
    forget_healed_refusals(given)
    assert given.execute(STATES).fetchall() == [("sales", "M1", "fresh", False)]


def test_what_is_switched_off_is_no_open_problem(given: DuckDBPyConnection) -> None:
    given.execute(
        "INSERT INTO meta.loads BY NAME SELECT 'L' AS load_id, 'sales' AS report, 'M1' AS customer, "
        "'failed' AS status, [DATE '2026-02-01'] AS months, now()::TIMESTAMP AS fetched_at_utc"
    )
    problems = "SELECT kind FROM meta.problems ORDER BY kind"
    for is_on, found in ((True, [("failed month",), ("late",)]), (False, [])):
        configure(given, sales=is_on)
        build(given, "customers")
        assert given.execute(problems).fetchall() == found


def test_a_file_of_an_earlier_version_gets_what_it_lacks(given: DuckDBPyConnection) -> None:
    given.execute("DROP VIEW meta.freshness; DROP TABLE meta.customers; DROP TABLE meta.reports")
    build(given, "customers")
    assert given.execute(STATES).fetchall() == [("sales", "M1", "late", True)]


def test_customers_go_by_the_name_of_the_settings_or_else_of_their_office(given: DuckDBPyConnection) -> None:
    configure(given, sales=True)
    held(given, "sales", "M2", ["2025-12", "2026-02"])
    sold(given, "M2", "2026-02", "M2", "E1", office_name="The square")
    configure(given, sales=True)
    found = built(
        given,
        "SELECT customer_id, customer_name, start_month, is_active, offices, first_month, last_month "
        "FROM marts.customers",
    )
    assert found == [
        ("M1", "Harbour", START, True, None, START, START),
        ("M2", "The square", None, False, "The square", date(2025, 12, 1), date(2026, 2, 1)),
    ]
