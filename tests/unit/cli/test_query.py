"""`brokerbi query`: a table for people, files for programs, and only the data directory is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from pipelines.cli.main import main

Said = Callable[..., str]
QUERY = "import sys; from pipelines.cli.main import main; sys.exit(main())"
SUMS = "SELECT * FROM marts.sums ORDER BY id"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    with duckdb.connect(folder / "warehouse.duckdb") as connection:
        connection.execute("CREATE SCHEMA marts")
        connection.execute(
            "CREATE TABLE marts.sums AS FROM "
            "(VALUES ('M1', 2.50::DECIMAL(18, 4), 7::DOUBLE), ('M2', NULL, 0.5)) rows(id, sum, rate)"
        )
    return folder


@pytest.fixture
def said(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    """What the command prints, with the data directory and no other setting."""
    monkeypatch.setenv("BROKERBI_DATA_DIR", str(here))

    def said(*words: str) -> str:
        assert main(["query", *words]) == 0
        return "".join(capsys.readouterr())

    return said


def test_a_query_prints_a_table_by_default(said: Said) -> None:
    assert said(SUMS).splitlines() == ["id  sum  rate", "──  ───  ────", "M1  2.5     7", "M2        0.5"]
    assert "no rows in the published file, version unknown\n" in said(f"{SUMS} LIMIT 0")


@pytest.mark.parametrize("format_", ["table", "csv"])
def test_data_cannot_control_a_terminal(here: Path, format_: str) -> None:
    ours, terminal = os.openpty()
    question = "SELECT chr(27) || '[2J' || chr(155) || 'x' AS name"
    command = [sys.executable, "-c", QUERY, "query", question, "--format", format_]
    subprocess.run(command, env={"BROKERBI_DATA_DIR": str(here)}, stdout=terminal, check=True)
    told = os.read(ours, 10_000).decode()
    assert (r"\u001b[2j\u009bx" in told.lower(), set("\x1b\x9b") & set(told)) == (True, set())


def test_without_a_question_the_analyses_are_listed(said: Said) -> None:
    assert "01_best_offices_this_year" in said()
