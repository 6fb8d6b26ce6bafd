"""A first command, from nothing to a published file, with the notebook and examples of docs/ over it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.cli.main import main

ROOT = Path(__file__).parents[2]
ANALYSIS = ROOT / "sql" / "analysis"
COMMAND = Path(sys.executable).with_name("brokerbi")
README, *DOCS = (
    (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/analysts.md", "docs/command-line.md")
)


def run(*words: str | Path) -> str:
    """The output of a command that succeeds."""
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def dated(example: str, month: date) -> str:
    """An example about the latest month that is over, and its year, in place of those that it names."""
    return re.sub(r"\b20\d\d\b", f"{month:%Y}", re.sub(r"\b20\d\d-\d\d\b", f"{month:%Y-%m}", example))


def examples_of_sql() -> Sequence[str]:
    """The indented SQL blocks of the docs, with the files that they read, and the README's queries."""
    blocks = re.findall(r"(?:^    (?:SET|FROM|SELECT) .*\n(?:    .*\n)*)", "\n".join(DOCS), re.MULTILINE)
    asked = re.findall(r'duckdb -readonly \S+ "([^"]+)"', README)
    return [
        re.sub(r"\.read (\S+)", lambda file: (ROOT / file[1]).read_text("utf-8"), one)
        for one in blocks + asked
    ]


def pictures_of_the_notebook() -> Sequence[str]:
    """The charts of its queries; its first cell opens the file, and every other cell is a query."""
    cells = json.loads((ROOT / "docs/questions.ipynb").read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    opening, *questions = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    exec(opening, names)
    pictures = [eval(question, names)._repr_svg_() for question in questions]
    names["connection"].close()
    return pictures


def test_the_demo_publishes_a_file_that_the_notebook_draws_and_the_examples_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    said = run(COMMAND, "demo", "--months", "3", "--data-dir", tmp_path)
    with duckdb.connect(tmp_path / "warehouse.duckdb", read_only=True) as file:
        [(month,)] = file.execute("SELECT month FROM marts.chain_month WHERE is_last_over").fetchall()
        texts = [dated(one, month) for one in examples_of_sql()]
        statements = [one for text in texts for one in file.extract_statements(text)]
        rows = {one.query: file.execute(one).fetchall() for one in statements}
        incidents = {
            number: str(file.execute(next(ANALYSIS.glob(f"{number}_*")).read_text("utf-8")).fetchall())
            for number in ("07", "08", "25")
        }
    assert all(number in said for number in incidents)
    assert all(kind in incidents["08"] for kind in ("sale gone", "sale changed"))
    assert "[]" not in (incidents["07"], incidents["25"])
    assert [query for query, found in rows.items() if not found and "SET " not in query] == []
    monkeypatch.setenv("BROKERBI_DATA_DIR", str(tmp_path))
    assert [picture for picture in pictures_of_the_notebook() if "<rect x=" not in picture] == []
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"brokerbi ((?:query|explain) [^`\n>]+)", "\n".join(DOCS)):
        words = shlex.split(dated(line, month))
        code, told = main(words), capsysbinary.readouterr()
        assert (code, b"no row" in told.out) == (0, False), told.err
