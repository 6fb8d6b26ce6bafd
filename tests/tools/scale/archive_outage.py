"""Archive of landing under a store that is down: ten thousand files, an outage, a replay from the store.

    .venv-scale/bin/python -m tests.tools.scale.archive_outage [--on moto|ministack] [--seconds 300]

First nobody listens at the store's address, then a store comes up there, and in the middle of the backlog
it is stopped (it accepts connections and never answers) and woken. Exits 1 when something is wrong.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

from pipelines.upkeep.archive import archive_of, refresh_archive
from pipelines.upkeep.replay import replay
from tests.scale.conftest import environment_of, free_port, server
from tests.scenarios.scenario import Scenario, scenario
from tests.tools.telling import conclude, say
from warehouse.load.landing import Landing


def fill_landing(here: Scenario, files: int) -> None:
    """Small answers of a report that nothing is loaded from."""
    landing = Landing(here.data_dir / "landing")
    for number in range(files):
        writer = landing.open("filler", f"M{number % 50}", None, None, f"load-{number}", {"kept": False})
        writer.add({"status": 200}, b'{"number": %d}' % number)
        writer.close({"fetched_at_utc": "2026-11-21T12:00:00+00:00"})


def timed(here: Scenario) -> tuple[float, float]:
    """Seconds of a sync that reads everything again, and of a publication."""
    began = time.monotonic()
    assert here.sync(refresh=True).complaints() == []
    synced = time.monotonic()
    assert here.publish().publication.published
    return synced - began, time.monotonic() - synced


def drain(here: Scenario, seconds: float | None = None) -> str:
    began = time.monotonic()
    done = refresh_archive(here.settings, here.clock.utc_now, seconds=seconds)
    assert done
    return f"{done.archived} put, {done.waiting} wait, {time.monotonic() - began:.0f} s {done.error[:120]}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", choices=["moto", "ministack"], default="ministack")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=300)
    arguments = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        without = scenario(Path(folder) / "data", ("sales", "users"), offices=1)
        without.sync()
        fill_landing(without, arguments.files)
        port = free_port()
        os.environ.update(environment_of(f"http://127.0.0.1:{port}"))
        here = without.with_settings(landing_archive="s3://archive/landing")
        say("sync and publication without an archive: {:.1f} s, {:.1f} s".format(*timed(without)))
        until, rounds = time.monotonic() + arguments.seconds, []
        while time.monotonic() < until:
            rounds.append(timed(here))
            time.sleep(5)
        worst = (max(one for one, _ in rounds), max(one for _, one in rounds))
        say(
            f"{len(rounds)} nights while nobody listens for {arguments.seconds:.0f} s: "
            f"at most {worst[0]:.1f} s, {worst[1]:.1f} s"
        )
        with server(arguments.on, port) as address:
            httpx.put(f"{address}/archive")
            say(f"up, for 2 s: {drain(here, 2)}")
            [pid] = [int(one) for one in os.popen(f"lsof -t -iTCP:{port} -sTCP:LISTEN").read().split()][:1]
            os.kill(pid, signal.SIGSTOP)
            say("while it hangs, sync and publication: {:.1f} s, {:.1f} s".format(*timed(here)))
            os.kill(pid, signal.SIGCONT)
            say(f"woken: {drain(here)}")
            archive = archive_of(here.settings)
            assert archive
            found = Counter(path for path, *_ in archive.files())
            here_now = [path.relative_to(here.data_dir / "landing").as_posix() for path in here.landing_files]
            if found != Counter(here_now):
                wrong.append(f"{len(here_now)} files, {sum(found.values())} objects of {len(found)} paths")
            before = here.cells()
            shutil.rmtree(here.data_dir / "landing")
            here.lose_working_file()
            began = time.monotonic()
            failures = replay(here.settings, clock=here.clock).failures
            say(f"replay from the store alone: {time.monotonic() - began:.0f} s")
            if failures or here.cells() != before:
                wrong.append(f"the replay differs: {failures[:3]}")
        say(f"{arguments.on}: {len(here_now)} files in the archive")
    return conclude(wrong)


if __name__ == "__main__":
    sys.exit(main())
