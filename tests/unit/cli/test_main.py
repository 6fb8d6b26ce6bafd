"""The entry point: its answer to a word that is not a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from pipelines.cli.main import main, working
from pipelines.connect.denied_logins import DeniedLogins
from pipelines.connect.models import Login
from tests.scenarios.scenario import synced
from tests.unit.assets.harness import settings
from warehouse.errors import FileDamaged
from warehouse.store.lock import COMPLETE, WORK, unfinished_work
from warehouse.store.versions import Versions

BROKERBI = "import sys; from pipelines.cli.main import main; sys.exit(main())"

REHEARSAL = {"TODAY": "2026-11-22", "BASE_URL": "http://127.0.0.1:8080"}


def test_a_mistyped_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["staus"]) == 2
    assert capsys.readouterr().err.endswith("Error: No such command 'staus'. Did you mean 'status'?\n")


@pytest.mark.parametrize("words", [["plan", "--from", "2024-13"], ["erase"], ["export", "--format", "x"]])
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    assert main(words) == 2


def test_a_plan_has_a_line_for_each_customer_and_with_details_for_each_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"CUSTOMERS": "M1,M2", "START": "2026-01", "DATA_DIR": str(tmp_path), **REHEARSAL}
    for name, value in given.items():
        monkeypatch.setenv(f"BROKERBI_{name}", value)
    said = []
    for options in (("--report", "sales"), ("--report", "sales", "--report", "users", "--details")):
        assert main(["plan", *options]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        said.append([words for words in lines if {"M1", "M2"} & {*words}])
    assert [" ".join(cells) for cells in said[0]] == [
        f"{name} 1 2026-01 … 2026-11; 11 missing" for name in ("M1", "M2")
    ]
    assert [cells[:2] for cells in said[1]] == [
        [report, name] for report in ("users", "sales") for name in ("M1", "M2")
    ]


def given_a_refused_login(monkeypatch: pytest.MonkeyPatch, data_dir: Path, **more: str) -> None:
    """Settings of one customer, whose login the service refused before."""
    login = {"BASE_URL": "https://sandbox.example", "USERNAME": "somebody", "PASSWORD": "wrong"}
    for name, value in {"CUSTOMERS": "M1", "DATA_DIR": str(data_dir), **login, **more}.items():
        monkeypatch.setenv(f"BROKERBI_{name}", value)
    refused = DeniedLogins(data_dir / "work" / "refused_logins", login["BASE_URL"])
    refused.remember(Login("somebody", SecretStr("wrong")))


def test_text_that_a_terminal_cannot_show_does_not_end_a_command() -> None:
    command = [sys.executable, "-c", BROKERBI, "reports"]  # its table has rules of ─
    done = subprocess.run(command, env={"PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False)
    assert (done.returncode, b"???" in done.stdout) == (0, True)


def test_a_sync_that_loads_nothing_leaves_an_operators_page_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_a_refused_login(monkeypatch, tmp_path, START="2026-11", REPORTS="users")
    assert main(["sync"]) == 1
    assert "login refused" in (tmp_path / "operators.html").read_text("utf-8")


def test_a_sync_that_loads_nothing_publishes_what_an_earlier_one_could_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = synced(tmp_path, ("users",))
    given_a_refused_login(monkeypatch, stopped.data_dir, START="2026-11", REPORTS="users", PAGES="false")
    said = []
    for _ in range(2):
        assert main(["sync"]) == 1
        said.append(f"published {Versions(stopped.data_dir).published}" in capsys.readouterr().out)
    assert said == [True, False]


def test_a_killed_command_is_finished_by_the_same_options_in_any_order(tmp_path: Path) -> None:
    here = settings(tmp_path)
    with pytest.raises(FileDamaged), working(here, "sync --refresh --to 2026-11", remedy="Run it again."):
        raise FileDamaged("damaged")
    with working(here, "sync --to 2026-11 --no-wait --refresh"):
        assert unfinished_work(here.data_dir / WORK) == []


def test_a_replay_of_a_lost_file_finishes_what_damage_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = settings(tmp_path)
    for name, value in {"CUSTOMERS": "M1", "START": "2026-11", "DATA_DIR": str(here.data_dir)}.items():
        monkeypatch.setenv(f"BROKERBI_{name}", value)
    with pytest.raises(FileDamaged), working(here, "sync", remedy="Run it again.", completed_by=COMPLETE):
        raise FileDamaged("damaged")
    (here.data_dir / "landing" / "users").mkdir(parents=True)
    assert main(["replay"]) == 0
    assert unfinished_work(here.data_dir / WORK) == []
