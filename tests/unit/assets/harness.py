"""Dagster, the assets and a sandbox in one process; settings of invented customers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import dagster as dg

from assets.definitions import build_definitions
from assets.partitions import customer_months, customers_in_order
from assets.project import Project
from assets.publish import publishing_sensor
from assets.runs import NIGHTLY
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World
from pipelines.settings.model import Settings, load_settings
from pipelines.sync.run_context import RunContext
from tests.sandbox_transport import SandboxTransport
from tests.working_file import give_working_file

START = Month(2026, 1)
TODAY = date(2026, 11, 21)
WORLD = World.build(seed=1, offices=7, start=START, as_of=TODAY)
G1, M16, M17 = CUSTOMERS = ("G1", "M30016", "M30017")
RUNNING = "running_commissions"
OF_THE_SANDBOX = {
    "username": "sandbox",
    "password": "sandbox",
    "customers": ",".join(CUSTOMERS),
    "reports": "running_commissions,users",
    "today": TODAY.isoformat(),
    "requests_per_second": "1000",
    "retry_seconds": "0",
    "pages": "false",
}


def settings(directory: Path, **values: str) -> Settings:
    """Settings as an operator would write them, with usual defaults."""
    usual = {
        "customers": "c01,c02,c03",
        "start": str(START),
        "base_url": "http://127.0.0.1:8080",
        "username": "somebody",
        "password": "something",
        "data_dir": str(directory / "data"),
    }
    environment = {f"BROKERBI_{name.upper()}": value for name, value in (usual | values).items()}
    return load_settings(environment, directory=directory)


@dataclass
class Harness:
    """A project and its sandbox; the settings may change between runs."""

    directory: Path
    instance: dg.DagsterInstance
    values: Mapping[str, str]
    service: Service = field(default_factory=lambda: Service(WORLD))
    _job: tuple[object, dg.JobDefinition | None] = (None, None)

    @property
    def project(self) -> Project:
        """A project with only the reports in the settings, because fewer tables are faster."""
        named = {name: REPORTS[name] for name in self.values["reports"].split(",")}
        return Project(
            settings(self.directory, **self.values),
            RunContext(transport=SandboxTransport(self.service), catalogue=named),
            retry_seconds=0,
        )

    @property
    def job(self) -> dg.JobDefinition:
        """The nightly job, built again when the settings change."""
        about = (tuple(self.values.items()), id(self.service))
        known, job = self._job
        if job is None or known != about:
            job = build_definitions(self.project).resolve_job_def(NIGHTLY)
            self._job = (about, job)
        return job

    @property
    def file(self) -> Path:
        return self.project.settings.data_dir / "warehouse.duckdb"

    def change_settings(self, **values: str) -> None:
        self.values = {**self.values, **values}

    def give_working_file(self) -> None:
        """The preview of the first run."""
        give_working_file(self.project.settings.data_dir, self.project.run_context.catalogue)

    def run(
        self,
        *reports: str,
        first: str = "G1|2026-09",
        last: str = "M30017|2026-11",
        tags: Mapping[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """Fetch a rectangle of some reports in one run."""
        self.service.log.clear()
        self.give_working_file()
        return self.job.execute_in_process(
            instance=self.instance,
            asset_selection=[dg.AssetKey(name.split("/")) for name in reports or (RUNNING,)],
            tags={**range_tags(first, last), **(tags or {})},
            raise_on_error=False,
        )

    def publish(self, *reports: str) -> dg.ExecuteInProcessResult:
        """Fetch these reports without months, build the marts, run the checks and publish, in one run."""
        whole = build_definitions(self.project).resolve_implicit_global_asset_job_def()
        keys = dg.AssetSelection.groups("marts", "published").resolve(whole.asset_layer.asset_graph)
        keys |= {dg.AssetKey(report) for report in reports}
        return whole.execute_in_process(
            instance=self.instance, asset_selection=list(keys), raise_on_error=False
        )

    def partitions(self, report: str = RUNNING) -> dict[str, int]:
        """How many partitions of each customer are green, and how many red: {"G1 green": 3}."""
        made = self.project.settings
        definition = customer_months(made, customers_in_order(made))
        states = self.instance.get_status_by_partition(
            dg.AssetKey(report.split("/")), definition.get_partition_keys(), definition
        )
        colours = {dg.AssetPartitionStatus.MATERIALIZED: "green", dg.AssetPartitionStatus.FAILED: "red"}
        seen = [(key.partition("|")[0], state) for key, state in (states or {}).items() if state in colours]
        return dict(Counter(f"{customer} {colours[state]}" for customer, state in seen))

    def events(self, result: dg.ExecuteInProcessResult, report: str = RUNNING) -> dict[str, dict[str, Any]]:
        """The metadata logged for each partition of a report by a run."""
        events = result.filter_events(lambda event: event.is_step_materialization)
        return {
            str(event.partition): {name: one.value for name, one in event.materialization.metadata.items()}
            for event in events
            if event.asset_key == dg.AssetKey(report)
        }

    def metadata(self, key: dg.AssetKey) -> dict[str, Any]:
        """The metadata of the latest materialization of an asset."""
        event = self.instance.get_latest_materialization_event(key)
        assert event
        assert event.asset_materialization
        return {name: one.value for name, one in event.asset_materialization.metadata.items()}

    def asked(self) -> list[str]:
        """The windows requested since the last run began: "G1 2026-09-01..2026-10-31"."""
        return sorted(
            f"{entry.customer} {entry.query['datefrom'][:10]}..{entry.query['dateto'][:10]}"
            for entry in self.service.log.entries
            if "datefrom" in entry.query
        )

    def customers_asked(self) -> set[str]:
        return {window.split()[0] for window in self.asked()}


def range_tags(first: str, last: str) -> dict[str, str]:
    return {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    """The message of the first failing step."""
    (event, *_) = result.filter_events(lambda event: event.is_step_failure)
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return data.description or ""


def harness(directory: Path, instance: dg.DagsterInstance | None = None, **values: str) -> Harness:
    """A harness, by default with a Dagster instance that is discarded afterwards."""
    instance = instance or dg.DagsterInstance.ephemeral(tempdir=str(directory / "dagster"))
    return Harness(directory, instance, {**OF_THE_SANDBOX, **values})


def run_requests(
    project: Project, name: str, moment: datetime, instance: dg.DagsterInstance
) -> list[dg.RunRequest]:
    """The runs that a schedule requests at a given time."""
    schedule = build_definitions(project).resolve_schedule_def(name)
    with dg.build_schedule_context(instance, scheduled_execution_time=moment) as context:
        return list(schedule.evaluate_tick(context).run_requests or [])


def look(made: Harness, project: Project | None = None) -> list[dg.RunRequest]:
    """The runs that the sensor requests."""
    sensor = publishing_sensor(project or made.project)
    with dg.build_sensor_context(made.instance, sensor_name="publishing") as context:
        return list(sensor.evaluate_tick(context).run_requests or [])
