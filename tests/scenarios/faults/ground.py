"""In what do these tests run? A small world, a clock that never waits, and tables that can be compared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import duckdb

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import SystemClock
from pipelines.months import Month
from pipelines.operations.publish import Finished, finish
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from pipelines.sandbox.transport import SandboxTransport
from pipelines.sandbox.world.world import World
from pipelines.settings.model import Settings, load_settings
from pipelines.sync.run_context import RunContext
from pipelines.sync.summary import Summary
from pipelines.sync.sync import sync
from warehouse.database import Store

TODAY = date(2026, 11, 21)
FEW = ("users", "commission_office", "sales", "tips_and_leads")
Cell = tuple[str, str, date | None]
Rows = tuple[int, int]


@dataclass(frozen=True)
class HurriedClock(SystemClock):
    """The time of a noon in the world, moving on by itself; waiting returns at once."""

    noon: datetime = datetime(2026, 11, 21, 12, tzinfo=UTC)
    began: float = field(default_factory=monotonic)

    def utc_now(self) -> datetime:
        return self.noon + timedelta(seconds=monotonic() - self.began)

    async def sleep(self, seconds: float) -> None:
        del seconds
        await asyncio.sleep(0)


@dataclass
class Ground:
    """A sandbox and a pipeline that asks it; nothing here waits."""

    service: Service
    settings: Settings
    clock: HurriedClock = field(default_factory=HurriedClock)
    catalogue: Mapping[str, Report] = field(default_factory=lambda: REPORTS)

    @property
    def working(self) -> Path:
        return self.settings.data_dir / "work" / "warehouse.duckdb"

    def sync(self, *faults: Fault, **selection: Any) -> Summary:
        """One sync under these faults; the request log then holds only its requests."""
        self.service.log.clear()
        self.service.faults.switch(faults)
        return sync(self.settings, Selection(**selection), context=self.context())

    def context(self) -> RunContext:
        """The sandbox instead of the network, and the clock that never waits."""
        transport = SandboxTransport(self.service, sleep=self.clock.sleep)
        return RunContext(self.clock, transport, self.catalogue)

    def publish(self) -> Finished:
        """Marts, checks and the published file."""
        return finish(self.settings, self.clock)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query on the working file answers."""
        with Store(self.settings.data_dir).reading() as file:
            return file.execute(query, list(values)).fetchall()

    def cells(self, *, documented: bool = False) -> dict[Cell, Rows]:
        """The content of every table, by table, customer and month."""
        with Store(self.settings.data_dir).reading() as file:
            return content(file, documented=documented)

    def forgotten(self) -> Ground:
        """The same ground on a later night: a new day, so that refusals of the old one are forgotten."""
        later = replace(self.clock, noon=self.clock.noon + timedelta(days=1))
        day = TODAY + timedelta(days=1)
        return replace(self, clock=later, settings=self.settings.model_copy(update={"today": day}))


def ground(
    data_dir: Path,
    reports: Sequence[str] = FEW,
    *,
    start: str = "2026-10",
    offices: int = 2,
    page_size: int = 1000,
) -> Ground:
    """A small world of single offices, and settings that point at it."""
    service = world_of(start, offices)
    customers = service.world.offices[:offices]
    return Ground(
        service, settings_for(data_dir, customers, Month.parse(start), reports, page_size=str(page_size))
    )


def world_of(start: str, offices: int) -> Service:
    """The same small world for the same words, in whichever process."""
    world = World.build(start=Month.parse(start), as_of=TODAY, offices=max(offices, 2), activity=0.4)
    return Service(world, clock=HurriedClock().utc_now)


def settings_for(
    data_dir: Path, customers: Sequence[str], start: Month, reports: Sequence[str] = (), **environment: str
) -> Settings:
    """Settings of a data directory that ask the sandbox."""
    written = {
        "base_url": "https://sandbox.example",
        "username": "sandbox",
        "password": "sandbox",
        "customers": ",".join(customers),
        "start": str(start),
        "data_dir": str(data_dir),
        "requests_per_second": "1000",
        "today": TODAY.isoformat(),
        **({"reports": ",".join(reports)} if reports else {}),
        **environment,
    }
    return load_settings({f"BROKERBI_{name.upper()}": value for name, value in written.items()})


def content(file: duckdb.DuckDBPyConnection, *, documented: bool = False) -> dict[Cell, Rows]:
    """How many rows each cell has, and the sum of their hashes; a nested row counts with its parent.

    Our own columns are left out: load ids, times and row numbers differ between any two syncs.
    """
    tables = file.execute(
        "SELECT table_name, parent_name, history, nested FROM meta.tables ORDER BY table_name"
    ).fetchall()
    known = {name: (parent if nested else None, history) for name, parent, history, nested in tables}
    standing = {
        name
        for (name,) in file.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'bi'"
        ).fetchall()
    }
    found: dict[Cell, Rows] = {}
    for name, (_, history) in known.items():
        if (f"{name}_history" if history else name) in standing:
            rows = _hashed(file, known, name, documented)
            query = f"SELECT _customer, _month, count(*), sum(h::HUGEINT) FROM ({rows}) GROUP BY ALL"
            for customer, month, number, hashes in file.execute(query).fetchall():
                found[name, customer, month] = (number, hashes)
    return found


def _hashed(
    file: duckdb.DuckDBPyConnection,
    known: Mapping[str, tuple[str | None, bool]],
    name: str,
    documented: bool,
) -> str:
    parent, history = known[name]
    columns = file.execute(
        "SELECT column_name FROM meta.columns WHERE table_name = $1 AND (documented OR NOT $2) ORDER BY 1",
        [name, documented],
    ).fetchall()
    parts = ["0", *(f'own."{column}"' for (column,) in columns)]
    if history:
        parts.append("own.valid_to_utc IS NULL")
    source = f'bi."{name}{"_history" if history else ""}" AS own'
    if parent:
        rows = _hashed(file, known, parent, documented)
        source += f" LEFT JOIN ({rows}) AS above ON own._parent_row = above._row"
        parts.append("above.h")
    return f"SELECT own._customer, own._month, own._row, hash({', '.join(parts)}) AS h FROM {source}"
