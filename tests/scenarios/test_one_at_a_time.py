"""Two commands in one data directory at once: the second waits, and requests nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path

from pipelines.months import Month
from pipelines.sandbox.server import serving
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from tests.working_file import give_working_file

BROKERBI = "import sys; from pipelines.cli.main import main; sys.exit(main())"


def test_of_two_syncs_the_second_waits_and_requests_only_what_is_still_due(tmp_path: Path) -> None:
    service = Service(World.build(start=Month(2026, 10), as_of=date(2026, 11, 20)))
    give_working_file(tmp_path)
    with serving(service) as served:
        words = {
            "CONFIG": os.devnull,
            "BASE_URL": served.base_url,
            "USERNAME": served.username,
            "PASSWORD": served.password,
            "CUSTOMERS": served.customers[0],
            "START": "2026-10",
            "TODAY": "2026-11-20",
            "REPORTS": "sales,users",
            "REQUESTS_PER_SECOND": "100",
            "DATA_DIR": str(tmp_path),
        }
        environment = {**os.environ, **{f"BROKERBI_{name}": word for name, word in words.items()}}
        command = [sys.executable, "-c", BROKERBI, "sync", "--no-publish"]
        syncs = [
            subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)
        ]
        errors = [sync.communicate(timeout=240)[1] for sync in syncs]
    assert [sync.returncode for sync in syncs] == [0, 0], errors
    assert sum("waiting for brokerbi sync --no-publish (process " in error for error in errors) == 1, errors
    times = Counter((entry.path, *sorted(entry.query.items())) for entry in service.log.entries)
    assert [request for request, number in times.items() if number > 1] == []
