"""What is not as it should be: failures, customers that are shut out, rights and lateness, one rule each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import build, held, warehouse
from warehouse.ledger.ledger import deny
from warehouse.store.duckdb_file import insert_rows
from warehouse.store.meta_schema import write_configured

NOW = datetime.now(UTC).replace(tzinfo=None, microsecond=0)  # lateness is measured by the reader's clock
LONG_AGO = NOW - timedelta(days=9)


def conditions(given: DuckDBPyConnection) -> list[tuple[object, ...]]:
    build(given, "meta.conditions")
    found = given.execute("SELECT kind, severity, report, customer FROM meta.conditions ORDER BY ALL")
    return found.fetchall()


def refused(given: DuckDBPyConnection, *reports: str) -> None:
    for report in reports:
        deny(given, report, "M1", NOW.replace(tzinfo=UTC))


def test_a_customer_is_shut_out_when_each_of_several_reports_that_were_asked_for_is_refused() -> None:
    given = warehouse()
    reports = [{"report": name, "subject": "x", "is_on": True} for name in ("sales", "users", "tips")]
    write_configured(given, "reports", reports)
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW - timedelta(hours=1))
    refused(given, "sales", "users")
    assert conditions(given) == [("shut out", "error", None, "M1")]


@pytest.mark.parametrize(
    ("read", "denied", "expected"),
    [
        ([], ["sales"], [("no right", "warning", "sales", "M1")]),
        (["sales"], ["sales"], [("right lost", "error", "sales", "M1")]),
        (["users"], ["sales", "tips"], [("no right", "warning", name, "M1") for name in ("sales", "tips")]),
    ],
    ids=["the only one", "once answered", "beside another that is answered"],
)
def test_a_refused_report_is_of_a_right_that_is_lost_or_never_was(
    read: list[str], denied: list[str], expected: list[tuple[object, ...]]
) -> None:
    given = warehouse()
    for report in read:
        held(given, report, "M1", ["2026-01"], at_utc=NOW - timedelta(hours=1))
    refused(given, *denied)
    assert conditions(given) == expected


def test_what_failed_is_not_late_as_well() -> None:
    given = warehouse()
    held(given, "sales", "M1", ["2025-12"], at_utc=LONG_AGO)
    assert conditions(given) == [("late", "error", "sales", "M1")]
    load = {"report": "sales", "customer": "M1", "months": [], "status": "failed", "fetched_at_utc": NOW}
    insert_rows(given, "meta.loads", [load])
    assert conditions(given) == [("failed", "error", "sales", "M1")]
