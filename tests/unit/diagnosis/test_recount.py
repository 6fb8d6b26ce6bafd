"""The independent count of a measure, straight from the stored JSON."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pipelines.diagnosis.recount import RecountedNumber, recount

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


OLD_NUMBER = [{"customerId": 1, "commission": 5, "soldEstateParts": 1}]
OF_OFFICES: dict[str, tuple[str, object, dict[str, Any], object]] = {
    "its own row": ("commission", ROWS, {}, Decimal("100.25")),
    "sales times average": ("sold_commission", ROWS, {}, Decimal("81.00")),
    "sales asked for alone": ("sold_commission", ROWS, {"sales_alone": Decimal("80.99")}, Decimal("80.99")),
    "an average": ("sold_average_commission", ROWS, {}, Decimal("40.5")),
    "a percentage": ("sold_commission_percentage", ROWS, {}, Decimal("2.025")),
    "an average price": ("average_price", ROWS, {}, Decimal(2000)),
    "a count": ("writing_parts", ROWS, {}, 1),
    "nothing said of the office": ("commission", ROWS[1:], {}, 0),
    "rows in an envelope": ("commission", {"data": {"rows": ROWS}}, {}, Decimal("100.25")),
    "no amount in any row of it": ("commission", [{**ROWS[0], "commission": None}], {}, None),
    "no average of its sales": ("sold_commission", [{**ROWS[0], "soldAverageCommission": None}], {}, None),
    "a share of a price that nobody knows": (
        "sold_commission_percentage",
        [{**ROWS[0], "soldTotalPrice": None}],
        {},
        None,
    ),
    "one row with and one without": (
        "commission",
        [ROWS[0], {**ROWS[0], "commission": None}],
        {},
        Decimal("100.25"),
    ),
    "written as text": ("commission", [{**ROWS[0], "commission": "12.5"}], {}, Decimal("12.5")),
    "the old number without an id": ("commission", OLD_NUMBER, {"customer": "M1"}, 5),
    "the old number of the office asked": (
        "commission",
        OLD_NUMBER,
        {"customer": "M1", "offices": {"M1", "S1"}},
        5,
    ),
    "the old number beside an empty id": (
        "commission",
        [{**OLD_NUMBER[0], "office": {"customerId": id_}} for id_ in ("", " ", "0", 0)],
        {"customer": "M1"},
        20,
    ),
    "the old number of two": ("commission", OLD_NUMBER, {"customer": "G1", "offices": {"M1", "S1"}}, 0),
}


@pytest.mark.parametrize(("measure", "answer", "more", "number"), OF_OFFICES.values(), ids=OF_OFFICES)
def test_the_number_of_an_office_is_counted_from_its_rows(
    measure: str, answer: object, more: dict[str, Any], number: object
) -> None:
    assert _number(measure, answer, **more) == number


def test_amounts_are_read_to_the_last_digit() -> None:
    body = b'[{"office":{"customerId":"M1"},"commission":12345678901234.0001,"soldEstateParts":1}]'
    assert recount([body], MARCH).number == Decimal("12345678901234.0001")


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
    assert _number("running_commission_sek_excl_vat", [*events[:3], *events[4:]]) == Decimal("115.0000")
    assert _number("running_commission_sek_excl_vat", events) is None


@pytest.mark.parametrize(("unnamed_office", "number"), [("", 1), ("M1", 4), ("M2", 1)])
def test_a_running_commission_that_names_no_office_counts_for_the_one_it_must_be_of(
    unnamed_office: str, number: int
) -> None:
    common = {"userId": "U1", "exchangeRate": 1, "obtainedAt": "2026-03-05T00:00:00"}
    events = [
        {**common, "customerId": office, "amount": amount}
        for office, amount in (("M1", 1), (None, 2), ("0", 1))
    ]
    asked = {"unnamed_office": unnamed_office}
    of_user = {"user": "U1", "counted_offices": {"M1"}}
    for more in (asked, asked | of_user):
        assert _number("running_commission_sek_excl_vat", events, **more) == number


def _lead(lead: str | None, number: str = "M1") -> dict[str, object]:
    receiver = {"company": {"customerNumber": number}}
    return {"createdAt": "2026-03-05T10:00:00.1234567", "receiver": receiver, "lead": {"id": lead}}


LEADS: dict[str, tuple[list[object], dict[str, Any], int]] = {
    "once": ([_lead("a"), _lead("a"), _lead("b", "M2")], {}, 1),
    "each time without an id": ([_lead(None), _lead(None)], {}, 2),
    "unless another answer counts it": ([_lead("a"), _lead("b")], {"counted_elsewhere": {"a"}}, 1),
    "for the office asked, if its company is none": ([_lead("a", "S99")], {"customer": "M1"}, 1),
    "for no office of a group, if its company is none": ([_lead("a", "S99")], {"customer": "G1"}, 0),
}


@pytest.mark.parametrize(("leads", "more", "number"), LEADS.values(), ids=LEADS)
def test_a_lead_counts(leads: list[object], more: dict[str, Any], number: int) -> None:
    assert _number("incoming_lead_count", {"incomingLeads": leads}, **more) == number


def test_a_lead_that_is_listed_as_removed_does_not_count_wherever_else_it_is() -> None:
    active, removed = (
        json.dumps({"incomingLeads": [_lead(name) for name in names]}).encode() for names in ("ab", "bc")
    )
    number = RecountedNumber(**{**vars(MARCH), "measure": "incoming_lead_count"})
    assert recount([active], number, removed=[removed]).number == 1
    assert recount([active], number, removed=[active]).number == 2
