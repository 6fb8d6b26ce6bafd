"""How is `make dev` started and ended from outside? As a person does: in a directory, and with Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.unit.walls.files import ROOT

PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Development:
    """A sandbox, a Dagster UI and its daemon, with all they keep in one directory."""

    directory: Path
    sandbox: str
    ui: str

    def requests(self) -> list[dict[str, Any]]:
        """Every request that the sandbox has seen."""
        return list(_json(f"{self.sandbox}/_sandbox/requests")["requests"])

    def asked(self, query: str) -> Any:
        """What Dagster answers to a query of GraphQL."""
        return _json(f"{self.ui}/graphql", {"query": query})["data"]


@contextmanager
def development(
    directory: Path, ports: tuple[int, int, int], variables: Mapping[str, str]
) -> Iterator[Development]:
    """`make dev` in a directory, on the ports of the sandbox, the UI and the files, while the block lasts."""
    sandbox, ui, files = ports
    named = {"DEV": directory, "SANDBOX_PORT": sandbox, "UI_PORT": ui, "FILES_PORT": files, **variables}
    words = ["make", "dev", *(f"{name}={value}" for name, value in named.items())]
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "make.log").open("w") as log:
        process = subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            made = Development(directory, f"http://127.0.0.1:{sandbox}", f"http://127.0.0.1:{ui}")
            _wait(f"{made.ui}/server_info", process)
            yield made
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C goes to everything in the terminal; whoever does not hear is ended."""
    for signed in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signed)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_SECONDS / 4)


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            _json(address)
        except URLError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(1)
        else:
            return


def _json(address: str, body: Mapping[str, object] | None = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    with urlopen(Request(address, data, {"Content-Type": "application/json"}), timeout=60) as answer:
        return json.load(answer)
