"""Views of what is wrong right now: freshness of every report, and every kind of open problem."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from pipelines.connect.errors import ConnectError, HostDown, NotFound, Unauthorized, Unavailable
from pipelines.normalize.types import AMBIGUOUS
from tests.marts.given import Given, asked_for, build, earned, held, lacking, loaded, warehouse
from warehouse.ledger.ledger import forget_outdated_denials, record_denial
from warehouse.marts.checks import CheckResult, run_checks, store_results
from warehouse.store.duckdb_file import insert_rows
from warehouse.store.meta_schema import write_configured

NOW = datetime.now(UTC).replace(tzinfo=None, microsecond=0)  # freshness is measured by the reader's clock
LONG_AGO = NOW - timedelta(days=9)
START = date(2026, 1, 1)
PROBE = {"customer": "M1", "asked_of": "sales", "fetched_at_utc": NOW, "status": "failed", "error": "Why."}
STATES = "SELECT report, customer, state, is_late FROM meta.freshness ORDER BY ALL"


def configure(given: Given, *, active: bool = True, **reports: bool) -> None:
    """One customer M1, and reports that are on or off."""
    customer = {"customer": "M1", "name": "Harbour", "start_month": START, "is_active": active}
    write_configured(given, "customers", [customer])
    described = [{"report": name, "subject": "subject", "is_on": is_on} for name, is_on in reports.items()]
    write_configured(given, "reports", described)


@pytest.fixture
def given() -> Given:
    """A warehouse in which M1's sales were read long ago."""
    connection = warehouse()
    held(connection, "sales", "M1", ["2026-01"], at_utc=LONG_AGO)
    return connection


def test_a_report_not_read_for_a_day_and_a_half_is_late_since_then(given: Given) -> None:
    configure(given, sales=True)
    found = given.execute("SELECT last_success_utc, due_utc, state, is_late FROM meta.freshness").fetchall()
    assert found == [(LONG_AGO, LONG_AGO + timedelta(hours=30), "late", True)]


def test_a_customer_switched_off_or_out_of_the_settings_is_not_late(given: Given) -> None:
    held(given, "sales", "M9", ["2026-01"], at_utc=LONG_AGO)
    configure(given, active=False, sales=True)
    found = [("sales", "M1", "switched off", False), ("sales", "M9", "switched off", False)]
    assert given.execute(STATES).fetchall() == found


def test_a_report_switched_off_is_not_late_and_one_that_was_never_read_is(given: Given) -> None:
    configure(given, sales=False, users=True)
    found = [("sales", "M1", "switched off", False), ("users", "M1", "never read", True)]
    assert given.execute(STATES).fetchall() == found


def test_a_denied_report_is_late_by_its_last_success_until_answered(given: Given) -> None:
    configure(given, sales=True)
    record_denial(given, "sales", "M1", (LONG_AGO + timedelta(days=1)).replace(tzinfo=UTC))
    assert given.execute(STATES).fetchall() == [("sales", "M1", "no access", True)]
    held(given, "sales", "M1", ["2026-02"], at_utc=NOW)
    forget_outdated_denials(given)
    assert given.execute(STATES).fetchall() == [("sales", "M1", "fresh", False)]


def test_no_report_is_fresh_while_the_login_is_denied(given: Given) -> None:
    configure(given, sales=True)
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW - timedelta(hours=2))
    failed(given, NOW - timedelta(hours=1), error_kind="Unauthorized")
    assert given.execute(STATES).fetchall() == [("sales", "M1", "login refused", False)]
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW)
    assert given.execute(STATES).fetchall() == [("sales", "M1", "fresh", False)]


def problems(given: Given) -> list[tuple[object, ...]]:
    build(given, "meta.problems")
    return given.execute("SELECT kind, severity, report, customer, message FROM meta.problems").fetchall()


def failed(
    given: Given, at_utc: datetime, report: str = "sales", customer: str = "M1", **known: object
) -> None:
    """A window of January that failed; `known` are other columns of meta.loads."""
    row = {"months": [START], "error": "It broke.", **known, "report": report, "customer": customer}
    insert_rows(given, "meta.loads", [{**row, "status": "failed", "fetched_at_utc": at_utc}])


