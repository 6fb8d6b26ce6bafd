"""Command `demo`: three nights against an invented service."""

from __future__ import annotations

import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipelines.cli.output import complain, say
from pipelines.months import Month
from pipelines.words import counted, duration
from warehouse.store.files import PRIVATE_FILE, SHARED_FOLDER, make_folder

MARK = ".brokerbi-demo"
NIGHTS = (timedelta(weeks=8), timedelta(weeks=4), timedelta())
"""How long before today each night is: what changes between them is what some marts are about."""
INCIDENTS = timedelta(weeks=2)
"""How long before today a sale is cancelled, another restated, and so on."""


def run_demo(directory: Path, *, months: int, reports: str, keep: bool) -> int:
    """Serve an invented brokerage, sync and publish it on three days, and say how to look at it."""
    from pipelines.cli.maintenance import publish
    from pipelines.cli.sync import sync_with_progress
    from pipelines.planning.selection import Selection
    from pipelines.sandbox.server import serving
    from pipelines.sandbox.service import Service
    from pipelines.sandbox.world.world import World
    from pipelines.settings.model import load_settings
    from pipelines.upkeep.finish import finish

    began = time.monotonic()
    if not keep:
        _clear(directory)
    today = datetime.now(UTC).date()
    start = Month.of(today).plus(1 - months)
    complain(f"an invented brokerage opens on this machine, with sales since {start} …")
    nights = [today - before for before in NIGHTS if today - before >= start.first_day]
    service = Service(World.build(start=start, as_of=today, incidents_on=today - INCIDENTS))
    summaries, published = [], []
    with serving(service) as served:
        words = {
            "BROKERBI_BASE_URL": served.base_url,
            "BROKERBI_USERNAME": served.username,
            "BROKERBI_PASSWORD": served.password,
            "BROKERBI_CUSTOMERS": ",".join(served.customers),
            "BROKERBI_START": str(start),
            "BROKERBI_DATA_DIR": str(directory),
            "BROKERBI_REQUESTS_PER_SECOND": "500",
            **({"BROKERBI_REPORTS": reports} if reports else {}),
        }
        for night in nights[-1:] if keep else nights:
            complain(f"the night of {night} …")
            service.set_as_of(night)
            settings = load_settings(words if night == today else {**words, "BROKERBI_TODAY": str(night)})
            summaries.append(sync_with_progress(settings, Selection()))
            if night == today:
                published.append(publish(settings))
            else:  # what its checks find old is old only for those who read it today
                published.append(finish(settings).publication.published)
            say()
    requests = sum(summary.requests for summary in summaries)
    taken = duration(time.monotonic() - began)
    say(
        f"{counted(len(summaries), 'night')}, {counted(requests, 'request')} and a published file in {taken}."
    )
    say(
        f"On {today - INCIDENTS} a sale was cancelled and another restated (sql/analysis/08 names both), "
        "a budget was raised (07), and an agent left (25)."
    )
    _say_what_now(directory / "warehouse.duckdb")
    for sentence in (one for summary in summaries for one in summary.complaints()):
        complain(f"brokerbi: {sentence}")
    return 0 if all(one.is_well for one in summaries) and all(published) else 1


def _clear(directory: Path) -> None:
    """Remove an earlier demo; refuses a directory that holds anything else."""
    mark = directory / MARK
    if directory.exists() and any(directory.iterdir()) and not mark.exists():
        raise ValueError(f"{directory} is not empty and not of an earlier demo; name another with --data-dir")
    if directory.exists():
        shutil.rmtree(directory)
    make_folder(directory, SHARED_FOLDER)
    mark.touch(mode=PRIVATE_FILE)


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
