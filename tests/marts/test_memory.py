"""Marts that remember: changes of single sales, and what was known at a moment."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product

import duckdb
import pytest

from tests.marts.given import Given, Row, build, built, earned, loaded, sales_read, sold, warehouse
from warehouse.marts.queries import SQL

FEBRUARY, MARCH, APRIL = (datetime(2026, month, 1, 3) for month in (2, 3, 4))
U1 = {"user_id": "U1"}
CHANGES = "SELECT change, estate_id, month(month), commission_change, is_restatement FROM marts.sale_changes"


def read_twice(before: dict[str, float], after: dict[str, float], *, is_open: bool = False) -> Given:
    """January's sales as read in February and in March, with the marts of both days."""
    given = warehouse()
    sales_read(given, "2025-12", {"E0": 1}, FEBRUARY)
    sales_read(given, "2026-01", before, FEBRUARY, is_open=is_open)
    build(given, "sale_changes", "restatements", "sales_as_of")
    sales_read(given, "2026-01", after, MARCH)
    build(given, "sale_changes", "restatements", "sales_as_of")
    return given


@pytest.mark.parametrize(
    ("before", "after", "is_open", "changes"),
    [
        (
            {"E1": 5, "E2": 7, "E3": 5},
            {"E1": 5, "E3": 3, "E4": 7},
            False,
            [
                ("amount changed", "E3", 1, -2, True),
                ("appeared", "E4", 1, 7, True),
                ("vanished", "E2", 1, -7, True),
            ],
        ),
        ({}, {"E2": 7}, False, [("appeared", "E2", 1, 7, True)]),
        ({"E1": 5, "E3": 2}, {"E2": 7, "E3": 2}, True, [("vanished", "E1", 1, -5, False)]),
    ],
    ids=["a month that was over", "the first of its month", "an open month"],
)
def test_a_change_of_a_sale_is_recorded_with_its_differences(
    before: dict[str, float], after: dict[str, float], is_open: bool, changes: list[tuple[object, ...]]
) -> None:
    given = read_twice(before, after, is_open=is_open)
    assert given.execute(f"{CHANGES} ORDER BY ALL").fetchall() == changes


def test_a_moved_sale_leaves_a_month_for_another_and_a_first_backfill_is_no_change() -> None:
    given = read_twice({"E1": 5}, {"E1": 5})
    sales_read(given, "2024-05", {"E7": 9}, APRIL)
    sales_read(given, "2025-12", {"E0": 1, "E1": 6}, APRIL)
    found = built(given, f"{CHANGES.replace('FROM', ', month(other_month) FROM')} ORDER BY month")
    assert found == [("moved here", "E1", 12, 6, True, 1), ("moved away", "E1", 1, -5, True, 12)]


GONE = (
    "SELECT noted_on, street_address, agents, month(month), commission, is_restatement "
    "FROM marts.cancelled_sales"
)


def test_a_removed_sale_keeps_address_agents_and_amount_as_last_read(given: Given) -> None:
    agents: list[Row] = [{"id": "U2", "name": "Bo"}, {"id": "U1", "name": "Åsa", "responsible": True}]
    sold(given, "G1", "2026-01", "M1", "E1", agents=agents, address_street_address="Vägen 1", at_utc=FEBRUARY)
    loaded(given, "commission_user", "G1", "2026-01", [earned(U1, 5)])
    build(given, "cancelled_sales", "month_total_versions")
    sales_read(given, "2026-01", {"E2": 7}, MARCH)
    gone = (date(2026, 3, 1), "Vägen 1", "Åsa, Bo", 1, Decimal(100), True)
    assert [built(given, GONE) for _ in range(2)] == [[gone], [gone]]
    in_totals = "SELECT is_in_totals FROM marts.cancelled_sales"
    assert given.execute(in_totals).fetchall() == [(False,)]
    loaded(
        given, "commission_office", "G1", "2026-01", [earned({"office_customer_id": "M1"}, 7)], at_utc=MARCH
    )
    assert built(given, in_totals) == [(True,)]
    known = "SELECT is_present, street_address, agent_ids FROM marts.sale_versions WHERE estate_id = 'E1'"
    assert given.execute(f"{known} ORDER BY ALL").fetchall() == [
        (one, "Vägen 1", ["U1", "U2"]) for one in (False, True)
    ]


