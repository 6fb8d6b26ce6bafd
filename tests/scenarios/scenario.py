"""A sandbox, a pipeline that sends it requests without network or waiting, and contents of files."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import Any

import duckdb
import httpx
import zstandard

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.sandbox.calls import LoggedCall
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from pipelines.settings.model import Settings, load_settings
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.run_context import RunContext
from pipelines.sync.summary import Summary
from pipelines.sync.sync import sync
from pipelines.upkeep.finish import Finished, finish
from pipelines.upkeep.replay import ReplayResult, replay
from tests.sandbox_transport import SandboxTransport
from tests.working_file import give_working_file
from warehouse.marts.build import build_marts
from warehouse.store.database import Store

TODAY = date(2026, 11, 21)
NOON = datetime.combine(TODAY, time(12), UTC)
FEW = ("users", "commission_office", "sales", "tips_and_leads")
Cell = tuple[str, str, date | None]
"""Table, customer and month."""
Rows = tuple[int, int]
"""How many rows, and the sum of their hashes."""


@dataclass(frozen=True)
class FastClock(SystemClock):
    """A clock that starts at `noon` and runs on; sleeping takes no time."""

    noon: datetime = NOON
    began: float = field(default_factory=monotonic)

    def utc_now(self) -> datetime:
        return self.noon + timedelta(seconds=monotonic() - self.began)

    async def sleep(self, seconds: float) -> None:
        del seconds
        await asyncio.sleep(0)


@dataclass
class Scenario:
    """A sandbox and a pipeline that sends it requests, or sends them to `transport` instead."""

    service: Service
    settings: Settings
    clock: Clock = field(default_factory=FastClock)
    catalogue: Mapping[str, Report] = field(default_factory=lambda: REPORTS)
    transport: httpx.AsyncBaseTransport | None = None

    @property
    def data_dir(self) -> Path:
        return self.settings.data_dir

    @property
    def sandbox(self) -> SandboxTransport:
        return SandboxTransport(self.service, sleep=self.clock.sleep)

    @property
    def context(self) -> RunContext:
        return RunContext(self.clock, self.transport or self.sandbox, self.catalogue)

    def sync(self, *faults: Fault, **selection: Any) -> Summary:
        """One sync under these faults; the request log then holds only its requests."""
        self.service.log.clear()
        self.service.faults.switch(faults)
        return sync(self.settings, Selection(**selection), context=self.context)

    def replay(self, **choice: Any) -> ReplayResult:
        """Rebuild the tables from landing."""
        shaped = with_shapes(self.catalogue, self.settings.shapes_file)
        return replay(self.settings, catalogue=shaped, clock=self.clock, **choice)

    def publish(self) -> Finished:
        """Build the marts, run the checks and publish the file."""
        return finish(self.settings, self.clock)

    def build(self, *marts: str) -> None:
        """Build these marts and the marts that they read, or all marts if none is named."""
        with Store(self.data_dir).writing() as file:
            build_marts(file, only=[f"marts.{mart}" for mart in marts])

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query on the working file."""
        with Store(self.data_dir).reading() as file:
            return file.execute(query, list(values)).fetchall()

    def value(self, query: str, *values: object) -> Any:
        """The single value of a query on the working file."""
        [(value,)] = self.rows(query, *values)
        return value

    def execute(self, statement: str, *values: object) -> None:
        """Change the working file without the pipeline."""
        with Store(self.data_dir).writing() as file:
            file.execute(statement, list(values))

    def cells(self) -> dict[Cell, Rows]:
        """The content of every table, by table, customer and month."""
        with Store(self.data_dir).reading() as file:
            return content(file)

    @property
    def asked(self) -> list[LoggedCall]:
        """The requests of the last sync."""
        return self.service.log.entries

    @property
    def landing_files(self) -> list[Path]:
        return sorted((self.data_dir / "landing").rglob("*.tar.zst"))

    def lose_working_file(self) -> None:
        """Remove everything except landing and the published files."""
        shutil.rmtree(self.data_dir / "work")

    def on(self, day: date) -> Scenario:
        """The same files with a later world and calendar."""
        self.service.set_as_of(day)
        return self.on_calendar_day(day)

    def on_calendar_day(self, day: date) -> Scenario:
        """The same files and the same world, on another day."""
        clock = FastClock(datetime.combine(day, time(12), UTC))
        return replace(self.with_settings(today=day), clock=clock)

    def with_settings(self, **changed: object) -> Scenario:
        return replace(self, settings=self.settings.model_copy(update=changed))

    def copied_to(self, directory: Path) -> Scenario:
        """The same in a copy of its data directory."""
        shutil.copytree(self.data_dir, directory)
        return self.with_settings(data_dir=directory)


def scenario(
    data_dir: Path,
    reports: Sequence[str] = FEW,
    *,
    start: str = "2026-10",
    offices: int = 2,
    whole: bool = False,
    **environment: str,
) -> Scenario:
    """A small world of single offices, and settings that point at it.

    The catalogue has only `reports`, unless it is `whole`. Tests that build marts need the whole catalogue.
    """
    service = service_of(start, offices)
    customers = service.world.offices[:offices]
    catalogue = _catalogue(reports, whole=whole)
    give_working_file(data_dir, catalogue)
    settings = settings_for(data_dir, customers, start, reports, **environment)
    return Scenario(service, settings, catalogue=catalogue)


def _catalogue(reports: Sequence[str], *, whole: bool) -> Mapping[str, Report]:
    names = REPORTS if whole or not reports else reports
    return {name: report for name, report in REPORTS.items() if name in names}


