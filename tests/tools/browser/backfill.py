"""Does a backfill of everything, launched by clicking, turn the matrix green and end in a page to read?

`python -m tests.tools.browser.backfill --shots DIR` (`make browser`) starts `make dev` in its
own directory, clicks in a real browser, and looks at everything an operator would look at.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from pipelines.months import Month
from tests.tools.browser.chromium import Tab, browser
from tests.tools.browser.development import Development, development
from tests.tools.browser.operator import Operator
from tests.unit.assets.request_months import asked_twice

LOOKED_AT = ("sales", "commission_user", "live_commissions")
SECONDS_BETWEEN_LOOKS = 5.0
SQUARES = "{assetNodes {assetKey {path} partitionStats {numPartitions numMaterialized numFailed}}}"
RUNS = "{runsOrError(limit: 1000) {... on Runs {results {status tags {key value}}}}}"
HEADING = "How the chain is doing"


def main() -> int:
    """Say step by step what is seen, and end with 1 if anything is not as it should be."""
    given = _arguments()
    customers = given.customers.split(",")
    variables = {"CUSTOMERS": given.customers, "FROM": _first(given.months), "NIGHTLY": _not_now()}
    ports = (given.port, given.port + 1, given.port + 2)
    with (
        TemporaryDirectory(prefix="backfill") as room,
        browser() as tab,
        development(Path(room) / "dev", ports, variables) as made,
    ):
        operator = Operator(tab, made.ui, given.shots)
        wrong = list(_wrong(operator, made, len(customers), given.months, given.seconds))
    for sentence in wrong:
        sys.stderr.write(f"{sentence}\n")
    say(f"{len(wrong)} things are not as they should be; the pictures are in {given.shots}")
    return 1 if wrong else 0


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def _first(months: int) -> str:
    return str(Month.of(datetime.now(UTC).astimezone(ZoneInfo("Europe/Stockholm")).date()).plus(1 - months))


def _not_now() -> str:
    """A time of day for the night that is far away: it would ask for months of its own."""
    return f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=Path, required=True, help="where the pictures go")
    parser.add_argument("--customers", default=",".join(f"M300{number}" for number in range(11, 18)))
    parser.add_argument("--months", type=int, default=36, help="how many there are up to this one")
    parser.add_argument("--seconds", type=float, default=1800, help="how long a backfill may take")
    parser.add_argument("--port", type=int, default=8771, help="the first of three")
    return parser.parse_args()


def _wrong(
    operator: Operator, made: Development, customers: int, months: int, seconds: float
) -> Iterator[str]:
    """Everything that is not as it should be."""
    began = time.monotonic()
    name = operator.backfill_everything(customers, months)
    say(f"launched backfill {name} of {customers * months} squares of every report")
    status = _watched(operator, name, seconds)
    say(f"{status} after {time.monotonic() - began:.0f} s")
    if status != "Succeeded":
        yield f"the backfill is {status!r}"
    yield from _of_squares(operator, made, customers * months)
    yield from _of_requests(made)
    yield from _of_the_page(operator)


def _watched(operator: Operator, name: str, seconds: float) -> str:
    """How the backfill ended; says on the way how the matrix of one report turns green."""
    until, before = time.monotonic() + seconds, ""
    while True:
        now = ", ".join(f"{count} {word.lower()}" for word, count in operator.matrix(LOOKED_AT[0]).items())
        if now != before:
            say(f"{LOOKED_AT[0]}: {now}")
        before = now
        status = operator.backfill(name)
        if status not in ("Requested", "In progress") or time.monotonic() > until:
            return status
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _of_squares(operator: Operator, made: Development, squares: int) -> Iterator[str]:
    green = {"Failed": 0, "Materialized": squares, "Materializing": 0, "Missing": 0}
    for report in LOOKED_AT:
        if (seen := operator.matrix(report)) != green:
            yield f"the matrix of {report} shows {seen}"
    nodes = [one for one in made.asked(SQUARES)["assetNodes"] if one["partitionStats"]]
    for node in nodes:
        stats = node["partitionStats"]
        if (stats["numPartitions"], stats["numMaterialized"], stats["numFailed"]) != (squares, squares, 0):
            yield f"{node['assetKey']['path'][0]} has {stats}"
    say(f"{len(nodes)} reports, {squares * len(nodes):,} squares")


def _of_requests(made: Development) -> Iterator[str]:
    runs = made.asked(RUNS)["runsOrError"]["results"]
    kinds = Counter("backfill" if _tag(run, "dagster/backfill") else "other" for run in runs)
    states = Counter(run["status"] for run in runs)
    requests = made.requests()
    statuses = Counter(one["status"] for one in requests)
    say(f"runs {dict(kinds)} {dict(states)}; {len(requests):,} requests {dict(statuses)}")
    if set(states) != {"SUCCESS"}:
        yield f"the runs ended as {dict(states)}"
    if set(statuses) != {200}:
        yield f"the service answered {dict(statuses)}"
    if twice := asked_twice((one["path"], one["query"]) for one in requests):
        yield f"{len(twice)} months were asked more than once: {twice[:5]}"


def _of_the_page(operator: Operator) -> Iterator[str]:
    address = operator.link("warehouse_file", "page")
    tab: Tab = operator.tab
    tab.go(address)
    heading = tab.value("document.querySelector('h1').textContent")
    tab.shot(operator.shots / "page.png")
    say(f"{address} is {heading!r}")
    if heading != HEADING:
        yield f"{address} is headed {heading!r}"


def _tag(run: dict[str, list[dict[str, str]]], key: str) -> str:
    return next((tag["value"] for tag in run["tags"] if tag["key"] == key), "")


if __name__ == "__main__":
    sys.exit(main())
