"""Commands `demo` and `sandbox`: three nightly runs against a simulated service, or that service alone."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.main import command, option
from pipelines.cli.output import log, say, warn
from pipelines.months import Month
from warehouse.store.files import PRIVATE_FILE, SHARED_FOLDER, make_folder

MARK = ".brokerbi-demo"
NIGHTS = (timedelta(weeks=8), timedelta(weeks=4), timedelta())
"""How long before today each nightly run takes place. Some marts show changes between runs."""
INCIDENTS = timedelta(weeks=2)  # how long before today a sale is cancelled, an agent leaves, and so on


@command("demo")
def run_demo(
    data_dir: Annotated[Path, option("the directory of the demo", "DIR")] = Path(".demo"),
    months: Annotated[int, option("months of history", "NUMBER")] = 36,
) -> int:
    """Make three nightly runs against a sandbox."""
    from pipelines.cli.maintenance import publish
    from pipelines.cli.sync import sync_with_progress
    from pipelines.planning.selection import Selection
    from pipelines.sandbox.server import serving
    from pipelines.sandbox.service import Service
    from pipelines.sandbox.world.world import World
    from pipelines.settings.model import load_settings
    from pipelines.upkeep.finish import finish

    _clear(data_dir)
    today = datetime.now(UTC).date()
    start = Month.of(today).plus(1 - months)
    log(f"starting a simulated brokerage on this machine, with sales since {start} …")
    service = Service(World.build(start=start, as_of=today, incidents_on=today - INCIDENTS))
    is_well = True
    with serving(service) as served:
        environment = {
            "BROKERBI_BASE_URL": served.base_url,
            "BROKERBI_USERNAME": served.username,
            "BROKERBI_PASSWORD": served.password,
            "BROKERBI_CUSTOMERS": ",".join(served.customers),
            "BROKERBI_START": str(start),
            "BROKERBI_DATA_DIR": str(data_dir),
            "BROKERBI_REQUESTS_PER_SECOND": "500",
        }
        for night in (today - before for before in NIGHTS if today - before >= start.first_day):
            log(f"nightly run of {night} …")
            service.set_as_of(night)
            pretended_day = {} if night == today else {"BROKERBI_TODAY": str(night)}
            settings = load_settings({**environment, **pretended_day})
            summary = sync_with_progress(settings, Selection())
            warn(*summary.failure_lines())
            is_published = publish(settings) if night == today else finish(settings).publication.has_new_file
            is_well &= summary.is_well and is_published
    say(
        f"On {today - INCIDENTS}, a sale was cancelled and another restated (see `brokerbi query 08`), a "
        "budget was raised (`brokerbi query 07`), and an agent left (`brokerbi query 25`)."
    )
    say(f"Open {data_dir}/warehouse.duckdb in DuckDB 1.1 or later, and {data_dir}/report.html in a browser.")
    return 0 if is_well else 1


def _clear(directory: Path) -> None:
    mark = directory / MARK
    if directory.exists() and any(directory.iterdir()) and not mark.exists():
        raise ValueError(f"{directory} is not empty and has no demo; name another directory with --data-dir")
    shutil.rmtree(directory, ignore_errors=True)
    make_folder(directory, SHARED_FOLDER)
    mark.touch(mode=PRIVATE_FILE)


@command(
    "sandbox",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def run_sandbox(context: typer.Context) -> int:
    """Serve a simulated Connect service on this machine."""
    from pipelines.sandbox.options import add_arguments, run

    parser = ArgumentParser("brokerbi sandbox", description=run_sandbox.__doc__)
    add_arguments(parser)
    return run(parser.parse_args(context.args))
