"""How does an answer of any shape reach the marts in a test? Flattened, loaded, built and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pipelines.catalogue.model import StoredAs
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.sync.declaration import declared_tables
from tests.unit.normalize.answers import normalized
from warehouse.checks import CheckResult, run_checks
from warehouse.database import Store
from warehouse.marts import build_marts
from warehouse.schema_evolution import declare_tables
from warehouse.window_result import WindowResult
from warehouse.write_session import load_results

JANUARY = Month(2026, 1)
READ = datetime(2026, 2, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Built:
    """A store with its marts built from some answers, and what the checks say of it."""

    store: Store
    checks: tuple[CheckResult, ...]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.store.reading() as connection:
            return connection.execute(query).fetchall()

    @property
    def complaints(self) -> dict[str, list[Mapping[str, object]]]:
        """What the checks found, by name."""
        return {one.name: list(one.sample) for one in self.checks if one.rows}

    @property
    def unable(self) -> list[str]:
        """The checks that could not run."""
        return [one.sentence for one in self.checks if one.message]


def answered(folder: Path, answers: Mapping[str, object]) -> Built:
    """M1's answers for January, by the name of their report, on their way into marts."""
    store = Store(folder)
    declare_tables(store, declared_tables())
    load_results(store, [_load(name, value) for name, value in answers.items()])
    with store.writing() as connection:
        build_marts(connection)
    with store.reading() as connection:
        return Built(store, tuple(run_checks(connection)))


def _load(name: str, value: object) -> WindowResult:
    report = REPORTS[name]
    result = normalized(name, value, months=[JANUARY], asked=["U1" if report.each else None])
    months: tuple[date, ...] = (JANUARY.first_day,) if report.has_months else ()
    return WindowResult(
        load_id=f"L-{name}", run_id="R", report=name, customer="M1", window_start=JANUARY.first_day,
        window_end=JANUARY.last_day, months=months, open_months=frozenset(),
        history=report.stored_as is StoredAs.HISTORY, asked=None, tables=result.tables, rejected=(),
        requests=1, bytes=1, sha256="", seconds=0.1, fetched_at_utc=READ, landing="",
    )  # fmt: skip
