"""Marts over ten million rows: the time and memory that their build takes, and the time of a query.

    python -m tests.tools.bench.marts_at_scale [--rows MILLIONS] [--data-dir DIR]

Makes a working file of a chain of a hundred offices over ten years, builds all marts in one separate process
with two threads, and queries every mart by office and by month. Fails if the build takes more than 120 s of
CPU time (60 s on each of two cores) or 1,000 MB of memory, or a query more than 50 ms.
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
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from pipelines.sync.declaration import declared_tables
from tests.tools.messages import say
from tests.working_file import declare_tables
from warehouse.marts.build import build_marts, build_within_memory
from warehouse.store.database import Store

BUILD_SECONDS, PEAK_MB, QUERY_SECONDS = 60.0, 1000.0, 0.05
CORES, TRIES = 2, 7
OFFICES, USERS_OF_OFFICE, MONTHS = 100, 30, 120
READ = datetime(2027, 1, 1, 5, 0)
OURS = f"""
'M' || (n % {OFFICES}) AS _customer,
(DATE '2017-01-01' + to_months((n // {OFFICES}) % {MONTHS}))::DATE AS _month,
'L' || '{{report}}' || (n % {OFFICES}) || '-' || (n // {OFFICES}) % {MONTHS} AS _load_id,
TIMESTAMP '{READ}' AS _fetched_at_utc, {{first}} + n AS _row
"""
USER = "'U' || (n % 100) || '-' || (hash(n) % 30)"
USER_OF_MONTH = "'U' || (n % 100) || '-' || (n // 12000)"
DAY = "_month + ((hash(n, 1) % 28)::INT)"
EARNED = """
100000 + hash(n) % 900000 AS commission, 3000000 AS sold_total_price, 1 + hash(n) % 3 AS sold_estate_parts,
50000 AS sold_average_commission, 1 AS writing_parts, 2 AS valuation_parts
"""


@dataclass(frozen=True)
class MadeTable:
    """A table of a report: its number of rows among ten million, and its columns as SQL."""

    report: str
    name: str
    rows: int
    columns: str
    grows: bool = True
    """If false, it has one row for each office or user and month, for any number of rows in all."""


TABLES = (
    MadeTable(
        "commission_office", "commission_office", OFFICES * MONTHS,
        f"_customer AS office_customer_id, {EARNED}", grows=False,
    ),
    MadeTable(
        "commission_user", "commission_user", OFFICES * MONTHS * USERS_OF_OFFICE,
        f"{USER_OF_MONTH} AS user_id, {EARNED}", grows=False,
    ),
    MadeTable("sales", "sales_estates", 600_000, f"""
        'E' || n AS id, _customer AS office_customer_id, 'Office ' || _customer AS office_name,
        {DAY} AS contract_day, 90000 AS commission, 3000000 AS final_price, 2900000 AS starting_price,
        'Villa' AS type_text, 'Street ' || n AS address_street_address
    """),
    MadeTable("sales", "sales_agents", 1_200_000, f"""
        'E' || n % {{estates}} AS estate_id, {{of_estates}} + n % {{estates}} AS _parent_row, {USER} AS id,
        'Agent ' || n % 3000 AS name, _customer AS primary_office_customer_id, n < {{estates}} AS responsible,
        45000 AS commission_value, 50 AS commission_percentage_of_total
    """),
    MadeTable("sales", "sales_estate_changes", 1_200_000, f"""
        'E' || n % {{estates}} AS estate_id, {{of_estates}} + n % {{estates}} AS _parent_row,
        {DAY} AS changed_at, 90000 + n % 3 AS commission, 3000000 AS final_price
    """),
    MadeTable("sold_estates", "sold_estates", 600_000, """
        'E' || n AS id, _customer AS office_customer_id, _month - 30 AS advertised_at
    """),
    MadeTable("running_commissions", "running_commissions", 1_000_000, f"""
        _customer AS customer_id, {USER} AS user_id, 'E' || n AS estate_id, 1000 AS amount,
        1 AS exchange_rate, {DAY} AS obtained_at
    """),
    MadeTable("tips_and_leads", "incoming_leads", 3_500_000, f"""
        'L' || n AS lead_id, {DAY} AS created_at, 'Kind ' || hash(n) % 6 AS lead_type,
        'State ' || hash(n, 2) % 7 AS lead_state, {USER} AS receiver_id,
        _customer AS receiver_company_customer_number, 'E' || hash(n, 3) % 2000000 AS estate_id
    """),
    MadeTable("tips_and_leads", "outgoing_leads", 1_000_000, f"""
        'O' || n AS lead_id, {DAY} AS created_at, 'Kind ' || hash(n) % 4 AS lead_type,
        {USER} AS user_id, _customer AS sender_company_customer_number
    """),
    MadeTable("tips_and_leads", "tips", 500_000, f"""
        'T' || n AS tip_id, {DAY} AS created_at, 'FromUser' AS tip_type,
        'State ' || hash(n) % 5 AS tip_state, {USER} AS sender_id,
        _customer AS sender_company_customer_number
    """),
    MadeTable(
        "office_budget_commission", "office_budget_commission_history", OFFICES * MONTHS * USERS_OF_OFFICE,
        f"_customer AS office_id, {USER_OF_MONTH} AS user_id, 60000 AS commission_budget, "
        "TIMESTAMP '2016-12-01' AS valid_from_utc", grows=False,
    ),
)  # fmt: skip
INSERT_MONTHS = f"""
INSERT INTO meta.months BY NAME SELECT $1 AS report, 'M' || office AS customer,
(DATE '2017-01-01' + to_months(number::INT))::DATE AS month, 'L' || $1 || office || '-' || number AS load_id,
1 AS rows, TIMESTAMP '{READ}' AS loaded_at_utc, TIMESTAMP '{READ}' AS fetched_at_utc, 'held' AS state
FROM range({OFFICES}) AS offices (office), range({MONTHS}) AS months (number)
"""
INSERT_LOADS = """
INSERT INTO meta.loads BY NAME SELECT load_id, report, customer, [month] AS months, fetched_at_utc,
loaded_at_utc, 'loaded' AS status FROM meta.months ANTI JOIN meta.loads USING (load_id) WHERE report = $1
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, default=10, help="million rows")
    parser.add_argument("--data-dir", type=Path, help="an empty directory to keep the file in")
    parser.add_argument("--build-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(options.data_dir or Path(folder))
        if options.build_only:
            sys.stdout.write(json.dumps(build(store)))
            return 0
        rows = make_chain(store, options.rows)
        say(f"{rows:,} rows in bi, {_megabytes(store):,.0f} MB")
        command = [sys.executable, "-m", "tests.tools.bench.marts_at_scale", "--build-only", "--data-dir"]
        done = subprocess.run([*command, store.data_dir], capture_output=True, text=True, check=True)
        built = json.loads(done.stdout.splitlines()[-1])
        say(
            f"{built['marts']} marts: {built['wall']:.1f} s, CPU {built['cpu']:.1f} s, {CORES} threads, "
            f"at most {built['peak_mb']:,.0f} MB of memory; a file of {_megabytes(store):,.0f} MB"
        )
        slow = query_marts(store)
    say(f"queries over {QUERY_SECONDS * 1000:.0f} ms: {', '.join(slow) or 'none'}")
    is_quick = built["cpu"] / CORES <= BUILD_SECONDS and built["peak_mb"] <= PEAK_MB
    return 0 if is_quick and not slow else 1


def make_chain(store: Store, millions: float) -> int:
    """Fill a working file with this many million rows, by SQL alone; returns the number of rows."""
    declare_tables(store, declared_tables())
    first, of_estates = 1, 1
    estates = round(600_000 * millions / 10)
    with store.writing() as connection:
        for table in TABLES:
            count = round(table.rows * millions / 10) if table.grows else table.rows
            of_estates = first if table.name == "sales_estates" else of_estates
            columns = f"{OURS}, {table.columns}".format(
                report=table.report, first=first, estates=estates, of_estates=of_estates
            )
            connection.execute(
                f"INSERT INTO bi.{table.name} BY NAME SELECT * EXCLUDE (n) FROM (SELECT n, {columns} "
                f"FROM (SELECT unnest(range({count})) AS n))"
            )
            first += count
        for report in dict.fromkeys(table.report for table in TABLES):
            connection.execute(INSERT_MONTHS, [report])
            connection.execute(INSERT_LOADS, [report])
    return first - 1


def build(store: Store) -> dict[str, float]:
    """Build all marts; returns their number and the seconds, CPU seconds and peak memory of the build."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)

    def within(limit_mb: int | None) -> list[str]:
        with store.writing() as connection:
            connection.execute(f"SET threads = {CORES}; SET enable_progress_bar = false")
            return build_marts(connection, memory_limit_mb=limit_mb)

    marts = build_within_memory(store.path, within)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "marts": len(marts),
        "wall": time.perf_counter() - began,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": peak_mb(),
    }


def peak_mb() -> float:
    """The peak memory of this process; getrusage would include that of the parent that forked it."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def query_marts(store: Store) -> list[str]:
    """Query every mart by office and by month; prints median times, and returns the names of slow queries."""
    slow = []
    with duckdb.connect(store.path, read_only=True, config={"threads": CORES}) as file:
        columns = file.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'marts' "
            "AND column_name IN ('office_id', 'month') ORDER BY ALL"
        ).fetchall()
        for mart, key in columns:
            value = file.execute(f"SELECT {key} FROM marts.{mart} OFFSET 5000 LIMIT 1").fetchone()
            if value:
                seconds, rows = _timed(file, f"SELECT * FROM marts.{mart} WHERE {key} = $1", value)
                say(f"  {mart:<22} by {key:<10} {seconds * 1000:7.1f} ms {rows:>9,} rows")
                slow += [f"{mart} by {key}"] if seconds > QUERY_SECONDS else []
    return slow


def _timed(file: duckdb.DuckDBPyConnection, query: str, value: tuple[object, ...]) -> tuple[float, int]:
    """The median seconds and the row count of a query; hashing reads every column without Python objects."""
    seconds, rows = [], 0
    for _ in range(TRIES):
        began = time.perf_counter()
        [(rows,)] = file.execute(f"SELECT count(hash(answer)) FROM ({query}) AS answer", [*value]).fetchall()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), int(rows)


def _megabytes(store: Store) -> float:
    return store.path.stat().st_size / 1e6


if __name__ == "__main__":
    sys.exit(main())
