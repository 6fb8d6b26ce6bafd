"""What comes of a check, and what if it cannot run? Results, samples and how they are kept."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.operations.publish import reasons_against
from tests.marts.given import build, warehouse
from warehouse.checks import CheckResult, keep_results, run_checks
from warehouse.queries import QueryError

HEADER = "-- Is it so?\n-- One row each.\n"


def check(tmp_path: Path, sql: str, severity: str = "error") -> list[CheckResult]:
    (tmp_path / "c.sql").write_text(f"{HEADER}-- Severity: {severity}\n{sql}")
    return run_checks(warehouse(), tmp_path)


def test_a_check_counts_its_rows_and_keeps_some_of_them(tmp_path: Path) -> None:
    [found] = check(tmp_path, "SELECT range AS x FROM range(7)", "warning")
    assert (found.severity, found.rows, found.sample[0], len(found.sample)) == ("warning", 7, {"x": 0}, 5)


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_a_check_that_cannot_run_fails_as_gravely_as_it_is_graded_and_stops_no_other(
    tmp_path: Path, severity: str
) -> None:
    (tmp_path / "d.sql").write_text(f"{HEADER}-- Severity: {severity}\nSELECT * FROM bi.nobody")
    good, bad = check(tmp_path, "SELECT 1 WHERE false")
    assert (good.passed, bad.passed, bad.severity) == (True, False, severity)
    assert bad.sentence.startswith("The check d could not run: ")
    assert "nobody" in bad.message


def test_a_check_that_fails_half_way_does_not_harm_the_callers_transaction(tmp_path: Path) -> None:
    given = warehouse()
    (tmp_path / "c.sql").write_text(f"{HEADER}-- Severity: error\nSELECT CAST('x' AS INT) AS x")
    given.begin()
    run_checks(given, tmp_path)
    assert given.execute("SELECT 1").fetchall() == [(1,)]


def test_a_check_without_a_known_severity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="must say `Severity: error` or `Severity: warning`"):
        check(tmp_path, "SELECT 1", "fatal")


def test_a_result_says_in_a_sentence_what_was_found() -> None:
    found = CheckResult("c", "error", 1, (), "Is it so?")
    assert found.sentence == "Is it so? 1 row offends c."
    assert CheckResult("c", "error", 1, (), "Is it so?", "no table").sentence == (
        "The check c could not run: no table"
    )


def test_results_are_kept_in_place_of_the_earlier_ones() -> None:
    given = warehouse()
    moment = datetime(2026, 6, 1, 5, tzinfo=UTC)
    for rows in (3, 2):
        keep_results(given, [CheckResult("c", "warning", rows, ({"month": moment},), "Is it so?")], moment)
    found = given.execute("SELECT name, row_count, sample, checked_at_utc FROM meta.check_results").fetchall()
    assert found == [("c", 2, '[{"month": "2026-06-01 05:00:00+00:00"}]', datetime(2026, 6, 1, 5))]


def test_an_error_check_that_could_not_run_keeps_the_file_back_and_a_warning_check_does_not() -> None:
    unable = [
        CheckResult(name, name.partition("_")[0], 1, (), "Is it so?", "no such column")
        for name in ("error_check", "warning_check")
    ]
    assert reasons_against(unable) == ["The check error_check could not run: no such column"]


def test_a_check_that_could_not_run_is_an_open_problem_whatever_it_asks() -> None:
    given = warehouse()
    build(given, "customers")
    unable = CheckResult("reports_are_fresh", "warning", 1, (), "Is it so?", "no such column")
    keep_results(given, [unable], datetime(2026, 6, 1, 5, tzinfo=UTC))
    found = given.execute("SELECT kind, severity, message FROM meta.problems").fetchall()
    assert found == [
        ("check", "warning", "The check reports_are_fresh could not run: no such column"),
    ]
