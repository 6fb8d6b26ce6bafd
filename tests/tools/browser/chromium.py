"""Chromium without a window, driven over its DevTools protocol.

It has only the few commands that a click through a UI needs. The only library that the protocol needs is one
for WebSockets, which Dagster's web server installs.
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

# The visible elements with exactly this text.
VISIBLE = """
(() => {
  const text = %s, selector = %s, shown = node => {
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden";
  };
  return [...document.querySelectorAll(selector)].filter(it => shown(it) && it.innerText.trim() === text);
})()
"""

# The middle of an element, or null if another element covers it there.
MIDDLE = """
(node => {
  const box = node.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const hit = document.elementFromPoint(x, y);
  return node.contains(hit) ? [x, y] : null;
})(%s)
"""


class NotThere(Exception):
    """The browser, an element or a value did not appear in time."""


@dataclass
class Tab:
    """One page of the browser, controlled through a WebSocket."""

    wire: ClientConnection
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command of the protocol; returns its result, and raises RuntimeError if it fails."""
        number = next(self._numbers)
        self.wire.send(json.dumps({"id": number, "method": method, "params": params}))
        while (answer := json.loads(self.wire.recv(timeout=TIMEOUT_SECONDS))).get("id") != number:
            pass  # an event, not the answer
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def value(self, script: str) -> Any:
        """The value of an expression on the page; raises RuntimeError if it throws."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def go(self, address: str) -> None:
        """Open an address, and wait until the page is complete."""
        self.send("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'")

    def wait(self, script: str, seconds: float = TIMEOUT_SECONDS) -> Any:
        """The value of an expression as soon as it is true; raises NotThere after `seconds`."""
        until = time.monotonic() + seconds
        while not (value := self.value(script)):
            if time.monotonic() > until:
                raise NotThere(f"{script}, waited for {seconds:g} s; the page says: {self.text[:500]}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return value

    def wait_for(self, text: str, seconds: float = TIMEOUT_SECONDS) -> None:
        """Wait until the page shows this text; raises NotThere."""
        self.wait(f"document.body.innerText.includes({json.dumps(text)})", seconds)

    @property
    def text(self) -> str:
        """The visible text of the page."""
        return str(self.value("document.body.innerText"))

    def click(self, text: str, selector: str = "button", number: int = 0) -> None:
        """Click with the mouse on the visible element with this text; `number` selects one of several."""
        element = f"{VISIBLE.strip() % (json.dumps(text), json.dumps(selector))}.at({number})"
        self.wait(f"{element} !== undefined && !{element}.disabled")
        self.value(f"{element}.scrollIntoView({{block: 'center'}})")
        x, y = self._at_rest(MIDDLE % element)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed = LEFT if kind != "mouseMoved" else {}
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def _at_rest(self, script: str) -> tuple[float, float]:
        """The position that an expression returns, once it no longer changes: dialogs slide in."""
        before = None
        while (now := self.wait(script)) != before:
            before = now
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return now[0], now[1]

    def shot(self, path: Path) -> None:
        """Write a screenshot as a PNG file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser(width: int = 1600, height: int = 1100) -> Iterator[Tab]:
    """A browser with one page, open while the body runs; raises NotThere if Chromium is not installed."""
    if CHROMIUM is None:
        raise NotThere("chromium is not installed here (apt install chromium)")
    with TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True) as profile:
        own = [f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        command = [CHROMIUM, *FLAGS, *own, "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    """The port of the browser, once it has written it to the file."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while not (file.exists() and len(file.read_text().splitlines()) > 1):
        if process.poll() is not None or time.monotonic() > until:
            raise NotThere(f"chromium did not start (exit code {process.poll()})")
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return int(file.read_text().splitlines()[0])


def _page(port: int) -> str:
    with urlopen(Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")) as answer:
        return str(json.load(answer)["webSocketDebuggerUrl"])
