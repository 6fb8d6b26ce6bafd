"""A real browser shows the page as meant, on a desk and on a phone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.unit.page.given import chain, page
from tests.unit.page.test_html_page import HOSTILE

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --allow-file-access-from-files --dump-dom"
).split()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="nobody looks at the page: chromium is not installed here (apt install chromium)",
)
# The page runs no script, so another one looks at it: a frame as wide as the screen, measured when loaded.
LOOKING = """<!doctype html><body>
<iframe id="frame" width="%d" height="900" src="%s"></iframe><pre id="seen"></pre>
<script>
const frame = document.getElementById("frame");
frame.addEventListener("load", () => {
  const page = frame.contentDocument, look = frame.contentWindow.getComputedStyle;
  const boxes = which => [...page.querySelectorAll(which)].map(one => one.getBoundingClientRect());
  const texts = [...page.querySelectorAll("svg text")].map(one => parseFloat(look(one).fontSize));
  document.getElementById("seen").textContent = JSON.stringify({
    heading: page.querySelector("h1").textContent,
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    ground: look(page.body).backgroundColor,
    smallest: Math.min(...texts),
    squeezed: boxes(".plot").filter(one => one.width < 200 || one.height < 100).length,
    columns: boxes("rect.value").filter(one => one.width > 4 && one.height > 4).length,
    reachable: page.querySelectorAll("a[href], summary, [tabindex='0']").length});
});
</script>"""


def _seen(room: Path, width: int, *flags: str) -> dict[str, Any]:
    (room / "page.html").write_text(page(chain("Uppsala", HOSTILE)), "utf-8")
    (room / "looking.html").write_text(LOOKING % (width, "page.html"), "utf-8")
    words = [
        str(CHROMIUM),
        *FLAGS,
        *flags,
        f"--user-data-dir={room / 'profile'}",
        f"file://{room}/looking.html",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    [seen] = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    return dict(json.loads(unescape(seen)))


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_fits_the_screen_and_its_text_can_be_read(tmp_path: Path, width: int) -> None:
    seen = _seen(tmp_path, width)
    assert (seen["heading"], seen["overflow"], seen["squeezed"]) == ("How the chain is doing", 0, 0)
    assert seen["smallest"] >= 11
    assert seen["columns"] > 12
    assert seen["reachable"] > 10


def test_the_page_is_light_by_day_and_dark_by_night(tmp_path: Path) -> None:
    grounds = [
        _seen(tmp_path, 800, f"--blink-settings=preferredColorScheme={scheme}")["ground"] for scheme in (1, 0)
    ]
    assert grounds == ["rgb(251, 250, 248)", "rgb(20, 23, 26)"]
