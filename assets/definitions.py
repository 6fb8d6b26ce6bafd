"""The definitions that Dagster loads: assets, jobs, schedules and sensors, built from the settings."""

from __future__ import annotations

import os
import warnings

import dagster as dg

from assets.marts import FILE, read_sql_files
from assets.messages import messages_sensor
from assets.notify import channels
from assets.partitions import customers_in_order
from assets.project import Project
from assets.publish import PUBLISH, published_file, publishing_sensor
from assets.reports import report_steps
from assets.runs import NIGHTLY, dead_runs_sensor, nightly_schedule, old_runs_sensor
from pipelines.settings.model import load_settings

# Dagster still marks backfill policies and freshness policies as beta or preview; we use them on purpose.
for kind in (dg.BetaWarning, dg.PreviewWarning):
    warnings.filterwarnings("ignore", category=kind)


@dg.definitions
def defs() -> dg.Definitions:
    """Read the settings and build the definitions; raises SettingsError with a sentence for each error.

    The address and login of the service may be missing: the UI can be tried without them.
    """
    return build_definitions(Project(load_settings(os.environ, offline=True)))


def build_definitions(project: Project) -> dg.Definitions:
    """All Dagster definitions of a project."""
    customers = customers_in_order(project.settings)
    all_reports = dg.AssetSelection.assets(*(project.key(report.name) for report in project.reports))
    checks = dg.AssetSelection.all_asset_checks()
    file_and_marts = dg.AssetSelection.assets(project.key(FILE)).required_multi_asset_neighbors()
    files = read_sql_files()
    return dg.Definitions(
        assets=[*report_steps(project, customers), published_file(project, files)],
        jobs=[
            dg.define_asset_job(
                NIGHTLY,
                selection=all_reports - checks,
                description="Everything that is missing or due, for all customers.",
            ),
            dg.define_asset_job(
                PUBLISH,
                selection=file_and_marts | checks,
                description="Builds the marts, runs the checks and publishes the file.",
            ),
        ],
        schedules=[nightly_schedule(project)],
        sensors=[
            publishing_sensor(project),
            dead_runs_sensor(project),
            old_runs_sensor(project),
            *(messages_sensor(project, *channel) for channel in channels(project.settings).items()),
        ],
        executor=dg.in_process_executor,
    )
