"""The command `budget`: what it prints, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.cli.main import main
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.server import serving
from pipelines.words import count
from tests.scenarios.budgets import DECEMBER, OFFICE, SETTING, BudgetScenario, budget_scenario


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BudgetScenario]:
    """A service on a socket, and an environment that points at it."""
    scenario = budget_scenario(tmp_path)
    with serving(scenario.service) as server:
        given = {
            "BASE_URL": server.base_url,
            "USERNAME": "sandbox",
            "PASSWORD": "sandbox",
            "CUSTOMERS": OFFICE,
            "START": "2026-10",
            "DATA_DIR": str(scenario.settings.data_dir),
            "REQUESTS_PER_SECOND": "1000",
            "TODAY": "2026-11-21",
        }
        for name, value in given.items():
            monkeypatch.setenv(f"BROKERBI_{name}", value)
        yield scenario


def test_a_plan_is_a_table_by_office_and_measure_after_the_number_of_requests(
    here: BudgetScenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = here.shown(here.users[0]).commission
    file = here.file({"commission": before + 5_000})
    assert main(["budget", "plan", str(file), "--plan", str(tmp_path / "plan.json")]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == "reading budgets, at most 3 requests, about 0.0 s; nothing is set"
    cells = [cell.strip() for cell in said.out.splitlines()[2].split("  ") if cell.strip()]
    assert cells == [OFFICE, "commission", "1", count(before), count(before + 5_000), count(5_000)]
    assert here.sent == {}


def test_a_push_ends_with_1_and_a_list_while_anything_is_open_and_with_0_in_the_end(
    here: BudgetScenario, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = str(tmp_path / "plan.json")
    rows = ({"user_id": user, "sold": 9} for user in here.users)
    assert main(["budget", "plan", str(here.file(*rows)), "--plan", plan, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["changes"]) == 3
    assert main(["budget", "push", plan]) == 2
    monkeypatch.setenv("BROKERBI_ALLOW_BUDGET_WRITES", "true")
    here.service.faults.switch([Fault("500", path=f"{SETTING}30011/{here.users[0]}")])
    assert main(["budget", "push", plan, "--patience", "0", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["budgets"], found["confirmed"]) == (3, 2)
    [left] = found["open"]
    assert (left["user"], left["month"], left["status"]) == (here.users[0], str(DECEMBER), "unconfirmed")
    here.service.faults.switch([])
    assert main(["budget", "push", plan, "--patience", "0"]) == 0
    assert "confirmed: 3 of 3 budgets" in capsys.readouterr().out
