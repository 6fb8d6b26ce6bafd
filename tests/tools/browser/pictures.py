"""The pictures of README and docs: the page of the demo, the asset graph, and a backfill.

`make pictures` makes the demo and runs `python -m tests.tools.browser.pictures`, which needs chromium.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from tests.tools.browser.backfill import Operator, make_dev
from tests.tools.browser.chromium import NotThere, Tab, browser
from tests.tools.night.server import half_a_day_away, this_month
from tests.tools.telling import conclude, say
from tests.unit.repository.files import ROOT

PICTURES = ROOT / "docs" / "pictures"
LARGEST = 200_000
"""Bytes of a picture that a code host shows at once."""
CUSTOMERS, MONTHS = "M30011,M30012", 12
REPORTS = "/asset-groups?asset-selection=" + quote('tag:"layer"="report"')
PORTS = (8781, 8782, 8783)


def main() -> int:
    try:
        with TemporaryDirectory(prefix="pictures") as folder, browser(width=1400, height=1000) as tab:
            tab.go((ROOT / ".demo" / "report.html").as_uri())
            tab.shot(PICTURES / "page.png")
            status = _dagster(tab, Path(folder))
    except NotThere as missing:
        say(str(missing))
        return 1
    if status != "Succeeded":
        say(f"the backfill is {status!r}")
        return 1
    sizes = {picture.name: picture.stat().st_size for picture in sorted(PICTURES.glob("*.png"))}
    say(f"the pictures are in {PICTURES}: {sizes}")
    return conclude(f"{name} has {size:,} bytes" for name, size in sizes.items() if size > LARGEST)


def _dagster(tab: Tab, folder: Path) -> str:
    """Take pictures of the graph and of a backfill that has ended; its status."""
    variables = {
        "CUSTOMERS": CUSTOMERS,
        "FROM": str(this_month().plus(1 - MONTHS)),
        "NIGHTLY": half_a_day_away(),
    }
    with make_dev(folder / "dev", PORTS, variables) as development:
        operator = Operator(tab, development.ui, folder)
        backfill = operator.backfill_everything(len(CUSTOMERS.split(",")), MONTHS, REPORTS)
        while (status := operator.backfill(backfill)) in ("Requested", "In progress"):
            time.sleep(2)
        operator.look("/asset-groups", "Materialize all", "graph")
    for name in ("graph", "backfill"):
        (folder / f"{name}.png").replace(PICTURES / f"{name}.png")
    return status


if __name__ == "__main__":
    sys.exit(main())
