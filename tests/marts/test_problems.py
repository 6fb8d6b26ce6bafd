"""What is wrong right now? Every kind of open problem, in one view."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from duckdb import DuckDBPyConnection

from tests.marts.given import build, held, warehouse
from warehouse.checks import CheckResult, keep_results

NOW = datetime.now(UTC).replace(tzinfo=None)  # what is late is measured by the reader's clock


def problems(given: DuckDBPyConnection) -> list[tuple[object, ...]]:
    build(given)
    return given.execute("SELECT kind, severity, report, customer, message FROM meta.problems").fetchall()


def failed(given: DuckDBPyConnection, at_utc: datetime) -> None:
    given.execute(
        "INSERT INTO meta.loads BY NAME SELECT 'sales' AS report, 'M1' AS customer, "
        "[DATE '2026-01-01'] AS months, 'failed' AS status, 'It broke.' AS error, $1 AS fetched_at_utc",
        [at_utc],
    )


def test_nothing_is_wrong_in_an_empty_warehouse() -> None:
    assert problems(warehouse()) == []


def test_a_failed_month_is_a_problem_until_it_is_loaded() -> None:
    given = warehouse()
    held(given, "sales", "M1", ["2025-12"], at_utc=NOW)
    failed(given, NOW)
    assert problems(given) == [("failed month", "error", "sales", "M1", "It broke.")]
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW + timedelta(minutes=1))
    assert problems(given) == []


def test_a_report_without_access_is_a_problem() -> None:
    given = warehouse()
    given.execute("INSERT INTO meta.access VALUES ('sales', 'M1', now()::TIMESTAMP)")
    [(kind, severity, *_)] = problems(given)
    assert (kind, severity) == ("no access", "warning")


def test_rows_in_quarantine_are_a_problem() -> None:
    given = warehouse()
    given.execute(
        "INSERT INTO meta.quarantine_rows BY NAME SELECT 'sales' AS report, 'M1' AS customer, "
        "'sales_estates' AS table_name, 'no number' AS reason"
    )
    assert problems(given) == [
        ("quarantine", "warning", "sales", "M1", "1 rows of sales_estates were not loaded: no number")
    ]


def test_a_report_without_a_success_for_days_is_late() -> None:
    given = warehouse()
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW - timedelta(days=3))
    assert problems(given) == [("late", "warning", "sales", "M1", "No success for a day and a half.")]


def test_a_column_that_changed_its_type_is_a_problem() -> None:
    given = warehouse()
    given.execute(
        "INSERT INTO meta.column_changes "
        "VALUES ('live_activity', 'calls', 'BIGINT', 'VARCHAR', 'L1', now()::TIMESTAMP)"
    )
    assert problems(given) == [
        (
            "changed column",
            "warning",
            "live_activity",
            None,
            "live_activity.calls turned from BIGINT into VARCHAR",
        )
    ]


def test_what_a_check_found_is_a_problem_when_it_was_kept() -> None:
    given = warehouse()
    found = [CheckResult("a", "error", 2, (), "Is it so?"), CheckResult("b", "error", 0, (), "Is it?")]
    keep_results(given, found, NOW)
    assert problems(given) == [("check", "error", None, None, "Is it so? 2 rows: a")]


def test_a_group_configured_together_with_one_of_its_offices_is_told_in_words() -> None:
    given = warehouse()
    pair = {"customer_id": "G1", "yielding_customer_id": "M1", "shared_offices": "M1", "is_contained": True}
    found = CheckResult("customers_do_not_overlap", "warning", 1, [pair], "Do they?")
    keep_results(given, [found], NOW)
    words = "G1 answers for M1 as well; each office is counted once, but asked for twice"
    assert problems(given) == [("overlap", "warning", None, "M1", words)]
