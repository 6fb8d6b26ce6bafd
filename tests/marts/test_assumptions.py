"""What the numbers rest on that nobody documents, and users who may be counted twice."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.marts.given import built, earned, loaded, warehouse

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
