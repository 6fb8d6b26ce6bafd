"""Which budgets were entered, changed or taken back, against a few written versions of them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.marts.given import Given, Row, build_for, built, earned, held, loaded, rows, warehouse
from warehouse.marts.queries import SQL

FIRST, SECOND, THIRD = (datetime(2026, number, 1, 3) for number in (3, 6, 9))
DECEMBER = "2026-12"
AMOUNTS = "SELECT amount_before::INT, amount_after::INT, noted_at_utc FROM marts.budget_changes ORDER BY ALL"


def known(*, office: str = "M1", at_utc: datetime = FIRST) -> Given:
    """G1 has answered for an office since this time; December's budgets were requested at the first."""
    given = warehouse()
    row = earned({"office_customer_id": office}, 5)
    loaded(given, "commission_office", "G1", "2026-01", [row], at_utc=at_utc)
    asked(given, FIRST)
    return given


def asked(given: Given, at_utc: datetime) -> None:
    held(given, "office_budget_commission", "G1", [DECEMBER], at_utc=at_utc)


def budgeted(
    given: Given, amount: int, since: datetime, until: datetime | None = None, **more: object
) -> None:
    """One version of the budget of U1 of M1 in December."""
    row: Row = {
        "office_id": "M1", "user_id": "U1", "commission_budget": amount,
        "valid_from_utc": since, "valid_to_utc": until, **more,
    }  # fmt: skip
    rows(given, "office_budget_commission_history", "G1", DECEMBER, [row], at_utc=since)


def test_a_budget_is_entered_changed_taken_back_and_entered_again() -> None:
    given = known()
    fourth = THIRD + timedelta(days=1)
    budgeted(given, 100, SECOND, THIRD)
    budgeted(given, 70, THIRD, fourth)
    budgeted(given, 80, fourth + timedelta(days=1))
    assert built(given, AMOUNTS.replace("ALL", "noted_at_utc")) == [
        (None, 100, SECOND),
        (100, 70, THIRD),
        (70, None, fourth),
        (None, 80, fourth + timedelta(days=1)),
    ]


def test_the_analysis_has_each_budget_that_was_entered_changed_or_taken_back() -> None:
    given = known()
    for user, first, second in (("U1", 100, 70), ("U2", 50, None)):
        budgeted(given, first, FIRST, SECOND, user_id=user)
        if second:
            budgeted(given, second, SECOND, user_id=user)
    for user, amount in (("U3", 20), ("U4", 30)):
        budgeted(given, amount, THIRD, user_id=user)
    query = (SQL / "analysis" / "07_budgets_that_were_changed.sql").read_text("utf-8")
    build_for(given, query)
    shown = "user_id, first_amount::INT, amount_now::INT, change_count"
    assert given.execute(f"SELECT {shown} FROM ({query.rstrip().rstrip(';')})").fetchall() == [
        ("U3", None, 20, 1),
        ("U4", None, 30, 1),
        ("U1", 100, 70, 1),
        ("U2", 50, None, 1),
    ]


def test_the_first_reading_of_a_budget_is_not_a_change() -> None:
    given = known()
    budgeted(given, 100, FIRST)
    assert built(given, AMOUNTS) == []


@pytest.mark.parametrize(("known_at", "entered"), [(FIRST, [(None, 500, SECOND)]), (SECOND, [])])
def test_a_first_budget_is_entered_where_its_office_was_known_before(
    known_at: datetime, entered: list[tuple[object, ...]]
) -> None:
    given = known(at_utc=known_at)
    budgeted(given, 500, SECOND)
    assert built(given, AMOUNTS) == entered


def test_a_budget_read_later_in_the_run_that_first_knew_its_office_was_not_entered() -> None:
    given = known(at_utc=SECOND)
    later = SECOND + timedelta(minutes=5)
    asked(given, later)
    given.execute("UPDATE meta.loads SET run_id = fetched_at_utc::DATE::VARCHAR")
    budgeted(given, 500, later)
    assert built(given, AMOUNTS) == []


def test_a_reading_that_a_replay_skipped_does_not_count() -> None:
    given = known()
    given.execute("UPDATE meta.loads SET status = 'superseded' WHERE report = 'office_budget_commission'")
    asked(given, SECOND)
    budgeted(given, 500, SECOND)
    assert built(given, AMOUNTS) == []


def test_a_budget_of_another_user_is_entered_where_the_office_had_one_in_the_month() -> None:
    given = known(at_utc=THIRD)
    budgeted(given, 100, FIRST)
    budgeted(given, 50, SECOND, user_id="U2")
    assert built(given, AMOUNTS) == [(None, 50, SECOND)]
