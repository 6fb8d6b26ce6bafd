"""The workbook fits the marts: every sheet finds its columns, and every column has words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pipelines.upkeep.workbook import workbook_contents
from tests.marts.given import Given, build_for, built, warehouse
from warehouse.store.meta_schema import write_declared


@pytest.fixture(scope="module")
def empty() -> Given:
    """A warehouse without a row, with the marts of every sheet."""
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


@pytest.mark.parametrize(
    ("declared", "rate", "basis"),
    [
        ("included", Decimal("0.25"), "with VAT of 25 %"),
        ("excluded", None, "without VAT"),
        ("unknown", None, "not declared whether with VAT"),
    ],
)
def test_the_tax_basis_is_in_words(given: Given, declared: str, rate: Decimal | None, basis: str) -> None:
    write_declared(given, "tax_basis", declared, rate)
    assert built(given, "SELECT commission_basis FROM marts.tax_basis") == [(basis,)]
