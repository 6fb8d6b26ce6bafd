"""Workbook for people who decide: a cover, a dozen sheets of marts, and what their columns mean.

What it leaves out is in the Parquet and CSV files: sales and leads one by one, lineage, versions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
import polars.selectors as of
import xlsxwriter

from warehouse.publishing.table_export import PublishedTable

SHEETS: Mapping[str, tuple[str, str]] = {
    "Chain": ("marts.chain_month", ""),
    "Brands": ("marts.brand_month", ""),
    "Regions": ("marts.region_month", ""),
    "Offices": ("marts.office_month", ""),
    "Budgets": ("marts.office_budget_vs_actual", "WHERE measure IN ('commission', 'sold estates')"),
    "Drivers": ("marts.commission_drivers", ""),
    "Forecasts": ("marts.forecast_accuracy", "WHERE level IN ('chain', 'office')"),
    "Headcount": ("marts.headcount_month", ""),
    "Agents": ("marts.agent_month", ""),
    "Trends": ("marts.agent_trends", ""),
    "Receivables": ("marts.receivables", "WHERE state <> 'received'"),
    "Cancelled": ("marts.cancelled_sales", ""),
}
"""Each sheet: the mart, and which of its rows. None has personal data of leads."""
COVER, MEANINGS = "Cover", "Meanings"
MOST_ROWS = 1_048_575
"""A sheet holds so many rows below its heads."""
LONGEST_NAME = 31
AMOUNT, PARTS, DAY, MOMENT = "#,##0", "#,##0.00##", "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}


def write_workbook(
    path: Path,
    tables: Sequence[PublishedTable],
    frame_of: Callable[[str], pl.DataFrame],
    *,
    published_on: str,
    is_chosen: bool,
) -> list[str]:
    """Write the workbook; the names of tables that are longer than a sheet and were left out.

    The sheets are those of SHEETS, or one for each table where somebody has chosen them. `frame_of` answers
    a SELECT.
    """
    by_name = {table.name: table for table in tables}
    chosen = {table.table[:LONGEST_NAME]: (table.name, "") for table in tables} if is_chosen else SHEETS
    sheets = {name: (by_name[mart], where) for name, (mart, where) in chosen.items() if mart in by_name}
    too_long = [table.name for table, _ in sheets.values() if table.row_count > MOST_ROWS]
    cover, meanings = [], []
    with xlsxwriter.Workbook(path, OPTIONS) as book:
        book.add_worksheet(COVER)
        for name, (table, where) in sheets.items():
            if table.name in too_long:
                cover.append((name, f"{table.row_count:,} rows are more than a sheet holds.", 0, table.name))
                continue
            frame = frame_of(f"{table.select} {where}").select(~of.starts_with("_"))
            _write(book, name, frame, 110)
            cover.append((name, table.meaning, frame.height, table.name))
            meanings += [(name, one.name, one.meaning) for one in table.columns if one.name in frame.columns]
        _write(book, MEANINGS, pl.DataFrame(meanings, ["sheet", "column", "meaning"], orient="row"), 250)
        heads = [f"Published on {published_on}", "what the sheet says", "rows", "table of the file"]
        _write(book, COVER, pl.DataFrame(cover, heads, orient="row"), 250)
    return too_long


def _write(book: xlsxwriter.Workbook, name: str, frame: pl.DataFrame, width: int) -> None:
    """A sheet with its heads in place; amounts without decimals, parts and percentages with up to four."""
    frame.write_excel(
        book,
        name,
        column_formats={
            of.float(): AMOUNT,
            of.matches("_(parts|share|percentage)(_before)?$"): PARTS,
            of.date(): DAY,
            of.datetime(): MOMENT,
        },
        column_widths=width,
        freeze_panes=(1, 0),
    )
