"""Budget files as finance departments keep them: what is read, and what is rejected in a sentence."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

from pipelines.budgets.budget import BudgetError
from pipelines.budgets.budget_file import Entry, read_budget_file
from pipelines.months import Month

TODAY = date(2026, 11, 23)
HEADS = ("office_id", "user_id", "month", "commission", "sold")
JANUARY = Month(2027, 1)
WANTED = Entry(2, "M1", "U1", JANUARY, {"commission": 105_000, "sold": 2})


def given(folder: Path, content: str | bytes) -> list[Entry]:
    path = folder / "budgets.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_budget_file(path, TODAY)[0]


def problems(folder: Path, content: str | bytes) -> str:
    with pytest.raises(BudgetError) as caught:
        given(folder, content)
    return str(caught.value)


def workbook(folder: Path, *rows: tuple[Any, ...], other: tuple[Any, ...] = ()) -> Path:
    """A workbook with these rows on its first sheet, and a row on another."""
    book = openpyxl.Workbook()
    for cells in rows:
        book.active.append(cells)
    book.create_sheet().append(other)
    book.save(folder / "budgets.xlsx")
    return folder / "budgets.xlsx"


PLAIN = "office_id;user_id;month;commission;sold\nM1;U1;2027-01;105000;2\n"
TEXTS: dict[str, str | bytes] = {
    "semicolons": PLAIN,
    "commas": PLAIN.replace(";", ","),
    "a byte order mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "Windows ends of lines": PLAIN.replace("\n", "\r\n"),
    "heads as people write them": PLAIN.replace("office_id;user_id", "Office ID; USER-ID "),
    "columns in another order": "sold;commission;month;user_id;office_id\n2;105000;2027-01;U1;M1\n",
    "blanks around and lines without anything": PLAIN.replace("M1;U1", " M1 ; U1") + ";;;;\n\n  ;;;;\n",
    "quotes": PLAIN.replace("105000", '"105 000,00"'),
}


@pytest.mark.parametrize("manner", TEXTS)
def test_a_csv_file_is_read_in_every_common_form(tmp_path: Path, manner: str) -> None:
    assert given(tmp_path, TEXTS[manner]) == [WANTED]


def test_a_windows_encoding_and_lines_above_the_headings_are_accepted(tmp_path: Path) -> None:
    text = "Budget 2027 för Mäklarkedjan\r\n\r\n" + PLAIN
    [entry] = given(tmp_path, text.encode("cp1252"))
    assert (entry.values, entry.row) == (WANTED.values, 4)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("105000", 105_000),
        ("105 000", 105_000),
        ("1\N{NARROW NO-BREAK SPACE}050\N{NARROW NO-BREAK SPACE}000", 1_050_000),
        ("105000,00", 105_000),
        ("105 000 kr", 105_000),
        ("105 000:-", 105_000),
    ],
)
def test_an_amount_is_read_as_people_write_it(tmp_path: Path, written: str, number: int) -> None:
    [entry] = given(tmp_path, PLAIN.replace("105000", written))
    assert entry.values == {"commission": number, "sold": 2}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("105.000", "thousands or decimals"),
        ("105000,50", "not whole"),
        ("10 5000", "not a number"),
        ("1,05E+05", "not a number"),
        ("-", "not a number; leave the cell empty"),
        ("#REF!", "not a number"),
        ("cirka 5", "not a number"),
        ("-5", "not from 0 to 10000000"),
        ("10000001", "not from 0 to 10000000"),
    ],
)
def test_an_ambiguous_amount_is_rejected(tmp_path: Path, written: str, said: str) -> None:
    text = problems(tmp_path, PLAIN.replace("105000", f'"{written}"'))
    assert "row 2: commission" in text
    assert said in text


def test_an_empty_cell_leaves_a_budget_as_it_is(tmp_path: Path) -> None:
    without = PLAIN.replace("105000", " ") + "M1;U2;2027-01;;\n"
    assert given(tmp_path, without) == [Entry(2, "M1", "U1", JANUARY, {"sold": 2})]


@pytest.mark.parametrize("written", ["2027-01", "2027-01-31", "20270101", "2027-01-01 00:00:00"])
def test_a_month_may_be_a_date(tmp_path: Path, written: str) -> None:
    assert given(tmp_path, PLAIN.replace("2027-01", written)) == [WANTED]


@pytest.mark.parametrize("written", ["", "jan-27", "2027-13", "2027-02-30", "01/02/2027", "46388", "2027"])
def test_an_ambiguous_month_is_rejected(tmp_path: Path, written: str) -> None:
    assert "row 2: month" in problems(tmp_path, PLAIN.replace("2027-01", written))


@pytest.mark.parametrize("written", ["2025-12", "2029-01", "2207-01"])
def test_a_month_out_of_range_is_rejected(tmp_path: Path, written: str) -> None:
    assert "is not from 2026-01 to 2028-12" in problems(tmp_path, PLAIN.replace("2027-01", written))


def test_every_invalid_row_is_named(tmp_path: Path) -> None:
    text = problems(tmp_path, PLAIN.replace("M1;U1", ";") + "M1;U1;x;1;y\nM1;U1;2027-01;1;y\n")
    assert [line.split(": ")[1][:12] for line in text.splitlines()] == ["row 2", "row 3", "row 4"]


def test_a_column_that_is_not_a_measure_is_ignored_and_named(tmp_path: Path) -> None:
    path = tmp_path / "budgets.csv"
    path.write_text(PLAIN.replace(";sold", ";Kommentar"), "utf-8")
    assert read_budget_file(path, TODAY)[1] == ["the column kommentar is ignored"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("office_id;user_id;month;sold\n", "no row below its headings"),
        ("office_id;user_id;month\nM1;U1;2027-01\n", "no column has budgets"),
        (PLAIN.replace("sold", "commission"), "more than once"),
        (PLAIN.replace(";", ",").replace("105000", "105 000,00"), "more cells than headings"),
        (PLAIN + 'M1;"U2;2027-01;1;1\n', "save it again"),
        (b"PK\x03\x04rest", "save it again"),
        (b"\x00\x01\x02", "no row with the headings"),
    ],
)
def test_a_file_without_budgets_is_rejected(tmp_path: Path, content: str | bytes, said: str) -> None:
    assert said in problems(tmp_path, content)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="No such file or directory"):
        read_budget_file(tmp_path / "none.csv", TODAY)


def test_a_workbook_may_have_dates_numbers_and_unrelated_sheets(tmp_path: Path) -> None:
    cells = ("M1", "U1", datetime(2027, 1, 1), 105_000.0, 2)
    path = workbook(tmp_path, ("Budget 2027",), (), HEADS, cells, other=("a", "b"))
    [entry] = read_budget_file(path, TODAY)[0]
    assert (entry.values, entry.month, entry.row) == (WANTED.values, JANUARY, 4)


def test_a_formula_without_a_value_is_not_empty(tmp_path: Path) -> None:
    path = workbook(tmp_path, HEADS, ("M1", "U1", "2027-01", "=100000+5000", 2))
    with pytest.raises(BudgetError, match=r"row 2: commission '=100000\+5000' is not a number"):
        read_budget_file(path, TODAY)


def test_two_sheets_of_budgets_are_one_too_many(tmp_path: Path) -> None:
    path = workbook(tmp_path, HEADS, other=HEADS)
    with pytest.raises(BudgetError, match="has 2 sheets with the headings"):
        read_budget_file(path, TODAY)


def parquet(folder: Path, *cells: object) -> Path:
    path = folder / "budgets.parquet"
    pl.DataFrame([cells], schema=list(HEADS), orient="row").write_parquet(path)
    return path


def test_a_parquet_file_has_types(tmp_path: Path) -> None:
    path = parquet(tmp_path, "M1", "U1", date(2027, 1, 31), Decimal("105000.00"), 2.0)
    [entry] = read_budget_file(path, TODAY)[0]
    assert (entry.values, entry.month) == (WANTED.values, JANUARY)


def test_not_a_number_is_not_an_empty_cell(tmp_path: Path) -> None:
    path = parquet(tmp_path, "M1", "U1", "2027-01", float("nan"), 1)
    with pytest.raises(BudgetError, match="row 1: commission 'nan' is not a number; leave the cell empty"):
        read_budget_file(path, TODAY)
