"""Does a process that dies leave the old rows or the new ones? And do many leave each other in peace?"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from tests.warehouse.given import JANUARY, NOON, Given, hours, sales
from warehouse.compacting import compact
from warehouse.loads import Load
from warehouse.publishing import publish, rollback
from warehouse.store import Store

ROWS = 3_000
WORKERS = ("load", "publish", "compact")
CONSISTENT = """
SELECT (SELECT count(*) FROM bi.sales WHERE _customer = held.customer) = rows
   AND (SELECT count(DISTINCT _load_id) FROM bi.sales WHERE _customer = held.customer) = 1
   AND (SELECT bool_and(_load_id = load_id) FROM bi.sales WHERE _customer = held.customer)
FROM meta.months AS held
"""


def big(load_id: str, customer: str, fetched: float) -> Load:
    """A load that takes a moment to write."""
    rows = [(JANUARY, f"{load_id} {number}", "1.5") for number in range(ROWS)]
    return sales(load_id, *rows, customer=customer, fetched=hours(fetched))


def work(data_dir: Path, what: str, customer: str, rounds: int) -> None:
    """What a process of its own does until it is killed, or so many times; `rounds` 0 means for ever."""
    store = Store(data_dir, lock_seconds=60)
    sys.stdout.write("began\n")
    sys.stdout.flush()
    for number in count(1) if rounds == 0 else range(1, rounds + 1):
        if what == "load":
            store.load([big(f"{customer} {number}", customer, number)])
        elif what == "compact":
            compact(data_dir)
        else:
            publish(data_dir, keep=2, now=NOON)
            rollback(data_dir, now=NOON) if number > 1 else None


@contextmanager
def worker(
    data_dir: Path, what: str, customer: str = "M1", rounds: int = 0
) -> Iterator[subprocess.Popen[str]]:
    """Another process at work, which has begun."""
    code = "import sys; from pathlib import Path; from tests.warehouse.test_crashes import work; "
    code += "work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))"
    arguments = [sys.executable, "-c", code, str(data_dir), what, customer, str(rounds)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("what", WORKERS)
def test_a_process_killed_at_any_moment_leaves_whole_months_and_whole_files(
    tmp_path: Path, what: str
) -> None:
    given, chance = Given(tmp_path), Random(what)
    given.store.load([big("first", "M1", 0)])
    publish(tmp_path, keep=2, now=NOON)
    for _ in range(2):
        with worker(tmp_path, what) as process:
            time.sleep(chance.uniform(0.0, 0.3))  # the moment of the kill is what is tried here
            process.kill()
            process.wait()
        assert given.rows(CONSISTENT) == [(True,)]
        assert published_rows(tmp_path) == [(ROWS,)]
    given.store.load([big("last", "M1", 1e6)])
    publish(tmp_path, keep=2, now=NOON)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [
        "warehouse.duckdb",
        "warehouse.lock",
    ]


def test_two_processes_write_at_once_while_a_third_publishes_and_a_reader_reads(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.load([big("first", "M1", 0)])
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
