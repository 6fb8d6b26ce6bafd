"""Workbook for people who decide: a cover, the sheets of workbook.toml, and what their columns mean.

What it leaves out is in the Parquet and CSV files: sales and leads one by one, lineage, versions.
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
import polars.selectors as of
import xlsxwriter

from pipelines import units
from warehouse.publishing.table_export import PublishedTable, TableExport

MOST_ROWS = 1_048_575
"""A sheet holds this many rows below its heads."""
LONGEST_NAME = 31
FORMS = {
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
    """A sheet: which rows of which mart, in which columns; all of them where none are named."""

    name: str
    meaning: str
    table: PublishedTable
    columns: Sequence[str] = ()
    where: str = ""
    order: str = ""

    @property
    def select(self) -> str:
        """Its rows, without columns of ours."""
        where = f" WHERE {self.where}" if self.where else ""
        return f"{self.table.select}{where}{f' ORDER BY {self.order}' if self.order else ''}"


@cache
def words() -> Mapping[str, Any]:
    """What workbook.toml says."""
    return tomllib.loads(Path(__file__).with_name("workbook.toml").read_text("utf-8"))


def sheets(tables: Sequence[PublishedTable], language: str, *, is_chosen: bool) -> list[Sheet]:
    """The sheets of workbook.toml whose marts there are, or one a table where they are chosen."""
    if is_chosen:
        return [Sheet(table.table[:LONGEST_NAME], table.meaning, table) for table in tables]
    by_name = {table.name: table for table in tables}
    return [
        Sheet(
            sheet["names"][language],
            sheet["meanings"][language],
            by_name[sheet["table"]],
            sheet["columns"].split(),
            sheet.get("where", ""),
            sheet["order"],
        )
        for sheet in words()["sheets"]
        if sheet["table"] in by_name
    ]


def write_workbook(
    path: Path, source: TableExport, sheets: Sequence[Sheet], now: datetime, language: str
) -> list[str]:
    """Write the workbook; the names of tables that are longer than a sheet and were left out.

    A sheet of workbook.toml without a row is on the cover alone.
    """
    texts = {
        part: {name: word[language] for name, word in found.items()}
        for part, found in words().items()
        if part not in ("sheets", "values")
    }
    own_words = words()["values"].get(language, {})
    too_long: list[str] = []
    cover, meanings = [], []
    with xlsxwriter.Workbook(path, OPTIONS) as book:
        front = book.add_worksheet(texts["cover"]["name"])
        for sheet in sheets:
            table = sheet.table
            if table.row_count > MOST_ROWS:
                too_long.append(table.name)
                cover.append((sheet.name, texts["cover"]["too_long"], table.row_count, table.name))
                continue
            frame = source.frame(sheet.select).select(~of.starts_with("_"))
            cover.append((sheet.name, sheet.meaning, frame.height, table.name))
            heads = {}
            if sheet.columns:
                frame = frame.select(name for name in sheet.columns if name in frame.columns)
                frame = frame.with_columns(of.string().replace(own_words))
                heads = {name: texts["columns"][name] for name in frame.columns}
            if frame.height or not sheet.columns:
                _write(book, sheet.name, frame, {column.name: column.type for column in table.columns}, heads)
                meanings += [
                    (sheet.name, heads.get(column.name, column.name), column.name, column.meaning)
                    for column in table.columns
                    if column.name in frame.columns
                ]
        for part, rows, first in (("meanings", meanings, 0), ("cover", cover, 4)):
            heads = {name: texts[part][name] for name in _HEADS[part]}
            _write(book, texts[part]["name"], pl.DataFrame(rows, list(heads), orient="row"), {}, heads, first)
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
    """A table with its heads in place, on a sheet of this name; `types` are those of DuckDB."""
    written = frame.rename(heads)
    forms = {
        heads.get(name, name): _form(name, kind, types.get(name, "")) for name, kind in frame.schema.items()
    }
    written.write_excel(
        book,
        name,
        position=(first_row, 0),
        column_formats={name: form for name, form in forms.items() if form},
        column_widths={
            heads.get(name, name): WIDE for name in LONG & {*frame.columns} if frame[name].count()
        },
        autofit=True,
        freeze_panes=(first_row + 1, 0),
    )


def _form(name: str, kind: pl.DataType, type_: str) -> str:
    """How a column is shown; nothing of texts."""
    if isinstance(kind, pl.Datetime):
        return MOMENT
    return FORMS.get(units.unit_of(name, type_), AMOUNT if kind.is_numeric() else "")