def test_a_failed_month_is_a_problem_until_it_is_loaded() -> None:
    given = warehouse()
    held(given, "sales", "M1", ["2025-12"], at_utc=NOW)
    failed(given, NOW)
    assert problems(given) == [("failed", "error", "sales", "M1", "It broke.")]
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW + timedelta(minutes=1))
    assert problems(given) == []


def test_months_that_failed_for_one_cause_are_one_problem_that_names_them() -> None:
    given, words = warehouse(), "The service answered 401: the login is wrong."
    for report in ("sales", "users"):
        login = {"error_kind": "Unauthorized", "trouble": "login", "login": "BROKERBI_USERNAME"}
        failed(given, NOW, report, months=[START, date(2026, 2, 1)], error=words, **login)
    assert problems(given) == [("failed", "error", None, "M1", words)]
    whom = "condition_count, reports, customers, first_month, last_month"
    found = given.execute(f"SELECT {whom} FROM meta.problems").fetchall()
    assert found == [(4, "sales, users", "M1", START, date(2026, 2, 1))]


def test_answers_that_do_not_fit_for_two_reasons_are_two_problems_of_their_report() -> None:
    given = warehouse()
    for customer, error in (("M1", "3 of 9 fit; a"), ("M2", "4 of 8 fit; b"), ("M3", f"no {AMBIGUOUS}; a")):
        failed(given, NOW, "sales", customer, error_kind="UnreadableRows", error=error)
    build(given, "meta.problems")
    advice = "regexp_extract(remedy, 'decimal = \",\"|otherwise ask')"
    found = given.execute(f"SELECT condition_count, {advice} FROM meta.problems ORDER BY 1").fetchall()
    assert found == [(1, 'decimal = ","'), (2, "otherwise ask")]


@pytest.mark.parametrize(
    ("error", "report", "words", "number"),
    [
        (Unauthorized, "users", "Denied.", 2),  # of a login for something else
        (HostDown, "users", "Down.", 1),
        (NotFound, "users", "Why.; 3", 1),
        (NotFound, "sales", "A month.", 2),
    ],
)
def test_changes_unknown_for_the_cause_of_a_failure_are_no_separate_problem(
    error: type[ConnectError], report: str, words: str, number: int
) -> None:
    given = warehouse()
    known = {"error_kind": error.__name__, "trouble": error.trouble}
    failed(given, NOW, report, "M1", error=words, **known)
    insert_rows(given, "meta.probes", [PROBE])
    assert len(problems(given)) == number


@pytest.mark.parametrize(("active", "is_on", "number"), [(True, True, 1), (False, True, 0), (True, False, 0)])
def test_no_changes_are_expected_of_switched_off_reports(*, active: bool, is_on: bool, number: int) -> None:
    given = warehouse()
    configure(given, active=active, sales=is_on)
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW)
    insert_rows(given, "meta.probes", [PROBE])
    assert [kind for kind, *_ in problems(given)] == ["changes unknown"] * number


def test_no_changes_are_unknown_once_all_months_were_read_since() -> None:
    given = warehouse()
    insert_rows(given, "meta.probes", [PROBE])
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW + timedelta(minutes=1))
    assert problems(given) == []


def test_unknown_changes_are_one_cause_by_the_night_that_requests_them_again() -> None:
    given, notes = warehouse(), {"M1": "", "M2": "", "M3": "no access"}
    probes = [{**PROBE, "customer": name, "error": name, "note": note} for name, note in notes.items()]
    insert_rows(given, "meta.probes", probes)
    build(given, "meta.problems")
    found = given.execute("SELECT customers, left(remedy, 8) FROM meta.problems ORDER BY ALL").fetchall()
    assert found == [("M1, M2", "The next"), ("M3", "Tomorrow")]


