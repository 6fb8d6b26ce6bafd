"""A server as it runs for real: sandbox, Dagster web server and daemon, each a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

from assets.partitions import partition_key
from pipelines.months import Month
from pipelines.settings.model import Settings, load_settings
from tests.tools.night import graphql
from tests.unit.repository.files import ROOT

TIMEOUT_SECONDS = 180.0
ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})
BIN = Path(sys.executable).parent
NIGHT = {"brokerbi/night": "a night", "brokerbi/held": "skip", "dagster/priority": "10"}


@dataclass
class Server:
    """Everything a server runs, below one directory; `port` is the sandbox's, the next one the UI's."""

    directory: Path
    port: int
    customers: Sequence[str]
    first: Month
    latency: float = 0.0
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the processes; the nightly schedule is half a day away."""
        ours = {
            "CONFIG": "/dev/null",
            "BASE_URL": f"http://127.0.0.1:{self.port}",
            "USERNAME": "sandbox",
            "PASSWORD": "sandbox",
            "CUSTOMERS": ",".join(self.customers),
            "START": str(self.first),
            "DATA_DIR": str(self.directory / "data"),
            "REQUESTS_PER_SECOND": "1000",
            "NIGHTLY": half_a_day_away(),
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("BROKERBI_")}
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)  # a server keeps what it compiled
        dagster = {
            "DAGSTER_HOME": str(self.directory / "dagster"),
            "DAGSTER_CODE_SOCKET": str(self.directory / "code"),
            "DAGSTER_DISABLE_TELEMETRY": "yes",
            "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS": "yes",
            "DAGSTER_BACKFILL_RETRY_DEFINITION_CHANGED_ERROR": "yes",
        }
        return inherited | dagster | {f"BROKERBI_{name}": value for name, value in ours.items()}

    def settings(self) -> Settings:
        """The same settings for this process."""
        return load_settings({k: v for k, v in self.environment.items() if k.startswith("BROKERBI_")})

    def start(self, name: str) -> None:
        """Start one of the processes, in a session of its own."""
        with (self.directory / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                self._command(name),
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _command(self, name: str) -> list[str]:
        workspace = ["--workspace", str(ROOT / "deploy" / "workspace.yaml")]
        if name == "code":
            socket = self.environment["DAGSTER_CODE_SOCKET"]
            where = ["--socket", socket, "--module-name", "assets.definitions", "--location-name", "brokerbi"]
            return [str(BIN / "dagster"), "code-server", "start", *where]
        if name == "daemon":
            return [str(BIN / "dagster-daemon"), "run", *workspace]
        if name == "ui":
            address = ["--host", "127.0.0.1", "--port", str(self.port + 1)]
            return [str(BIN / "dagster-webserver"), *address, *workspace]
        options = {
            "port": self.port,
            "offices": max(len(self.customers), 7),
            "from": self.first,
            "as-of": today(),
            "latency": self.latency,
        }
        words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
        return [str(BIN / "brokerbi"), "sandbox", *words]

    def launch(self, job: str, months: Iterable[Month], **tags: str) -> str:
        """A run of a job over all customers and these months; its id."""
        several = sorted(months)
        whole = {
            "dagster/asset_partition_range_start": partition_key(self.customers[0], several[0]),
            "dagster/asset_partition_range_end": partition_key(self.customers[-1], several[-1]),
        }
        tagged = [{"key": key, "value": value} for key, value in {**whole, **tags}.items()]
        given = {"selector": graphql.job(job), "runConfigData": {}, "executionMetadata": {"tags": tagged}}
        return str(self._mutate(graphql.LAUNCH, given, "LaunchRunSuccess")["run"]["runId"])

    def runs(self) -> list[dict[str, Any]]:
        """All runs, newest first: runId, status, jobName."""
        return list(self.ask(graphql.RUNS)["runsOrError"]["results"])

    def status(self, run_id: str) -> str:
        return str(next(run["status"] for run in self.runs() if run["runId"] == run_id))

    def ask(self, query: str, given: object = None) -> dict[str, Any]:
        """What Dagster answers to GraphQL."""
        address = f"http://127.0.0.1:{self.port + 1}/graphql"
        answer = get_json(address, {"query": query, "variables": {"given": given}})
        if "errors" in answer:
            raise RuntimeError(f"{query}: {answer['errors']}")
        return dict(answer["data"])

    def _mutate(self, mutation: str, given: object, success: str) -> dict[str, Any]:
        """The answer to a mutation; raises RuntimeError when it is not a success."""
        [answer] = self.ask(mutation, given).values()
        if answer["__typename"] != success:
            raise RuntimeError(f"{answer}")
        return dict(answer)

    def requests(self) -> list[dict[str, Any]]:
        """Every request that the sandbox has seen."""
        return list(get_json(f"http://127.0.0.1:{self.port}/_sandbox/requests")["requests"])

    def forget_requests(self) -> None:
        get_json(f"http://127.0.0.1:{self.port}/_sandbox/requests/clear", {})

    def is_up(self) -> bool:
        """Whether everything answers; raises RuntimeError when a process has ended: a port may be taken."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended: {(self.directory / f'{name}.log').read_text()[-500:]}")
        with suppress(URLError, ConnectionError, KeyError):
            entries = self.ask(graphql.READY)["workspaceOrError"]["locationEntries"]
            return bool(self.requests() is not None and entries[0]["loadStatus"] == "LOADED")
        return False


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """A server that is up, and gone afterwards with everything it started."""
    home = server.directory / "dagster"
    home.mkdir(parents=True)
    shutil.copy(ROOT / "dagster.yaml", home)
    migrate = [str(BIN / "dagster"), "instance", "migrate"]  # two that make its storage at once collide
    subprocess.run(migrate, env=server.environment, check=True, capture_output=True)
    try:
        for name in ("sandbox", "code"):
            server.start(name)
        wait(Path(server.environment["DAGSTER_CODE_SOCKET"]).exists)
        for name in ("daemon", "ui"):
            server.start(name)
        wait(server.is_up)
        yield server
    finally:
        for process in server.processes.values():
            end(process, signal.SIGTERM)


def end(process: subprocess.Popen[bytes], first: signal.Signals, seconds: float = 10) -> None:
    """End a process and everything in its session, without mercy after so many seconds."""
    for signed in (first, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signed)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)


def get_json(address: str, body: object = None) -> Any:
    """The JSON at an address, posted to when there is a body; raises RuntimeError with what it says."""
    data = json.dumps(body).encode() if body is not None else None
    try:
        request = Request(address, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except HTTPError as error:  # its body says what is wrong
        raise RuntimeError(error.read().decode("utf-8", "replace")[:2000]) from error


def wait(what: Callable[[], Any], seconds: float = TIMEOUT_SECONDS, every: float = 0.5) -> Any:
    """What a function returns as soon as that is something; raises TimeoutError."""
    until = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(every)
    return found


def today() -> date:
    return datetime.now(ZoneInfo("Europe/Stockholm")).date()


def this_month() -> Month:
    return Month.of(today())


def half_a_day_away() -> str:
    """A schedule that will not be due while this runs."""
    return f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"
