"""What the queries of sql/explain find around a number: later changes, kinds of work, reasons to doubt."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import (
    arrived,
    asked_for,
    earned,
    explained,
    held,
    loaded,
    rows,
    sales_read,
    sold,
    warehouse,
)

NIGHTS = [datetime(2026, month, 2, 3) for month in (1, 2, 3, 4)]


def read(
    given: DuckDBPyConnection, at_utc: datetime, sales: dict[str, float], *, is_open: bool = False
) -> None:
    """January in a night: sales of M1, whose commission M1 and M2 share by halves."""
    whole = sum(sales.values())
    offices = [earned({"office_customer_id": name}, whole / 2) for name in ("M1", "M2")]
    loaded(given, "commission_office", "G1", "2026-01", offices, at_utc=at_utc, is_open=is_open)
    users = [earned({"user_id": name}, whole / 2) for name in ("U1", "U2")]
    loaded(given, "commission_user", "G1", "2026-01", users, at_utc=at_utc, is_open=is_open)
    load = sales_read(given, "2026-01", sales, at_utc, is_open=is_open)
    given.execute("DELETE FROM bi.sales_agents")
    numbers = given.execute("SELECT id, _row FROM bi.sales_estates").fetchall()
    agents = [
        {"id": user, "primary_office_customer_id": office, "commission_value": sales[estate] / 2,
         "estate_id": estate, "_parent_row": number}
        for estate, number in numbers
        for user, office in (("U1", "M1"), ("U2", "M2"))
    ]  # fmt: skip
    rows(given, "sales_agents", "G1", "2026-01", agents, at_utc=at_utc, load_id=load)
    explained(given, "changes", "2026-01")


@pytest.fixture(scope="module")
def restated() -> DuckDBPyConnection:
    """A January whose first change was found as it was over, and two that came later."""
    given = warehouse()
    read(given, NIGHTS[0], {"E1": 100, "E2": 100, "E3": 20}, is_open=True)
    read(given, NIGHTS[1], {"E1": 90, "E2": 100, "E3": 20})
    read(given, NIGHTS[2], {"E1": 60, "E2": 100, "E3": 20})
    read(given, NIGHTS[3], {"E1": 60, "E3": 20})
    return given


@pytest.mark.parametrize("whose", [{"office": "M1"}, {"office": "M2"}, {"user": "U1"}])
def test_changes_are_those_since_the_month_was_over_and_sales_count_by_their_share(
    restated: DuckDBPyConnection, whose: dict[str, str]
) -> None:
    found = explained(restated, "changes", "2026-01", measure="commission", **whose)
    assert [
        (one["noted_at_utc"], one["estate_id"], one["change"], one["amount_change"], one["share"])
        for one in found
    ] == [
        (NIGHTS[2], None, "the month", -15, None),
        (NIGHTS[2], "E1", "amount changed", -30, 0.5),
        (NIGHTS[3], None, "the month", -50, None),
        (NIGHTS[3], "E2", "vanished", -100, None),
    ]
    gone = found[-1]
    listed_here = whose == {"office": "M1"}
    known = (gone["contract_on"], gone["price_before"], gone["is_listed_here"])
    assert known == (date(2026, 1, 15), 1000, listed_here)


def test_days_of_notes_and_readings_are_those_where_the_chain_is() -> None:
    given = warehouse()
    given.execute("INSERT INTO meta.clock VALUES ('Europe/Stockholm')")
    for day, amount in ((2, 100), (3, 60)):
        read(given, datetime(2026, 2, day, 23, 30), {"E1": amount})
    asked = {"office": "M1", "measure": "commission", "report": "commission_office"}
    queries = ("changes", "agent_changes", "office_changes")
    found = [one["noted_on"] for name in queries for one in explained(given, name, "2026-01", **asked)]
    assert set(found) == {date(2026, 2, 4)}
    sentences = [one["sentence"] for one in explained(given, "trust", "2026-01", **asked)]
    assert "the whole month, last read on 2026-02-04" in sentences


def test_changes_are_those_of_the_measure_that_is_asked_for() -> None:
    given = warehouse()
    for at_utc, commission in ((NIGHTS[1], 100), (NIGHTS[2], 90)):
        office = earned({"office_customer_id": "M1"}, 50, price=10 * commission)
        loaded(given, "commission_office", "G1", "2026-01", [office], at_utc=at_utc)
        sales_read(given, "2026-01", {"E1": commission}, at_utc)
        explained(given, "changes", "2026-01")
    prices, homes = (
        explained(given, "changes", "2026-01", office="M1", measure=measure)
        for measure in ("sold_total_price", "sold_estate_parts")
    )
    amounts = ("estate_id", "amount_before", "amount_after", "amount_change")
    assert [tuple(one[name] for name in amounts) for one in prices] == [
        (None, 1000, 900, -100), ("E1", 1000, 900, -100)
    ]  # fmt: skip
    assert homes == []
    of_chain = [
        [one["amount_change"] for one in explained(given, "office_changes", "2026-01", measure=measure)]
        for measure in ("sold_total_price", "commission")
    ]
    assert of_chain == [[-100], []]


def kinds(given: DuckDBPyConnection, first: str, last: str = "", **whose: str) -> list[tuple[object, ...]]:
    names = ("period", "is_held", "commission", "sold_commission", "sold_estate_parts", "valuation_parts")
    return [tuple(one[name] for name in names) for one in explained(given, "kinds", first, last, **whose)]


def test_homes_and_other_work_are_set_beside_earlier_months() -> None:
    given = warehouse()
    for of_month, row in {
        "2025-02": earned({"user_id": "U1"}, 130, 2, sold_average_commission=50, valuation_parts=1),
        "2026-01": earned({"user_id": "U1"}, 80, 1),
        "2026-02": earned({"user_id": "U1"}, 10, 0, valuation_parts=1),
    }.items():
        loaded(given, "commission_user", "M1", of_month, [row])
    now, before = ("now", True, 10, 0, 0, 1), ("month before", True, 80, 80, 1, 0)
    assert kinds(given, "2026-02", user="U1") == [now, before, ("year before", True, 130, 100, 2, 1)]
    assert kinds(given, "2026-01", "2026-02", user="U1")[1][:2] == ("year before", False)


@pytest.mark.parametrize(("report", "minds"), [("commission_office", 0), ("office_budget_crm", 1)])
def test_only_what_concerns_the_number_is_minded(report: str, minds: int) -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    for table in ("office_budget_commission_history", "office_budget_crm_history"):
        arrived(given, table, goal="BIGINT")
        rows(given, table, "M1", "2026-01", [{"goal": 5}])
    held(given, "office_budget_crm", "M1", ["2026-01"])
    found = explained(given, "trust", "2026-01", office="M1", report=report)
    assert sum(str(one["sentence"]).startswith("assumption: Budgets") for one in found) == minds


def test_a_month_that_had_not_begun_is_still_to_come_and_not_so_far() -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-05", [earned({"office_customer_id": "M1"}, 5)])
    for of_month in ("2026-06", "2026-07"):
        held(given, "office_budget_commission", "M1", [of_month], is_open=True)
    asked = {"office": "M1", "report": "office_budget_commission"}
    found = [explained(given, "trust", one, **asked)[0]["sentence"] for one in ("2026-06", "2026-07")]
    assert [str(one).partition(":")[0] for one in found] == ["so far", "still to come"]


def test_months_before_a_user_was_first_seen_are_zero_as_far_as_they_are_held() -> None:
    given = warehouse()
    for of_month, users in {"2025-12": ["U1"], "2026-01": ["U1"], "2026-02": ["U1", "U2"]}.items():
        found = [earned({"user_id": user}, 9) for user in users]
        loaded(given, "commission_user", "M1", of_month, found)
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 9)])
    asked = {"user": "U2", "report": "commission_user", "measure": "commission"}
    listed = explained(given, "months", "2026-02", **asked)
    assert [(one["month"], one["number"]) for one in listed] == [
        (date(2025, 12, 1), 0), (date(2026, 1, 1), 0), (date(2026, 2, 1), 9)
    ]  # fmt: skip
    assert {one["first_seen_month"] for one in listed} == {date(2026, 2, 1)}


def test_the_offices_make_the_chain_and_say_since_when_they_are_held() -> None:
    given = warehouse()
    earnings = {
        "2025-01": {"M1": 50, "M2": 90},
        "2025-12": {"M1": 1},
        "2026-01": {"M1": 60, "M2": 20, "M3": 5},
    }
    for of_month, offices in earnings.items():
        found = [earned({"office_customer_id": name}, amount) for name, amount in offices.items()]
        loaded(given, "commission_office", "G1", of_month, found)
    asked = {"measure": "commission", "report": "commission_office"}
    offices_found = explained(given, "offices", "2026-01", **asked)
    names = ("office_id", "number", "year_before", "month_before", "remark")
    assert [tuple(one[name] for name in names) for one in offices_found] == [
        ("M2", 20, 90, 0, None), ("M1", 60, 50, 1, None), ("M3", 5, 0, 0, "active since 2026-01")
    ]  # fmt: skip
    for question, column in (("months", "number"), ("kinds", "commission")):
        of_chain = explained(given, question, "2026-01", **asked)
        assert {one["month"]: one[column] for one in of_chain} == {
            date(2025, 1, 1): 140, date(2025, 12, 1): 1, date(2026, 1, 1): 85
        }  # fmt: skip


def test_of_the_chain_a_doubt_names_its_office() -> None:
    given = warehouse()
    for customer in ("M1", "M2"):
        loaded(given, "commission_office", customer, "2026-01", [earned({"office_customer_id": customer}, 5)])
    asked_for(given, "M1", "M3", M2="off")
    found = explained(given, "trust", "2026-01", report="commission_office")
    doubts = [str(one["sentence"]) for one in found if one["is_doubt"]]
    assert [one.partition(" last")[0] for one in doubts if "late" not in one] == [
        "M3: not held, so the chain has more than is shown",
        "M2: not refreshed:",
    ]
    assert found[1]["sentence"] == "the whole month of one office, last read on 2026-06-01"


def test_a_sale_names_all_its_agents_with_their_parts_also_where_one_of_them_is_asked_for() -> None:
    given = warehouse()
    agents = [
        {"id": user, "primary_office_customer_id": "M1", "commission_percentage_of_total": percent,
         "commission_value": percent}
        for user, percent in (("U1", 15), ("U2", 50), ("U3", 35))
    ]  # fmt: skip
    alone = {**agents[0], "commission_percentage_of_total": 100, "commission_value": 100}
    for estate, own in (("E1", agents), ("E2", [alone])):
        sold(given, "G1", "2026-01", "M1", estate, agents=own)
    sales = explained(given, "sales", "2026-01", user="U1")
    assert [(one["agents"], one["commission"]) for one in sales] == [
        ("U1", 100),
        ("U2 50%, U3 35%, U1 15%", 15),
    ]


def test_the_sales_name_an_agent_as_the_directory_does_now() -> None:
    given = warehouse()
    agent = {"id": "U1", "name": "Al Berg", "primary_office_customer_id": "M1", "commission_value": 5}
    sold(given, "G1", "2026-01", "M1", "E1", agents=[agent])
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc) "
        "VALUES ('G1', 'U1', 'Al Ny', '2026-01-01')"
    )
    assert [one["agents"] for one in explained(given, "sales", "2026-01", user="U1")] == ["Al Ny"]


def test_the_agents_of_an_office_say_who_has_left_the_directory_since() -> None:
    given = warehouse()
    users = [earned({"user_id": user}, 5) for user in ("U0", "U1")]
    loaded(given, "commission_user", "M1", "2026-01", users)
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 10)])
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc, valid_to_utc) "
        "VALUES ('M1', 'U0', 'Al', '2026-01-01', '2026-02-15'), ('M1', 'U1', 'Bo', '2026-01-01', NULL)"
    )
    assert {one["user_id"]: one["remark"] for one in explained(given, "agents", "2026-01", office="M1")} == {
        "U0": "new, has left, in no directory since 2026-02-15",
        "U1": "new",
    }
