"""Marts and checks as assets, read from their SQL files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.metadata import COLUMN_SCHEMA, ROW_COUNT, column_schema, table
from assets.project import Project
from pipelines.catalogue.model import Report
from warehouse.marts.checks import CheckResult
from warehouse.marts.dictionary import meanings_of_columns
from warehouse.marts.queries import SQL, Query, queries
from warehouse.marts.relations import sources_of

MARTS = "marts"
FILE = "warehouse_file"
SEVERITIES = {"error": dg.AssetCheckSeverity.ERROR, "warning": dg.AssetCheckSeverity.WARN}


@dataclass(frozen=True)
class SqlFiles:
    """The SQL files of staging, marts and checks."""

    staging: Sequence[Query]
    marts: Sequence[Query]
    checks: Sequence[Query]


def read_sql_files() -> SqlFiles:
    """Read the SQL files of staging, marts and checks."""
    return SqlFiles(*(list(queries(SQL / schema, schema)) for schema in ("staging", "marts", "checks")))


def mart_key(project: Project, name: str) -> dg.AssetKey:
    """The asset key of a mart; its prefix distinguishes it from a report of the same name."""
    return project.key(MARTS, name)


def report_dep(project: Project, report: Report) -> dg.AssetDep:
    """A report as a dependency of an unpartitioned asset."""
    # Without this mapping, the UI compares every mart with every partition of a report, unless the report has
    # 100 or more. For 24 marts and 17 reports of 69 partitions, that took 41 s.
    no_partitions = dg.SpecificPartitionsPartitionMapping([]) if report.has_months else None
    return dg.AssetDep(project.key(report.name), partition_mapping=no_partitions)


def mart_specs(project: Project, files: SqlFiles) -> list[dg.AssetSpec]:
    """Every mart as an asset downstream of the reports and marts that it reads."""
    all_reports = [report_dep(project, report) for report in project.reports]
    deps = {
        ("bi", f"{table.name}{ending}"): report_dep(project, report)
        for report in project.reports
        for table in report.tables
        for ending in ("", "_history", "_as_of")
    }
    deps |= {(MARTS, mart.name): dg.AssetDep(mart_key(project, mart.name)) for mart in files.marts}
    return [
        dg.AssetSpec(
            key=mart_key(project, query.name),
            # A mart that reads no report or mart depends on all reports, so a backfill builds it after them.
            deps=_distinct_deps(
                deps[source]
                for source in sources_of(query, files.staging) & deps.keys() - {(MARTS, query.name)}
            )
            or all_reports,
            description=f"{query.question}\n\n{query.notes}",
            group_name=MARTS,
            kinds={"duckdb", "sql"},
            metadata={
                "dagster/table_name": query.table,
                COLUMN_SCHEMA: column_schema((name, "", words) for name, words in query.columns.items()),
            },
        )
        for query in files.marts
    ]


def _distinct_deps(deps: Iterable[dg.AssetDep]) -> list[dg.AssetDep]:
    by_key = {dep.asset_key: dep for dep in deps}
    return [by_key[key] for key in sorted(by_key)]


def mart_results(
    project: Project, files: SqlFiles, built: Iterable[str]
) -> Iterable[dg.MaterializeResult[Any]]:
    """The results of the marts in `built` (such as marts.sales); a mart that is a macro has no metadata."""
    by_table = {query.table: query for query in files.marts}
    with project.store.reading() as connection:
        meanings = meanings_of_columns(connection, MARTS)
        relations = {name: connection.table(name) for name in built if not by_table[name].parameters}
        metadata: dict[str, dict[str, Any]] = {}
        for name, relation in relations.items():
            descriptions = {**by_table[name].columns, **meanings.get(by_table[name].name, {})}
            types = zip(relation.columns, map(str, relation.types), strict=True)
            columns = column_schema((column, kind, descriptions.get(column, "")) for column, kind in types)
            metadata[name] = {ROW_COUNT: len(relation), COLUMN_SCHEMA: columns}
    for name in built:
        key = mart_key(project, by_table[name].name)
        yield dg.MaterializeResult(asset_key=key, metadata=metadata.get(name, {}))


def check_specs(project: Project, files: SqlFiles) -> list[dg.AssetCheckSpec]:
    """Every check, attached to the first mart that it reads, or to the published file if it reads none."""
    return [
        dg.AssetCheckSpec(
            name=query.name,
            asset=_checked_asset(project, files, query),
            description=f"{query.question}\n\n{query.notes}",
            metadata={"severity": query.severity},
            blocking=query.blocks,
        )
        for query in files.checks
    ]


def check_result(project: Project, files: SqlFiles, result: CheckResult) -> dg.AssetCheckResult:
    """The result of a check, with some of the offending rows."""
    query = next(query for query in files.checks if query.name == result.name)
    metadata: dict[str, Any] = {"rows": result.rows}
    if result.sample:
        rows = [list(row.values()) for row in result.sample]
        metadata["some_of_them"] = table(list(result.sample[0]), rows)
    return dg.AssetCheckResult(
        passed=result.passed,
        check_name=result.name,
        asset_key=_checked_asset(project, files, query),
        severity=SEVERITIES[result.severity],
        description=result.question if result.passed else result.finding,
        metadata=metadata,
    )


def _checked_asset(project: Project, files: SqlFiles, check: Query) -> dg.AssetKey:
    """The first mart, in alphabetical order, that a check reads, or the file if it reads none."""
    names = {(MARTS, mart.name) for mart in files.marts}
    mart = min((name for _, name in names & set(check.reads)), default="")
    return mart_key(project, mart) if mart else project.key(FILE)
