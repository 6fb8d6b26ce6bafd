"""Estates selected by the date asked for, by id and by number."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.asking import AGREED, BI, SPRING, YEAR, Json, ask, estates, quiet

ONE_OFFICE = {"customerId": "M30016"}


def _sold() -> list[Json]:
    tree = ask(quiet(), f"{BI}/GetSalesReport", **ONE_OFFICE, **AGREED, **YEAR)
    return [estate for _, _, estate in estates(tree)]


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        ("Agreement", "contractDay"),
        ("Access", "accessDay"),
        ("LatestPropertyChangeDate", "changedAt"),
        ("2", "contractDay"),
    ],
)
def test_estates_are_selected_and_placed_by_the_date_asked_for(selection: str, field: str) -> None:
    tree = ask(quiet(), f"{BI}/GetSalesReport", selectionType=selection, **ONE_OFFICE, **SPRING)
    placed = {(month, estate[field][:7]) for _, month, estate in estates(tree)}
    assert placed == {("2025-04", "2025-04"), ("2025-05", "2025-05")}


def test_estates_can_be_selected_by_their_creation() -> None:
    tree = ask(quiet(), f"{BI}/GetSalesReport", selectionType="Create", **ONE_OFFICE, **SPRING)
    assert all(estate["changes"][0]["changedAt"] < estate["contractDay"] for _, _, estate in estates(tree))
    assert {month for _, month, _ in estates(tree)} == {"2025-04", "2025-05"}


def test_an_estate_is_found_by_its_id_or_number_where_its_own_customer_asks() -> None:
    wanted = _sold()[0]
    for query, found in (
        ({**ONE_OFFICE, "estateId": wanted["id"]}, [wanted]),
        ({**ONE_OFFICE, "estateNumber": wanted["estateNumber"]}, [wanted]),
        ({**ONE_OFFICE, "estateId": "OBJ1_1"}, []),
        ({"customerId": "G1", "estateId": wanted["id"]}, []),
        (ONE_OFFICE, []),
    ):
        assert ask(quiet(), f"{BI}/GetSalesReportForEstate", **query) == {"estates": found}


def test_references_name_the_estates_of_the_sales_report() -> None:
    [office] = ask(quiet(), f"{BI}/Estates", **ONE_OFFICE, **YEAR)
    told = [row["id"] for rows in office.values() if isinstance(rows, list) for row in rows]
    assert sorted(told) == sorted(estate["id"] for estate in _sold())


def test_budgets_of_one_user_are_a_row_of_the_offices() -> None:
    rows = ask(quiet(), f"{BI}/Budget/Crm/M30016/2025/5")
    assert ask(quiet(), f"{BI}/Budget/Crm/M30016/{rows[0]['userId']}/2025/5") == rows[:1]
