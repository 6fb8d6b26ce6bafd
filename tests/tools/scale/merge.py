"""A merge at scale: how long the union and the marts take, how much memory, and how quick a question is then.

    python -m tests.tools.scale.merge [--rows MILLIONS] [--shards NUMBER] [--folder DIR] [--no-marts]

Makes the published files of shards of a hundred customers and ten years each, and the same rows in one file,
all by SQL; merges the shards in a process of its own on two threads, builds the marts, and asks both.
Fails when the union took more than four minutes (CPU of two cores), anything more than 4 GB, or a question
to the merged file more than 1.2 times as long as to the other.
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
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from tests.tools.bench.marts_at_scale import CORES, build, make_chain, peak_mb
from tests.tools.telling import conclude, say
from warehouse.publishing.merge import merge
from warehouse.publishing.publish import publish
from warehouse.store.database import Store

UNION_SECONDS, PEAK_MB, TIMES = 240.0, 4096.0, 1.2
TRIES = 21
NOW = datetime(2027, 1, 1, 6, tzinfo=UTC)
QUESTIONS = {
    "a month of all offices": "FROM bi.running_commissions SELECT customer_id, sum(amount) "
    "WHERE _month = DATE '2020-05-01' GROUP BY ALL",
    "an office": "FROM bi.incoming_leads SELECT lead_state, count(*) WHERE _customer = 's1M7' GROUP BY ALL",
    "ten years of all": "FROM bi.sales_estates SELECT year(_month), sum(commission), count(*) GROUP BY ALL",
    "estates with agents": "FROM bi.sales_estates AS e JOIN bi.sales_agents AS a ON a._parent_row = e._row "
    "SELECT a.name, sum(a.commission_value) WHERE e._month >= DATE '2026-01-01' GROUP BY ALL",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, default=10, help="million rows in all")
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--folder", type=Path, help="an empty directory to keep the files in")
    parser.add_argument("--no-marts", action="store_true", help="the union alone")
    parser.add_argument("--step", choices=("merge", "build"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        sys.stdout.write(json.dumps(step(given.step, given.folder, given.shards)))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        make(folder, given.rows, given.shards)
        steps = ["merge"] if given.no_marts else ["merge", "build"]
        took = {name: measured(name, folder, given.shards) for name in steps}
        slow = [f"{name}: {ratio:.2f} times as long" for name, ratio in ask(folder) if ratio > TIMES]
    wrong = [
        f"{name} took {one['peak_mb']:,.0f} MB" for name, one in took.items() if one["peak_mb"] > PEAK_MB
    ]
    if took["merge"]["cpu"] / CORES > UNION_SECONDS:
        wrong.append(f"the union took {took['merge']['cpu'] / CORES:.0f} s")
    return conclude([*wrong, *slow])


def make(folder: Path, millions: float, shards: int) -> None:
    """The shards' published files, and one file with the rows of all."""
    first = 1
    for number in range(shards):
        store = Store(folder / f"s{number}")
        if store.path.exists():
            continue
        make_chain(store, millions / shards, f"s{number}")
        _know_budgets(store)
        publish(store.data_dir, keep=1, now=NOW)
        first = make_chain(Store(folder / "whole"), millions / shards, f"s{number}", first) + 1
        say(f"shard {number}: {first - 1:,} rows in all, {store.path.stat().st_size / 1e6:,.0f} MB")
    _know_budgets(Store(folder / "whole"))


def _know_budgets(store: Store) -> None:
    """Let the ledger know the columns that the chain was given by hand."""
    with store.writing() as connection:
        connection.execute(
            "INSERT INTO meta.columns (table_name, column_name, type, documented, position) "
            "SELECT 'office_budget_commission', unnest(['customer_id', 'user_id', 'commission']), "
            "unnest(['VARCHAR', 'VARCHAR', 'BIGINT']), false, unnest([90, 91, 92]) "
            "WHERE NOT EXISTS (FROM meta.columns WHERE column_name = 'user_id' "
            "AND table_name = 'office_budget_commission')"
        )


def measured(name: str, folder: Path, shards: int) -> dict[str, float]:
    """A step in a process of its own."""
    command = [sys.executable, "-m", "tests.tools.scale.merge", "--step", name]
    words = ["--folder", str(folder), "--shards", str(shards)]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    took: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    file = (folder / "all" / "work" / "warehouse.duckdb").stat().st_size / 1e6
    say(
        f"{name}: {took['wall']:.1f} s, CPU {took['cpu']:.1f} s, at most {took['peak_mb']:,.0f} MB memory, "
        f"a file of {file:,.0f} MB"
    )
    return took


def step(name: str, folder: Path, shards: int) -> dict[str, float]:
    """The union of all shards, or the marts of the merged file; what it took."""
    if name == "build":
        return build(Store(folder / "all"))
    began = time.perf_counter()
    merge(folder / "all", {f"s{number}": folder / f"s{number}" for number in range(shards)}, now=NOW)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": time.perf_counter() - began,
        "cpu": after.ru_utime + after.ru_stime,
        "peak_mb": peak_mb(),
    }


def ask(folder: Path) -> list[tuple[str, float]]:
    """How many times as long a question takes to the merged file as to the file that never was in parts."""
    ratios = []
    for name, question in QUESTIONS.items():
        seconds: dict[str, list[float]] = {"all": [], "whole": []}
        for file, times in seconds.items():
            path = folder / file / "work" / "warehouse.duckdb"
            with duckdb.connect(path, read_only=True, config={"threads": CORES}) as connection:
                for _ in range(TRIES):
                    began = time.process_time()  # others may use the machine
                    connection.execute(question).fetchall()
                    times.append(time.process_time() - began)
        one, other = (statistics.median(times) for times in seconds.values())
        ratios.append((name, one / other))
        say(f"  {name}: {one * 1000:.1f} ms merged, {other * 1000:.1f} ms in one file")
    return ratios


if __name__ == "__main__":
    sys.exit(main())
