"""Killed processes leave the old rows or the new ones, and many processes share one directory."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from tests.unit.warehouse.given import NOON, Given
from tests.unit.warehouse.other_process import ROWS, begun, big
from warehouse.publish import publish

WORKERS = ("load", "publish", "compact")
CONSISTENT = """
SELECT (SELECT count(*) FROM bi.sales WHERE _customer = held.customer) = rows
   AND (SELECT count(DISTINCT _load_id) FROM bi.sales WHERE _customer = held.customer) = 1
   AND (SELECT bool_and(_load_id = load_id) FROM bi.sales WHERE _customer = held.customer)
FROM meta.months AS held
"""


@contextmanager
def worker(
    data_dir: Path, what: str, customer: str = "M1", rounds: int = 0
) -> Iterator[subprocess.Popen[str]]:
    """Another process at work, which has begun."""
    with begun(what, data_dir, customer, rounds) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("what", WORKERS)
def test_a_process_killed_at_any_moment_leaves_whole_months_and_whole_files(
    tmp_path: Path, what: str
) -> None:
    given, chance = Given(tmp_path), Random(what)
    given.load([big("first", "M1", 0)])
    publish(tmp_path, keep=2, now=NOON)
    for _ in range(2):
        with worker(tmp_path, what) as process:
            time.sleep(chance.uniform(0.0, 0.3))  # the moment of the kill is what is tried here
            process.kill()
            process.wait()
        assert given.rows(CONSISTENT) == [(True,)]
        assert published_rows(tmp_path) == [(ROWS,)]
    given.load([big("last", "M1", 1e6)])
    publish(tmp_path, keep=2, now=NOON)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [
        "warehouse.duckdb",
        "warehouse.lock",
        "warehouse.next",
    ]


def test_two_processes_write_at_once_while_a_third_publishes_and_a_reader_reads(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([big("first", "M1", 0)])
    publish(tmp_path, keep=2, now=NOON)
    with (
        worker(tmp_path, "load", "M1", 5) as one,
        worker(tmp_path, "load", "M2", 5) as other,
        worker(tmp_path, "publish", rounds=4) as third,
    ):
        seen = [published_rows(tmp_path) for _ in range(20)]
        ends: list[Any] = [(process.communicate()[1], process.returncode) for process in (one, other, third)]
    assert ends == [("", 0)] * 3
    assert given.rows(CONSISTENT) == [(True,), (True,)]
    assert all(rows % ROWS == 0 for [(rows,)] in seen)


def published_rows(data_dir: Path) -> list[tuple[Any, ...]]:
    with duckdb.connect(data_dir / "warehouse.duckdb", read_only=True) as connection:
        return connection.execute("SELECT count(*) FROM bi.sales").fetchall()
