"""Readers are told what makes a figure of their page doubtful, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from pipelines.page.doubts import CHECKS, SUBJECTS, verdict
from pipelines.page.facts import CoveredMonth, Facts, Freshness
from pipelines.page.language import LANGUAGES, language
from tests.unit.page.given import DUE, NEWEST, PUBLISHED, chain, month
from warehouse.marts.queries import SQL

WELL = "The numbers are up to date"
BEGIN = "Before you rely on this: "


def _said(facts: Facts, office: str | None = None, code: str = "en") -> str:
    return str(verdict(facts, language(code), ZoneInfo("Europe/Stockholm"), office)["text"])


def _problem(kind: str, report: str | None = None, check_name: str = "") -> Facts:
    row = {"kind": kind, "severity": "warning", "report": report, "customer": None, "month": None}
    return replace(
        chain("A", "B"), problems=({**row, "since_utc": None, "check_name": check_name, "in_all": 1},)
    )


def _read(report: str, customer: str = "A", *, is_late: bool = False) -> Freshness:
    read = PUBLISHED - timedelta(days=3 if is_late else 0)
    return Freshness(report, customer, NEWEST, read, DUE, "late" if is_late else "fresh", is_late, True)


@pytest.mark.parametrize(
    "facts",
    [
        _problem("assumption", "budget_commission"),
        _problem("assumption", "live_activity"),
        _problem("changed column", "sales"),
        _problem("overlap"),
        _problem("check", check_name="foreign_money_has_a_rate"),
        replace(chain("A"), marks=[CoveredMonth("live_activity", "A", NEWEST, "failed", None)]),
        replace(chain("A"), marks=[CoveredMonth("sales", "A", NEWEST, "waiting", None)]),
        replace(
            chain("A"),
            standings=[_read("budget_commission", is_late=True), _read("office_budget_commission")],
        ),
    ],
)
def test_a_problem_that_touches_no_figure_is_left_to_operators(facts: Facts) -> None:
    assert [_said(facts), _said(facts, "A")] == [WELL, WELL]


def test_budgets_that_no_report_brings_are_said_to_be_missing() -> None:
    facts = replace(_problem("assumption", "budget_commission"), budgets=())
    assert _said(facts, "A") == f"{BEGIN}budgets of commission could not be read and are missing"


def test_a_month_of_an_office_is_doubtful_on_its_page_and_the_chain_s_which_names_it() -> None:
    marks = [
        CoveredMonth("commission_office", "A", month(one), "failed", None) for one in ("2026-01", "2026-02")
    ]
    facts = replace(chain("A", "B"), marks=marks)
    period = "for January to February 2026 could not be read and are missing, or as they were before"
    assert [_said(facts, one) for one in (None, "A", "B")] == [
        f"{BEGIN}commissions of A {period}",
        f"{BEGIN}commissions {period}",
        WELL,
    ]


def test_what_a_group_was_to_answer_is_doubtful_on_every_page() -> None:
    facts = replace(chain("A", "B"), standings=[_read("tips_and_leads", "G1", is_late=True)])
    late = f"{BEGIN}leads have not been read since 17 March 2026"
    assert {_said(facts, one) for one in (None, "A", "B")} == {late}


def test_rows_that_could_not_be_read_and_a_failed_check_are_said() -> None:
    assert _said(_problem("quarantine", "sales")) == f"{BEGIN}some sales could not be read and are missing"
    failed = _problem("check", check_name="shares_of_a_sale_are_whole")
    assert _said(failed) == f"{BEGIN}a check of sales failed: some may be wrong"


def test_every_check_that_is_named_exists() -> None:
    assert set(CHECKS) <= {path.stem for path in (SQL / "checks").glob("*.sql")}


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_doubt_has_words(code: str) -> None:
    marks = [
        CoveredMonth(report, "A", None, state, None)
        for report in SUBJECTS
        for state in ("failed", "held back", "no access")
    ]
    unread = replace(_read("sales", is_late=True), last_success_utc=None)
    for one in ("quarantine", "changes unknown", "not refreshed", "check"):
        facts = replace(_problem(one, "sales"), marks=marks, standings=[unread], budgets=())
        assert "{" not in _said(facts, code=code) + _said(replace(facts, marks=()), code=code)
