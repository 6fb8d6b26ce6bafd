"""Checks of the reports: read, loaded, of the usual volume, with the usual columns and unique keys."""

# No `from __future__ import annotations`: Dagster reads the annotations of a check's function.
from collections.abc import Iterator

import dagster as dg

from assets.metadata import markdown_table
from assets.project import Project
from warehouse.database import Store
from warehouse.errors import WarehouseError
from warehouse.report_checks import Offence, find_offences, report_checks


def checks_of_reports(project: Project) -> dg.AssetChecksDefinition:
    """The same checks for every report; they read the warehouse, and can be executed at any time."""
    questions = {one.name: one for one in report_checks()}

    @dg.multi_asset_check(
        name="report_checks",
        specs=[
            dg.AssetCheckSpec(
                name, asset=dg.AssetKey(report.name), description=f"{one.question}\n\n{one.words}"
            )
            for report in project.reports
            for name, one in questions.items()
        ],
        can_subset=True,
    )
    def check(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        offences = _offences(project.store)
        for key in sorted(context.selected_asset_check_keys):
            offence = offences.get((key.name, key.asset_key.path[-1]))
            yield _result(key, questions[key.name].question, offence)

    return check


def _offences(store: Store) -> dict[tuple[str, str], Offence]:
    try:
        return find_offences(store)
    except WarehouseError as error:
        raise dg.Failure(str(error)) from error


def _result(key: dg.AssetCheckKey, question: str, offence: Offence | None) -> dg.AssetCheckResult:
    sample = offence.sample if offence else ()
    first = (
        ", ".join(f"{name} {value}" for name, value in sample[0].items() if value is not None)
        if sample
        else ""
    )
    table = markdown_table(list(sample[0]), [list(row.values()) for row in sample]) if sample else ""
    return dg.AssetCheckResult(
        passed=offence is None,
        asset_key=key.asset_key,
        check_name=key.name,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{question} No: {first}" if first else question,
        metadata={"rows": offence.rows, "some_of_them": dg.MetadataValue.md(table)} if offence else {},
    )
