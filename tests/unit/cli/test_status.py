"""`brokerbi status --quarantine`: rows as they were received, and nothing of them otherwise."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import Scenario, scenario

STATUS = "import sys; from pipelines.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A world whose users have a word in the place of a time."""
    here = scenario(tmp_path_factory.mktemp("here"), ("users",), offices=1)
    here.sync(Fault("wrong_types", share=0.9))
    return here


def said(here: Scenario, *options: str) -> str:
    """What the command prints, in a process and with settings of its own."""
    settings = {
        "BASE_URL": "https://sandbox.example",
        "USERNAME": "sandbox",
        "PASSWORD": "sandbox",
        "CUSTOMERS": here.settings.customers[0].id,
        "START": "2026-10",
        "DATA_DIR": str(here.settings.data_dir),
    }
    environment = {f"BROKERBI_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-c", STATUS, "status", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_every_row_in_quarantine_is_shown_as_it_came(here: Scenario) -> None:
    [(waiting,)] = here.rows("SELECT count(*) FROM meta.quarantine_rows")
    lines = said(here, "--quarantine").splitlines()
    assert len([line for line in lines if line.startswith('    {"id": "')]) == waiting > 0
    told = json.loads(said(here, "--quarantine", "--json"))["rows_in_quarantine"]
    assert [one["trouble"] for one in told] == [""] * waiting


def test_a_plain_status_tells_no_row(here: Scenario) -> None:
    assert '"id"' not in said(here)
    assert "rows_in_quarantine" not in json.loads(said(here, "--json"))
