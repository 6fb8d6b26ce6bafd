"""Budget file of a finance department: what is to be budgeted by office, user and month.

CSV, Parquet or a workbook, with the columns office_id, user_id, month and at least one measure. An empty cell
leaves a measure as it is. What could be read in two ways is refused, with the row it is in.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from pipelines.budgets.budget import MEASURES, BudgetError, Values
from pipelines.months import Month

T = TypeVar("T")

IDS = ("office_id", "user_id", "month")
COLUMNS = (*IDS, *MEASURES)
SEARCHED_ROWS = 20
"""So many rows may stand above the heads."""
YEARS_AHEAD = 2
LARGEST = {"commission": 10_000_000}
"""Interface, RealtorBudget: commission is whole kronor without VAT, and no more than that."""
LARGEST_INTEGER = 2**31 - 1

WORKBOOK, PARQUET, OLD_WORKBOOK = b"PK\x03\x04", b"PAR1", b"\xd0\xcf\x11\xe0"
SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
MONTH = re.compile(
    r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?|(\d{2})(\d{2})?)(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"
)
CURRENCY = re.compile(r"(?:\s*(?:kr|sek)\.?|:-)$", re.IGNORECASE)
NUMBER = re.compile(r"(-)?(\d{1,3}(?:([ .,'])\d{3})(?:\3\d{3})*|\d+)((?!\3)[.,]\d+)?")
AMBIGUOUS = re.compile(r"-?\d{1,3}[.,]\d{3}")


@dataclass(frozen=True)
class Entry:
    """What rows of the file want for a user in a month; `values` has only the measures that they give."""

    row: int
    office_id: str
    user_id: str
    month: Month
    values: Values


@dataclass(frozen=True)
class BudgetFile:
    """A file that could be read whole; `notes` say what was left aside."""

    entries: tuple[Entry, ...]
    sha256: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Sheet:
    """Rows of cells, each with its number in the file."""

    name: str
    rows: Sequence[tuple[int, Sequence[object]]]


def read_budget_file(path: Path, today: date) -> BudgetFile:
    """The file's entries; raises BudgetError with a sentence for everything that is wrong with it."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BudgetError([f"{path} cannot be read ({error.strerror}); name a file that is there."]) from None
    if content.startswith(OLD_WORKBOOK):
        raise BudgetError([f"{path} is an .xls, or protected by a password; save it as .xlsx without one."])
    if content.startswith(WORKBOOK):
        sheets = _workbook(path, content)
    elif content.startswith(PARQUET):
        sheets = [_parquet(path, content)]
    else:
        sheets = [_text(path, content)]
    found = [(sheet, heads) for sheet in sheets if (heads := _heads(sheet)) is not None]
    if len(found) != 1:
        raise BudgetError([_wrong_heads(path, sheets, [sheet.name for sheet, _ in found])])
    sheet, heads = found[0]
    reader = _Reader(sheet, heads, today)
    entries = reader.entries()
    entries, doubled = merged(entries)
    problems = [*reader.problems, *doubled]
    if not entries and not problems:
        problems.append("the file has no row below its heads")
    if problems:
        raise BudgetError([f"{path.name}: {one}." for one in problems])
    return BudgetFile(tuple(entries), hashlib.sha256(content).hexdigest(), tuple(reader.notes))


