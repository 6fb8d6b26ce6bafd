"""Checks of the reports: read, loaded, of the usual volume, with the usual columns and unique keys."""

# No `from __future__ import annotations`: Dagster reads the annotations of a check's function.
from collections.abc import Iterator

import dagster as dg

from assets.metadata import markdown_table
from assets.project import Project
from warehouse.checks import SAMPLE_ROWS, offending_rows, report_checks
from warehouse.database import Store
from warehouse.errors import WarehouseError


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
        offending = _offending_rows(project.store)
        for key in sorted(context.selected_asset_check_keys):
            rows = offending.get((key.name, key.asset_key.path[-1]), [])
            yield _result(key, questions[key.name].question, rows)

    return check


def _offending_rows(store: Store) -> dict[tuple[str, str], list[dict[str, object]]]:
    try:
        return offending_rows(store)
    except WarehouseError as error:
        raise dg.Failure(str(error)) from error


def _result(key: dg.AssetCheckKey, question: str, rows: list[dict[str, object]]) -> dg.AssetCheckResult:
    sample = rows[:SAMPLE_ROWS]
    first, *_ = [*sample, {}]
    told = ", ".join(f"{name} {value}" for name, value in first.items() if value is not None)
    table = markdown_table(list(first), [list(row.values()) for row in sample]) if sample else ""
    return dg.AssetCheckResult(
        passed=not rows,
        asset_key=key.asset_key,
        check_name=key.name,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{question} No: {told}" if told else question,
        metadata={"rows": len(rows), "some_of_them": dg.MetadataValue.md(table)} if rows else {},
    )
