"""A backfill of everything, launched by clicking in a real browser, and the page it ends in.

`python -m tests.tools.browser.backfill --shots DIR` (`make browser`) starts `make dev` in its
own directory, clicks in a real browser, and looks at everything an operator would look at.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.browser.chromium import browser
from tests.tools.browser.make_dev import Development, make_dev
from tests.tools.browser.operator import Operator
from tests.tools.nights import graphql
from tests.tools.nights.server import half_a_day_away, this_month
from tests.tools.telling import conclude, say
from tests.unit.assets.request_months import asked_twice

LOOKED_AT = ("sales", "commission_user", "live_commissions")
SECONDS_BETWEEN_LOOKS = 5.0
HEADING = "How the chain is doing"


def main() -> int:
    """Say step by step what is seen, and end with 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=Path, required=True, help="where the pictures go")
    parser.add_argument("--customers", default=",".join(f"M300{number}" for number in range(11, 18)))
    parser.add_argument("--months", type=int, default=36, help="how many there are up to this one")
    parser.add_argument("--seconds", type=float, default=1800, help="how long a backfill may take")
    parser.add_argument("--port", type=int, default=8771, help="the first of three")
    given = parser.parse_args()
    first = this_month().plus(1 - given.months)
    variables = {"CUSTOMERS": given.customers, "FROM": str(first), "NIGHTLY": half_a_day_away()}
    ports = (given.port, given.port + 1, given.port + 2)
    with (
        TemporaryDirectory(prefix="backfill") as room,
        browser() as tab,
        make_dev(Path(room) / "dev", ports, variables) as made,
    ):
        operator = Operator(tab, made.ui, given.shots)
        customers = len(given.customers.split(","))
        wrong = list(_wrong(operator, made, customers, given.months, given.seconds))
    say(f"the pictures are in {given.shots}")
    return conclude(wrong)


def _wrong(
    operator: Operator, made: Development, customers: int, months: int, seconds: float
) -> Iterator[str]:
    """Everything that is not as it should be."""
    began = time.monotonic()
    name = operator.backfill_everything(customers, months)
    say(f"launched backfill {name} of {customers * months} partitions of every report")
    status = _watch(operator, name, seconds)
    say(f"{status} after {time.monotonic() - began:.0f} s")
    if status != "Succeeded":
        yield f"the backfill is {status!r}"
    yield from _wrong_partitions(operator, made, customers * months)
    yield from _wrong_runs_and_requests(made)
    address = operator.link("warehouse_file", "page")
    operator.tab.go(address)
    heading = operator.tab.value("document.querySelector('h1').textContent")
    operator.tab.shot(operator.shots / "page.png")
    say(f"{address} is {heading!r}")
    if heading != HEADING:
        yield f"{address} is headed {heading!r}"


def _watch(operator: Operator, name: str, seconds: float) -> str:
    """How the backfill ended; says on the way how the partitions of one report turn green."""
    until, before = time.monotonic() + seconds, ""
    while True:
        counted = operator.partitions(LOOKED_AT[0]).items()
        now = ", ".join(f"{count} {word.lower()}" for word, count in counted)
        if now != before:
            say(f"{LOOKED_AT[0]}: {now}")
        before = now
        status = operator.backfill(name)
        if status not in ("Requested", "In progress") or time.monotonic() > until:
            return status
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _wrong_partitions(operator: Operator, made: Development, partitions: int) -> Iterator[str]:
    green = {"Failed": 0, "Materialized": partitions, "Materializing": 0, "Missing": 0}
    for report in LOOKED_AT:
        if (seen := operator.partitions(report)) != green:
            yield f"the UI shows {seen} for {report}"
    nodes = [one for one in made.ask(graphql.PARTITIONS)["assetNodes"] if one["partitionStats"]]
    for node in nodes:
        stats = node["partitionStats"]
        if (stats["numPartitions"], stats["numMaterialized"], stats["numFailed"]) != (
            partitions,
            partitions,
            0,
        ):
            yield f"{node['assetKey']['path'][0]} has {stats}"
    say(f"{len(nodes)} reports, {partitions * len(nodes):,} partitions")


def _wrong_runs_and_requests(made: Development) -> Iterator[str]:
    runs = made.ask(graphql.RUNS)["runsOrError"]["results"]
    backfills = sum(any(tag["key"] == "dagster/backfill" for tag in run["tags"]) for run in runs)
    states = Counter(run["status"] for run in runs)
    requests = made.requests()
    statuses = Counter(one["status"] for one in requests)
    say(f"{len(runs)} runs, {backfills} of the backfill, {dict(states)}; {len(requests):,} requests")
    if set(states) != {"SUCCESS"}:
        yield f"the runs ended as {dict(states)}"
    if set(statuses) != {200}:
        yield f"the service answered {dict(statuses)}"
    if twice := asked_twice((one["path"], one["query"]) for one in requests):
        yield f"{len(twice)} months were asked more than once: {twice[:5]}"


if __name__ == "__main__":
    sys.exit(main())
