"""Which question tells what was changed afterwards? The sales report, by the moment of the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipelines.catalogue.vocabulary import Keeping, MonthOfRow, Report

ASKED_OF = ("sales", "estates_report", "estates_report_prod")
"""Reports that take a selectionType, the one to prefer first (interface, Business intelligence)."""
CHANGED_SALES = "changed_sales"
BY_MOMENT_OF_CHANGE = {"selectionType": "Changed"}
DAYS_AT_ONCE = 62  # no limit is stated; the other reports with a short one are asked two months at a time


def changed_sales(catalogue: Mapping[str, Report], refused: Sequence[str]) -> tuple[str, Report] | None:
    """The report to ask what changed, by its name, and the question as a report of its own.

    None when there is no such report left that was not refused. Its rows say by their own dates which
    months they belong to; the year and month that they are filed under are those of the change.
    """
    for name in ASKED_OF:
        if name in catalogue and name not in refused:
            asked = catalogue[name]
            tables = tuple(replace(table, dated_by=None) for table in asked.tables)
            return name, replace(
                asked,
                name=CHANGED_SALES,
                description="Sales that were changed lately, to learn which older months to ask for again.",
                keeping=Keeping.NOT_KEPT,
                month_of_row=MonthOfRow.NONE,
                query=BY_MOMENT_OF_CHANGE,
                tables=tables,
            )
    return None
