"""What an operator sees in the Dagster UI when a right is lost and when a password is wrong.

`python -m tests.tools.browser.troubles --shots DIR` (`make browser`) plays both on a server of its own, says
how many requests each cost, and looks whether the pages of run, partitions and checks say what to do.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.months import months_between
from tests.tools.browser.chromium import NotThere, Tab, browser
from tests.tools.nights.server import ENDED, Server, get_json, serving, this_month, wait
from tests.tools.telling import conclude, say

CUSTOMERS = ("M30011", "M30012")
REPORTS = "running_commissions,sales,users"
SECONDS_TO_SETTLE = 3.0
LONGEST_RUN = 300.0
RIGHT = "Ask the service's support for the right."
PASSWORD = "Correct BROKERBI_USERNAME or the password that goes with it"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=Path, required=True, help="where the pictures go")
    parser.add_argument("--port", type=int, default=8776, help="the first of two")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="troubles", ignore_cleanup_errors=True) as room, browser() as tab:
        first = this_month().plus(-1)
        server = Server(Path(room) / "server", given.port, CUSTOMERS, first, REPORTS)
        with serving(server):
            wrong = list(_wrong(server, tab, given.shots))
    return conclude(wrong)


def _wrong(server: Server, tab: Tab, shots: Path) -> Iterator[str]:
    """Everything that is not as it should be."""
    if (status := _night(server)[1]) != "SUCCESS":
        yield f"the first night ended as {status}"
    _faults(server, {"kind": "403", "path": "RunningCommissions", "customer": "M30012"})
    run_id, status = _night(server)
    say(f"a lost right: {status}, {_asked(server, 403)} requests")
    if status != "FAILURE" or _asked(server, 403) != 1:
        yield f"a lost right ended as {status}, with {_asked(server, 403)} requests"
    wait(lambda: all(run["status"] in ENDED for run in server.runs()), LONGEST_RUN)
    yield from _look(tab, shots, server, "lost-right-run", f"/runs/{run_id}", RIGHT)
    partitions = "/assets/running_commissions?view=partitions"
    yield from _look(tab, shots, server, "lost-right-partitions", partitions, "Failed (2)")
    checks = "/assets/running_commissions?view=checks&checkDetail=is_read"
    yield from _look(tab, shots, server, "lost-right-check", checks, "right lost")
    _faults(server, {"kind": "401"})
    nights = [_night(server) for _ in range(3)]
    say(f"a wrong password: {_asked(server, 401)} requests in {len(nights)} nights")
    if _asked(server, 401) != 1:
        yield f"a wrong password was sent {_asked(server, 401)} times"
    yield from _look(tab, shots, server, "wrong-password-run", f"/runs/{nights[-1][0]}", PASSWORD)


def _night(server: Server) -> tuple[str, str]:
    """A run over all customers and both months, its id and how it ended."""
    months = months_between(server.first, this_month())
    run_id = server.launch("nightly", months)
    wait(lambda: server.status(run_id) in ENDED, LONGEST_RUN)
    return run_id, server.status(run_id)


def _faults(server: Server, *faults: dict[str, str]) -> None:
    server.forget_requests()
    get_json(f"http://127.0.0.1:{server.port}/_sandbox/faults", list(faults))


def _asked(server: Server, status: int) -> int:
    return sum(request["status"] == status for request in server.requests())


def _look(tab: Tab, shots: Path, server: Server, name: str, path: str, words: str) -> Iterator[str]:
    """Open a page and take a picture; what it lacks, if it does."""
    tab.go(f"http://127.0.0.1:{server.port + 1}{path}")
    try:
        tab.wait_for(words)
    except NotThere:
        yield f"{name} does not say {words!r}"
    time.sleep(SECONDS_TO_SETTLE)
    tab.shot(shots / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
