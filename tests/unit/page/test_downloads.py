"""Downloads open in a spreadsheet of the page's language, and run nothing there."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import unquote

import pytest

from pipelines.page.language import language
from pipelines.page.tables import download


@pytest.mark.parametrize(("code", "line"), [("en", "A;B,-1.5,,2"), ("sv", '"A;B";-1,5;;2')])
def test_numbers_are_written_as_spreadsheets_of_the_language_read_them(code: str, line: str) -> None:
    file = download(language(code), "Homes sold, by month", ["a"], [["A;B", Decimal("-1.5000"), None, 2]])
    assert unquote(file.href.partition(",")[2]) == f"\ufeffa\r\n{line}\r\n"
    assert file.file == "homes-sold-by-month.csv"


def test_a_name_that_is_a_formula_is_text() -> None:
    file = download(language("en"), "x", ["@a"], [["=1+1"], [-5], ["\n=1"]])
    assert unquote(file.href).partition("\ufeff")[2] == "'@a\r\n'=1+1\r\n-5\r\n\"'\n=1\"\r\n"
