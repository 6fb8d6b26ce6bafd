"""Checks of the reports: read, loaded, of the usual volume, with the usual columns and unique keys."""

# No `from __future__ import annotations`: Dagster reads the annotations of a check's function.
from collections.abc import Iterable, Iterator

import dagster as dg

from assets.metadata import table
from assets.project import Project
from assets.runs import show_alive
from pipelines.causes import names
from warehouse.errors import WarehouseError
from warehouse.marts.checks import KEYS, SAMPLE_ROWS, offending_rows, report_checks
from warehouse.store.database import Store


def checks_of_reports(project: Project) -> dg.AssetChecksDefinition:
    """The same checks for every report; they read the warehouse, and can be executed at any time."""
    words = {query.name: f"{query.question}\n\n{query.words}" for query in report_checks()}
    specs = [
        dg.AssetCheckSpec(key.name, asset=key.asset_key, description=words[key.name])
        for key in check_keys(project)
    ]

    @dg.multi_asset_check(name="report_checks", specs=specs, can_subset=True)
    def check(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        show_alive(project, context.run.run_id)
        try:
            yield from report_check_results(project.store, context.selected_asset_check_keys)
        except WarehouseError as error:
            raise dg.Failure(str(error)) from None

    return check


def check_keys(project: Project) -> Iterator[dg.AssetCheckKey]:
    """The key of every check of these reports; ids are checked only if one is documented."""
    checks = [query.name for query in report_checks()]
    for report in project.reports:
        has_ids = any(stored.key for stored in report.tables)
        for name in checks:
            if has_ids or name != KEYS:
                yield dg.AssetCheckKey(project.key(report.name), name)


def report_check_results(store: Store, keys: Iterable[dg.AssetCheckKey]) -> Iterator[dg.AssetCheckResult]:
    """What these checks find now; raises WarehouseError when the working file cannot be read."""
    questions = {query.name: query.question for query in report_checks()}
    offending = offending_rows(store)
    for key in sorted(keys):
        rows = offending.get((key.name, key.asset_key.path[-1]), [])
        yield _result(key, questions[key.name], rows)


def _result(key: dg.AssetCheckKey, question: str, rows: list[dict[str, object]]) -> dg.AssetCheckResult:
    sample = rows[:SAMPLE_ROWS]
    columns = list(rows[0]) if rows else []
    values = {name: [str(row[name]) for row in rows if row[name] is not None] for name in columns}
    details = "; ".join(f"{name} {names(texts)}" for name, texts in values.items() if texts)
    shown = table(columns, [list(row.values()) for row in sample])
    return dg.AssetCheckResult(
        passed=not rows,
        asset_key=key.asset_key,
        check_name=key.name,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{question} No: {details}" if details else question,
        metadata={"rows": len(rows), "some_of_them": shown} if rows else {},
    )
