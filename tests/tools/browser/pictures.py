"""The pictures of README and docs: the page of the demo, the asset graph, and a backfill.

`make pictures` makes the demo and runs `python -m tests.tools.browser.pictures`, which needs chromium.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from assets.partitions import partition_key
from pipelines.catalogue.reports import REPORTS
from tests.tools.browser.chromium import NotThere, Tab, browser
from tests.tools.night import graphql
from tests.tools.night.server import Server, serving, this_month, wait
from tests.tools.telling import conclude, say
from tests.unit.repository.files import ROOT

PICTURES = ROOT / "docs" / "pictures"
LARGEST = 200_000
"""Bytes of a picture that a code host shows at once."""
CUSTOMERS, MONTHS, PORT = ("M30011", "M30012", "M30013"), 12, 8781
SUBJECTS = ("commissions", "sales", "leads")
SECONDS_TO_SETTLE = 3.0
STATUS = """
query ($given: String!) {partitionBackfillOrError(backfillId: $given) {... on PartitionBackfill {status}}}
"""


def main() -> int:
    try:
        with browser(width=1400, height=900) as tab, TemporaryDirectory(prefix="pictures") as folder:
            _take(tab, (ROOT / ".demo" / "report.html").as_uri(), "page")
            _take_dagster(tab, Server(Path(folder), PORT, CUSTOMERS, this_month().plus(1 - MONTHS)))
    except NotThere as missing:
        say(str(missing))
        return 1
    sizes = {picture.name: picture.stat().st_size for picture in sorted(PICTURES.glob("*.png"))}
    say(f"the pictures are in {PICTURES}: {sizes}")
    return conclude(f"{name} has {size:,} bytes" for name, size in sizes.items() if size > LARGEST)


def _take_dagster(tab: Tab, server: Server) -> None:
    """Pictures of the asset graph, and of a backfill of some subjects that has ended."""
    on = [report for report in REPORTS.values() if report.timing.enabled and report.has_months]
    months = [server.first.plus(number) for number in range(MONTHS)]
    given = {
        "assetSelection": [{"path": [report.name]} for report in on if report.subject in SUBJECTS],
        "partitionNames": [partition_key(customer, month) for customer in CUSTOMERS for month in months],
        "tags": [],
    }
    with serving(server):
        backfill = server.ask(graphql.BACKFILL, given)["launchPartitionBackfill"]["backfillId"]
        wait(lambda: "COMPLETED" in str(server.ask(STATUS, backfill)), seconds=900)
        for path, words, name in (
            ("/asset-groups", "Materialize all", "graph"),
            (f"/runs/b/{backfill}", "Succeeded", "backfill"),
        ):
            _take(tab, f"http://127.0.0.1:{PORT + 1}{path}", name, words)


def _take(tab: Tab, address: str, name: str, words: str = "") -> None:
    """The picture of a page that shows these words."""
    tab.go(address)
    tab.wait_for(words)
    time.sleep(SECONDS_TO_SETTLE)
    tab.shot(PICTURES / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
