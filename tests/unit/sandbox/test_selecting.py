"""Estates selected by the date asked for, by id and by number."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.asking import AGREED, BI, SPRING, YEAR, Json, ask, estates, quiet

ONE_OFFICE = {"customerId": "M30016"}


def _some_estate() -> Json:
    tree = ask(quiet(), f"{BI}/GetSalesReport", **ONE_OFFICE, **AGREED, **YEAR)
    return next(estate for _, _, estate in estates(tree))


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


def test_an_estate_is_found_by_its_id_and_by_its_number() -> None:
    wanted = _some_estate()
    found = [
        ask(quiet(), f"{BI}/GetSalesReportForEstate", **ONE_OFFICE, **{name: wanted[field]})["estates"]
        for name, field in (("estateId", "id"), ("estateNumber", "estateNumber"))
    ]
    assert found == [[wanted], [wanted]]


@pytest.mark.parametrize("query", [{}, {"estateId": "OBJ1_1"}])
def test_no_estate_is_found_when_none_is_asked_for_or_known(query: dict[str, str]) -> None:
    assert ask(quiet(), f"{BI}/GetSalesReportForEstate", **ONE_OFFICE, **query) == {"estates": []}


def test_an_estate_of_another_customer_is_not_found() -> None:
    found = ask(quiet(), f"{BI}/GetSalesReportForEstate", customerId="G1", estateId=_some_estate()["id"])
    assert found == {"estates": []}


def test_references_name_the_estates_of_the_sales_report() -> None:
    tree = ask(quiet(), f"{BI}/GetSalesReport", **ONE_OFFICE, **AGREED, **YEAR)
    [office] = ask(quiet(), f"{BI}/Estates", **ONE_OFFICE, **YEAR)
    told = [row["id"] for rows in office.values() if isinstance(rows, list) for row in rows]
    assert sorted(told) == sorted(estate["id"] for _, _, estate in estates(tree))


def test_budgets_of_one_user_are_a_row_of_the_offices() -> None:
    rows = ask(quiet(), f"{BI}/Budget/Crm/M30016/2025/5")
    assert ask(quiet(), f"{BI}/Budget/Crm/M30016/{rows[0]['userId']}/2025/5") == rows[:1]
