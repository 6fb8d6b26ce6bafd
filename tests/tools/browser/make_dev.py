"""`make dev` started and ended from outside, as a person does: in a directory, and with Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

from tests.tools.nights.server import end, get_json, wait
from tests.unit.repository.files import ROOT


@dataclass(frozen=True)
class Development:
    """The addresses of a sandbox and a Dagster UI that `make dev` serves."""

    sandbox: str
    ui: str

    def requests(self) -> list[dict[str, Any]]:
        """Every request that the sandbox has seen."""
        return list(get_json(f"{self.sandbox}/_sandbox/requests")["requests"])

    def ask(self, query: str) -> Any:
        """What Dagster answers to a query of GraphQL."""
        return get_json(f"{self.ui}/graphql", {"query": query})["data"]


@contextmanager
def make_dev(
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
            made = Development(f"http://127.0.0.1:{sandbox}", f"http://127.0.0.1:{ui}")
            wait(lambda: _is_up(made, process), every=1)
            yield made
        finally:
            end(process, signal.SIGINT, 30)


def _is_up(made: Development, process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"make dev ended with {process.returncode}")
    try:
        return bool(get_json(f"{made.ui}/server_info"))
    except (URLError, ConnectionError):
        return False
