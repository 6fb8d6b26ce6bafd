"""The workbook fits the marts: every sheet finds its columns, and every column has words."""

from __future__ import annotations

import pytest

from pipelines.upkeep.export import workbook_contents
from tests.marts.given import Given, build_for, warehouse


@pytest.fixture(scope="module")
def empty() -> Given:
    """A warehouse without rows, with the marts of every sheet."""
    given = warehouse()
    build_for(given, *(f"FROM {sheet['table']}" for sheet in workbook_contents()["sheets"]))
    return given


@pytest.mark.parametrize("sheet", workbook_contents()["sheets"], ids=lambda sheet: sheet["names"]["en"])
def test_a_sheet_finds_its_columns_and_their_words(empty: Given, sheet: dict[str, str]) -> None:
    columns = sheet["columns"].split()
    where = f"WHERE {sheet['where']}" if "where" in sheet else ""
    query = f"SELECT {', '.join(columns)} FROM {sheet['table']} {where} ORDER BY {sheet['order']}"
    assert empty.execute(query).fetchall() == []
    assert set(columns) <= set(workbook_contents()["columns"])
