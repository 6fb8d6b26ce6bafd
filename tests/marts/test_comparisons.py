"""Marts that compare: leaderboard, year over year, restatements."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest

from tests.marts.given import (
    FIRST_MOMENT,
    Given,
    build,
    built,
    earned,
    in_quarantine,
    loaded,
    sales_read,
    warehouse,
)
from warehouse.marts.queries import SQL
from warehouse.store.meta_schema import write_configured


def office_earned(given: Given, month: str, **commissions: float) -> None:
    found = [earned({"office_customer_id": office}, amount) for office, amount in commissions.items()]
    loaded(given, "commission_office", "G1", month, found)


def test_the_leaderboard_ranks_offices_and_states_rank_changes(given: Given) -> None:
    office_earned(given, "2026-01", M1=50, M2=40)
    office_earned(given, "2026-02", M1=10, M2=40)
    query = (
        "SELECT strftime(month, '%m'), earner_id, commission_rank, previous_rank, rank_change "
        "FROM marts.leaderboard WHERE period = 'month' ORDER BY month, commission_rank"
    )
    assert built(given, query) == [("01", "M1", 1, None, None), ("01", "M2", 2, None, None),
                     ("02", "M2", 1, 2, 1), ("02", "M1", 2, 1, -1)]  # fmt: skip


def test_the_leaderboard_adds_up_quarter_year_and_twelve_months(given: Given) -> None:
    for power, month in enumerate(("2025-03", "2025-11", "2026-01", "2026-03", "2026-04")):
        office_earned(given, month, M1=10**power)
    query = (
        "SELECT period, commission, month_count, is_complete FROM marts.leaderboard "
        "WHERE month IN ('2026-03-01', '2026-04-01') ORDER BY period, month"
    )
    assert built(given, query) == [
        ("month", 1000, 1, True), ("month", 10000, 1, True),
        ("quarter", 1100, 2, False), ("quarter", 10000, 1, True),
        ("twelve months", 1110, 3, False), ("twelve months", 11110, 4, False),
        ("year", 1100, 2, False), ("year", 11100, 3, False),
    ]  # fmt: skip


def test_a_period_is_not_complete_for_an_earner_without_a_row_in_a_month(given: Given) -> None:
    for month, users in (("2026-01", ["U1"]), ("2026-02", ["U1", "U2"])):
        loaded(given, "commission_office", "M1", month, [earned({"office_customer_id": "M1"}, 10)])
        loaded(given, "commission_user", "M1", month, [earned({"user_id": user}, 5) for user in users])
    query = (
        "SELECT earner_id, is_complete FROM marts.leaderboard WHERE earner_kind = 'user' "
        "AND period = 'year' AND month = '2026-02-01' ORDER BY 1"
    )
    assert built(given, query) == [("U1", True), ("U2", True)]
    in_quarantine(given, "commission_user", "M1")
    assert built(given, query) == [("U1", True), ("U2", False)]


def test_equal_commissions_share_a_rank_and_have_the_distance_to_the_leader(given: Given) -> None:
    office_earned(given, "2026-01", M1=50, M2=40, M3=40, M4=0)
    shown = "earner_id, commission_rank, to_the_leader, earner_count"
    found = built(given, f"SELECT {shown} FROM marts.leaderboard WHERE period = 'month' ORDER BY ALL")
    assert found == [("M1", 1, Decimal(0), 3), ("M2", 2, Decimal(10), 3), ("M3", 2, Decimal(10), 3)]


def test_a_user_is_ranked_by_commission_per_active_month_too(given: Given) -> None:
    for month, amounts in (("2026-01", (100, 90)), ("2026-02", (0, 90)), ("2026-03", (0, 60))):
        earners = [
            earned({"user_id": user}, amount, amount and 1)
            for user, amount in zip("AB", amounts, strict=True)
        ]
        loaded(given, "commission_user", "M1", month, earners)
    query = (
        "earner_id, month_count, active_month_count, commission_per_active_month, per_active_month_rank, "
        "is_complete"
    )
    of_year = "WHERE earner_kind = 'user' AND period = 'year' AND month(month) = 3"
    found = built(given, f"SELECT {query} FROM marts.leaderboard {of_year} ORDER BY ALL")
    assert found == [("A", 3, 1, 100, 1, True), ("B", 3, 3, 80, 2, True)]


def test_a_month_is_compared_with_the_same_month_a_year_before_if_that_is_known() -> None:
    given = warehouse()
    office_earned(given, "2025-01", M1=80)
    office_earned(given, "2026-01", M1=100)
    office_earned(given, "2026-02", M1=100)
    to_date = "year_to_date_commission, year_to_date_commission_before"
    shown = f"strftime(month, '%Y-%m'), commission_before, commission_change_share, {to_date}"
    found = built(given, f"SELECT {shown} FROM marts.year_over_year")
    assert found == [
        ("2025-01", None, None, 80, None),
        ("2026-01", 80, Decimal("0.25"), 100, 80),
        ("2026-02", None, None, 200, None),
    ]


def test_an_open_month_is_not_compared(given: Given) -> None:
    for of_month, is_open in (("2025-01", False), ("2025-02", False), ("2026-01", False), ("2026-02", True)):
        loaded(
            given, "commission_office", "G1", of_month,
            [earned({"office_customer_id": "M1"}, 80)], is_open=is_open,
        )  # fmt: skip
    build(given, "year_over_year", "leaderboard")
    changes = (
        "commission_before::INT, commission_change::INT, commission_change_share, year_to_date_change_share"
    )
    open_month = "month = '2026-02-01'"
    compared = given.execute(f"SELECT {changes} FROM marts.year_over_year WHERE {open_month}").fetchall()
    ranked = given.execute(
        f"SELECT previous_rank, rank_change FROM marts.leaderboard WHERE period = 'year' AND {open_month}"
    ).fetchall()
    assert (compared, ranked) == ([(80, None, None, None)], [(None, None)])


def test_a_change_in_a_month_that_was_over_is_a_restatement(given: Given) -> None:
    office_earned(given, "2026-01", M1=100, M2=7)
    build(given, "restatements")
    later = datetime(2026, 7, 1)
    found = [earned({"office_customer_id": "M1"}, 90, price=900), earned({"office_customer_id": "M2"}, 7)]
    loaded(given, "commission_office", "G1", "2026-01", found, at_utc=later)
    shown = "noted_at_utc, office_id, months_later, commission_before, commission_change, price_change"
    changed = built(given, f"SELECT {shown} FROM marts.restatements")
    assert changed == [(later, "M1", 6, Decimal(100), Decimal(-10), Decimal(-100))]


def test_a_month_that_lost_its_office_altogether_is_restated_to_zero(given: Given) -> None:
    office_earned(given, "2026-01", M1=100)
    build(given, "restatements")
    office_earned(given, "2026-01")
    found = built(given, "SELECT office_id, row_count_change, commission_after FROM marts.restatements")
    assert found == [("M1", -1, Decimal(0))]


LATER = datetime(2026, 7, 1)


def analysis(given: Given, name: str) -> list[dict[str, object]]:
    """The rows of an analysis, as dictionaries."""
    asked = given.execute((SQL / "analysis" / f"{name}.sql").read_text(encoding="utf-8"))
    names = [column[0] for column in asked.description or ()]
    return [dict(zip(names, row, strict=True)) for row in asked.fetchall()]


def test_a_loss_that_two_reports_show_is_one_row_of_the_office_report(given: Given) -> None:
    write_configured(given, "tax_basis", [{"commission_vat": "included", "vat_rate": Decimal("0.25")}])
    for sales, at_utc in (({"E1": 125, "E2": 25}, FIRST_MOMENT), ({"E1": 75}, LATER)):
        found = [earned({"office_customer_id": "M1"}, sum(sales.values()))]
        loaded(given, "commission_office", "G1", "2026-01", found, at_utc=at_utc)
        sales_read(given, "2026-01", sales, at_utc)
        sales_read(given, "2026-02", {"E2": 25} if at_utc == LATER else {}, at_utc)
        build(given, "month_change_reasons", "tax_basis")
    assert given.execute("SELECT sum(commission_change) FROM marts.restatements").fetchall() == [(-125,)]
    [row] = analysis(given, "08_what_changed_afterwards")
    assert (row["change_of_sales"], row["still_open"]) == (-60, 0)
    assert row["changes"] == "sale changed E1, sale gone E2 (other month 2026-02)"
    assert built(given, "SELECT commission_change FROM marts.office_restatements") == [(-75,)]


@pytest.mark.parametrize(
    ("name", "column"),
    [("01_best_offices_this_year", "commission_so_far"), ("15_how_does_the_chain_do", "commission")],
)
def test_an_analysis_deducts_declared_vat(name: str, column: str) -> None:
    given = warehouse()
    write_configured(given, "tax_basis", [{"commission_vat": "included", "vat_rate": Decimal("0.25")}])
    office_earned(given, "2026-01", M1=125)
    build(given, "year_over_year", "chain_month", "tax_basis")
    row = analysis(given, name)[0]
    assert (row[column], row["commission_basis"]) == (100, "without VAT")


def test_growth_is_stated_in_total_and_for_offices_open_in_both_periods(given: Given) -> None:
    earlier = {month: {"M1": 100, "M2": 50} for month in ("2025-03", "2025-04")}
    later = {month: {"M1": 110, "M3": 30} for month in ("2026-01", "2026-02", "2026-03", "2026-04")}
    for month, amounts in {**earlier, "2025-12": {"M1": 100, "M2": 50, "M3": 30}, **later}.items():
        office_earned(given, month, **amounts)
        loaded(given, "commission_user", "G1", month, [])
    shown = "growth_share, like_for_like_growth_share, compared_office_count, office_count"
    query = (
        f"SELECT {shown} FROM marts.growth WHERE (level, period, month) = ('chain', 'month', '2026-04-01')"
    )
    assert built(given, query) == [(Decimal("-0.06666667"), Decimal("0.1"), 1, 3)]


def test_growth_in_total_is_not_known_if_the_earlier_month_of_an_office_is_not(given: Given) -> None:
    for month, customers in (("2025-04", ["M1"]), ("2026-04", ["M1", "M2"])):
        for office in customers:
            loaded(given, "commission_office", office, month, [earned({"office_customer_id": office}, 100)])
    shown = "growth_share, like_for_like_growth_share, missing_offices"
    query = f"SELECT {shown} FROM marts.growth WHERE (level, period) = ('chain', 'month')"
    assert built(given, query) == [(None, 0, "M2")]
