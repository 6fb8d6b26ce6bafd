"""A backfill of everything, launched by clicks in a real browser; then the page that it publishes.

`python -m tests.tools.browser.backfill --shots DIR` (`make browser`) starts `make dev` in a temporary
directory, and compares what the UI shows with what it should show.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.browser.chromium import Tab, browser
from tests.tools.development import Development, make_dev, this_month
from tests.tools.messages import conclude, say
from tests.tools.night import graphql
from tests.unit.assets.request_months import asked_twice

LOOKED_AT = ("sales", "commission_user", "live_commissions")
SECONDS_BETWEEN_LOOKS = 5.0
HEADING = "The whole chain"
COUNTED = re.compile(r"(Failed|Materialized|Materializing|Missing) \(([\d,]+)\)")
STATUS = re.compile(r"Status\s+(Requested|In progress|Succeeded|Failed|Canceling|Canceled)")
SECONDS_TO_SETTLE = 2.0  # parts of a page appear one after another
LINK = """
[...document.querySelectorAll("tr")].filter(row => row.innerText.trim().startsWith(%r))
  .flatMap(row => [...row.querySelectorAll("a[href]")]).map(link => link.href)
  .find(address => !address.startsWith(location.origin))
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=Path, required=True, help="the folder for screenshots")
    parser.add_argument("--customers", default=",".join(f"M300{number}" for number in range(11, 18)))
    parser.add_argument("--months", type=int, default=36, help="the number of months up to this one")
    parser.add_argument("--seconds", type=float, default=1800, help="the longest that the backfill may take")
    parser.add_argument("--port", type=int, default=8771, help="the first of three ports")
    options = parser.parse_args()
    first = this_month().plus(1 - options.months)
    variables = {"CUSTOMERS": options.customers, "FROM": first}
    with (
        TemporaryDirectory(prefix="backfill") as folder,
        browser() as tab,
        make_dev(Path(folder) / "dev", options.port, variables) as dev,
    ):
        operator = Operator(tab, dev.ui, options.shots)
        customers = len(options.customers.split(","))
        mistakes = list(_mistakes(operator, dev, customers, options.months, options.seconds))
    say(f"the screenshots are in {options.shots}")
    return conclude(mistakes)


def _mistakes(
    operator: Operator, dev: Development, customers: int, months: int, seconds: float
) -> Iterator[str]:
    began = time.monotonic()
    name = operator.backfill_everything(customers, months)
    say(f"launched backfill {name} of {customers * months} partitions of every report")
    status = _watch(operator, name, seconds)
    say(f"{status} after {time.monotonic() - began:.0f} s")
    if status != "Succeeded":
        yield f"the backfill is {status!r}"
    yield from _mistakes_of_partitions(operator, dev, customers * months)
    yield from _mistakes_of_runs_and_requests(dev)
    address = operator.link("warehouse_file", "page")
    operator.tab.go(address)
    heading = operator.tab.value("document.querySelector('h1').textContent")
    operator.tab.shot(operator.shots / "page.png")
    say(f"{address} has the heading {heading!r}")
    if heading != HEADING:
        yield f"{address} has the heading {heading!r}, not {HEADING!r}"


def _watch(operator: Operator, name: str, seconds: float) -> str:
    """The last status of a backfill; prints meanwhile how the partitions of one report turn green."""
    until, before = time.monotonic() + seconds, ""
    while True:
        counts = operator.partitions(LOOKED_AT[0]).items()
        now = ", ".join(f"{count} {status.lower()}" for status, count in counts)
        if now != before:
            say(f"{LOOKED_AT[0]}: {now}")
        before = now
        status = operator.backfill(name)
        if status not in ("Requested", "In progress") or time.monotonic() > until:
            return status
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _mistakes_of_partitions(operator: Operator, dev: Development, partitions: int) -> Iterator[str]:
    green = {"Failed": 0, "Materialized": partitions, "Materializing": 0, "Missing": 0}
    for report in LOOKED_AT:
        if (seen := operator.partitions(report)) != green:
            yield f"the UI shows {seen} for {report}"
    whole = {"numPartitions": partitions, "numMaterialized": partitions, "numFailed": 0}
    nodes = [node for node in dev.query(graphql.PARTITIONS)["assetNodes"] if node["partitionStats"]]
    for node in nodes:
        if {**node["partitionStats"]} != whole:
            yield f"{node['assetKey']['path'][0]} has {node['partitionStats']}"
    say(f"{len(nodes)} reports, {partitions * len(nodes):,} partitions")


