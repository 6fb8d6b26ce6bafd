"""Workbook of the marts: a sheet of meanings, then a sheet for each mart, for Excel and its like.

Rows are written to disk as they come (`constant_memory`), so that memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from warehouse.publishing.table_export import PublishedColumn, PublishedTable

MOST_ROWS = 1_048_575
"""A sheet holds so many rows below its heads."""
LONGEST_NAME = 31
LONGEST_TEXT = 32_767
LARGEST_WHOLE = 10**15
"""Excel keeps fifteen digits; a longer whole number, such as an id, is written as text."""
FIRST_DAY = date(1900, 3, 1)
"""Excel takes 1900 for a leap year: earlier days are written as text."""
MEANINGS = "meanings"
DAY, MOMENT, AMOUNT, PARTS = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "#,##0.00", "#,##0.00##"
WIDEST = 40
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "nan_inf_to_errors": True,
}


def write_workbook(
    path: Path,
    tables: Sequence[PublishedTable],
    rows_of: Callable[[PublishedTable], Iterable[tuple[Any, ...]]],
) -> list[str]:
    """Write the workbook; the names of tables that are longer than a sheet and were left out."""
    too_long = [table.name for table in tables if table.row_count > MOST_ROWS]
    with xlsxwriter.Workbook(str(path), {**OPTIONS, "tmpdir": str(path.parent)}) as book:
        bold = book.add_format({"bold": True})
        formats = {text: book.add_format({"num_format": text}) for text in (DAY, MOMENT, AMOUNT, PARTS)}
        _write_meanings(book.add_worksheet(MEANINGS), tables, bold)
        names = {MEANINGS}
        for table in tables:
            if table.name not in too_long:
                sheet = book.add_worksheet(_sheet_name(table.table, names))
                _write_table(sheet, table, rows_of(table), bold, formats)
    return too_long


def _write_meanings(sheet: Worksheet, tables: Sequence[PublishedTable], bold: Format) -> None:
    sheet.freeze_panes(1, 0)
    for place, width in enumerate((28, 34, 16, 120)):
        sheet.set_column(place, place, width)
    sheet.write_row(0, 0, ("table", "column", "type", "meaning"), bold)
    row = 1
    for table in tables:
        note = ""
        if table.row_count > MOST_ROWS:
            note = f" Its {table.row_count:,} rows are more than a sheet holds: take the Parquet or CSV file."
        sheet.write_row(row, 0, (table.table, "", "", table.meaning + note), bold)
        for column in table.columns:
            row += 1
            sheet.write_row(row, 0, (table.table, column.name, column.type.lower(), column.meaning))
        row += 1
    sheet.autofilter(0, 0, row - 1, 3)


def _write_table(
    sheet: Worksheet,
    table: PublishedTable,
    rows: Iterable[tuple[Any, ...]],
    bold: Format,
    formats: dict[str, Format],
) -> None:
    sheet.freeze_panes(1, 0)
    written_as = [formats.get(_format_of(column)) for column in table.columns]
    for place, (column, format_) in enumerate(zip(table.columns, written_as, strict=True)):
        sheet.set_column(place, place, min(WIDEST, max(12, len(column.name) + 2)), format_)
        sheet.write_string(0, place, column.name, bold)
    for number, row in enumerate(rows, start=1):
        for place, value in enumerate(row):
            _write_cell(sheet, number, place, value, written_as[place])
    if table.columns:
        sheet.autofilter(0, 0, table.row_count, len(table.columns) - 1)


def _format_of(column: PublishedColumn) -> str:
    if column.type.startswith("DECIMAL"):
        return PARTS if column.name.endswith(("_parts", "_share")) else AMOUNT
    return {"DATE": DAY}.get(column.type, MOMENT if column.type.startswith("TIMESTAMP") else "")


def _write_cell(sheet: Worksheet, row: int, place: int, value: Any, format_: Format | None) -> None:
    """A number as a number and a day as a day; what is unknown is an empty cell."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, place, value)
    elif isinstance(value, int | float | Decimal) and -LARGEST_WHOLE < value < LARGEST_WHOLE:
        sheet.write_number(row, place, value, format_)
    elif isinstance(value, date) and value.timetuple() >= FIRST_DAY.timetuple():
        moment = value.replace(tzinfo=None) if isinstance(value, datetime) else value
        sheet.write_datetime(row, place, moment, format_)
    else:
        sheet.write_string(row, place, str(value)[:LONGEST_TEXT])


def _sheet_name(table: str, taken: set[str]) -> str:
    """The table's name, as short as Excel wants it, and each only once whatever its case."""
    name, number = table[:LONGEST_NAME], 2
    while name.lower() in taken:
        name = f"{table[: LONGEST_NAME - len(str(number)) - 1]}~{number}"
        number += 1
    taken.add(name.lower())
    return name
