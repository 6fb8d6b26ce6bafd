"""How long do marts take over ten million rows, how much memory, and how quick is a question to them?

    python -m tests.tools.bench.marts_at_scale [--rows MILLIONS] [--data-dir DIR]

Makes a working file of a chain of a hundred offices over ten years, builds every mart in a process of its own
on two threads, and asks every mart for an office and for a month. Fails when building took more than 60 s of
CPU time spread over two cores, or a question more than 50 ms.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from pipelines.sync.declaration import declared_tables
from tests.tools.bench.large_chain import CORES, make_chain
from warehouse.database import Store
from warehouse.marts import build_marts
from warehouse.schema_evolution import declare_tables

BUILD_SECONDS, QUESTION_SECONDS = 60.0, 0.05
TRIES = 7
KEYS = ("office_id", "month")


def main() -> int:
    """Make the file, build in another process, ask, and print what came of it."""
    wanted = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        data_dir = wanted.data_dir or Path(folder)
        if wanted.build_only:
            say(json.dumps(build(data_dir)))
            return 0
        rows = make(data_dir, wanted.rows)
        say(f"{rows:,} rows in bi, {_size(data_dir):,.0f} MB")
        built = _built_elsewhere(data_dir)
        say(
            f"{built['marts']:.0f} marts: {built['wall']:.1f} s, CPU {built['cpu']:.1f} s, {CORES} threads, "
            f"at most {built['peak_mb']:,.0f} MB of memory; a file of {_size(data_dir):,.0f} MB"
        )
        slow = [name for name, seconds in questions(data_dir) if seconds > QUESTION_SECONDS]
    say(f"questions over {QUESTION_SECONDS * 1000:.0f} ms: {', '.join(slow) or 'none'}")
    return 1 if slow or built["cpu"] / CORES > BUILD_SECONDS else 0


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def make(data_dir: Path, millions: float) -> int:
    """A working file of so many million rows; answers how many they are."""
    store = Store(data_dir)
    declare_tables(store, declared_tables())
    with store.writing() as connection:
        return make_chain(connection, millions)


def build(data_dir: Path) -> dict[str, float]:
    """Build all marts; what it took."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    with Store(data_dir).writing() as connection:
        connection.execute(f"SET threads = {CORES}; SET enable_progress_bar = false")
        marts = build_marts(connection)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "marts": len(marts),
        "wall": time.perf_counter() - began,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": after.ru_maxrss / 1024,
    }


def questions(data_dir: Path) -> list[tuple[str, float]]:
    """Every mart asked for one office and one month: the median of several tries, in seconds."""
    path = data_dir / "work" / "warehouse.duckdb"
    took = []
    with duckdb.connect(path, read_only=True, config={"threads": CORES}) as file:
        found = file.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'marts' "
            "AND list_contains($1, column_name) ORDER BY ALL",
            [list(KEYS)],
        ).fetchall()
        for mart, key in found:
            value = file.execute(f"SELECT {key} FROM marts.{mart} OFFSET 5000 LIMIT 1").fetchone()
            if value:
                seconds, rows = _asked(file, f"SELECT * FROM marts.{mart} WHERE {key} = $1", value)
                took.append((f"{mart} by {key}", seconds))
                say(f"  {mart:<22} by {key:<10} {seconds * 1000:7.1f} ms {rows:>9,} rows")
    return took


def _asked(file: duckdb.DuckDBPyConnection, query: str, value: tuple[object, ...]) -> tuple[float, int]:
    seconds = []
    rows = 0
    for _ in range(TRIES):
        began = time.perf_counter()
        rows = _count(file, query, value)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), rows


def _count(file: duckdb.DuckDBPyConnection, query: str, value: tuple[object, ...]) -> int:
    """Every column of every row is read, but none is made a Python object: that is the client's work."""
    ((rows,),) = file.execute(f"SELECT count(hash(found)) FROM ({query}) AS found", list(value)).fetchall()
    return int(rows)


def _built_elsewhere(data_dir: Path) -> dict[str, float]:
    module = ["-m", "tests.tools.bench.marts_at_scale"]
    command = [sys.executable, *module, "--build-only", "--data-dir", str(data_dir)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _size(data_dir: Path) -> float:
    return (data_dir / "work" / "warehouse.duckdb").stat().st_size / 1e6


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, default=10, help="million rows")
    parser.add_argument("--data-dir", type=Path, help="an empty directory to keep the file in")
    parser.add_argument("--build-only", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