def _mistakes_of_runs_and_requests(dev: Development) -> Iterator[str]:
    runs = dev.query(graphql.RUNS)["runsOrError"]["results"]
    backfills = sum(any(tag["key"] == "dagster/backfill" for tag in run["tags"]) for run in runs)
    states = Counter(run["status"] for run in runs)
    requests = dev.requests()
    statuses = Counter(request["status"] for request in requests)
    say(f"{len(runs)} runs, {backfills} of the backfill, {dict(states)}; {len(requests):,} requests")
    if set(states) != {"SUCCESS"}:
        yield f"the runs ended as {dict(states)}"
    if set(statuses) != {200}:
        yield f"the service answered {dict(statuses)}"
    # an undocumented report is first requested for one month, to learn its shape, and then for all months
    twice = asked_twice((request["path"], request["query"]) for request in requests)
    if len({day[:7] for _, day in (line.rsplit(" ", 1) for line in twice)} - {"None"}) > 1:
        yield f"{len(twice)} months were requested more than once: {twice[:5]}"


@dataclass(frozen=True)
class Operator:
    """An operator at the UI, who clicks, reads and takes screenshots."""

    tab: Tab
    address: str
    shots: Path

    def backfill_everything(self, customers: int, months: int) -> str:
        """Launch a backfill of all reports, customers and months; returns its name."""
        self.look("/asset-groups", "Materialize all", "graph")
        self.tab.click("Materialize all…")
        self.tab.wait_for("Partition selection")
        self.tab.click("All", number=0)
        self.tab.wait("!document.body.innerText.includes('Select a partition')")
        self.tab.click("All", number=1)
        self.tab.wait_for(f"{customers * months} partitions")
        self.tab.shot(self.shots / "dialog.png")
        self.tab.click("Launch backfill")
        self.tab.wait_for("Created backfill")
        self.tab.click("View", "button, a")
        return str(self.tab.wait("(location.pathname.match(/runs\\/b\\/(\\w+)/) || [])[1]"))

    def backfill(self, name: str) -> str:
        """The status of a backfill, such as `In progress` or `Succeeded`; empty if the page shows none."""
        self.look(f"/runs/b/{name}", "Partitions targeted", "backfill")
        match = STATUS.search(self.tab.text)
        return match[1] if match else ""

    def partitions(self, report: str) -> dict[str, int]:
        """The partitions of a report by status: {"Materialized": 252, "Missing": 0}."""
        self.look(f"/assets/{report}?view=partitions", "Missing (", f"partitions-{report}")
        return {status: int(number.replace(",", "")) for status, number in COUNTED.findall(self.tab.text)}

    def link(self, asset: str, entry: str) -> str:
        """The address of a link in an asset's metadata."""
        self.look(f"/assets/{asset}", entry, f"asset-{asset}")
        return str(self.tab.wait(LINK % entry))

    def look(self, path: str, words: str, picture: str) -> None:
        """Open a page of the UI, wait until it shows these words, and take a screenshot."""
        self.tab.go(f"{self.address}{path}")
        self.tab.wait_for(words)
        time.sleep(SECONDS_TO_SETTLE)
        self.tab.shot(self.shots / f"{picture}.png")


if __name__ == "__main__":
    sys.exit(main())
