"""Which marts and checks are there, and what is each made of? Read from their SQL files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg

from assets.describing import KINDS, OWNERS, column_schema
from assets.events import ROWS_OF_ALL, of_look
from assets.previews import Tables, look
from pipelines.catalogue.model import Report
from warehouse.opening import opened
from warehouse.queries import SQL, Query, queries
from warehouse.store import Store

MARTS = "marts"
FILE = "warehouse_file"
IN_MEMORY = Path(":memory:")

Table = tuple[str, str]


@dataclass(frozen=True)
class Files:
    """The SQL files of the project, read: staging, marts and checks."""

    staging: Mapping[Table, Query] = field(default_factory=dict)
    marts: Mapping[Table, Query] = field(default_factory=dict)
    checks: Mapping[Table, Query] = field(default_factory=dict)

    def sources(self, query: Query) -> set[Table]:
        """The marts and tables of bi that a query stands on; staging is looked through."""
        found: set[Table] = set()
        for table in query.reads:
            below = self.staging.get(table)
            found |= self.sources(below) if below else {table}
        return found


def read_files(folder: Path = SQL) -> Files:
    """Read every SQL file; DuckDB's own parser says which tables it reads."""
    with opened(IN_MEMORY) as connection:
        found = {
            schema: {(schema, one.name): one for one in queries(connection, folder / schema, schema)}
            for schema in ("staging", "marts", "checks")
        }
    return Files(**found)


def mart_specs(files: Files, reports: Iterable[Report]) -> list[dg.AssetSpec]:
    """Every mart as an asset below the reports and marts that it reads."""
    keys = keys_of_tables(files, reports)
    return [
        dg.AssetSpec(
            key=mart_key(query.name),
            deps=sorted(
                {keys[table] for table in files.sources(query) if table in keys} - {mart_key(query.name)}
            ),
            description=f"{query.question}\n\n{query.words}",
            group_name=MARTS,
            owners=list(OWNERS),
            kinds=set(KINDS) - {"polars"} | {"sql"},
            metadata={
                "dagster/table_name": query.table,
                "dagster/column_schema": column_schema(
                    {name: (query.types.get(name, ""), words) for name, words in query.columns.items()}
                ),
            },
        )
        for query in files.marts.values()
    ]


def mart_results(files: Files, store: Store, built: Iterable[str]) -> list[dg.MaterializeResult[Any]]:
    """Every mart that was built, in that order: how many rows, and some of them; a macro has none."""
    by_name = {query.table: query for query in files.marts.values()}
    with store.reading() as connection:
        meant = _meanings(connection)
        return [
            _mart_result(query, connection, {**query.columns, **meant.get(query.name, {})})
            for query in (by_name[name] for name in built)
        ]


def check_specs(files: Files) -> list[dg.AssetCheckSpec]:
    """Every check, at the mart it reads, or else at the published file."""
    return [
        dg.AssetCheckSpec(
            name=query.name,
            asset=checked_asset(files, query),
            description=f"{query.question}\n\n{query.words}",
            metadata={"severity": query.severity},
        )
        for query in files.checks.values()
    ]


def checked_asset(files: Files, query: Query) -> dg.AssetKey:
    """Where the result of a check is shown."""
    marts = sorted(name for schema, name in query.reads if (schema, name) in files.marts)
    return mart_key(marts[0]) if marts else dg.AssetKey(FILE)


def mart_key(name: str) -> dg.AssetKey:
    """Marts have a place of their own: a mart may be named as a report is."""
    return dg.AssetKey([MARTS, name])


def keys_of_tables(files: Files, reports: Iterable[Report]) -> dict[Table, dg.AssetKey]:
    """The asset that fills each table."""
    of_reports = {
        ("bi", f"{table.name}{ending}"): dg.AssetKey(report.name)
        for report in reports
        for table in report.tables
        for ending in ("", "_history", "_as_of")
    }
    return {**of_reports, **{table: mart_key(query.name) for table, query in files.marts.items()}}


def _meanings(tables: Tables) -> dict[str, dict[str, str]]:
    """What the columns of every mart mean, also where that is said of the tables they come from."""
    columns = tables.table("meta.dictionary").filter("schema_name = 'marts' AND column_name IS NOT NULL")
    found: dict[str, dict[str, str]] = {}
    for table, column, words in columns.project("table_name, column_name, description").fetchall():
        found.setdefault(str(table), {})[str(column)] = str(words or "")
    return found


def _mart_result(query: Query, tables: Tables, words: Mapping[str, str]) -> dg.MaterializeResult[Any]:
    if query.parameters:
        return dg.MaterializeResult(asset_key=mart_key(query.name))
    rows = tables.table(query.table)
    return dg.MaterializeResult(
        asset_key=mart_key(query.name),
        metadata={ROWS_OF_ALL: len(rows), **of_look(look(rows), words)},
    )