def test_a_sale_that_came_back_or_moved_is_not_cancelled() -> None:
    given = read_twice({"back": 5, "moved": 6}, {})
    sales_read(given, "2026-01", {"back": 5}, APRIL)
    sales_read(given, "2026-02", {"moved": 6}, APRIL)
    assert built(given, GONE) == []


def test_a_sale_that_moved_between_offices_counts_in_both() -> None:
    given = read_twice({"E1": 5, "E2": 7}, {"E2": 7})
    sales_read(given, "2026-01", {"E1": 5}, APRIL, office="M2")
    found = built(given, "SELECT noted_at_utc, change, office_id FROM marts.sale_changes ORDER BY ALL")
    assert found == [(MARCH, "vanished", "M1"), (APRIL, "appeared", "M2")]


def test_changes_of_sales_add_up_to_the_restatements_of_their_months() -> None:
    given = read_twice({"E1": 5, "E2": 7, "E3": 2}, {"E2": 8, "E3": 2, "E4": 11})
    sales_read(given, "2025-12", {"E3": 3}, APRIL)
    by_month = "GROUP BY ALL ORDER BY noted_at_utc, month"
    amounts = "sum(commission_change), sum(price_change), sum(row_count_change)"
    build(given, "sale_changes", "restatements")
    query = f"SELECT noted_at_utc, office_id, month, {amounts} FROM marts.{{}} {by_month}"
    summed = given.execute(query.format("sale_changes")).fetchall()
    assert len(summed) == 3
    assert summed == given.execute(query.format("restatements")).fetchall()


def test_sales_have_a_version_for_each_change_and_are_listed_as_of_any_moment() -> None:
    given = read_twice({"E1": 5, "E2": 7}, {"E2": 8, "E3": 1})
    versions = (
        "SELECT estate_id, version, valid_from_utc, valid_to_utc FROM marts.sale_versions WHERE is_present"
    )
    assert given.execute(f"{versions} ORDER BY ALL").fetchall() == [
        ("E0", 1, FEBRUARY, None),
        ("E1", 1, FEBRUARY, MARCH),
        ("E2", 1, FEBRUARY, MARCH),
        ("E2", 2, MARCH, None),
        ("E3", 1, MARCH, None),
    ]
    query = "SELECT list((estate_id, commission) ORDER BY estate_id) FROM marts.sales_as_of($1)"
    listed = [given.execute(query, [moment]).fetchall()[0][0] for moment in (datetime(2026, 2, 20), MARCH)]
    assert listed == [[("E0", 1), ("E1", 5), ("E2", 7)], [("E0", 1), ("E2", 8), ("E3", 1)]]


def test_an_office_month_as_of_a_moment_has_what_was_known_then(given: Given) -> None:
    for moment, amount in ((FEBRUARY, 100), (APRIL, 90)):
        office = earned({"office_customer_id": "M1"}, amount)
        loaded(given, "commission_office", "G1", "2026-01", [office], at_utc=moment)
        build(given, "office_month_as_of")
    found = given.execute("SELECT commission, known_since_utc FROM marts.office_month_as_of('2026-03-01')")
    assert found.fetchall() == [(Decimal(100), FEBRUARY)]
    assert given.execute("SELECT commission FROM marts.office_month_as_of('2026-04-02')").fetchall() == [
        (90,)
    ]


def test_a_number_first_read_later_is_unknown_and_states_since_when_it_is_known(given: Given) -> None:
    for of_month, moment in (("2026-01", FEBRUARY), ("2025-12", APRIL)):
        loaded(given, "commission_user", "M1", of_month, [earned(U1, 5)], at_utc=moment)
        loaded(given, "commission_office", "M1", of_month, [earned({"customer_id": "M1"}, 5)], at_utc=moment)
        build(given, "office_month_as_of", "user_month_as_of")
        build(given, "office_month_as_of", "user_month_as_of")
    for table in ("month_total_versions", "user_month_versions"):
        assert given.execute(f"SELECT count(*) FROM marts.{table}").fetchall() == [(2,)]
    for mart in ("office_month_as_of", "user_month_as_of"):
        found = given.execute(f"SELECT month, commission, known_since_utc FROM marts.{mart}('2026-03-01')")
        assert found.fetchall() == [(date(2025, 12, 1), None, APRIL), (date(2026, 1, 1), 5, FEBRUARY)]


