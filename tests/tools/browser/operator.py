"""What an operator clicks and sees in the Dagster UI, as far as a backfill leads through it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from tests.tools.browser.chromium import Tab

COUNTED = re.compile(r"(Failed|Materialized|Materializing|Missing) \(([\d,]+)\)")
STATUS = re.compile(r"Status\s+(Requested|In progress|Succeeded|Failed|Canceling|Canceled)")
SECONDS_TO_SETTLE = 2.0  # a page shows its parts as they come in
LINK = """
[...document.querySelectorAll("tr")].filter(row => row.innerText.trim().startsWith(%r))
  .flatMap(row => [...row.querySelectorAll("a[href]")]).map(one => one.href)
  .find(address => !address.startsWith(location.origin))
"""


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
