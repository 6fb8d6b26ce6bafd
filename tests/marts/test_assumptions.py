"""What the numbers rest on that nobody documents, and users who may be counted twice."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.marts.given import built, earned, loaded, sold, warehouse

U1 = {"user_id": "U1"}


def test_a_user_with_equal_amounts_in_two_offices_is_named_as_perhaps_counted_twice() -> None:
    given = warehouse()
    for office in ("M1", "M2"):
        loaded(given, "commission_office", office, "2026-01", [earned({"office_customer_id": office}, 7)])
    for month, amounts in (("2026-01", (70, 70)), ("2026-02", (70, 5)), ("2026-03", (0, 0))):
        for office, amount in zip(("M1", "M2"), amounts, strict=True):
            loaded(given, "commission_user", office, month, [earned(U1, amount, parts=amount and 1)])
    found = built(
        given,
        "SELECT month(month), customers, commission, largest_commission, has_equal_amounts "
        "FROM marts.users_added_up",
    )
    assert found == [
        (1, "M1, M2", Decimal(140), Decimal(70), True),
        (2, "M1, M2", Decimal(75), Decimal(70), False),
        (3, "M1, M2", Decimal(0), Decimal(0), False),
    ]


@pytest.mark.parametrize(("amounts", "state"), [((70, 70), "differs"), ((70, 5), "fits")])
def test_that_users_are_added_up_is_an_assumption_that_says_whether_it_holds(
    amounts: tuple[int, int], state: str
) -> None:
    given = warehouse()
    added_up = "SELECT state FROM marts.assumptions WHERE contains(concerns, 'user_sources')"
    assert built(given, added_up) == [("nothing has arrived",)]
    for office, amount in zip(("M1", "M2"), amounts, strict=True):
        loaded(given, "commission_user", office, "2026-01", [earned(U1, amount)])
    assert built(given, added_up) == [(state,)]


@pytest.mark.parametrize(("day", "state"), [("2026-02-15", "differs"), ("2026-01-15", "fits")])
def test_that_an_estate_id_stands_for_one_home_is_an_assumption_that_says_whether_it_holds(
    day: str, state: str
) -> None:
    given = warehouse()
    of_one_home = "SELECT state FROM marts.assumptions WHERE contains(concerns, 'sale_versions')"
    assert built(given, of_one_home) == [("nothing has arrived",)]
    sold(given, "M1", "2026-01", "M1", "1", final_price=1000)
    sold(given, "M2", "2026-02", "M2", "1", final_price=2000, contract_day=day)
    assert built(given, of_one_home) == [(state,)]
    left_out = built(given, "SELECT estate_id, office_id, counted_office_id FROM marts.ambiguous_estates")
    assert left_out == ([("1", "M2", "M1")] if state == "differs" else [])


def test_what_of_the_sales_report_is_no_sale_is_told_with_its_money() -> None:
    given = warehouse()
    told = "SELECT state, evidence FROM marts.assumptions WHERE contains(assumption, 'kind of assignment')"
    assert built(given, told) == [("nothing has arrived", None)]
    sold(given, "M1", "2026-01", "M1", "1", assignment_text="Försäljning")
    sold(given, "M1", "2026-01", "M1", "2", assignment_text="Värdering", commission=7)
    [(state, evidence)] = built(given, told)
    assert (state, str(evidence).split("; ")) == (
        "fits",
        [
            "1 counted of kind Försäljning, with a commission of 100",
            "1 left out of kind Värdering, with a commission of 7",
        ],
    )