def test_a_user_month_as_of_a_moment_has_what_was_known_then(given: Given) -> None:
    query = "SELECT user_id, commission FROM marts.user_month_as_of($1) ORDER BY user_id"
    for moment, users in ((FEBRUARY, {"U1": 5, "U2": 6}), (MARCH, {"U1": 4}), (APRIL, {"U1": 4, "U2": 6})):
        lines = [earned({"user_id": user}, amount) for user, amount in users.items()]
        loaded(given, "commission_user", "M1", "2026-01", lines, at_utc=moment)
        build(given, "user_month_as_of")
    answers = [given.execute(query, [moment]).fetchall() for moment in (FEBRUARY, MARCH, APRIL)]
    assert answers == [[("U1", 5), ("U2", 6)], [("U1", 4)], [("U1", 4), ("U2", 6)]]


AS_OF = ("office_month_as_of", "user_month_as_of", "sales_as_of")


def test_a_moment_before_the_first_reading_raises_an_error_with_the_first_moment() -> None:
    given = warehouse()
    sales_read(given, "2026-01", {"E1": 5}, FEBRUARY)
    loaded(given, "commission_user", "M1", "2026-01", [earned(U1, 5)], at_utc=FEBRUARY)
    build(given, *AS_OF)
    for mart, condition in product(AS_OF, ("true", "month = DATE '2031-01-01'")):
        with pytest.raises(duckdb.Error, match="are known since 2026-02-01 03:00:00 UTC"):
            given.execute(f"SELECT count(*) FROM marts.{mart}(TIMESTAMP '2026-01-31') WHERE {condition}")


def office_read(given: Given, day: int, **months: float) -> None:
    """The totals of months as a night reads them, this many days after January's end, with the marts."""
    at_utc = FEBRUARY + timedelta(days=day)
    for name, commission in months.items():
        row = earned({"office_customer_id": "M1"}, commission)
        loaded(given, "commission_office", "M1", f"2026-{name[1:]}", [row], at_utc=at_utc)
    build(given, "month_total_versions")


DRIFT = (
    "SELECT age_weeks, change_share::FLOAT, least_change_share::FLOAT, greatest_change_share::FLOAT, "
    "month_count, office_month_count, least_weeks_later "
    "FROM marts.month_drift WHERE measure = 'commission' ORDER BY age_weeks"
)


def test_pages_state_by_how_much_months_of_this_age_changed(given: Given) -> None:
    office_read(given, 3, m01=100)
    office_read(given, 31, m01=110, m02=200)
    office_read(given, 62, m01=110, m02=190, m03=300)
    query, found = (SQL / "page" / "drift.sql").read_text("utf-8"), []
    for day in (92, 99):
        office_read(given, day, m01=110, m02=190, m03=303, m04=500)
        found.append(built(given, query))
    told = [(date(2026, 4, 1), pytest.approx(0.01), pytest.approx(-0.05), pytest.approx(0.1), 3)]
    assert found == [told, []]


def test_a_change_belongs_to_the_week_in_which_it_was_read(given: Given) -> None:
    for of_month, day in (("m01", 0), ("m02", 28), ("m03", 59)):
        office_read(given, day + 3, **{of_month: 100})
        office_read(given, day + 24, **{of_month: 120})
    office_read(given, 120, m01=120, m02=120, m03=120)
    assert [row[:2] for row in built(given, DRIFT)] == [(0, pytest.approx(0.2)), (3, 0)]


def test_fewer_than_three_months_and_months_read_again_within_four_weeks_say_nothing(given: Given) -> None:
    office_read(given, 3, m01=100)
    office_read(given, 31, m01=110, m02=200)
    office_read(given, 62, m01=110, m02=190, m03=300)
    office_read(given, 80, m01=110, m02=190, m03=330)
    assert built(given, DRIFT) == []
