"""A backfill of everything, launched by clicking in a real browser, and the page it ends in.

`python -m tests.tools.browser.backfill --shots DIR` (`make browser`) starts `make dev` in its
own directory, clicks in a real browser, and looks at everything an operator would look at.
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
from tests.tools.night import graphql
from tests.tools.telling import conclude, say
from tests.unit.assets.request_months import asked_twice

LOOKED_AT = ("sales", "commission_user", "live_commissions")
SECONDS_BETWEEN_LOOKS = 5.0
HEADING = "The whole chain"
COUNTED = re.compile(r"(Failed|Materialized|Materializing|Missing) \(([\d,]+)\)")
STATUS = re.compile(r"Status\s+(Requested|In progress|Succeeded|Failed|Canceling|Canceled)")
SECONDS_TO_SETTLE = 2.0  # a page shows its parts as they come in
LINK = """
[...document.querySelectorAll("tr")].filter(row => row.innerText.trim().startsWith(%r))
  .flatMap(row => [...row.querySelectorAll("a[href]")]).map(one => one.href)
  .find(address => !address.startsWith(location.origin))
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=Path, required=True, help="where the pictures go")
    parser.add_argument("--customers", default=",".join(f"M300{number}" for number in range(11, 18)))
    parser.add_argument("--months", type=int, default=36, help="how many there are up to this one")
    parser.add_argument("--seconds", type=float, default=1800, help="how long a backfill may take")
    parser.add_argument("--port", type=int, default=8771, help="the first of three")
    given = parser.parse_args()
    first = this_month().plus(1 - given.months)
    variables = {"CUSTOMERS": given.customers, "FROM": first}
    with (
        TemporaryDirectory(prefix="backfill") as room,
        browser() as tab,
        make_dev(Path(room) / "dev", given.port, variables) as made,
    ):
        operator = Operator(tab, made.ui, given.shots)
        customers = len(given.customers.split(","))
        wrong = list(_wrong(operator, made, customers, given.months, given.seconds))
    say(f"the pictures are in {given.shots}")
    return conclude(wrong)


def _wrong(
    operator: Operator, made: Development, customers: int, months: int, seconds: float
) -> Iterator[str]:
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
    whole = {"numPartitions": partitions, "numMaterialized": partitions, "numFailed": 0}
    nodes = [one for one in made.ask(graphql.PARTITIONS)["assetNodes"] if one["partitionStats"]]
    for node in nodes:
        if {**node["partitionStats"]} != whole:
            yield f"{node['assetKey']['path'][0]} has {node['partitionStats']}"
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
    # before its first load an undocumented report is requested once for one month, to see its shape
    twice = asked_twice((one["path"], one["query"]) for one in requests)
    if len({day[:7] for _, day in (line.rsplit(" ", 1) for line in twice)} - {"None"}) > 1:
        yield f"{len(twice)} months were asked more than once: {twice[:5]}"


@dataclass(frozen=True)
class Operator:
    """Somebody in front of the UI at an address; takes pictures of what there is to see."""

    tab: Tab
    address: str
    shots: Path

    def backfill_everything(self, customers: int, months: int) -> str:
        """Launch all reports of all customers and months; the name of the backfill."""
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
        """How a backfill is going: `In progress`, `Succeeded` or what the page says."""
        self.look(f"/runs/b/{name}", "Partitions targeted", "backfill")
        found = STATUS.search(self.tab.text)
        return found[1] if found else ""

    def partitions(self, report: str) -> dict[str, int]:
        """The partitions of a report by status: {"Materialized": 252, "Missing": 0}."""
        self.look(f"/assets/{report}?view=partitions", "Missing (", f"partitions-{report}")
        return {word: int(number.replace(",", "")) for word, number in COUNTED.findall(self.tab.text)}

    def link(self, asset: str, entry: str) -> str:
        """The address that an entry of an asset's metadata leads to."""
        self.look(f"/assets/{asset}", entry, f"asset-{asset}")
        return str(self.tab.wait(LINK % entry))

    def look(self, path: str, words: str, picture: str) -> None:
        """Open a page of the UI, wait for words on it, and take a picture."""
        self.tab.go(f"{self.address}{path}")
        self.tab.wait_for(words)
        time.sleep(SECONDS_TO_SETTLE)
        self.tab.shot(self.shots / f"{picture}.png")


if __name__ == "__main__":
    sys.exit(main())
