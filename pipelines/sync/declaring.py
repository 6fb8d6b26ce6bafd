"""Which tables exist from the first day? Those of every report in the catalogue, in the warehouse's words."""

from __future__ import annotations

from collections.abc import Iterable

from pipelines.catalogue.model import Report, StoredAs, declared_columns
from pipelines.catalogue.reports import REPORTS
from warehouse.loads import DeclaredTable


def declared_tables(reports: Iterable[Report] = REPORTS.values()) -> list[DeclaredTable]:
    """Every table of the reports, with all its documented columns, also of reports that are off."""
    return [
        DeclaredTable(
            report=report.name,
            name=table.name,
            columns=declared_columns(table),
            history=report.stored_as is StoredAs.HISTORY,
            parent=table.parent,
            key=table.key,
            description=table.description,
        )
        for report in reports
        for table in report.tables
    ]
