"""`brokerbi status`: causes, lines that fit the terminal, and a code for monitors."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.cli.main import main
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import Scenario, scenario
from tests.unit.warehouse.other_process import begun
from warehouse.publishing.publish import publish

Said = Callable[..., str]
STATUS = "import sys; from pipelines.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A world whose users have a word in the place of a time."""
    here = scenario(tmp_path_factory.mktemp("here"), ("users",), offices=1)
    here.sync(Fault("wrong_types", share=0.3))
    publish(here.data_dir, keep=1, now=here.clock.utc_now())
    return here


@pytest.fixture
def said(here: Scenario, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    """What the command prints, with the data directory and no other setting."""
    monkeypatch.setenv("BROKERBI_DATA_DIR", str(here.settings.data_dir))

    def said(*options: str) -> str:
        assert main(["status", *options]) == 0
        return capsys.readouterr().out

    return said


def given_settings(monkeypatch: pytest.MonkeyPatch, here: Scenario, data_dir: Path) -> None:
    """What a sync needs, for another data directory and a service that does not answer."""
    customers = ",".join(one.id for one in here.settings.customers)
    given = {"CUSTOMERS": customers, "START": "2026-10", "REPORTS": "users", "DATA_DIR": str(data_dir)}
    login = {"BASE_URL": "http://127.0.0.1:9", "USERNAME": "x", "PASSWORD": "y", "RETRY_SECONDS": "0"}
    for name, value in (given | login).items():
        monkeypatch.setenv(f"BROKERBI_{name}", value)


def test_reading_commands_create_nothing(
    here: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_settings(monkeypatch, here, tmp_path / "data")
    assert [main([command]) for command in ("status", "plan")] == [0, 0]
    assert "would send 1 request" in capsys.readouterr().out
    assert not (tmp_path / "data").exists()


def test_status_its_sentence_and_the_plan_count_the_same_missing_months(
    here: Scenario, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_settings(monkeypatch, here, here.data_dir)
    monkeypatch.setenv("BROKERBI_REPORTS", "users,sales,budget_crm")
    monkeypatch.setenv("BROKERBI_TODAY", "2026-11-21")
    monkeypatch.setenv("BROKERBI_BASE_URL", "http://127.0.0.1:8080")
    assert main(["status"]) == 0
    said = capsys.readouterr().out
    table = [re.split(" {2,}", line) for line in said[said.index("customer ") :].splitlines()]
    missing = table[2][table[0].index("missing")]
    assert int(missing) > 0
    assert f"- {missing} report months missing" in said
    assert main(["plan"]) == 0
    assert f"; {missing} missing" in capsys.readouterr().out


def test_doctor_names_the_command_that_works_and_sends_no_request(
    here: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_settings(monkeypatch, here, tmp_path)
    process = begun("work", tmp_path)
    try:
        main(["doctor"])
    finally:
        process.kill()
        process.communicate()
    shown = " ".join(capsys.readouterr().out.split())
    assert f"when it has ended: brokerbi sync (process {process.pid}, since " in shown
    assert "asked with" not in shown


def test_shapes_names_undeclared_fields_and_fails_without_an_answer(
    here: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_settings(monkeypatch, here, here.copied_to(tmp_path / "data").data_dir)
    (tmp_path / "data" / "shapes.toml").write_text('[users.columns]\ncell_phone = ".mobile"\n')
    assert (main(["shapes"]), main(["shapes", "--from-landing"])) == (1, 0)
    assert "Undeclared fields: cellPhone.\n" in capsys.readouterr().out


def run(command: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which obeys permissions even for root."""
    as_anybody = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    words = [*as_anybody, sys.executable, "-c", STATUS, command]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_reading_commands_need_no_write_access(
    here: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = shutil.copytree(here.data_dir, tmp_path / "data")
    given_settings(monkeypatch, here, data_dir)
    before = run("status").stdout
    for path in (data_dir, *data_dir.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    files = {path: path.stat().st_mtime_ns for path in data_dir.rglob("*")}
    after = run("status").stdout
    assert {path: path.stat().st_mtime_ns for path in data_dir.rglob("*")} == files
    rows, same_rows = ([row for row in text.splitlines() if row.startswith("M")] for text in (before, after))
    assert rows == same_rows != []
    (data_dir / "work" / "warehouse.duckdb").chmod(0)
    assert " ".join(run("doctor").stdout.split()).count(" is not writable") == 1
    assert f"{data_dir / 'work'} is not writable; run" in run("sync").stderr
    data_dir.chmod(0)
    texts = run("sync").stderr, run("status").stderr, run("doctor").stdout
    assert [" ".join(text.split()).count(f"{data_dir} is not writable") for text in texts] == [1, 1, 1]


def test_status_shows_requests_by_day_and_only_known_sizes(here: Scenario, said: Said) -> None:
    told = json.loads(said("--json"))
    [night] = told["nights"]
    names = ("day", "customers", "requests", "repeated", "failed")
    assert [night[name] for name in names] == ["2026-11-21", 1, 1, 0, 0]
    here.execute("UPDATE meta.publications SET bytes = NULL")  # as a lost file has it that was rebuilt
    assert " 0 B" not in said()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"BASE_URL": "", "USERNAME": "", "PASSWORD": ""}, ""),
        ({"PASSWORD": ""}, "BROKERBI_PASSWORD is not set"),
        ({"CUSTOMERS": ""}, "BROKERBI_CUSTOMERS"),
    ],
    ids=["a reader", "no password", "no customers"],
)
def test_settings_with_which_a_sync_would_fail_are_an_error(
    here: Scenario,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    said: str,
) -> None:
    given_settings(monkeypatch, here, here.data_dir)
    for name, value in given.items():
        monkeypatch.setenv(f"BROKERBI_{name}", value)
    code = main(["status", "--check"])
    shown = " ".join(capsys.readouterr().out.split())
    assert (code, "the settings do not load" in shown, said in shown) == (int(bool(said)), bool(said), True)
