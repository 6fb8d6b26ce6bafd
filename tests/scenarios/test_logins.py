"""A login for each function of the service: a wrong password denies only its own reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pipelines.diagnosis.doctor import examine
from pipelines.sandbox.service import SandboxLogin
from pipelines.settings.model import FunctionLogin
from tests.scenarios.budgets import budget_scenario
from tests.scenarios.scenario import Scenario, scenario

REPORTS = ("users", "sales", "budget_commission")
PARTNER = "sandbox"
LOGINS = (
    SandboxLogin(PARTNER, "sandbox", paths=("/BusinessIntelligence/External", "/BusinessIntelligence/Get")),
    SandboxLogin(PARTNER, "of budgets", paths=("/Report/", "/BusinessIntelligence/Budget/")),
)


def for_functions(**passwords: str) -> dict[str, FunctionLogin]:
    return {name: FunctionLogin(password=SecretStr(password)) for name, password in passwords.items()}


def chain(directory: Path, password: str) -> Scenario:
    """Two offices whose budgets need a separate password, with this one in the settings."""
    here = scenario(directory, REPORTS)
    here.service.logins = LOGINS
    return here.with_settings(logins=for_functions(report=password))


@pytest.fixture
def wrong(tmp_path: Path) -> Scenario:
    here = chain(tmp_path, "wrong")
    here.sync()
    return here


def failed(here: Scenario) -> list[tuple[Any, ...]]:
    return here.rows("SELECT DISTINCT report, login FROM meta.open_failures")


def test_a_wrong_password_of_a_function_costs_one_request_and_its_own_reports(wrong: Scenario) -> None:
    assert [entry.status for entry in wrong.asked].count(401) == 1
    assert failed(wrong) == [("budget_commission", "the username or password of the login for report")]
    states = dict(wrong.rows("SELECT DISTINCT report, state FROM meta.freshness"))
    assert states == {"budget_commission": "login refused", "sales": "fresh", "users": "fresh"}


def test_a_corrected_password_of_a_function_is_no_error_and_tried_by_the_next_sync(wrong: Scenario) -> None:
    corrected = wrong.with_settings(logins=for_functions(report="of budgets"))
    [finding] = [
        one
        for one in examine(corrected.settings, corrected.context, environment={})
        if one.subject == "failed"
    ]
    assert (finding.severity, finding.remedy) == ("warning", "The service answers now: run `brokerbi sync`.")
    assert corrected.sync().failure_lines() == []
    assert failed(corrected) == []


def test_the_doctor_names_the_login_and_asks_what_others_are_for(wrong: Scenario) -> None:
    found = list(examine(wrong.settings, wrong.context, environment={}))
    offices = ", ".join(one.id for one in wrong.settings.customers)
    [finding] = [one for one in found if one.subject == f"login of {offices}"]
    assert finding.remedy.startswith("Correct the username or password of the login for report; ")
    rights = [(one.subject, one.result) for one in found if one.subject.startswith("access")]
    assert rights == [(f"access of {offices}", "answered: 2 of 2 reports")]


def test_budgets_are_planned_and_pushed_with_the_logins_of_their_functions(tmp_path: Path) -> None:
    here = budget_scenario(tmp_path)
    here.service.logins = LOGINS
    here.settings = here.settings.model_copy(
        update={"logins": for_functions(report="of budgets", business_intelligence_budget="of budgets")}
    )
    assert here.push(here.plan({"sold": 3})).is_confirmed
