"""Chromium without a window, driven over its DevTools protocol.

Only the handful of commands that clicking through a UI takes: the protocol is Chromium's own and needs no
library but a WebSocket, which Dagster's web server brings along.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless --hide-scrollbars --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage "
    "--remote-debugging-port=0"
).split()
TIMEOUT_SECONDS = 60.0
SECONDS_BETWEEN_LOOKS = 0.25
LEFT = {"button": "left", "clickCount": 1}

# Elements are found as a person finds them: by the words on them, and only where they can be seen.
# Of several with the same words the innermost is meant, and the frontmost: a dialog lies over its page.
FINDING = """
(() => {
  const words = %s, which = %s, seen = one => {
    const box = one.getBoundingClientRect(), look = getComputedStyle(one);
    return box.width > 0 && box.height > 0 && look.visibility !== "hidden";
  };
  return [...document.querySelectorAll(which)].filter(one => seen(one) && one.innerText.trim() === words);
})()
"""

# Where the middle of an element is, if a click there would reach it and nothing that lies over it.
REACHED = """
(one => {
  const box = one.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const hit = document.elementFromPoint(x, y);
  return one.contains(hit) ? [x, y] : null;
})(%s)
"""


class NotThere(Exception):
    """What was waited for did not appear in time."""


@dataclass
class Tab:
    """One page of the browser, and the conversation with it."""

    wire: ClientConnection
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def send(self, method: str, **given: Any) -> dict[str, Any]:
        """One command of the protocol, and its answer; raises RuntimeError when it is refused."""
        number = next(self._numbers)
        self.wire.send(json.dumps({"id": number, "method": method, "params": given}))
        while (answer := json.loads(self.wire.recv(timeout=TIMEOUT_SECONDS))).get("id") != number:
            pass  # news that nobody asked for
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def value(self, script: str) -> Any:
        """The value of an expression on the page; raises RuntimeError when it breaks."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def go(self, address: str) -> None:
        """Open an address, and wait until the page is there."""
        self.send("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'")

    def wait(self, script: str, seconds: float = TIMEOUT_SECONDS) -> Any:
        """The value of an expression as soon as it has one; raises NotThere after so long."""
        until = time.monotonic() + seconds
        while not (found := self.value(script)):
            if time.monotonic() > until:
                raise NotThere(f"{script}, waited for {seconds:g} s; the page says: {self.text[:500]}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return found

    def wait_for(self, words: str, seconds: float = TIMEOUT_SECONDS) -> None:
        """Until the page says so."""
        self.wait(f"document.body.innerText.includes({json.dumps(words)})", seconds)

    @property
    def text(self) -> str:
        """All words on the page."""
        return str(self.value("document.body.innerText"))

    def click(self, words: str, which: str = "button", number: int = 0) -> None:
        """Click on what bears exactly these words, with a real mouse; raises NotThere."""
        found = f"{FINDING.strip() % (json.dumps(words), json.dumps(which))}.at({number})"
        self.wait(f"{found} !== undefined && !{found}.disabled")
        self.value(f"{found}.scrollIntoView({{block: 'center'}})")
        x, y = self._at_rest(REACHED % found)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed = LEFT if kind != "mouseMoved" else {}
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def _at_rest(self, place: str) -> tuple[float, float]:
        """A place, as soon as it has stopped moving: dialogs slide in."""
        before = None
        while (now := self.wait(place)) != before:
            before = now
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return now[0], now[1]

    def shot(self, path: Path) -> None:
        """A picture of what is to be seen."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser(width: int = 1600, height: int = 1100) -> Iterator[Tab]:
    """A browser with one page, for as long as the block lasts; raises NotThere without a chromium."""
    if CHROMIUM is None:
        raise NotThere("chromium is not installed here (apt install chromium)")
    with TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True) as profile:
        own = [f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        words = [CHROMIUM, *FLAGS, *own, "about:blank"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = _port(Path(profile) / "DevToolsActivePort", process)
            with connect(_page(port), max_size=None, proxy=None) as wire:
                tab = Tab(wire)
                size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
                tab.send("Emulation.setDeviceMetricsOverride", **size)
                yield tab
        finally:
            process.terminate()
            process.wait(TIMEOUT_SECONDS)


def _port(written: Path, process: subprocess.Popen[bytes]) -> int:
    """Where the browser listens, as soon as it says so."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while not (written.exists() and len(written.read_text().splitlines()) > 1):
        if process.poll() is not None or time.monotonic() > until:
            raise NotThere(f"chromium did not start (exit code {process.poll()})")
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return int(written.read_text().splitlines()[0])


def _page(port: int) -> str:
    with urlopen(Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")) as answer:
        return str(json.load(answer)["webSocketDebuggerUrl"])
