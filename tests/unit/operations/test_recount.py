"""The independent count of a measure, straight from the stored JSON."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest

from pipelines.operations.recount import RecountedNumber, recount

MARCH = RecountedNumber("M1", date(2026, 3, 1), "commission", "G1", "Europe/Stockholm", offices=("M1", "M2"))
ROWS = [
    {
        "office": {"customerId": office},
        "commission": commission,
        "soldEstateParts": 2,
        "soldAverageCommission": 40.5,
        "soldTotalPrice": 4000,
        "writingParts": writing,
        "valuationParts": 0,
    }
    for office, commission, writing in (("M1", 100.25, 1), ("M2", 7, 0))
]


def _number(measure: str, answer: object, **more: object) -> object:
    number = RecountedNumber(**{**vars(MARCH), "measure": measure, **more})
    return recount([json.dumps(answer).encode()], number).number


@pytest.mark.parametrize(
    ("measure", "number"),
    [
        ("commission", Decimal("100.25")),
        ("sold_commission", Decimal("81.00")),
        ("sold_average_commission", Decimal("40.5")),
        ("sold_commission_percentage", Decimal("2.025")),
        ("writing_parts", 1),
    ],
)
def test_an_office_s_own_row_is_what_counts(measure: str, number: object) -> None:
    assert _number(measure, ROWS) == number


def test_amounts_are_read_to_the_last_digit() -> None:
    body = b'[{"office":{"customerId":"M1"},"commission":12345678901234.0001,"soldEstateParts":1}]'
    assert recount([body], MARCH).number == Decimal("12345678901234.0001")


def test_an_office_the_answer_does_not_speak_of_earned_nothing() -> None:
    assert _number("commission", [ROWS[1]]) == 0


def test_rows_in_an_envelope_are_found() -> None:
    assert _number("commission", {"data": {"rows": ROWS}}) == Decimal("100.25")


def test_sales_asked_for_alone_count_before_an_average() -> None:
    assert _number("sold_commission", ROWS, sales_alone=Decimal("80.99")) == Decimal("80.99")


def test_the_old_number_counts_where_there_is_no_id() -> None:
    rows = [{"customerId": 1, "commission": 5, "soldEstateParts": 1}]
    assert _number("commission", rows, customer="M1") == 5


def test_running_commissions_count_in_their_own_month_and_in_kronor() -> None:
    events = [
        {"customerId": office, "amount": 10, "exchangeRate": rate, "obtainedAt": at}
        for office, rate, at in (
            ("M1", 11.5, "2026-03-31T00:00:00"),
            ("M1", 1, "2026-02-28T22:30:00Z"),
            ("M1", 1, "2026-03-31T22:30:00Z"),
            ("M1", None, "2026-03-01T00:00:00"),
            ("M2", 1, "2026-03-01T00:00:00"),
        )
    ]
    # In Stockholm, half past eleven in the evening UTC is the next day, and so the next month.
    assert _number("running_commission_sek_excl_vat", events) == Decimal("115.0000")


def _lead(lead: str | None, number: str, at: str = "2026-03-05T10:00:00.1234567") -> dict[str, object]:
    return {"createdAt": at, "receiver": {"company": {"customerNumber": number}}, "lead": {"id": lead}}


def test_a_lead_counts_once_and_one_without_id_each_time() -> None:
    leads = [_lead("a", "M1"), _lead("a", "M1"), _lead(None, "M1"), _lead(None, "M1"), _lead("b", "M2")]
    assert _number("incoming_lead_count", {"incomingLeads": leads}) == 3


def test_a_lead_that_another_answer_counts_is_left_to_it() -> None:
    answer = {"incomingLeads": [_lead("a", "M1"), _lead("b", "M1")]}
    assert _number("incoming_lead_count", answer, counted_elsewhere={"a"}) == 1


def test_a_lead_of_a_company_that_is_no_office_belongs_to_the_office_that_was_asked() -> None:
    answer = {"incomingLeads": [_lead("a", "S99")]}
    assert [_number("incoming_lead_count", answer, customer=who) for who in ("M1", "G1")] == [1, 0]
