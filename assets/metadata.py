"""Metadata that assets share: owners, freshness, column schemas, previews and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import dagster as dg

from pipelines.catalogue.model import Table, declared_columns
from warehouse.marts.dictionary import sample_of
from warehouse.store.database import Store
from warehouse.store.meta_schema import late_after
from warehouse.store.schema import OURS, PARENT_ROW, VALID

OWNERS = ("team:bi",)
WARNED_BEFORE_LATE = timedelta(hours=6)
ROW_COUNT = "dagster/row_count"
PARTITION_ROW_COUNT = "dagster/partition_row_count"
COLUMN_SCHEMA = "dagster/column_schema"

PREVIEW_ROWS = 5
PREVIEW_COLUMNS = 7
TEXT_TYPES = ("VARCHAR", "JSON", "BLOB")
IMPERSONAL_TEXTS = frozenset({"_customer", "office_id", "office_name", "office_customer_id"})
"""Texts about no person. Dagster keeps metadata forever, so a preview shows no other text."""
BOOKKEEPING_COLUMNS = frozenset({"_row", "_parent_row", "_load_id", "_fetched_at_utc"})


def freshness_policy() -> dg.FreshnessPolicy:
    """When Dagster calls an asset late: when the file does."""
    return dg.FreshnessPolicy.time_window(
        fail_window=late_after(), warn_window=late_after() - WARNED_BEFORE_LATE
    )


@dataclass(frozen=True)
class TablePreview:
    """The column types and a few rows of a table, or of the part of it that meets a condition."""

    row_count: int
    columns: Mapping[str, str]
    sample: dg.TableMetadataValue

    def metadata(self, descriptions: Mapping[str, str]) -> dict[str, Any]:
        """Columns with their descriptions, and the sample."""
        columns = [(name, kind, descriptions.get(name, "")) for name, kind in self.columns.items()]
        return {COLUMN_SCHEMA: column_schema(columns), "preview": self.sample}


def read_previews(store: Store, tables: Mapping[str, tuple[str, str]]) -> dict[str, TablePreview]:
    """A preview for each name: of a table under a condition, both as SQL."""
    previews: dict[str, TablePreview] = {}
    if not tables:
        return previews
    with store.reading() as connection:
        for name, (source, condition) in tables.items():
            found = sample_of(connection, source, condition, _shown, PREVIEW_ROWS)
            previews[name] = TablePreview(found.row_count, found.types, table(found.columns, found.rows))
    return previews


def column_schema(columns: Iterable[tuple[str, str, str]]) -> dg.TableSchema:
    """Columns as Dagster shows them, from name, type and description."""
    return dg.TableSchema(
        [dg.TableColumn(name, type=kind, description=words) for name, kind, words in columns]
    )


def documented_columns(table: Table) -> list[tuple[str, str, str]]:
    """Name, type and description of every documented column, with its field in the answer."""
    return [
        (one.name, one.type, " ".join(filter(None, (one.description, one.source and f"(`{one.source}`)"))))
        for one in declared_columns(table)
    ]


def column_descriptions(table: Table) -> dict[str, str]:
    """What every documented column of a table means, and every column of ours."""
    ours = {name: words for name, (_, words) in {**OURS, **PARENT_ROW, **VALID}.items()}
    return {**ours, **{name: words for name, _, words in documented_columns(table)}}


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> dg.TableMetadataValue:
    """Rows as a table of the UI; a value that is neither a number nor a text is shown as text."""
    records = [dg.TableRecord(dict(zip(headings, map(_cell, row), strict=True))) for row in rows]
    return dg.MetadataValue.table(records, dg.TableSchema([dg.TableColumn(name) for name in headings]))


def _cell(value: object) -> str | int | float | bool:
    if value is None:
        return ""
    return value if isinstance(value, int | float | bool) else str(value)


def _shown(types: Mapping[str, str]) -> list[str]:
    """The columns that a preview shows: few, and of texts only those that name no person."""
    return [
        name
        for name, kind in types.items()
        if name not in BOOKKEEPING_COLUMNS and (name in IMPERSONAL_TEXTS or not kind.startswith(TEXT_TYPES))
    ][:PREVIEW_COLUMNS]
