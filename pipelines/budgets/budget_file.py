"""Reader of budget files, in which a finance department lists the budgets to set.

A file is CSV, Parquet or an Excel workbook. It has the columns office_id, user_id and month, and at least one
measure. An empty cell leaves the measure as it is. An ambiguous amount, such as 1.500, is an error.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from pipelines.budgets.budget import MEASURES, BudgetError, Values
from pipelines.months import Month

IDS = ("office_id", "user_id", "month")
COLUMNS = (*IDS, *MEASURES)
SEARCHED_ROWS = 20
"""How many rows, from the top, are searched for the headings and for the separator of a CSV file."""
YEARS_AHEAD = 2
MAX_COMMISSION = 10_000_000
"""The largest commission, in whole kronor without VAT (interface, RealtorBudget)."""
MAX_INTEGER = 2**31 - 1
DAMAGED = (zipfile.BadZipFile, KeyError, TypeError, SyntaxError, csv.Error)
AMOUNT = re.compile(
    r"(-?)(\d{1,3}(?: \d{3})+|\d{1,40})(?:[.,](\d{1,40}))?(?: ?(?:kr|SEK|:-))?", re.IGNORECASE | re.ASCII
)
AMBIGUOUS = re.compile(r"-?\d{1,3}[.,]\d{3}")

Rows = Sequence[tuple[int, Sequence[object]]]
"""Rows of cells, each with its number in the file."""


@dataclass(frozen=True)
class Entry:
    """A row of the file, for one budget; `values` has only the measures whose cells are filled."""

    row: int
    office_id: str
    user_id: str
    month: Month
    values: Values


def read_budget_file(path: Path, today: date) -> tuple[list[Entry], list[str]]:
    """The entries with an amount, and notes on ignored columns; raises BudgetError for an unusable file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BudgetError([f"{path} cannot be read ({error.strerror}); name a readable file."]) from None
    sheets = [table for rows in _sheets(path, content) if (table := _headings_and_rows(rows))]
    if len(sheets) != 1:
        sheet_count = f"{len(sheets)} sheets" if sheets else "no row"
        raise BudgetError(
            [f"{path} has {sheet_count} with the headings {', '.join(IDS)}; there must be exactly one."]
        )
    [(names, rows)] = sheets
    problems = [f"the column {name} occurs more than once" for name in COLUMNS if names.count(name) > 1]
    if not set(MEASURES) & set(names):
        problems.append(f"no column has budgets; add one of {', '.join(MEASURES)}")
    entries = []
    for number, cells in rows:
        try:
            if not all(map(_is_empty, cells)):
                entries.append(_entry(number, names, cells, today))
        except ValueError as error:
            problems.append(f"row {number}: {error}")
    if not rows:
        problems.append("the file has no row below its headings")
    if problems:
        raise BudgetError([f"{path.name}: {problem}." for problem in problems])
    notes = [f"the column {name} is ignored" for name in names if name and name not in COLUMNS]
    return [entry for entry in entries if entry.values], notes


def _sheets(path: Path, content: bytes) -> list[Rows]:
    import polars as pl

    try:
        if content.startswith(b"PK\x03\x04"):
            return _workbook(content)
        if content.startswith(b"PAR1"):
            frame = pl.read_parquet(io.BytesIO(content))
            return [[(0, frame.columns), *enumerate(frame.iter_rows(), start=1)]]
        return [_csv(content)]
    except (*DAMAGED, pl.exceptions.PolarsError) as error:
        raise BudgetError([f"{path} cannot be read ({error}); save it again."]) from None


def _workbook(content: bytes) -> list[Rows]:
    import openpyxl

    with warnings.catch_warnings(action="ignore"):  # openpyxl warns of parts other than cells
        values, formulas = (
            openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=has_values)
            for has_values in (True, False)
        )
        sheets: list[Rows] = []
        for sheet in values.worksheets:
            formula_rows = formulas[sheet.title].iter_rows(values_only=True)
            pairs = zip(sheet.iter_rows(values_only=True), formula_rows, strict=False)
            rows = [  # a formula without a stored value is read as text, so it is an error, not an empty cell
                [formula if value is None else value for value, formula in zip(*pair, strict=False)]
                for pair in pairs
            ]
            sheets.append(list(enumerate(rows, start=1)))
        return sheets


def _csv(content: bytes) -> Rows:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")  # the encoding of older Windows programs
    separator = max(";\t,", key="\n".join(text.splitlines()[:SEARCHED_ROWS]).count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    return [(rows.line_num, row) for row in rows]


def _headings_and_rows(rows: Rows) -> tuple[list[str], Rows] | None:
    for index, (_, cells) in enumerate(rows[:SEARCHED_ROWS]):
        names = [re.sub(r"[\s_-]+", "_", str(cell or "").strip().lower()) for cell in cells]
        if set(IDS) <= set(names):
            return names, rows[index + 1 :]
    return None


def _entry(number: int, names: Sequence[str], cells: Sequence[object], today: date) -> Entry:
    if not all(map(_is_empty, cells[len(names) :])):
        raise ValueError("has more cells than headings; put quotes around amounts with a comma")
    row = dict(zip(names, cells, strict=False))
    office, user = (_identifier(row["office_id"]), _identifier(row["user_id"]))
    if not (office and user):
        raise ValueError("lacks the id of its office or user; add it, or remove the row")
    month = _month(row["month"])
    first, last = Month(today.year, 1), Month(today.year + YEARS_AHEAD, 12)
    if not first <= month <= last:
        raise ValueError(f"month {month} is not from {first} to {last}")
    values = {name: _whole_number(name, row[name]) for name in MEASURES if not _is_empty(row.get(name))}
    return Entry(number, office, user, month, values)


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _identifier(cell: object) -> str:
    """The id as text; a workbook may have made it a number, such as 30011.0."""
    return "" if cell is None else str(cell).strip().removesuffix(".0")


def _month(cell: object) -> Month:
    text = cell.isoformat() if isinstance(cell, date) else _identifier(cell)  # a datetime is a date, too
    try:
        return Month.of(datetime.fromisoformat(f"{text}-01" if len(text) == len("2026-01") else text))
    except ValueError:
        raise ValueError(f"month {text[:40]!r} is not a month; write it as YYYY-MM, like 2026-01") from None


def _whole_number(name: str, cell: object) -> int:
    text = re.sub(r"\s", " ", str(cell)).strip()
    number = _number(text)
    largest = MAX_COMMISSION if name == "commission" else MAX_INTEGER
    if isinstance(cell, str) and AMBIGUOUS.fullmatch(text):
        why = "may mean thousands or decimals; write it without points and commas"
    elif not number.is_finite():
        why = "is not a number; leave the cell empty to keep the budget as it is, or write 0"
    elif number != int(number):
        why = "is not whole; the service accepts whole kronor and whole counts"
    elif not 0 <= number <= largest:
        why = f"is not from 0 to {largest}"
    else:
        return int(number)
    raise ValueError(f"{name} {text[:40]!r} {why}")


def _number(text: str) -> Decimal:
    """The number that a text states: 1500.5 for "1 500,50 kr". A text that is not a number is NaN."""
    if amount := AMOUNT.fullmatch(text.replace("\N{MINUS SIGN}", "-")):
        sign, whole, fraction = amount.groups(default="0")
        return Decimal(f"{sign}{whole.replace(' ', '')}.{fraction}")
    return Decimal("NaN")
