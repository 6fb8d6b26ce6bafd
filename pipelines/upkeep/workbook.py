"""Workbook for people who decide: a cover, the sheets of workbook.toml, and what their columns mean.

It leaves out what the Parquet and CSV files have: single sales and leads, lineage, versions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from pipelines import units
from warehouse.publishing.table_export import PublishedTable, TableExport

MOST_ROWS = 1_048_575
"""A sheet holds this many rows below its heads."""
LONGEST_NAME = 31
CHARTED_MONTHS = 36
FORMATS = {
    units.MONTH: "yyyy-mm",
    units.DAY: "yyyy-mm-dd",
    units.SHARE: "0.0%",
    units.PERCENT: "#,##0.00##",
    units.PARTS: "#,##0.00##",
}
MOMENT, AMOUNT = "yyyy-mm-dd hh:mm", "#,##0"
"""How days and numbers are shown, by their unit; parts with up to four decimals, other amounts without."""
LONG, WIDE = frozenset({"missing_offices", "agents", "meaning", "words"}), 400
"""Columns of long texts, and how wide they are, in pixels."""
OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}


@dataclass(frozen=True)
class Sheet:
    """A sheet: which rows of which mart, in which columns; all of them if none are named."""

    name: str
    meaning: str
    table: PublishedTable
    columns: Sequence[str] = ()
    where: str = "true"
    order: str = "ALL"

    @property
    def select(self) -> str:
        """The statement that selects its rows."""
        return f"{self.table.select} WHERE {self.where} ORDER BY {self.order}"


@cache
def words() -> Mapping[str, Any]:
    """The contents of workbook.toml."""
    return tomllib.loads(Path(__file__).with_name("workbook.toml").read_text("utf-8"))


def sheets(tables: Sequence[PublishedTable], language: str, *, is_chosen: bool) -> list[Sheet]:
    """The sheets of workbook.toml whose marts exist, or one for each table if tables were chosen."""
    if is_chosen:
        return [Sheet(table.table[:LONGEST_NAME], table.meaning, table) for table in tables]
    by_name = {table.name: table for table in tables}
    return [
        Sheet(
            sheet["names"][language],
            sheet["meanings"][language],
            by_name[sheet["table"]],
            sheet["columns"].split(),
            sheet.get("where", "true"),
            sheet["order"],
        )
        for sheet in words()["sheets"]
        if sheet["table"] in by_name
    ]


def write_workbook(
    path: Path, source: TableExport, sheets: Sequence[Sheet], now: datetime, language: str
) -> list[str]:
    """Write the workbook; returns the tables that are longer than a sheet and were left out.

    A sheet of workbook.toml without a row is only named on the cover.
    """
    texts = {
        part: {name: text[language] for name, text in entries.items()}
        for part, entries in words().items()
        if part not in ("sheets", "values")
    }
    own_words = words()["values"].get(language, {})
    too_long, cover, meanings = [], [], []
    with xlsxwriter.Workbook(path, OPTIONS) as book:
        front = book.add_worksheet(texts["cover"]["name"])
        for sheet in sheets:
            table = sheet.table
            if table.row_count > MOST_ROWS:
                too_long.append(table.name)
                cover.append((sheet.name, texts["cover"]["too_long"], table.row_count, table.name))
                continue
            frame = source.frame(sheet.select).select(~cs.starts_with("_"))
            cover.append((sheet.name, sheet.meaning, frame.height, table.name))
            heads = {}
            if sheet.columns:
                frame = frame.select(name for name in sheet.columns if name in frame.columns)
                frame = frame.with_columns(cs.string().replace(own_words))
                heads = {name: texts["columns"][name] for name in frame.columns}
            if frame.is_empty() and sheet.columns:
                continue
            yes, no = texts["cover"]["yes"], texts["cover"]["no"]
            frame = frame.with_columns(cs.boolean().replace_strict({True: yes, False: no}))
            _write(book, sheet.name, frame, {column.name: column.type for column in table.columns}, heads)
            if table.name == "marts.chain_month" and sheet.columns:
                _add_chart(book, front, sheet, frame, heads)
            meanings += [
                (sheet.name, heads.get(column.name, column.name), column.name, column.meaning)
                for column in table.columns
                if column.name in frame.columns
            ]
        for part, rows, first_row in (("meanings", meanings, 0), ("cover", cover, 4)):
            heads = {name: texts[part][name] for name in _HEADS[part]}
            frame = pl.DataFrame(rows, list(heads), orient="row")
            _write(book, texts[part]["name"], frame, {}, heads, first_row)
        basis = source.tax_basis()
        rate = f"{100 * (basis.vat_rate or 0):.2f}".rstrip("0").rstrip(".") + " %"
        published_on = source.published_on() or now.astimezone(UTC).date()
        front.write_row(0, 0, [texts["cover"]["published"], str(published_on)])
        for row, name, kind in ((1, "commission", ""), (2, "budgets", "_budgets")):
            text = texts["basis"][f"{basis.commission_vat}{kind}"].format(rate=rate)
            front.write_row(row, 0, [texts["cover"][name], text])
    return too_long


_HEADS = {"cover": ("sheet", "meaning", "rows", "table"), "meanings": ("of", "head", "column", "words")}


def _write(
    book: xlsxwriter.Workbook,
    name: str,
    frame: pl.DataFrame,
    types: Mapping[str, str],
    heads: Mapping[str, str],
    first_row: int = 0,
) -> None:
    """Write a table on a sheet of this name, one page wide in print; `types` are those of DuckDB."""
    formats = {
        heads.get(column, column): _format(column, kind, types.get(column, ""))
        for column, kind in frame.schema.items()
    }
    frame.rename(heads).write_excel(
        book,
        name,
        position=(first_row, 0),
        column_formats={column: text for column, text in formats.items() if text},
        column_widths={
            heads.get(column, column): WIDE for column in LONG & {*frame.columns} if frame[column].count()
        },
        header_format={"bold": True},
        autofit=True,
        freeze_panes=(first_row + 1, 0),
    )
    sheet = book.get_worksheet_by_name(name)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(first_row)


def _add_chart(
    book: xlsxwriter.Workbook, front: Worksheet, sheet: Sheet, frame: pl.DataFrame, heads: Mapping[str, str]
) -> None:
    """Draw the commission of the chain by month on the cover; the newest month is first on its sheet."""
    month, commission = (frame.columns.index(name) for name in ("month", "commission"))
    last = min(frame.height, CHARTED_MONTHS)
    chart = book.add_chart({"type": "column"})
    chart.add_series(
        {
            "name": heads["commission"],
            "categories": [sheet.name, 1, month, last, month],
            "values": [sheet.name, 1, commission, last, commission],
        }
    )
    chart.set_x_axis({"reverse": True, "num_format": "yyyy-mm"})
    chart.set_legend({"none": True})
    front.insert_chart(1, 5, chart)


def _format(name: str, kind: pl.DataType, type_: str) -> str:
    """How Excel shows a column; empty for texts."""
    if isinstance(kind, pl.Datetime):
        return MOMENT
    return FORMATS.get(units.unit_of(name, type_), AMOUNT if kind.is_numeric() else "")
