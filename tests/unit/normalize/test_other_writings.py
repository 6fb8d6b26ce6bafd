"""Reports that a service writes otherwise than documented: other letters, boxes and words for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest

from pipelines.catalogue.model import snake_case
from tests.unit.normalize.answers import FEBRUARY, JANUARY, estate, estates, normalized, reasons, rows, types

Json = Any

BID = {"id": "B1", "estateId": "E1", "contactId": "C1", "isCanceled": False, "amount": "2 000 000 kr"}
ANSWERS: Mapping[str, tuple[Json, tuple[str, ...], tuple[object, ...]]] = {
    "bids": ([BID], ("id", "contact_id", "amount"), ("B1", "C1", "2 000 000 kr")),
}


def respelled(value: Json, spell: Callable[[str], str]) -> Json:
    if isinstance(value, dict):
        return {spell(key): respelled(member, spell) for key, member in value.items()}
    return [respelled(one, spell) for one in value] if isinstance(value, list) else value


BOXES: Mapping[str, Callable[[Json], Json]] = {
    "as documented": lambda value: value,
    "two levels down": lambda value: {"response": {"payload": value}},
    "beside what went well": lambda value: {"success": True, "data": value, "errors": [], "message": None},
    "as a format says it": lambda value: {"$id": "1", "@odata.context": "x", "value": value},
    "alone": lambda value: value[0] if isinstance(value, list) else [value],
    "alone in a box": lambda value: {"data": value[0] if isinstance(value, list) else [value]},
}


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("report", ANSWERS)
def test_rows_are_found_in_any_box_and_an_only_row_without_a_list(report: str, box: str) -> None:
    answer, columns, row = ANSWERS[report]
    result = normalized(report, BOXES[box](answer), asked=["M1|E1"])
    assert (rows(result, report, *columns), result.rejected, result.recognised) == ([row], (), True)


def test_an_office_that_is_written_once_and_referred_to_is_that_of_every_agent() -> None:
    office = {"$id": "5", "customerId": "M1"}
    agents = [{"$id": "4", "id": "H1", "primaryOffice": office}, {"id": "H2", "primaryOffice": {"$ref": "5"}}]
    result = normalized("sales", estates(estate("OBJ1", agents={"$id": "3", "$values": agents})))
    assert rows(result, "sales_agents", "id", "primary_office_customer_id") == [("H1", "M1"), ("H2", "M1")]
    assert types(result, "sales_agents") == {}


@pytest.mark.parametrize("spell", [str.upper, snake_case, str.capitalize], ids=["UPPER", "snake", "Capital"])
def test_documented_fields_are_known_in_any_spelling(spell: Callable[[str], str]) -> None:
    answer, columns, row = ANSWERS["bids"]
    result = normalized("bids", respelled(answer, spell), asked=["M1|E1"])
    found = rows(result, "bids", *columns)
    assert ([tuple(str(one).lower() for one in of) for of in found], result.rejected) == (
        [tuple(str(one).lower() for one in row)],
        (),
    )


@pytest.mark.parametrize(
    ("times", "loaded", "rejected"),
    [
        (["2026-01-05T00:00:00", "2026-02-06T00:00:00", "32 januari"], 2, ["obtained_at"]),
        (["32 januari", "33 januari", "2026-01-05T00:00:00"], 0, ["obtained_at"] * 3),
    ],
    ids=["the row waits", "it is another column, and the date is missing"],
)
def test_a_value_that_cannot_be_read_of_a_field_in_another_spelling(
    times: list[str], loaded: int, rejected: list[str]
) -> None:
    answer = [{"estateId": f"E{n}", "ObtainedAt": one, "amount": 5} for n, one in enumerate(times)]
    result = normalized("running_commissions", answer)
    assert len(rows(result, "running_commissions", "amount")) == loaded
    assert [column for _, _, column in reasons(result)] == rejected


def test_what_an_envelope_counts_is_no_sum_over_the_months_of_its_rows() -> None:
    months = [{"year": 2026, "month": number, "commission": 5} for number in (1, 2)]
    offices = [{"customerId": "M1", "users": [{"userId": "U1", "months": months}]}]
    result = normalized(
        "budget_commission", {"data": offices, "meta": {"count": 1}, "links": [{"rel": "self"}]}
    )
    assert (rows(result, "budget_commission__users__months", "_month", "commission"), result.undated) == (
        [(JANUARY.first_day, 5), (FEBRUARY.first_day, 5)],
        False,
    )


def test_an_id_that_rows_are_kept_by_is_their_documented_one() -> None:
    [report] = estates(estate("E1", agents={"U1": {"name": "Åsa"}, "U2": {"name": "Bo"}}))[
        "officeSaleReports"
    ]
    offices = {
        "M1": {"officeName": "One", "years": report["years"]},
        "M2": {"officeName": "Two", "years": []},
    }
    result = normalized("sales", {"officeSaleReports": offices})
    assert rows(result, "sales_estates", "office_customer_id", "id") == [("M1", "E1")]
    assert rows(result, "sales_agents", "estate_id", "id", "name") == [
        ("E1", "U1", "Åsa"),
        ("E1", "U2", "Bo"),
    ]


def test_keys_that_only_count_rows_are_no_ids() -> None:
    result = normalized("commission_user", {"0": {"commission": 5}, "1": {"commission": 6}})
    assert rows(result, "commission_user", "user_id") == []


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (("241110,38", "5,875"), [Decimal("5.875")]),  # another amount says what a comma is
        (("1 250,5", "-5,875"), [Decimal("-5.875")]),
        (("104518,797", "5,875"), [Decimal("5.875")]),
        (("241110", "5,875"), []),  # nothing says it
        (("1,234,567", "5,875"), []),
        (("1,234.50", "5,875"), []),
    ],
)
def test_three_digits_after_a_comma_are_decimals_where_another_number_of_the_rows_says_so(
    written: tuple[str, str], parts: list[Decimal]
) -> None:
    row = {"userId": "U1", "commission": written[0], "soldEstateParts": written[1]}
    found = normalized("commission_user", [row, {"userId": "U2", "soldEstateParts": 1}])
    assert [
        one for user, one in rows(found, "commission_user", "user_id", "sold_estate_parts") if user == "U1"
    ] == parts
