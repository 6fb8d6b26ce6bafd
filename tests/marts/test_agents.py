"""Agents: headcount, joiners, leavers and moves, trends, and budgets."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.marts.given import (
    FIRST_MOMENT,
    Given,
    Row,
    build_for,
    built,
    earned,
    held,
    loaded,
    rows,
    sold,
    warehouse,
)
from warehouse.marts.queries import SQL

FLOWS = (
    "active_agent_count, joined_count, back_count, left_count, quiet_count, moved_in_count, moved_out_count"
)
MONTHS = ("2025-12", "2026-01", "2026-02", "2026-03", "2026-04", "2026-05")


def at_work(given: Given, agents: dict[str, str]) -> None:
    """Agents with a letter for each month: the office they sold at, 1 or 2; a blank where none."""
    for place, month in enumerate(MONTHS):
        offices = [earned({"office_customer_id": office}, 100) for office in ("M1", "M2")]
        loaded(given, "commission_office", "G1", month, offices)
        found = {user: work[place] for user, work in agents.items() if work[place : place + 1].strip()}
        loaded(given, "commission_user", "G1", month, [earned({"user_id": user}, 10) for user in found])
        held(given, "sales", "G1", [month])
        for user, office in found.items():
            agent = {"id": user, "name": user, "primary_office_customer_id": f"M{office}"}
            sold(given, "G1", month, f"M{office}", f"{user} {month}", agents=[agent])


def headcount(given: Given, level: str, member: str = "") -> list[tuple[object, ...]]:
    whose = f"level = '{level}' AND coalesce(member_id, '') = '{member}'"
    return built(given, f"SELECT {FLOWS} FROM marts.headcount_month WHERE {whose} ORDER BY month")


def test_an_agent_joins_once_and_leaves_after_three_quiet_months_but_not_in_a_gap(given: Given) -> None:
    at_work(given, {"stays": "111111", "gap": "1  111", "joins": "  1111", "leaves": "11", "quiet": "11111"})
    assert headcount(given, "chain") == [
        (4, None, None, None, None, None, None), (3, 0, 0, 0, 1, 0, 0), (3, 1, 0, 1, 0, 0, 0),
        (4, 0, 1, 0, 0, 0, 0), (4, 0, 0, 0, 0, 0, 0), (3, 0, 0, 0, 1, 0, 0),
    ]  # fmt: skip


def test_an_agent_who_changes_office_moved_and_has_neither_left_nor_joined(given: Given) -> None:
    at_work(given, {"stays": "111111", "moves": "111222", "rests": "111 22", "both": "121212"})
    assert headcount(given, "office", "M1")[3] == (1, 0, 0, 0, 0, 0, 2)
    assert headcount(given, "office", "M2")[3:5] == [(2, 0, 0, 0, 0, 1, 0)] * 2
    assert headcount(given, "chain")[3:5] == [(3, 0, 0, 0, 1, 0, 0), (4, 0, 1, 0, 0, 0, 0)]


def test_a_headcount_is_unknown_if_the_user_report_of_an_office_is_not_loaded(given: Given) -> None:
    for office in ("M1", "M2"):
        loaded(given, "commission_office", office, "2026-01", [earned({"office_customer_id": office}, 1)])
    loaded(given, "commission_user", "M1", "2026-01", [earned({"user_id": "U1"}, 1)])
    query = "SELECT level, active_agent_count, missing_offices FROM marts.headcount_month ORDER BY ALL"
    assert [row for row in built(given, query) if row[0] in ("chain", "office")] == [
        ("chain", None, "M1, M2"), ("office", 1, "M1"), ("office", None, "M2"),
    ]  # fmt: skip


def test_a_user_has_an_office_and_first_and_last_months(given: Given) -> None:
    at_work(given, {"moved": "112222", "gone": "11"})
    shown = "user_id, office_id, first_active_month, last_active_month, has_left"
    first, last = date(2025, 12, 1), date(2026, 5, 1)
    assert built(given, f"SELECT {shown} FROM marts.users ORDER BY 1") == [
        ("gone", "M1", first, date(2026, 1, 1), True), ("moved", "M2", first, last, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first_quiet", "has_directory"), [("2026-01", False), ("2026-03", True)], ids=["idle", "not listed"]
)
def test_leaving_is_judged_by_complete_months_of_the_users_own_office(
    given: Given, first_quiet: str, has_directory: bool
) -> None:
    for office, read_at_utc in (("M1", datetime(2026, 4, 1, 5)), ("M2", datetime(2026, 3, 10, 5))):
        for of_month in MONTHS[:4]:
            names = ["stays", "goes"] if of_month < first_quiet else ["stays"]
            users = [earned({"user_id": f"{office} {name}"}, 5) for name in names]
            is_open = office == "M2" and of_month == "2026-03"
            loaded(given, "commission_user", office, of_month, users, at_utc=read_at_utc, is_open=is_open)
        if has_directory:
            rows(given, "users_history", office, "2026-03", [{"id": f"{office} stays", "name": "Al"}])
    assert built(given, "SELECT user_id FROM marts.users WHERE has_left") == [("M1 goes",)]


TAKEN_OUT = {
    "in the next month": (datetime(2026, 4, 8, 5), date(2026, 4, 8), True),
    "in the same month": (datetime(2026, 3, 20, 5), date(2026, 3, 20), False),
    "after weeks without a reading": (datetime(2026, 4, 20, 5), date(2026, 3, 31), False),
}


def test_an_agent_left_after_the_last_active_month_on_the_day_that_the_directory_shows(given: Given) -> None:
    at_work(given, {"stays": "111111", **dict.fromkeys(TAKEN_OUT, "1111")})
    listed: list[Row] = [{"id": "stays", "name": "Al"}]
    listed += [{"id": name, "name": name, "valid_to_utc": at_utc} for name, (at_utc, *_) in TAKEN_OUT.items()]
    rows(given, "users_history", "G1", "2026-05", listed)
    given.execute("INSERT INTO meta.clock VALUES ('Europe/Stockholm')")
    held(given, "users", "G1", ["2026-04"], at_utc=datetime(2026, 3, 31, 23))  # on 1 April, at home
    shown = "user_id, left_after_month, left_on, is_left_day_known"
    found = built(given, f"SELECT {shown} FROM marts.users ORDER BY user_id")
    left = [(name, date(2026, 3, 1), *day) for name, (_, *day) in sorted(TAKEN_OUT.items())]
    assert found == [*left, ("stays", None, None, None)]
    query = (SQL / "analysis" / "25_who_left.sql").read_text("utf-8")
    build_for(given, query)
    given.execute("SET VARIABLE year = 2026")
    leavers = {row[0]: row[2] for row in given.execute(query).fetchall()}
    assert leavers == {name: left_on for name, (_, left_on, _) in TAKEN_OUT.items()}
    lost = built(given, "SELECT month FROM marts.headcount_month WHERE level = 'chain' AND left_count = 3")
    assert lost == [(date(2026, 4, 1),)]


@pytest.fixture
def two_years() -> Given:
    """U1 from July 2025 on, U2 from August, U3 from September and in January; 10 a month, then its number."""
    given = warehouse()
    loaded(given, "commission_user", "M1", "2025-01", [earned({"user_id": "U3"}, 10)])
    for year in (2025, 2026):
        for month in (7, 8, 9):
            office = earned({"office_customer_id": "M1"}, 1)
            loaded(given, "commission_office", "M1", f"{year}-0{month}", [office])
            amount = 10 if year == 2025 else month
            users = ("U1", "U2", "U3")[: month - 6 if year == 2025 else 3]
            earners = [earned({"user_id": user}, amount) for user in users]
            loaded(given, "commission_user", "M1", f"{year}-0{month}", earners)
    return given


TREND = (
    "SELECT user_id, commission, commission_before, commission_change, commission_change_share "
    "FROM marts.agent_trends"
)


def test_a_trend_compares_three_months_with_the_same_of_last_year(two_years: Given) -> None:
    assert built(two_years, f"{TREND} WHERE user_id = 'U1'") == [
        ("U1", Decimal(24), Decimal(30), Decimal(-6), Decimal("-0.2"))
    ]


def test_an_agent_who_joined_or_returned_during_last_years_months_is_not_compared(two_years: Given) -> None:
    users = built(two_years, f"{TREND} WHERE user_id IN ('U2', 'U3')")
    assert users == [(user, Decimal(24), None, None, None) for user in ("U2", "U3")]


def test_a_trend_is_unknown_if_a_month_is_not_loaded(two_years: Given) -> None:
    two_years.execute("DELETE FROM meta.months WHERE report = 'commission_user' AND month = '2026-08-01'")
    assert built(two_years, f"{TREND} WHERE user_id = 'U1'") == [("U1", None, Decimal(30), None, None)]


def test_the_past_of_an_agent_who_changed_office_stays_at_the_old_office(given: Given) -> None:
    share = {"commission_value": 100, "commission_percentage_of_total": 100, "responsible": True}
    agent = {"id": "U1", "primary_office_customer_id": "M2", "primary_office_name": "Two", **share}
    for of_month, office in (("2026-01", "M1"), ("2026-02", "M2")):
        offices = [
            earned({"office_customer_id": name}, *((100, 1, 1000) if name == office else (0, 0, 0)))
            for name in ("M1", "M2")
        ]
        loaded(given, "commission_office", "G1", of_month, offices)
        loaded(given, "commission_user", "G1", of_month, [earned({"user_id": "U1"}, 100)])
        sold(given, "G1", of_month, office, office, agents=[agent], final_price=1000)
    moved = [(date(2026, 1, 1), "M1"), (date(2026, 2, 1), "M2")]
    assert built(given, "SELECT month, office_id FROM marts.user_month ORDER BY 1") == moved
    shown = "month, user_office_id, user_office_name, is_cross_office"
    shares = built(given, f"SELECT {shown} FROM marts.sale_shares ORDER BY 1")
    assert shares == [(*moved[0], None, False), (*moved[1], "Two", False)]
    assert built(given, "FROM marts.disagreements") == []


def test_the_user_report_of_an_office_places_its_users_and_an_empty_budget_does_not(given: Given) -> None:
    agent = {"id": "U1", "primary_office_customer_id": "M2"}
    for office in ("M1", "M2"):
        loaded(given, "commission_office", office, "2026-01", [earned({"office_customer_id": office}, 100)])
        held(given, "commission_user", office, ["2026-02"])
    loaded(given, "commission_user", "M1", "2026-01", [earned({"user_id": "U1"}, 100)])
    sold(given, "M2", "2026-01", "M2", "E1", agents=[agent])
    load_id = held(given, "budget_commission", "M2", ["2026-02"])
    budget = {"office_id": "M2", "user_id": "U1", "commission_budget": 0, "valid_from_utc": FIRST_MOMENT}
    rows(given, "budget_commission_history", "M2", "2026-02", [budget], load_id=load_id)
    placed = "SELECT month, office_id, office_basis FROM marts.user_month ORDER BY 1"
    january, february = date(2026, 1, 1), date(2026, 2, 1)
    assert built(given, placed) == [(january, "M1", "this month"), (february, "M1", "earlier month")]


LEAD = {"lead_id": "L1", "receiver_id": "U1", "receiver_company_customer_number": "M1"}
STEP = {"customer_id": "M2", "user_id": "U1", "amount": 5, "exchange_rate": 1}


@pytest.mark.parametrize(
    ("report", "row", "counted"), [("incoming_leads", LEAD, "M1"), ("running_commissions", STEP, "M2")]
)
def test_a_share_counts_where_the_best_evidence_places_the_agent(
    given: Given, report: str, row: Row, counted: str
) -> None:
    agent = {"id": "U1", "primary_office_customer_id": "M2", "responsible": counted == "M2"}
    for office in ("M1", "M2"):
        sold(given, "G1", "2026-01", office, office, agents=[agent] if office == "M1" else [])
    held(given, "running_commissions", "G1", ["2026-01"])
    rows(given, report, "G1", "2026-01", [row])
    shares = built(given, "SELECT user_office_id, is_cross_office FROM marts.sale_shares")
    assert shares == [(counted, counted != "M1")]
    assert built(given, "FROM marts.sales SELECT max(is_shared_between_offices)") == [(False,)]


def test_a_user_of_two_customers_counts_at_both_offices_and_once_in_the_chain(given: Given) -> None:
    ids = ("U1", "U2")
    for customer, office, amounts in zip(("G1", "M2"), ("M1", "M2"), ((200, 100), (150, 150)), strict=True):
        agents = [{"id": user, "primary_office_customer_id": "M1", "responsible": True} for user in ids]
        for agent in agents:
            sold(given, customer, "2026-01", office, f"{office} {agent['id']}", agents=[agent])
        total = earned({"office_customer_id": office}, sum(amounts))
        loaded(given, "commission_office", customer, "2026-01", [total])
        users = [earned({"user_id": user}, amount) for user, amount in zip(ids, amounts, strict=True)]
        loaded(given, "commission_user", customer, "2026-01", users)
    placed_amounts = "SELECT office_id, user_id, commission FROM marts.user_office_month ORDER BY ALL"
    placed = "SELECT user_id, office_id, commission, _customer FROM marts.user_month ORDER BY user_id"
    shares = "SELECT user_office_id, count(*) FROM marts.sale_shares WHERE NOT is_cross_office GROUP BY 1"
    productivity = (SQL / "analysis" / "18_productivity.sql").read_text("utf-8")
    counted = [f"SELECT member_id, active_agent_count FROM marts.{m}_month" for m in ("headcount", "level")]
    build_for(given, placed_amounts, placed, shares, productivity, *counted)
    assert given.execute(placed).fetchall() == [("U1", "M1", 350, "G1, M2"), ("U2", "M2", 250, "G1, M2")]
    found = given.execute(placed_amounts).fetchall()
    assert found == [("M1", "U1", 200), ("M1", "U2", 100), ("M2", "U1", 150), ("M2", "U2", 150)]
    assert [dict(given.execute(query).fetchall()) for query in counted] == [{"M1": 2, "M2": 2, None: 2}] * 2
    assert dict(given.execute(shares).fetchall()) == {"M1": 2, "M2": 2}
    assert [row[1:4] for row in given.execute(productivity).fetchall()] == [(2, 2, 300), (2, 2, 300)]


def test_an_agent_of_two_offices_does_not_move_in_a_month_without_commission(given: Given) -> None:
    for office, amounts, step_count in (("M1", {"both": 2, "mover": 1}, 1), ("M2", {"both": 1}, 2)):
        loaded(given, "commission_office", office, "2026-01", [earned({"office_customer_id": office}, 3)])
        users = [earned({"user_id": user}, amount) for user, amount in amounts.items()]
        loaded(given, "commission_user", office, "2026-01", users)
        held(given, "running_commissions", office, ["2026-02"])
        steps = [{**STEP, "customer_id": office, "user_id": user} for user in ("both", "mover")] * step_count
        rows(given, "running_commissions", office, "2026-02", steps)
    placed = "SELECT user_id, office_id FROM marts.user_month WHERE month = '2026-02-01' ORDER BY user_id"
    assert built(given, placed) == [("both", "M1"), ("mover", "M2")]
