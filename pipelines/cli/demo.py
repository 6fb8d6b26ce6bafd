"""What does `brokerbi demo` show? A whole first night against a sandbox of our own, told in one page."""

from __future__ import annotations

import argparse
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from pipelines.cli.finished import print_finished
from pipelines.cli.printing import complain, count, duration, print_table, say
from pipelines.cli.progress import SyncProgress
from pipelines.cli.sync import print_summary
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings, load_settings
from pipelines.sync.finishing import finish
from pipelines.sync.summary import Summary
from pipelines.sync.syncing import sync

MARK = ".brokerbi-demo"


def run(arguments: argparse.Namespace) -> int:
    """Serve an invented brokerage, sync all of it, publish, and say how to look at it."""
    directory = Path(arguments.data_dir)
    if not arguments.keep:
        _clear(directory)
    began = time.monotonic()
    settings, summary = _synced(directory, arguments.months)
    print_summary(summary)
    finished = finish(settings)
    print_finished(finished)
    _say_what_now(settings, summary, time.monotonic() - began)
    for sentence in summary.complaints():
        complain(f"brokerbi: {sentence}")
    return 0 if summary.is_well and finished.publication.published else 1


def _synced(directory: Path, months: int) -> tuple[Settings, Summary]:
    """Everything asked of a sandbox that is there just for this."""
    from pipelines.sandbox.serving import running
    from pipelines.sandbox.world.world import World

    today = datetime.now(UTC).date()
    start = Month.of(today).plus(1 - months)
    complain(f"an invented brokerage opens on this machine, with sales since {start} …")
    with running(World.build(start=start, as_of=today)) as service:
        environment = {
            "BROKERBI_BASE_URL": service.base_url,
            "BROKERBI_USERNAME": service.username,
            "BROKERBI_PASSWORD": service.password,
            "BROKERBI_CUSTOMERS": ",".join(service.customers),
            "BROKERBI_START": str(start),
            "BROKERBI_DATA_DIR": str(directory),
            "BROKERBI_REQUESTS_PER_SECOND": "500",
        }
        settings = load_settings(environment)
        with SyncProgress() as progress:
            summary = sync(settings, Selection(), on_plan=progress.planned, on_outcome=progress.happened)
    return settings, summary


def _clear(directory: Path) -> None:
    """Remove an earlier demo; refuses a directory that holds anything else."""
    mark = directory / MARK
    if directory.exists() and any(directory.iterdir()) and not mark.exists():
        raise ValueError(f"{directory} is not empty and not of an earlier demo; name another with --data-dir")
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    mark.touch()


def _say_what_now(settings: Settings, summary: Summary, seconds: float) -> None:
    say()
    print_table(
        ["table", "rows"],
        [[f"bi.{table}", count(rows)] for table, rows in summary.rows_by_table().items() if rows],
        right=(1,),
    )
    say(f"{count(summary.requests)} requests and a published file in {duration(seconds)}.")
    say()
    file = settings.data_dir / "warehouse.duckdb"
    say("Open it with the DuckDB command line, any 1.x or 2.x:")
    say(f'    duckdb -readonly {file} "from marts.office_month order by month desc limit 10"')
    say("or from Python:")
    say(
        f"    .venv/bin/python -c \"import duckdb; duckdb.connect('{file}', read_only=True)"
        ".sql('from marts.office_month').show()\""
    )
    say("More questions with their SQL are in sql/analysis/. For the same in the Dagster UI: make dev")