def merged(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries, one for each office, user and month; a sentence for each cell that is given twice."""
    known: dict[tuple[str, str, Month], Entry] = {}
    problems = []
    for entry in entries:
        key = (entry.office_id, entry.user_id, entry.month)
        first = known.setdefault(key, entry)
        if first is entry:
            continue
        twice = [name for name in entry.values if name in first.values]
        if twice:
            problems.append(
                f"rows {first.row} and {entry.row} both give {' and '.join(twice)} of {entry.user_id} in "
                f"{entry.month}; keep one of them"
            )
        known[key] = replace(first, values={**first.values, **entry.values})
    return list(known.values()), problems


def _workbook(path: Path, content: bytes) -> list[_Sheet]:
    """The sheets of a workbook; a formula without a value is an error cell, for it is not empty."""
    import openpyxl

    try:
        with warnings.catch_warnings(action="ignore"):  # about what else is in a workbook, which nobody reads
            shown, written = (
                openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=values)
                for values in (True, False)
            )
            return [
                _Sheet(
                    sheet.title,
                    [
                        (number, [_cell(*pair) for pair in zip(values, formulas, strict=False)])
                        for number, (values, formulas) in enumerate(
                            zip(
                                sheet.iter_rows(values_only=True),
                                written[sheet.title].iter_rows(values_only=True),
                                strict=False,
                            ),
                            start=1,
                        )
                    ],
                )
                for sheet in shown.worksheets
            ]
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, SyntaxError) as error:
        raise BudgetError([f"{path} is no workbook that can be read ({error}); save it anew."]) from None


def _cell(shown: object, written: object) -> object:
    is_formula = isinstance(written, str) and written.startswith("=")
    return f"{written} without a value" if shown is None and is_formula else shown


def _parquet(path: Path, content: bytes) -> _Sheet:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BudgetError([f"{path} is no Parquet file that can be read ({error}); write it anew."]) from None
    return _Sheet(path.name, [(0, frame.columns), *enumerate(frame.iter_rows(), start=1)])


def _text(path: Path, content: bytes) -> _Sheet:
    text = _decoded(content)
    if "\0" in text:
        raise BudgetError([f"{path} is neither CSV, Parquet nor a workbook; save it as one of these."])
    named = SEPARATOR.match(text)
    text = text[named.end() :] if named else text
    above = "\n".join(text.splitlines()[:SEARCHED_ROWS])
    separator = named[1] if named else max(";\t,", key=above.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    first = 2 if named else 1
    try:
        return _Sheet(path.name, [(rows.line_num + first - 1, row) for row in rows])
    except csv.Error as error:
        raise BudgetError([f"{path}, row {rows.line_num}: {error}; write the file anew."]) from None


def _decoded(content: bytes) -> str:
    """Text in UTF-8, in UTF-16 with its mark, or as older programs on Windows write it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _named(cell: object) -> str:
    return re.sub(r"[\s_-]+", "_", str("" if cell is None else cell).strip().lower())


def _heads(sheet: _Sheet) -> int | None:
    """Which of the first rows has the heads."""
    for place, (_, cells) in enumerate(sheet.rows[:SEARCHED_ROWS]):
        if set(IDS) <= set(map(_named, cells)):
            return place
    return None


def _wrong_heads(path: Path, sheets: Sequence[_Sheet], found: Sequence[str]) -> str:
    if found:
        return f"{path}: the sheets {', '.join(found)} all have budgets; keep one of them in the workbook."
    first = next((cells for sheet in sheets for _, cells in sheet.rows if any(cells)), ())
    names = [name for name in map(_named, first) if name and name not in COLUMNS]
    near = [f"{name} may be {near[0]}" for name in names if (near := get_close_matches(name, COLUMNS, n=1))]
    wrong = f" ({', '.join(near)})" if near else ""
    return f"{path} has no row of heads with {', '.join(IDS)}{wrong}; the columns are {', '.join(COLUMNS)}."


class _Reader:
    """Reads the rows below the heads; remembers what is wrong with them."""

    def __init__(self, sheet: _Sheet, heads: int, today: date) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._names = [_named(cell) for cell in sheet.rows[heads][1]]
        self._rows = sheet.rows[heads + 1 :]
        self._first, self._last = Month(today.year, 1), Month(today.year + YEARS_AHEAD, 12)

    def entries(self) -> list[Entry]:
        """Every row that wants something and can be read."""
        self._look_at_heads()
        return [entry for number, cells in self._rows if (entry := self._entry(number, cells))]

    def _look_at_heads(self) -> None:
        for name in COLUMNS:
            if self._names.count(name) > 1:
                self.problems.append(f"the column {name} is there more than once; keep one of them")
        if not set(MEASURES) & set(self._names):
            self.problems.append(f"there is no column to budget; give one of {', '.join(MEASURES)}")
        for name in dict.fromkeys(self._names):
            if name and name not in COLUMNS:
                near = [one for one in get_close_matches(name, COLUMNS, n=1) if one not in self._names]
                if near:
                    self.problems.append(f"the column {name} may be {near[0]}; name it so, or take it out")
                else:
                    self.notes.append(f"the column {name} is left aside")

    def _entry(self, number: int, cells: Sequence[object]) -> Entry | None:
        if all(_is_empty(cell) for cell in cells):
            return None
        row = {name: cell for name, cell in zip(self._names, cells, strict=False) if name in COLUMNS}
        known = len(self.problems)
        if any(not _is_empty(cell) for cell in cells[len(self._names) :]):
            self._blame(number, "has more cells than there are heads; put quotes around amounts with a comma")
            return None
        ids = [_identifier(row.get(name)) for name in ("office_id", "user_id")]
        for name, found in zip(("office", "user"), ids, strict=True):
            if not found:
                self._blame(number, f"names no {name}; give its id, or take the row out")
        month = self._read(number, "month", row, _month)
        if month is not None and not self._first <= month <= self._last:
            self._blame(number, f"month {month} is not from {self._first} to {self._last}")
        values = {}
        for name in MEASURES:
            value = self._read(number, name, row, _whole)
            if value is None:
                continue
            if not 0 <= value <= LARGEST.get(name, LARGEST_INTEGER):
                self._blame(number, f"{name} {value} is not from 0 to {LARGEST.get(name, LARGEST_INTEGER)}")
            values[name] = value
        if len(self.problems) > known or month is None or not values:
            return None
        return Entry(number, ids[0], ids[1], month, values)

    def _read(
        self, number: int, name: str, row: dict[str, object], read: Callable[[object], T | None]
    ) -> T | None:
        try:
            return read(row.get(name))
        except ValueError as error:
            self._blame(number, f"{name} {str(row.get(name))[:40]!r} {error}")
            return None

    def _blame(self, number: int, what: str) -> None:
        self.problems.append(f"row {number}: {what}")


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _identifier(cell: object) -> str:
    """An id as text; a workbook may have made a number of it."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else str(cell).strip()


def _month(cell: object) -> Month:
    """A month, or that of a date; raises ValueError."""
    if isinstance(cell, date):  # a moment is one, too
        return Month.of(cell)
    found = MONTH.fullmatch(_identifier(cell))
    if found:
        year, number, day = int(found[1]), int(found[2] or found[4]), int(found[3] or found[5] or 1)
        with_day = _date(year, number, day)
        if with_day is not None:
            return Month.of(with_day)
    raise ValueError("is not a month; write it as YYYY-MM, like 2026-01")


def _date(year: int, number: int, day: int) -> date | None:
    try:
        return date(year, number, day)
    except ValueError:
        return None


def _whole(cell: object) -> int | None:
    """A whole number, None for an empty cell; raises ValueError for what is none, or may be two."""
    if _is_empty(cell):
        return None
    if isinstance(cell, bool | date | datetime):
        raise ValueError("is no number")
    if isinstance(cell, float):
        if not math.isfinite(cell):
            raise ValueError("is no number; leave the cell empty to leave the budget as it is")
        number = Decimal(repr(round(cell, 6)))
    elif isinstance(cell, int | Decimal):
        number = Decimal(cell)
    else:
        number = _number(str(cell))
    if number != number.to_integral_value():
        raise ValueError("is not whole; the service takes whole kronor and whole counts")
    return int(number)


def _number(text: str) -> Decimal:
    """A number as people write it: with a decimal comma, with blanks or points between thousands."""
    plain = CURRENCY.sub("", text.strip()).replace("\N{MINUS SIGN}", "-")
    plain = re.sub(r"\s", " ", plain).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if AMBIGUOUS.fullmatch(plain):
        raise ValueError("may be thousands or decimals; write it without points and commas")
    if found := NUMBER.fullmatch(plain):
        return Decimal(re.sub(r"\D", "", found[2]) + (found[4] or "").replace(",", ".")) * (
            -1 if found[1] else 1
        )
    raise ValueError("is no number; leave the cell empty to leave the budget as it is, or write 0")
