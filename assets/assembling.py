"""What does Dagster see of these settings? Assets, checks, jobs, the night, and what follows it."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets.alerting import trouble_sensor
from assets.channels import channels
from assets.marts import FILE, read_files
from assets.partitions import customer_months, customers_in_order
from assets.project import Project
from assets.publishing import published_file
from assets.reports import monthly_reports, standing_reports
from assets.schedules import CATCH_UP, NIGHTLY, catch_up_schedule, nightly_schedule
from pipelines.catalogue.model import Report

SECONDS_BETWEEN_LOOKS = 30


def definitions(project: Project) -> dg.Definitions:
    """Everything Dagster is to know, made of the settings alone."""
    nightly = _job(NIGHTLY, "The night: everything that is due, of all customers.", project.reports)
    catch_up = _job(CATCH_UP, "Older months that a customer lacks.", project.monthly)
    return dg.Definitions(
        assets=_assets(project),
        jobs=[nightly, catch_up],
        schedules=[nightly_schedule(project, nightly), catch_up_schedule(project, catch_up)],
        sensors=[publishing_sensor(), *_trouble(project)],
        executor=dg.in_process_executor,
    )


def publishing_sensor() -> dg.AutomationConditionSensorDefinition:
    """Publishes what was fetched, without being switched on by hand."""
    return dg.AutomationConditionSensorDefinition(
        name="publishing",
        target=dg.AssetSelection.assets(FILE).required_multi_asset_neighbors(),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
    )


def _trouble(project: Project) -> list[dg.SensorDefinition]:
    """Tells people of trouble, when there is anybody to tell."""
    told = channels(project.settings)
    return [trouble_sensor(project, told, project.settings.ui_url)] if told else []


def _assets(project: Project) -> list[dg.AssetsDefinition]:
    customers = customers_in_order(project.settings, project.customers_held())
    return [
        standing_reports(project),
        monthly_reports(project, customer_months(project.settings, customers)),
        published_file(project, read_files()),
    ]


def _job(name: str, words: str, reports: Sequence[Report]) -> UnresolvedAssetJobDefinition:
    selection = dg.AssetSelection.assets(*(report.name for report in reports))
    return dg.define_asset_job(name, selection=selection, description=words)
