"""The current month compared with the same days of last year, over a few written sales."""

from __future__ import annotations

from datetime import date, datetime

from tests.marts.given import Given, asked_for, built, earned, held, loaded, rows, warehouse
from warehouse.marts.queries import SQL

FEBRUARY = "WHERE period = 'month' AND level NOT IN ('brand', 'region') ORDER BY level, member_id"
AMOUNTS = "sold_commission::INT, sold_commission_before::INT"


def read(given: Given, office: str, *, on: int = 20, user: str = "", of_user: str = "") -> None:
    """Two Januaries and Februaries of an office to a day of February 2026, with sales of day 5 and 15.

    They earn 10 and 20, in 2025 1 and 2: the user of an office if one is named, else nobody in person.
    """
    for of_month, is_open, each in (
        ("2025-01", False, 1), ("2025-02", False, 1), ("2026-01", False, 10), ("2026-02", True, 10),
    ):  # fmt: skip
        at_utc = datetime(2026, 2, on, 3)
        row = earned({"office_customer_id": office}, 30)
        loaded(given, "commission_office", office, of_month, [row], at_utc=at_utc, is_open=is_open)
        load_id = held(given, "sales", office, [of_month], at_utc=at_utc, is_open=is_open)
        for day, amount in ((5, each), (15, 2 * each)):
            sale = {
                "id": f"{office} {of_month} {day}", "office_customer_id": office, "final_price": 100 * amount,
                "contract_day": f"{of_month}-{day:02}", "commission": amount,
            }  # fmt: skip
            [number] = rows(given, "sales_estates", office, of_month, [sale], load_id=load_id)
            if user:
                agent = {
                    "id": user, "primary_office_customer_id": of_user or office, "commission_value": amount,
                    "commission_percentage_of_total": 100, "estate_id": sale["id"], "_parent_row": number,
                }  # fmt: skip
                rows(given, "sales_agents", office, of_month, [agent], load_id=load_id)


def quarantined(given: Given, office: str, month: str) -> None:
    given.execute(
        "INSERT INTO meta.quarantine_rows (report, customer, month, table_name, reason) "
        "VALUES ('sales', $1, $2, 'sales_estates', 'no id')",
        [office, date.fromisoformat(f"{month}-01")],
    )


def test_the_month_and_the_year_are_compared_with_the_same_days_of_last_year(given: Given) -> None:
    read(given, "M1", on=10)
    columns = "period, first_on, until_on, sold_estate_parts::INT, sold_total_price_before::INT"
    assert built(given, f"SELECT {columns}, {AMOUNTS} FROM marts.same_days WHERE level = 'office'") == [
        ("month", date(2026, 2, 1), date(2026, 2, 9), 1, 100, 10, 1),
        ("year to date", date(2026, 1, 1), date(2026, 2, 9), 3, 400, 40, 4),
    ]


def test_sales_without_agents_count_at_the_office_that_lists_them_and_others_at_that_of_the_agent() -> None:
    given = warehouse()
    read(given, "M1")
    read(given, "M2", user="U1", of_user="M1")
    assert built(given, f"SELECT level, member_id, {AMOUNTS} FROM marts.same_days {FEBRUARY}") == [
        ("chain", None, 60, 6),
        ("office", "M1", 60, 6),
        ("office", "M2", 0, 0),
        ("user", "U1", 30, 3),
    ]


def test_the_days_of_each_office_end_before_its_own_reading(given: Given) -> None:
    read(given, "M1")
    read(given, "M2", on=10)
    columns = f"level, member_id, until_on, earlier_office_count, {AMOUNTS}"
    assert built(given, f"SELECT {columns} FROM marts.same_days {FEBRUARY}") == [
        ("chain", None, date(2026, 2, 19), 1, 40, 4),
        ("office", "M1", date(2026, 2, 19), 0, 30, 3),
        ("office", "M2", date(2026, 2, 9), 0, 10, 1),
    ]
    page = (SQL / "page" / "same_days.sql").read_text("utf-8")
    commissions = built(given, f"SELECT office_id, commission FROM ({page}) WHERE kind = 'chain'")
    assert {*commissions} == {("M1", 30), ("M2", 10), (None, 40)}


def test_an_office_that_lacks_a_row_is_in_neither_sum_and_is_named_and_its_users_are_not_compared() -> None:
    given = warehouse()
    read(given, "M1", user="U1")
    read(given, "M2", user="U2")
    asked_for(given, "M1", "M2")
    quarantined(given, "M2", "2026-02")
    columns = f"level, member_id, office_count, missing_offices, {AMOUNTS}"
    assert built(given, f"SELECT {columns} FROM marts.same_days {FEBRUARY}") == [
        ("chain", None, 1, "M2", 30, 3),
        ("office", "M1", 1, None, 30, 3),
        ("user", "U1", 1, None, 30, 3),
    ]


def test_unread_days_of_last_year_and_a_month_that_is_over_are_not_compared(given: Given) -> None:
    read(given, "M1")
    given.execute("UPDATE meta.months SET state = 'held'")
    assert built(given, "FROM marts.same_days") == []
    given.execute("UPDATE meta.months SET state = 'open' WHERE month = '2026-02-01'")
    given.execute("DELETE FROM meta.months WHERE report = 'sales' AND month = '2025-02-01'")
    assert built(given, "FROM marts.same_days") == []


def test_a_user_who_began_since_last_year_or_a_page_without_sales_then_is_not_compared(given: Given) -> None:
    read(given, "M1", user="U1")
    given.execute("DELETE FROM bi.sales_agents WHERE year(_month) = 2025")
    assert built(given, "SELECT member_id FROM marts.same_days WHERE level = 'user'") == []
    given.execute("DELETE FROM bi.sales_estates WHERE year(_month) = 2025")
    assert built(given, (SQL / "page" / "same_days.sql").read_text("utf-8")) == []
