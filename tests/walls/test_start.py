"""Does the command line answer at once? Nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

from pipelines.command.arguments import COMMANDS
from tests.walls.files import ROOT

HEAVY = ("dagster", "duckdb", "httpx", "polars")
SAY_WHAT_IS_HEAVY = f"print(*[name for name in {HEAVY} if name in __import__('sys').modules])"


def _heavy_after(statement: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{SAY_WHAT_IS_HEAVY}"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_the_command_line_starts_without_anything_heavy() -> None:
    assert _heavy_after("import pipelines.command.main") == []


def test_planning_needs_no_frames_no_client_and_no_dagster() -> None:
    assert (
        _heavy_after("import pipelines.sync.planning, pipelines.settings, pipelines.catalogue.reports") == []
    )


def test_every_command_has_its_module() -> None:
    missing = [name for name in COMMANDS if not (ROOT / "pipelines" / "command" / f"{name}.py").is_file()]
    assert missing == []