@pytest.mark.parametrize("errors", [(Unavailable, HostDown), (Unauthorized, Unauthorized)])
def test_a_service_that_is_down_or_a_denied_login_is_one_problem_whomever_it_concerns(
    errors: tuple[type[ConnectError], type[ConnectError]],
) -> None:
    given = warehouse()
    for customer, error in zip(("M1", "M2"), errors, strict=True):
        known = {"error_kind": error.__name__, "trouble": error.trouble}
        failed(given, NOW, "sales", customer, error="Nobody answers", **known)
    assert problems(given) == [("failed", "error", "sales", None, "Nobody answers")]


@pytest.mark.parametrize(
    ("noted", "kind", "report", "customer", "words"),
    [
        (f"quarantine_rows (report, customer, table_name, reason) VALUES ('sales', 'M1', 't', '{AMBIGUOUS}')",
         "quarantine", "sales", "M1", f"Rows were not loaded, mostly of t: {AMBIGUOUS}"),
        ("column_changes VALUES ('live_activity', 'calls', 'BIGINT', 'VARCHAR', 'L1', now()::TIMESTAMP)",
         "changed column", "live_activity", None, "live_activity.calls changed from BIGINT into VARCHAR"),
    ],
)  # fmt: skip
def test_notes_become_problems(noted: str, kind: str, report: str, customer: str | None, words: str) -> None:
    given = warehouse()
    given.execute(f"INSERT INTO meta.{noted}")
    [(*found, message)] = problems(given)
    assert found == [kind, "warning", report, customer]
    assert str(message).startswith(words)
    told = given.execute("SELECT contains(remedy, 'below `[sales]` in shapes.toml') FROM meta.problems")
    assert told.fetchall() == [((kind == "quarantine") or None,)]


def test_a_stored_result_of_a_check_is_a_problem() -> None:
    given = warehouse()
    found = [CheckResult("a", "error", 2, (), "Is it so?"), CheckResult("b", "error", 0, (), "Is it?")]
    store_results(given, found, NOW)
    assert problems(given) == [("check", "error", None, None, "Is it so? a, 2 rows")]


@pytest.mark.parametrize(
    ("is_removed", "kind", "causes"), [(False, "overlap", 1), (True, "not refreshed", 12)]
)
def test_each_customer_that_a_check_names_has_a_condition(is_removed: bool, kind: str, causes: int) -> None:
    given, names = warehouse(), [f"M{number}" for number in range(1, 13)]
    if not is_removed:
        loaded(
            given, "commission_office", "G1", "2026-05", [earned({"customer_id": one}, 5) for one in names]
        )
    for name in names:
        loaded(given, "commission_office", name, "2026-05", [earned({"customer_id": name}, 5)])
    asked_for(given, "G1", *([] if is_removed else names))
    build(given, "customer_overlaps", "office_sources")
    store_results(given, run_checks(given), NOW)
    build(given, "meta.conditions")
    counts = "SELECT count(DISTINCT customer), count(DISTINCT cause_key) FROM meta.conditions"
    assert given.execute(f"{counts} WHERE kind = $1", [kind]).fetchone() == (12, causes)


def test_reports_that_are_late_for_one_reason_are_one_problem(given: Given) -> None:
    held(given, "users", "M1", ["2026-01"], at_utc=LONG_AGO)
    configure(given, sales=True, users=True)
    assert problems(given) == [("late", "error", None, "M1", "The report has not been read for 30 hours.")]


def test_needed_columns_that_all_answers_of_the_latest_day_lack_are_one_problem_of_their_report() -> None:
    given = warehouse()
    columns = ("budget_crm.meetings_budget", "budget_crm.month")
    lacking(given, "budget_crm", "G1", *columns, "budget_crm.own_booked_budget")
    lacking(given, "budget_crm", "M1", *columns)
    lacking(given, "commission_office", "G1", "commission_office.commission")
    lacking(given, "commission_office", "M1")
    build(given, "meta.problems")
    told = "report, split_part(message, ', so', 1) FROM meta.problems WHERE kind = 'column missing'"
    words = "No row has budget_crm.meetings_budget, budget_crm.month"
    assert given.execute(f"SELECT {told}").fetchall() == [("budget_crm", words)]
