"""Is everything whole when a process is killed at the worst moments, and right when it is run again?

One directory is killed at one step after the other, so that every kill meets what the last one left.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import pytest

from pipelines.operations.replay import replay
from tests.scenarios.faults.ground import Cell, Ground, Rows, content, ground
from tests.scenarios.faults.victim import KILLED, Job, Step, killed_at, run
from warehouse.database import Store

REPORTS = ("users", "sales")
SYNC = (
    Step("warehouse/files.py", "sync"),
    Step("warehouse/duckdb_file.py", "create", "return"),
    Step("warehouse/schema_evolution.py", "declare", "return"),
    Step("warehouse/landing.py", "close"),
    Step("warehouse/landing.py", "close", "return"),
    Step("warehouse/load.py", "load_group"),
    Step("warehouse/load.py", "_write_ledger"),
    Step("warehouse/load.py", "load_group", "return"),
    Step("warehouse/checkpoint_journal.py", "_write_journal", "return"),
    Step("warehouse/checkpoint_journal.py", "_checkpoint", "return"),
    Step("warehouse/database.py", "load", "return"),
    Step("warehouse/database.py", "__exit__", "return"),
)
PUBLISH = (
    Step("warehouse/marts.py", "build_marts", "return"),
    Step("warehouse/checks.py", "run_checks", "return"),
    Step("warehouse/files.py", "copy_file"),
    Step("warehouse/files.py", "copy_file", "return"),
    Step("warehouse/publish.py", "show"),
    Step("warehouse/publish.py", "show", "return"),
    Step("warehouse/publish.py", "_write_down", turn=2),
)
REPLAY = (
    Step("warehouse/load.py", "_write_ledger"),
    Step("warehouse/load.py", "_write_ledger", turn=2),
    Step("warehouse/database.py", "load", "return"),
    Step("warehouse/database.py", "load", "return", turn=2),
    Step("warehouse/database.py", "__exit__", "return"),
)
ROLLBACK = (
    Step("warehouse/files.py", "give_name"),
    Step("warehouse/files.py", "give_name", "return"),
)
COMPACT = (
    Step("warehouse/retention.py", "rewrite_file"),
    Step("warehouse/retention.py", "rewrite_file", "return"),
    Step("warehouse/retention.py", "compact", "return"),
)


@cache
def undisturbed() -> tuple[Ground, Mapping[Cell, Rows]]:
    here = ground(Path(mkdtemp()) / "data", reports=REPORTS, offices=1)
    here.sync()
    here.publish()
    here.publish()
    return here, here.cells()


def begun(directory: Path, what: str, *, empty: bool = False) -> Job:
    """A job on a copy of the undisturbed directory, or on an empty one."""
    here, _ = undisturbed()
    if not empty:
        shutil.copytree(here.settings.data_dir, directory)
    customers = tuple(customer.id for customer in here.settings.customers)
    return Job(what, str(directory), customers, "2026-10", REPORTS)


def cells_of(directory: Path, file: str) -> Mapping[Cell, Rows]:
    """What a file holds, once whatever a killed process left is put right."""
    path = directory / file
    if not path.exists():  # and looking must not make it
        return {}
    if path.parent.name == "work":
        with Store(directory).reading() as connection:
            return _cells(connection)
    with duckdb.connect(str(path), read_only=True) as connection:
        return _cells(connection)


def _cells(connection: duckdb.DuckDBPyConnection) -> Mapping[Cell, Rows]:
    known = connection.execute("SELECT 1 FROM duckdb_tables() WHERE schema_name = 'bi'").fetchall()
    return content(connection) if known else {}


def strange(directory: Path) -> list[str]:
    """Cells that hold anything but the truth."""
    _, truth = undisturbed()
    files = ("work/warehouse.duckdb", "warehouse.duckdb")
    return [
        f"{file} {cell}"
        for file in files
        for cell, rows in cells_of(directory, file).items()
        if rows != truth.get(cell)
    ]


def test_a_first_sync_killed_at_every_step_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    job = begun(tmp_path / "data", "sync", empty=True)
    for step in SYNC:
        assert run(killed_at(job, step)) == KILLED, step
        assert strange(tmp_path / "data") == [], step
    assert run(job) == 0
    assert cells_of(tmp_path / "data", "work/warehouse.duckdb") == undisturbed()[1]
    settings = undisturbed()[0].settings.model_copy(update={"data_dir": tmp_path / "data"})
    assert replay(settings).failures == []


@pytest.mark.parametrize(
    ("what", "steps"),
    [
        ("sync", SYNC[5:]),
        ("publish", PUBLISH),
        ("replay", REPLAY),
        ("rollback", ROLLBACK),
        ("compact", COMPACT),
    ],
)
def test_killed_at_any_step_both_files_hold_the_truth_and_the_next_run_completes(
    tmp_path: Path, what: str, steps: tuple[Step, ...]
) -> None:
    data = tmp_path / "data"
    job = begun(data, what)
    for step in steps:
        assert run(killed_at(job, step)) == KILLED, step
        assert strange(data) == [], step
    assert run(job if what != "rollback" else replace(job, what="publish")) == 0
    for file in ("work/warehouse.duckdb", "warehouse.duckdb"):
        assert cells_of(data, file) == undisturbed()[1]
