"""Metadata that assets share: freshness, column schemas and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import dagster as dg

from pipelines.catalogue.model import Table, declared_columns
from warehouse.store.meta_schema import late_after

ROW_COUNT = "dagster/row_count"
PARTITION_ROW_COUNT = "dagster/partition_row_count"
COLUMN_SCHEMA = "dagster/column_schema"


def freshness_policy() -> dg.FreshnessPolicy:
    """A policy that marks an asset as late after the hours in meta.deadlines, as `brokerbi status` does."""
    return dg.FreshnessPolicy.time_window(fail_window=late_after())


def column_schema(columns: Iterable[tuple[str, str, str]]) -> dg.TableSchema:
    """The schema that Dagster shows, from the name, type and description of each column."""
    return dg.TableSchema(
        [dg.TableColumn(name, type=kind, description=words) for name, kind, words in columns]
    )


def documented_columns(table: Table) -> list[tuple[str, str, str]]:
    """Name, type and description of every declared column. The description includes the JSON path."""
    return [
        (column.name, column.type, column.description + (f" (`{column.source}`)" if column.source else ""))
        for column in declared_columns(table)
    ]


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> dg.TableMetadataValue:
    """Rows as a table in the UI; values other than numbers are shown as text."""
    records = [dg.TableRecord(dict(zip(headings, map(_cell, row), strict=True))) for row in rows]
    return dg.MetadataValue.table(records, dg.TableSchema([dg.TableColumn(name) for name in headings]))


def _cell(value: object) -> str | int | float | bool:
    if value is None:
        return ""
    return value if isinstance(value, int | float | bool) else str(value)
