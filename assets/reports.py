"""Which assets are the reports? One for each that is asked for, all fetched by one sync of a run."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets.describing import report_spec
from assets.fetching import Fetching
from assets.partitions import square_of
from assets.project import Project
from assets.squares import squares
from pipelines.catalogue.model import Report

BEFORE_THE_MONTHS = {"dagster/priority": "1"}
"""Users are read first: there are reports that ask for them one by one."""


def monthly_reports(project: Project, partitions: dg.MultiPartitionsDefinition) -> dg.AssetsDefinition:
    """The reports with months, over customers and months; any rectangle of them is one sync.

    One sync for all, because a refused login, a customer without rights and a service that is down are
    then found out once and not once for each report, and no request waits for another report to end.
    """

    @dg.multi_asset(
        name="monthly_reports",
        specs=[report_spec(report, partitions) for report in project.monthly],
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        wanted = squares(_chosen(context, project.monthly), map(square_of, context.partition_keys))
        Fetching(project, context, list(wanted)).run()
        yield from ()  # what was fetched has been logged, square by square

    return fetch


def standing_reports(project: Project) -> dg.AssetsDefinition:
    """The reports of how things stand now: no months, all customers together."""

    @dg.multi_asset(
        name="standing_reports",
        specs=[report_spec(report, None) for report in project.standing],
        can_subset=True,
        op_tags=BEFORE_THE_MONTHS,
    )
    def fetch(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[Any]]:
        customers = [(customer.id, None) for customer in project.settings.customers]
        Fetching(project, context, list(squares(_chosen(context, project.standing), customers))).run()
        yield from ()  # what was fetched has been logged already

    return fetch


def _chosen(context: dg.AssetExecutionContext, reports: Sequence[Report]) -> list[Report]:
    return [report for report in reports if dg.AssetKey(report.name) in context.selected_asset_keys]
