"""A real browser shows the pages as meant, on a desk and on a phone."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from pipelines.foreign_text import visible
from pipelines.page.facts import Row
from tests.tools.browser.chromium import CHROMIUM, Tab, browser
from tests.unit.page.given import chain, office_page, operators_page, page, replace
from tests.unit.page.test_dictionary import dictionary
from tests.unit.page.test_html_page import HOSTILE

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="nobody looks at the page: chromium is not installed here (apt install chromium)"
)
LOOKING = """(() => {
  const boxes = which => [...document.querySelectorAll(which)].map(one => one.getBoundingClientRect());
  const size = one => parseFloat(getComputedStyle(one).fontSize);
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  return {
    heading: document.querySelector("h1").textContent,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    smallest: Math.min(...[...document.querySelectorAll("svg text")].map(size)),
    squeezed: boxes("figure:not(.spark) .plot")
     .filter(one => one.width && (one.width < 200 || one.height < 100)).length,
    columns: boxes("path.value").filter(one => one.width > 4 && one.height > 4).length,
    reachable: document.querySelectorAll("a[href], summary, [tabindex='0']").length,
  };
})()"""
SEARCHING = """(() => {
  const field = document.getElementById("search");
  field.value = "office town"; field.dispatchEvent(new Event("input"));
  return {
    tables: [...document.querySelectorAll("details.table")].filter(one => !one.hidden).map(one => one.id),
    rows: [...document.querySelectorAll("details[open] tbody tr")].filter(one => !one.hidden).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
})()"""


CHAIN = chain("Uppsala", HOSTILE)
TWO = replace(
    chain("Elsewhere", "Uppsala"),
    periods=[
        replace(one, actual=Decimal(990)) if one.office_id == "Uppsala" else one
        for one in chain("Elsewhere", "Uppsala").periods
    ],
)
TROUBLE = Row(
    severity="error", condition="failed", number=1, since_utc=datetime(2026, 11, 22, 4), what_to_do=None,
    what_was_found="In 5 tries there was no answer to the request; the last was answered 503. " * 6,
    concerns="commission_office_by_month of M30016",
)  # fmt: skip
BROKEN = """(() => {
  const lines = (node, from, to) => {
    const range = document.createRange(); range.setStart(node, from); range.setEnd(node, to);
    return new Set([...range.getClientRects()].map(one => Math.round(one.top))).size;
  };
  const cells = [...document.querySelectorAll(".board tbody td:not(.words), .board tbody th")];
  const split = cells.flatMap(cell => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (const one of node.data.matchAll(/[\\p{L}\\p{N}]+/gu))
        if (lines(node, one.index, one.index + one[0].length) > 1) found.push(one[0]);
    }
    return found;
  });
  return {split, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth};
})()"""
PAGES = {
    "operators": lambda: operators_page(replace(CHAIN, problems=(TROUBLE,))),
    "page": lambda: page(CHAIN),
    "two": lambda: page(TWO),
    "many": lambda: page(chain(*(f"The Office of Place {place}" for place in range(24)))),
    "office": lambda: office_page(CHAIN, HOSTILE, "sv"),
    "dictionary": dictionary,
}


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with browser() as tab:
        yield tab


def shown(tab: Tab, room: Path, name: str, width: int, scheme: str = "light") -> Tab:
    """One of the pages on a screen of this width."""
    (room / f"{name}.html").write_text(PAGES[name](), "utf-8")
    tab.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    tab.go(f"file://{room}/{name}.html")
    return tab


@pytest.mark.parametrize("width", [1280, 390, 320])
@pytest.mark.parametrize(("name", "heading"), [("page", "The whole chain"), ("office", visible(HOSTILE))])
def test_a_page_fits_the_screen_and_its_text_can_be_read(
    tab: Tab, tmp_path: Path, name: str, heading: str, width: int
) -> None:
    seen = shown(tab, tmp_path, name, width).value(LOOKING)
    assert (seen["heading"], seen["overflow"], seen["squeezed"]) == (heading, 0, 0)
    assert seen["smallest"] >= 11
    assert seen["columns"] > 12
    assert seen["reachable"] > 10


@pytest.mark.parametrize("width", [1280, 720, 390])
def test_words_of_open_issues_are_not_broken(tab: Tab, tmp_path: Path, width: int) -> None:
    assert shown(tab, tmp_path, "operators", width).value(BROKEN) == {"split": [], "overflow": 0}


def test_the_page_is_light_by_day_and_dark_by_night(tab: Tab, tmp_path: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = [shown(tab, tmp_path, "page", 800, scheme).value(ground) for scheme in ("light", "dark")]
    assert grounds == ["rgb(251, 250, 248)", "rgb(20, 23, 26)"]


def test_the_dictionary_search_shows_the_rows_with_every_word(tab: Tab, tmp_path: Path) -> None:
    seen = shown(tab, tmp_path, "dictionary", 390).value(SEARCHING)
    assert seen == {"tables": ["marts.offices"], "rows": 1, "overflow": 0}


SORTING = """(() => {
  const table = document.querySelector("[aria-labelledby=ranked] table");
  const heads = [...table.querySelectorAll("thead button")];
  const names = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.trim());
  const share = heads.find(head => head.textContent === "% of budget");
  share.click(); const down = names();
  share.click(); return [down, names(), share.closest("th").ariaSort];
})()"""


def test_a_click_on_a_heading_sorts_the_table_by_its_column(tab: Tab, tmp_path: Path) -> None:
    seen = shown(tab, tmp_path, "two", 1280).value(SORTING)
    assert seen == [["Uppsala", "Elsewhere"], ["Elsewhere", "Uppsala"], "ascending"]


def test_the_page_of_a_chain_of_24_offices_is_printed_on_two_sheets(tab: Tab, tmp_path: Path) -> None:
    shown(tab, tmp_path, "many", 1280)
    printed = base64.b64decode(tab.send("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2
