"""Workbook for managers: a cover that says what the columns mean, and the sheets of workbook.toml.

Single sales and leads, lineage and versions are only in the Parquet and CSV files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import xlsxwriter

from pipelines import units
from warehouse.errors import WarehouseError
from warehouse.publishing.table_export import PublishedTable, TableExport

MOST_ROWS = 1_048_575
"""The most rows of a sheet below its header."""
FORMATS = {
    units.MONTH: "yyyy-mm",
    units.DAY: "yyyy-mm-dd",
    units.SHARE: "0.0%",
    units.PERCENT: "#,##0.00##",
    units.PARTS: "#,##0.00##",
}
"""Number formats by unit; other amounts have no decimals."""
LONG, WIDE = frozenset({"missing_offices", "agents", "meaning", "words"}), 400
"""Columns of long texts, and their width in pixels."""
OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}


def workbook_contents() -> dict[str, Any]:
    """The contents of workbook.toml."""
    return tomllib.loads(Path(__file__).with_name("workbook.toml").read_text("utf-8"))


def write_workbook(
    path: Path, source: TableExport, tables: Sequence[PublishedTable], now: datetime, language: str
) -> None:
    """Write the workbook; a sheet without rows is left out.

    Raises WarehouseError if a mart has more rows than a sheet.
    """
    contents = workbook_contents()
    texts = {
        part: {name: text[language] for name, text in contents[part].items()}
        for part in ("cover", "basis", "columns")
    }
    basis = source.tax_basis()
    divisor = 1 + float(basis.vat_rate or 0) if basis.commission_vat == "included" else 1
    rate = f"{100 * (basis.vat_rate or 0):.2f}".rstrip("0").rstrip(".") + " %"
    stated = f"as declared in marts.tax_basis: {basis.commission_basis}"
    basis_text = texts["basis"][basis.commission_vat].format(rate=rate)
    front = texts["cover"]
    by_name = {table.name: table for table in tables}
    meanings = []
    with xlsxwriter.Workbook(path, OPTIONS) as book:
        cover = book.add_worksheet(front["name"])
        for sheet in contents["sheets"]:
            table, name = by_name.get(sheet["table"]), sheet["names"][language]
            if table is None:
                continue
            if table.row_count > MOST_ROWS:
                raise WarehouseError(f"{table.name} has more rows than a sheet holds; export it as parquet.")
            where, order = sheet.get("where", "true"), sheet["order"]
            frame = source.frame(f"{table.select} WHERE {where} ORDER BY {order}")
            if frame.is_empty():
                continue
            frame = frame.select(column for column in sheet["columns"].split() if column in frame.columns)
            frame = frame.with_columns(
                cs.by_name(contents["with_vat"].split(), require_all=False) / divisor,
                cs.string().replace(contents["values"].get(language, {})),
                cs.boolean().replace_strict({True: front["yes"], False: front["no"]}),
            )
            types = {column.name: column.type for column in table.columns}
            _write(book, name, frame, types, texts["columns"])
            meanings.append((name, "", table.name, sheet["meanings"][language]))
            meanings += [
                (name, texts["columns"][column.name], column.name, column.meaning.replace(stated, basis_text))
                for column in table.columns
                if column.name in frame.columns
            ]
        frame = pl.DataFrame(meanings, ("of", "head", "column", "words"), orient="row")
        _write(book, front["name"], frame, {}, front, first_row=3)
        cover.write_row(0, 0, [front["published"], str(source.published_on() or now.date())])
        cover.write_row(1, 0, [front["commission"], basis_text])


def _write(
    book: xlsxwriter.Workbook,
    name: str,
    frame: pl.DataFrame,
    types: Mapping[str, str],
    heads: Mapping[str, str],
    first_row: int = 0,
) -> None:
    """Write a table to a sheet of this name, one page wide in print; `types` are DuckDB types."""
    formats: dict[Any, str] = {
        heads[column]: FORMATS[unit]
        for column in frame.columns
        if (unit := units.unit_of(column, types.get(column, ""))) in FORMATS
    }
    frame.rename({column: heads[column] for column in frame.columns}).write_excel(
        book,
        name,
        position=(first_row, 0),
        column_formats=formats,
        column_widths={heads[column]: WIDE for column in frame.columns if column in LONG},
        float_precision=0,
        header_format={"bold": True},
        autofit=True,
        freeze_panes=(first_row + 1, 0),
    )
    sheet = book.get_worksheet_by_name(name)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(first_row)
