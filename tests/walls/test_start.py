"""Does the command line answer at once? Nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from pipelines.command.arguments import COMMANDS
from tests.walls.files import ROOT

HEAVY = ("dagster", "duckdb", "httpx", "polars")
FOR_PEOPLE_WHO_WATCH = ("click", "rich")


def _imported_by(statement: str, names: Sequence[str] = HEAVY) -> list[str]:
    say = f"print(*[name for name in {names} if name in __import__('sys').modules])"
    ran = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{say}"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split()


def test_the_command_line_starts_without_anything_heavy() -> None:
    assert _imported_by("import pipelines.command.main") == []


def test_planning_needs_no_frames_no_client_and_no_dagster() -> None:
    assert (
        _imported_by("import pipelines.sync.planning, pipelines.settings, pipelines.catalogue.reports") == []
    )


def test_a_sync_imports_nothing_that_only_draws_on_terminals() -> None:
    assert _imported_by("import pipelines.command.main as m; m.run_of('sync')", FOR_PEOPLE_WHO_WATCH) == []


def test_a_command_starts_without_the_options_of_others() -> None:
    start = "import pipelines.command.main as m, pipelines.command.arguments as a; a.parser(only=['sync'])"
    assert _imported_by(start, ("pipelines.sandbox.serving",)) == []


def test_a_command_ends_without_a_word_from_its_libraries() -> None:
    assert _imported_by("import pipelines.command.main as m; m.run_of('sync'); m.main(['reports'])")


def test_every_command_has_its_module() -> None:
    missing = [name for name in COMMANDS if not (ROOT / "pipelines" / "command" / f"{name}.py").is_file()]
    assert missing == []
