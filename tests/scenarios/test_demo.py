"""A stranger's first command, from nothing to a published file, and the notebook of docs/ over that file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("brokerbi")


def test_the_demo_publishes_a_file_that_the_notebook_draws(tmp_path: Path) -> None:
    demo = subprocess.run(
        [COMMAND, "demo", "--months", "3", "--data-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert demo.returncode == 0, demo.stderr
    assert (tmp_path / "warehouse.duckdb").is_file()
    notebook = subprocess.run(
        [sys.executable, "-m", "tests.tools.notebook", "--data-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert notebook.returncode == 0, notebook.stdout + notebook.stderr
