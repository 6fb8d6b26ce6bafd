"""`make dev` as a server to measure and look at: a sandbox and the four processes of Dagster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

from pipelines.months import Month
from tests.unit.repository.files import ROOT

TIMEOUT_SECONDS = 180.0


@dataclass(frozen=True)
class Development:
    """The data directory, and the addresses of the sandbox and of the Dagster UI, that `make dev` serves."""

    directory: Path
    sandbox: str
    ui: str

    def requests(self) -> list[dict[str, Any]]:
        """Every request that the sandbox has seen."""
        return list(get_json(f"{self.sandbox}/_sandbox/requests")["requests"])

    def forget_requests(self) -> None:
        get_json(f"{self.sandbox}/_sandbox/requests/clear", {})

    def query(self, query: str, given: object = None) -> dict[str, Any]:
        """The data of Dagster's answer to a GraphQL query; raises RuntimeError if it reports errors."""
        answer = get_json(f"{self.ui}/graphql", {"query": query, "variables": {"given": given}})
        if "errors" in answer:
            raise RuntimeError(f"{query}: {answer['errors']}")
        return dict(answer["data"])


@contextmanager
def make_dev(directory: Path, port: int, variables: Mapping[str, object]) -> Iterator[Development]:
    """Run `make dev` while the body runs, on three ports from `port` on, with these make variables."""
    ports = {"SANDBOX_PORT": port, "UI_PORT": port + 1, "FILES_PORT": port + 2}
    all_variables = {"DEV": directory, "NIGHTLY": half_a_day_away(), **ports, **variables}
    command = ["make", "dev", *(f"{name}={value}" for name, value in all_variables.items())]
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "make.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            dev = Development(directory, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}")
            wait(lambda: _is_up(dev, process), every=1)
            yield dev
        finally:
            for number in (signal.SIGINT, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(30)


def _is_up(dev: Development, process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"make dev ended with {process.returncode}")
    try:
        return bool(get_json(f"{dev.ui}/server_info"))
    except (URLError, ConnectionError):
        return False


def get_json(address: str, body: object = None) -> Any:
    """GET an address, or POST a body to it; returns JSON, and raises RuntimeError with an error's text."""
    data = json.dumps(body).encode() if body is not None else None
    try:
        request = Request(address, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except HTTPError as error:
        raise RuntimeError(error.read().decode("utf-8", "replace")[:2000]) from error


def wait(poll: Callable[[], Any], seconds: float = TIMEOUT_SECONDS, every: float = 0.5) -> Any:
    """Call `poll` until it returns a true value, and return that value; raises TimeoutError."""
    until = time.monotonic() + seconds
    while not (value := poll()):
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(every)
    return value


def this_month() -> Month:
    return Month.of(datetime.now(ZoneInfo("Europe/Stockholm")).date())


def half_a_day_away() -> str:
    """A daily schedule that is next due in about twelve hours."""
    return f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"
