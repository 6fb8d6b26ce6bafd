"""What do people see of a report before it has any rows? Its words, tables, columns and limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from pipelines.catalogue.model import Column, MonthOfRow, Report, StoredAs, Table, declared_columns
from warehouse.shapes import OURS as SHAPE
from warehouse.shapes import PARENT_ROW, VALID

OWNERS = ("team:bi",)
KINDS = frozenset({"polars", "duckdb"})
WARN_AFTER = timedelta(hours=30)
LATE_AFTER = timedelta(hours=36)  # as meta.freshness says it

OURS = {name: words for name, (_, words) in {**SHAPE, **PARENT_ROW, **VALID}.items()}
_CALCULATED = (
    "The service calculates only the latest {} months; older ones are never asked for again, "
    "and what is held of them stays."
)

FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=LATE_AFTER, warn_window=WARN_AFTER)


def report_spec(report: Report, partitions: dg.PartitionsDefinition[str] | None) -> dg.AssetSpec:
    """A report as an asset; what cannot be fetched leaves its squares as they are."""
    return dg.AssetSpec(
        key=report.name,
        description=_description(report),
        group_name=report.subject,
        owners=list(OWNERS),
        kinds=set(KINDS),
        metadata=_metadata(report),
        partitions_def=partitions,
        freshness_policy=FRESHNESS,
        skippable=True,
    )


def column_schema(columns: Mapping[str, tuple[str, str]]) -> dg.TableSchema:
    """Columns as Dagster shows them: name, type and meaning."""
    return dg.TableSchema(
        [dg.TableColumn(name, type=kind, description=words) for name, (kind, words) in columns.items()]
    )


def words_of(table: Table) -> dict[str, str]:
    """What every documented column of a table means, and our own of all tables."""
    return {**OURS, **{name: words for name, (_, words) in _columns(table).items()}}


def _description(report: Report) -> str:
    lines = [
        report.description,
        "",
        *(f"- `bi.{table.name}`: {table.description}" for table in report.tables),
    ]
    if report.has_months:
        lines += ["", _asking(report)]
    if report.latest_months:
        lines += ["", _CALCULATED.format(report.latest_months)]
    return "\n".join(lines)


def _asking(report: Report) -> str:
    if report.month_of_row is MonthOfRow.WINDOW:
        return "Its rows carry no date, so every month is asked for on its own."
    return f"Neighbouring months are asked for together, up to {report.max_months} in one request."


def _metadata(report: Report) -> dict[str, Any]:
    first, *others = report.tables
    metadata: dict[str, Any] = {
        "dagster/table_name": f"bi.{first.name}",
        "months_in_one_request": report.max_months if report.has_months else 0,
        "kept": "as slowly changing history" if report.stored_as is StoredAs.HISTORY else "month by month",
        "asked_at": dg.MetadataValue.text(report.path),
    }
    if columns := _columns(first):
        metadata["dagster/column_schema"] = column_schema(columns)
    for table in others:
        if columns := _columns(table):
            metadata[f"columns of bi.{table.name}"] = column_schema(columns)
    return metadata


def _columns(table: Table) -> dict[str, tuple[str, str]]:
    return {column.name: (column.type, _words(column)) for column in declared_columns(table)}


def _words(column: Column) -> str:
    source = f"(`{column.source}`)" if column.source else ""
    return " ".join(part for part in (column.description, source) if part)