def synced(
    data_dir: Path, reports: Sequence[str] = FEW, *, offices: int = 1, whole: bool = False
) -> Scenario:
    """The same small world after a first sync, made once and copied for each test."""
    first = _first_sync(tuple(reports), offices, whole=whole)
    shutil.copytree(first.data_dir, data_dir, dirs_exist_ok=True)
    alone = replace(first, service=Service(first.service.world, clock=FastClock().utc_now))
    return alone.with_settings(data_dir=data_dir)


@cache
def _first_sync(reports: tuple[str, ...], offices: int, *, whole: bool) -> Scenario:
    here = scenario(Path(mkdtemp()), reports, offices=offices, whole=whole)
    assert here.sync().failure_lines() == []
    return here


def whole_chain(
    data_dir: Path,
    reports: Sequence[str] = (),
    *,
    start: str = "2026-09",
    as_of: date = TODAY,
    customers: str = "",
    whole: bool = False,
    **environment: str,
) -> Scenario:
    """A world of a group and single offices from `start` to `as_of`; by default all are requested."""
    world = _world(start).at(as_of)
    words = {"today": as_of.isoformat(), **environment}
    chosen = [customers] if customers else world.customers
    settings = settings_for(data_dir, chosen, start, reports, **words)
    catalogue = _catalogue(reports, whole=whole)
    give_working_file(data_dir, catalogue)
    return Scenario(Service(world), settings, FastClock(datetime.combine(as_of, time(12), UTC)), catalogue)


def service_of(start: str, offices: int) -> Service:
    """A sandbox of a small world, which is the same in every process."""
    world = _world(start, offices=max(offices, 2), activity=0.4).at(TODAY)
    return Service(world, clock=FastClock().utc_now)


@lru_cache(maxsize=8)
def _world(start: str, **size: Any) -> World:
    """A world whose months are drawn once for all tests; nothing changes them."""
    first = Month.parse(start)
    return World.build(start=first, as_of=first.first_day, **size)


def settings_for(
    data_dir: Path, customers: Sequence[str], start: str, reports: Sequence[str] = (), **environment: str
) -> Settings:
    written = {
        "base_url": "http://127.0.0.1:8080",
        "username": "sandbox",
        "password": "sandbox",
        "customers": ",".join(customers),
        "start": start,
        "data_dir": str(data_dir),
        "requests_per_second": "1000",
        "today": TODAY.isoformat(),
        "pages": "false",
        **({"reports": ",".join(reports)} if reports else {}),
        **environment,
    }
    return load_settings({f"BROKERBI_{name.upper()}": value for name, value in written.items()})


def files_with(directory: Path, *words: str) -> list[str]:
    """The names of all files that contain one of these words, compressed or not."""
    return [path.name for path in directory.rglob("*") if path.is_file() and _holds(path, words)]


def _holds(path: Path, words: Sequence[str]) -> bool:
    body = path.read_bytes()
    if path.name.endswith(".zst"):
        body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return any(word.encode() in body for word in words)


def contents(data_dir: Path) -> dict[str, dict[Cell, Rows]]:
    """The contents of the working and the published file, if they exist, after recovery from a kill."""
    found = {}
    if Store(data_dir).path.exists():  # `reading` would create the file
        with Store(data_dir).reading() as file:
            found["working file"] = content(file)
    if (published := data_dir / "warehouse.duckdb").exists():
        with duckdb.connect(str(published), read_only=True) as file:
            found["published file"] = content(file)
    return found


def wrong_cells(data_dir: Path, truth: Mapping[Cell, Rows], *, may_lack: Sequence[str] = ()) -> list[str]:
    """Cells that differ from the truth. Missing cells are not wrong in the files named by `may_lack`."""
    return [
        f"{name} {cell}"
        for name, cells in contents(data_dir).items()
        for cell in truth.keys() | cells.keys()
        if cells.get(cell) != truth.get(cell) and (cell in cells or name not in may_lack)
    ]


def content(file: duckdb.DuckDBPyConnection) -> dict[Cell, Rows]:
    """Rows and hashes of every cell of `bi`; a nested row counts with its parent.

    Our own columns are left out: load ids, times and row numbers differ between any two syncs.
    """
    if not file.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'tables'").fetchall():
        return {}
    tables = file.execute("SELECT table_name, parent_name, history, nested FROM meta.tables").fetchall()
    known = {name: (parent if nested else None, history) for name, parent, history, nested in tables}
    query = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'bi' AND estimated_size > 0"
    filled_tables = file.execute(query).fetchall()
    found: dict[Cell, Rows] = {}
    for name, (_, history) in sorted(known.items()):
        if (f"{name}_history" if history else name,) in filled_tables:
            query = f"SELECT _customer, _month, count(*), sum(h::HUGEINT) FROM ({_hashed(file, known, name)})"
            for customer, month, number, hashes in file.execute(f"{query} GROUP BY ALL").fetchall():
                found[name, customer, month] = (number, hashes)
    return found


def _hashed(file: duckdb.DuckDBPyConnection, known: Mapping[str, tuple[str | None, bool]], name: str) -> str:
    parent, history = known[name]
    columns = file.execute(
        "SELECT column_name FROM meta.columns WHERE table_name = $1 ORDER BY 1", [name]
    ).fetchall()
    parts = ["0", *(f'own."{column}"' for (column,) in columns)]
    if history:
        parts.append("own.valid_to_utc IS NULL")
    source = f'bi."{name}{"_history" if history else ""}" AS own'
    if parent:
        source += f" LEFT JOIN ({_hashed(file, known, parent)}) AS above ON own._parent_row = above._row"
        parts.append("above.h")
    return f"SELECT own._customer, own._month, own._row, hash({', '.join(parts)}) AS h FROM {source}"
