"""Conditions: failures, customers without access, lost access and lateness, one rule each."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from pipelines.page.language import language
from tests.marts.given import Given, build, held, warehouse
from warehouse.ledger.conditions import Kind
from warehouse.ledger.ledger import record_denial, record_lake
from warehouse.marts.queries import SQL
from warehouse.store.duckdb_file import insert_rows
from warehouse.store.meta_schema import constants, write_configured

NOW = datetime.now(UTC).replace(tzinfo=None, microsecond=0)  # lateness is measured by the reader's clock
LONG_AGO = NOW - timedelta(days=9)


def kinds_in(sql: str) -> set[str]:
    """The texts that a query selects as a kind."""
    return {
        text
        for selected in re.findall(r"SELECT((?:(?!SELECT|,).)*?) AS kind", sql, re.DOTALL)
        for text in re.findall(r"(?:^\s*|THEN |ELSE )'([a-z ]+)'", selected)
    }


def test_each_kind_is_described_and_has_words_on_pages_if_it_makes_figures_doubtful() -> None:
    assert {row["kind"] for row in constants("kinds")} == {*Kind}
    found = kinds_in((SQL / "meta" / "conditions.sql").read_text("utf-8")) | {"failed", "held back"}
    assert found == {row["kind"] for row in constants("kinds") if row["known_by"] == "file"}
    of_figures = {row["kind"] for row in constants("kinds") if row["is_of_figures"]}
    for code in ("en", "sv"):
        labels = {name.replace("_", " ") for name in language(code).words["conditions"]}
        assert labels == of_figures | {"reports differ", "failed again"}


def conditions(given: Given) -> list[tuple[object, ...]]:
    build(given, "meta.conditions")
    found = given.execute("SELECT kind, severity, report, customer FROM meta.conditions ORDER BY ALL")
    return found.fetchall()


def refused(given: Given, *reports: str, at: datetime = NOW) -> None:
    """Denied to M1 in a sync, and to M9 only in `brokerbi doctor`."""
    load = {"customer": "M1", "months": [], "status": "no access", "fetched_at_utc": at}
    insert_rows(given, "meta.loads", [{**load, "report": name} for name in reports])
    for report, customer in product(reports, ("M1", "M9")):
        record_denial(given, report, customer, at.replace(tzinfo=UTC))


def test_a_customer_is_denied_if_most_requested_reports_are_and_no_other_was_read_since() -> None:
    given = warehouse()
    reports = [{"report": name, "subject": "x", "is_on": True} for name in ("sales", "users", "tips")]
    write_configured(given, "reports", reports)
    for report in ("sales", "budget_crm"):
        held(given, report, "M1", ["2026-01"], at_utc=NOW - timedelta(hours=1))
    refused(given, "sales", "users")
    assert conditions(given) == [("access denied", "error", None, "M1")]


def test_a_denial_repeated_every_night_is_as_old_as_the_first(given: Given) -> None:
    held(given, "users", "M1", ["2026-01"], at_utc=NOW - timedelta(hours=1))
    held(given, "sales", "M1", ["2026-01"], at_utc=NOW - timedelta(days=10))
    for days in (9, 1, 0):
        refused(given, "sales", at=NOW - timedelta(days=days))
    build(given, "meta.conditions")
    found = given.execute("SELECT kind, since_utc FROM meta.conditions").fetchall()
    assert found == [("access lost", NOW - timedelta(days=9))]


@pytest.mark.parametrize(
    ("denied", "failed", "is_denied"),
    [
        (("sales",), (), False),
        (("sales", "users"), (), True),
        (("sales", "users"), ("tips",), False),
        ((), ("sales", "users"), False),
    ],
)
def test_a_customer_with_one_report_or_another_failure_is_not_denied_access(
    given: Given, denied: tuple[str, ...], failed: tuple[str, ...], is_denied: bool
) -> None:
    refused(given, *denied)
    load = {"customer": "M1", "months": [], "status": "failed", "fetched_at_utc": NOW}
    insert_rows(given, "meta.loads", [{**load, "report": name} for name in failed])
    assert any(kind == "access denied" for kind, *_ in conditions(given)) == is_denied


@pytest.mark.parametrize(
    ("read", "denied", "expected"),
    [
        ([], ["sales"], [("no access", "warning", "sales", "M1")]),
        (["sales"], ["sales"], [("access lost", "error", "sales", "M1")]),
        (["users"], ["sales", "tips"], [("no access", "warning", name, "M1") for name in ("sales", "tips")]),
    ],
    ids=["the only one", "once answered", "beside another that is answered"],
)
def test_a_denied_report_is_access_lost_or_never_granted(
    given: Given, read: list[str], denied: list[str], expected: list[tuple[object, ...]]
) -> None:
    for report in read:
        held(given, report, "M1", ["2026-01"], at_utc=NOW)
    refused(given, *denied)
    probe = {"customer": "M1", "asked_of": "sales", "fetched_at_utc": NOW, "status": "failed", "error": "403"}
    insert_rows(given, "meta.probes", [probe])
    assert conditions(given) == expected


def test_a_report_that_failed_after_its_last_success_is_not_late_as_well(given: Given) -> None:
    held(given, "sales", "M1", ["2025-12"], at_utc=LONG_AGO)
    load = {"report": "sales", "customer": "M1", "months": [], "status": "failed"}
    for at_utc, kinds in ((LONG_AGO, {"failed", "late"}), (NOW, {"failed"})):
        insert_rows(given, "meta.loads", [{**load, "fetched_at_utc": at_utc}])
        assert {kind for kind, *_ in conditions(given)} == kinds
    check = (SQL / "checks" / "reports_are_fresh.sql").read_text("utf-8")
    assert given.execute(check).fetchall() == []


def publication(given: Given, status: str, last_load: int, *reasons: str) -> None:
    row = {"at_utc": NOW, "status": status, "last_load_number": last_load, "reasons": list(reasons)}
    name = "20260101T000000Z" if status == "published" else None
    insert_rows(given, "meta.publications", [{**row, "name": name}])


@pytest.mark.parametrize(
    ("hours", "status", "last_load", "begins"),
    [
        (1, None, 0, ["warning: Loads since "]),
        (4, None, 0, ["error: Loads since "]),
        (4, "published", 9, []),
        (1, "refused", 9, ["error: The latest file was not published: Is it so? 2 rows"]),
        (None, "failed", 9, ["error: The latest file was not published: Is it so? 2 rows"]),
    ],
    ids=["soon", "not for three hours", "published", "a check spoke against it", "nothing was loaded"],
)
def test_a_load_must_be_published_within_three_hours(
    given: Given, hours: int | None, status: str | None, last_load: int, begins: list[str]
) -> None:
    if hours:
        load = {"report": "sales", "load_number": 7, "status": "loaded"}
        insert_rows(given, "meta.loads", [{**load, "loaded_at_utc": NOW - timedelta(hours=hours)}])
    if status:
        publication(given, status, last_load, "Is it so? 2 rows")
    failing = {"severity": "error", "message": "", "row_count": 2}
    found = [{**failing, "name": text, "finding": text} for text in ("Is it so? 2 rows", "It blocks nothing")]
    insert_rows(given, "meta.check_results", found)
    build(given, "meta.conditions")
    checks = str(given.execute("SELECT cause FROM meta.conditions WHERE kind = 'check'").fetchall())
    assert ("2 rows" in checks, "nothing" in checks) == (status != "refused", True)
    said = given.sql("SELECT severity||': '||error FROM meta.conditions WHERE kind='unpublished'").fetchall()
    assert [one[: len(words)] for (one,), words in zip(said, begins, strict=True)] == begins


def test_a_rehearsed_day_is_late_by_its_own_clock(given: Given) -> None:
    given.execute("INSERT INTO meta.storage (is_rehearsal) VALUES (true)")
    held(given, "sales", "M1", ["2025-12"], at_utc=LONG_AGO)
    assert conditions(given) == []
    held(given, "users", "M1", ["2025-12"], at_utc=LONG_AGO + timedelta(days=2))
    assert conditions(given) == [("late", "error", "sales", "M1")]


@pytest.mark.parametrize(("hours", "severity"), [(1, "warning"), (37, "error")])
def test_an_outdated_lake_is_an_error_after_a_day_and_a_half(hours: int, severity: str) -> None:
    given, now = warehouse(), datetime.now(UTC)
    record_lake(given, now - timedelta(hours=hours), "It is down.")
    assert conditions(given) == [("not in the lake", severity, None, None)]
    record_lake(given, now)
    assert conditions(given) == []


@pytest.mark.parametrize(
    ("statuses", "hours", "expected"),
    [
        (["unconfirmed"], 0, True),
        (["sent"], 0, False),
        (["sent"], 2, True),
        (["unconfirmed", "planned"], 0, True),
        (["unconfirmed", "confirmed"], 0, False),
        (["unconfirmed"], 32 * 24, False),
    ],
    ids=["not shown", "under way", "killed", "planned again", "set by another plan", "long ago"],
)
def test_a_budget_sent_and_not_shown_is_unconfirmed(statuses: list[str], hours: int, expected: bool) -> None:
    given = warehouse()
    for number, status in enumerate(statuses):
        noted = NOW - timedelta(hours=hours, minutes=-number)
        user = {"customer": "M1", "office_id": "M1", "user_id": "U1"}
        row = {**user, "month": NOW.date(), "noted_at_utc": noted}
        sent = {} if status in ("planned", "refused") else {"sent_at_utc": noted}
        push = {"plan_id": str(number), "status": status, "sent_count": len(sent), **sent}
        insert_rows(given, "meta.budget_pushes", [{**row, **push, "measure": one} for one in ("sold", "own")])
    found = ("budget unconfirmed", "error", "budget_pushes", "M1")
    assert conditions(given) == ([found] if expected else [])
