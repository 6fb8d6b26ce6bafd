"""Where do these runs play? Dagster, the assets and a sandbox in one process, with three customers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.partition_status_cache import AssetPartitionStatus

from assets.assembling import definitions
from assets.partitions import customer_months, customers_in_order
from assets.project import Project
from assets.schedules import NIGHTLY
from pipelines.sandbox.service import Service
from pipelines.sandbox.transport import SandboxTransport
from pipelines.sandbox.world.world import World
from pipelines.sync.surroundings import Surroundings
from tests.unit.assets.rehearsal import START, TODAY, settings

G1, M16, M17 = CUSTOMERS = ("G1", "M30016", "M30017")
WORLD = World.build(seed=1, offices=7, start=START, as_of=TODAY)
USUAL = {
    "username": "sandbox",
    "password": "sandbox",
    "customers": ",".join(CUSTOMERS),
    "reports": "running_commissions,users",
    "today": TODAY.isoformat(),
    "requests_per_second": "1000",
    "tries": "1",
}
RUNNING = "running_commissions"

_now_playing: list[dg.JobDefinition] = []
"""Dagster repeats only jobs that it can build again by the name of a function; that finds them here."""

Result = dg.JobExecutionResult | dg.ExecuteInProcessResult


def job() -> dg.JobDefinition:
    """The job of all reports that is playing."""
    return _now_playing[-1]


@dataclass
class Stage:
    """A project and the sandbox it asks; the settings may change between runs."""

    directory: Path
    instance: dg.DagsterInstance
    service: Service = field(default_factory=lambda: Service(WORLD))
    values: Mapping[str, str] = field(default_factory=lambda: dict(USUAL))

    @property
    def project(self) -> Project:
        transport = SandboxTransport(self.service)
        return Project(settings(self.directory, **self.values), Surroundings(transport=transport))

    @property
    def partitions(self) -> dg.MultiPartitionsDefinition:
        made = self.project.settings
        return customer_months(made, customers_in_order(made, self.project.customers_held()))

    def set(self, **values: str) -> None:
        """Settings are other ones from now on."""
        self.values = {**self.values, **values}

    def run(
        self,
        *reports: str,
        first: str = "G1|2026-09",
        last: str = "M30017|2026-11",
        tags: Mapping[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """Fetch a rectangle of some reports in one run."""
        self.service.log.clear()
        return (
            definitions(self.project)
            .resolve_job_def(NIGHTLY)
            .execute_in_process(
                instance=self.instance,
                asset_selection=[dg.AssetKey(name) for name in reports or (RUNNING,)],
                tags={**rectangle(first, last), **(tags or {})},
                raise_on_error=False,
            )
        )

    def run_again(self, failed: Result | None = None, *, first: str, last: str) -> dg.JobExecutionResult:
        """The same, of one report, as a run that can be re-executed from its failure, and is if it failed."""
        self.service.log.clear()
        _now_playing.append(definitions(self.project).resolve_job_def(NIGHTLY))
        options = dg.ReexecutionOptions.from_failure(failed.run_id, self.instance) if failed else None
        return dg.execute_job(
            dg.reconstructable(job),
            self.instance,
            asset_selection=[dg.AssetKey(RUNNING)],
            tags=rectangle(first, last),
            reexecution_options=options,
        )

    def publish(self) -> dg.ExecuteInProcessResult:
        """Build the marts, run the checks and publish."""
        whole = definitions(self.project).resolve_implicit_global_asset_job_def()
        keys = dg.AssetSelection.groups("marts", "published").resolve(whole.asset_layer.asset_graph)
        return whole.execute_in_process(
            instance=self.instance, asset_selection=list(keys), raise_on_error=False
        )

    def squares(self, report: str = RUNNING) -> dict[str, int]:
        """How many squares of each customer are green, and how many red: {"G1 green": 3}."""
        partitions = self.partitions
        states = self.instance.get_status_by_partition(
            dg.AssetKey(report), partitions.get_partition_keys(), partitions
        )
        words = {AssetPartitionStatus.MATERIALIZED: "green", AssetPartitionStatus.FAILED: "red"}
        return dict(
            Counter(
                f"{key.partition('|')[0]} {words[state]}"
                for key, state in (states or {}).items()
                if state in words
            )
        )

    def events(self, result: Result, report: str = RUNNING) -> dict[str, dict[str, Any]]:
        """The metadata logged for each square of a report by a run."""
        events = result.filter_events(lambda event: event.is_step_materialization)
        return {
            str(event.partition): {name: one.value for name, one in event.materialization.metadata.items()}
            for event in events
            if event.asset_key == dg.AssetKey(report)
        }

    def asked(self) -> list[str]:
        """The windows the service was asked for since the last run began: "G1 2026-09-01..2026-10-31"."""
        return sorted(
            f"{entry.customer} {entry.query['datefrom'][:10]}..{entry.query['dateto'][:10]}"
            for entry in self.service.log.entries
            if "datefrom" in entry.query
        )


def rectangle(first: str, last: str) -> dict[str, str]:
    return {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}


def failure_of(result: Result) -> str:
    """What the first failing step says."""
    (event, *_) = result.filter_events(lambda event: event.is_step_failure)
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return data.description or ""


def stage(directory: Path, **values: str) -> Stage:
    """A stage whose Dagster forgets everything afterwards."""
    instance = dg.DagsterInstance.ephemeral(tempdir=str(directory / "dagster"))
    return Stage(directory, instance, values={**USUAL, **values})


@contextmanager
def lasting_stage(directory: Path, **values: str) -> Iterator[Stage]:
    """A stage whose Dagster can re-execute runs."""
    with dg.instance_for_test() as instance:
        yield Stage(directory, instance, values={**USUAL, **values})
