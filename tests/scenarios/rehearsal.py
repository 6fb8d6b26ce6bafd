"""What does a whole test run in? A sandbox as transport, a data directory of its own, and its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from pipelines.months import Month
from pipelines.operations.publish import Finished, finish
from pipelines.planning.selection import Selection
from pipelines.sandbox.calls import LoggedCall
from pipelines.sandbox.service import Service
from pipelines.sandbox.transport import SandboxTransport
from pipelines.sandbox.world.world import World
from pipelines.settings.model import Settings, load_settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.summary import Summary
from pipelines.sync.sync import sync

TODAY = date(2026, 11, 21)
THREE_MONTHS = Month(2026, 9)


@dataclass
class Rehearsal:
    """A sandbox and a pipeline that asks it, without a socket."""

    service: Service
    settings: Settings
    context: RunContext = field(init=False)

    def __post_init__(self) -> None:
        self.context = RunContext(transport=SandboxTransport(self.service))

    def sync(self, selection: Selection | None = None) -> Summary:
        """One sync; the request log then holds only its requests."""
        self.service.log.clear()
        return sync(self.settings, selection or Selection(), context=self.context)

    def publish(self) -> Finished:
        """Marts, checks and the published file."""
        return finish(self.settings)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query on the working file answers."""
        with duckdb.connect(
            str(self.settings.data_dir / "work" / "warehouse.duckdb"), read_only=True
        ) as file:
            return file.execute(query).fetchall()

    def value(self, query: str) -> Any:
        """The single value a query answers."""
        ((value,),) = self.rows(query)
        return value

    @property
    def asked(self) -> list[LoggedCall]:
        """The requests of the last sync."""
        return self.service.log.entries

    def asked_by_path(self) -> Counter[str]:
        """How often the last sync asked each report."""
        return Counter(entry.path.split("/")[2] for entry in self.asked)

    def on_another_day(self, day: date) -> Rehearsal:
        """The same files, with the world and the calendar moved on."""
        self.service.set_as_of(day)
        return replace(self, settings=self.settings.model_copy(update={"today": day}))


def rehearsal(
    data_dir: Path,
    *,
    start: Month = THREE_MONTHS,
    as_of: date = TODAY,
    service: Mapping[str, Any] | None = None,
    **environment: str,
) -> Rehearsal:
    """A world since `start`, seen on `as_of`, and settings that point at it."""
    world = World.build(start=start, as_of=as_of)
    settings = load_settings(
        {
            "BROKERBI_BASE_URL": "https://sandbox.example",
            "BROKERBI_USERNAME": "sandbox",
            "BROKERBI_PASSWORD": "sandbox",
            "BROKERBI_CUSTOMERS": ",".join(world.customers),
            "BROKERBI_START": str(start),
            "BROKERBI_DATA_DIR": str(data_dir),
            "BROKERBI_REQUESTS_PER_SECOND": "1000",
            "BROKERBI_TODAY": as_of.isoformat(),
            **environment,
        }
    )
    return Rehearsal(Service(world, **(service or {})), settings)
