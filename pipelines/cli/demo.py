"""Commands `demo` and `sandbox`: a first night against an invented service, and that service alone."""

from __future__ import annotations

import argparse
import shutil
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from pipelines.cli.output import complain, count, duration, print_table, say
from pipelines.months import Month

MARK = ".brokerbi-demo"


def run_demo(arguments: argparse.Namespace) -> int:
    """Serve an invented brokerage, sync all of it, publish, and say how to look at it."""
    from pipelines.cli.maintenance import publish
    from pipelines.cli.sync import sync_with_progress
    from pipelines.planning.selection import Selection
    from pipelines.sandbox.server import serving
    from pipelines.sandbox.service import Service
    from pipelines.sandbox.world.world import World
    from pipelines.settings.model import load_settings

    began = time.monotonic()
    directory = Path(arguments.data_dir)
    if not arguments.keep:
        _clear(directory)
    today = datetime.now(UTC).date()
    start = Month.of(today).plus(1 - arguments.months)
    complain(f"an invented brokerage opens on this machine, with sales since {start} …")
    with serving(Service(World.build(start=start, as_of=today))) as service:
        settings = load_settings(
            {
                "BROKERBI_BASE_URL": service.base_url,
                "BROKERBI_USERNAME": service.username,
                "BROKERBI_PASSWORD": service.password,
                "BROKERBI_CUSTOMERS": ",".join(service.customers),
                "BROKERBI_START": str(start),
                "BROKERBI_DATA_DIR": str(directory),
                "BROKERBI_REQUESTS_PER_SECOND": "500",
            }
        )
        summary = sync_with_progress(settings, Selection())
    is_published = publish(settings)
    say()
    rows_of: Counter[str] = Counter()
    for one in summary.results:
        rows_of.update(one.rows)
    rows = [[f"bi.{table}", count(rows)] for table, rows in sorted(rows_of.items()) if rows]
    print_table(["table", "rows"], rows, right=(1,))
    taken = duration(time.monotonic() - began)
    say(f"{count(summary.requests)} requests and a published file in {taken}.")
    _say_what_now(settings.data_dir / "warehouse.duckdb")
    for sentence in summary.complaints():
        complain(f"brokerbi: {sentence}")
    return 0 if summary.is_well and is_published else 1


def _clear(directory: Path) -> None:
    """Remove an earlier demo; refuses a directory that holds anything else."""
    mark = directory / MARK
    if directory.exists() and any(directory.iterdir()) and not mark.exists():
        raise ValueError(f"{directory} is not empty and not of an earlier demo; name another with --data-dir")
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    mark.touch()


def _say_what_now(file: Path) -> None:
    say()
    say("Open it with the DuckDB command line, any 1.x or 2.x:")
    say(f'    duckdb -readonly {file} "from marts.office_month order by month desc limit 10"')
    say("or from Python:")
    say(
        f"    .venv/bin/python -c \"import duckdb; duckdb.connect('{file}', read_only=True)"
        ".sql('from marts.office_month').show()\""
    )
    say("More questions with their SQL are in sql/analysis/. For the same in the Dagster UI: make dev")


def run_sandbox(arguments: argparse.Namespace) -> int:
    """Serve the sandbox that the arguments describe, until Ctrl-C."""
    from pipelines.sandbox.options import run

    return run(arguments)
