"""What the queries of sql/explain find around a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from types import UnionType
from typing import Any, get_args, get_type_hints

import pytest
from duckdb import DuckDBPyConnection

from pipelines.diagnosis.around import ROWS
from tests.marts.given import (
    arrived,
    asked_for,
    build,
    earned,
    explained,
    explained_again,
    held,
    loaded,
    month,
    rows,
    sales_read,
    sold,
    warehouse,
)
from warehouse.marts.queries import SQL

NIGHTS = [datetime(2026, number, 2, 3) for number in (1, 2, 3, 4)]
KINDS = {"VARCHAR": str, "BOOLEAN": bool, "DATE": date, "BIGINT": int}


@pytest.fixture(scope="module")
def empty() -> DuckDBPyConnection:
    given = warehouse()
    build(given)
    return given


@pytest.mark.parametrize("name", ROWS)
def test_a_record_has_a_field_for_each_column_of_its_query(empty: DuckDBPyConnection, name: str) -> None:
    query = (SQL / "explain" / f"{name}.sql").read_text("utf-8")
    found = {
        one: Decimal if str(kind).startswith("DECIMAL") else KINDS[str(kind)]
        for one, kind, *_ in empty.execute(query).description or ()
    }
    hints = get_type_hints(ROWS[name])
    kinds = {
        one.name: get_args(hints[one.name])[0] if isinstance(hints[one.name], UnionType) else hints[one.name]
        for one in fields(ROWS[name])
    }
    assert kinds == found


def test_every_query_has_a_record() -> None:
    assert {path.stem for path in (SQL / "explain").glob("*.sql")} == set(ROWS)


def read(
    given: DuckDBPyConnection, at_utc: datetime, sales: Mapping[str, float], *, is_open: bool = False
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
         "commission_percentage_of_total": 50, "estate_id": estate, "_parent_row": number}
        for estate, number in numbers
        for user, office in (("U1", "M1"), ("U2", "M2"))
    ]  # fmt: skip
    rows(given, "sales_agents", "G1", "2026-01", agents, at_utc=at_utc, load_id=load)
    explained(given, "changes", "2026-01")


@pytest.fixture(scope="module")
def restated() -> DuckDBPyConnection:
    """A January whose first change was found as it was over, and one that came later."""
    given = warehouse()
    read(given, NIGHTS[0], {"E1": 100, "E2": 100}, is_open=True)
    read(given, NIGHTS[1], {"E1": 90, "E2": 100})
    read(given, NIGHTS[2], {"E1": 60, "E2": 100})
    return given  # its marts are built


@pytest.mark.parametrize("whose", [{"office": "M1"}, {"office": "M2"}, {"user": "U1"}])
def test_changes_are_those_since_the_month_was_over_and_sales_count_by_their_share(
    restated: DuckDBPyConnection, whose: dict[str, str]
) -> None:
    found = explained_again(restated, "changes", "2026-01", **whose)
    assert [(one.noted_on, one.kind, one.id, one.difference) for one in found] == [
        (NIGHTS[2].date(), "total", None, -15),
        (NIGHTS[2].date(), "sale changed", "E1", -15),
    ]


def test_the_chain_has_the_changes_of_its_offices_each_before_its_reasons(
    restated: DuckDBPyConnection,
) -> None:
    both, *found = explained_again(restated, "changes", "2026-01")
    assert (both.kind, both.what, both.difference) == ("all", "2 changes", -30)
    assert [(one.kind, one.amount_before, one.amount_after, one.difference) for one in found] == [
        ("total", 95, 80, -15),
        ("sale changed", None, None, -15),
    ] * 2


def test_a_sale_that_is_gone_is_a_reason_for_its_agents_and_its_amount_is_of_an_only_one() -> None:
    given = warehouse()
    agent = {"id": "U1", "name": "Al", "primary_office_customer_id": "M1", "commission_value": 40,
             "commission_percentage_of_total": 100}  # fmt: skip
    for night, amount in ((1, 100), (2, 60)):
        at_utc = NIGHTS[night]
        office = [earned({"office_customer_id": "M1"}, amount)]
        loaded(given, "commission_office", "G1", "2026-01", office, at_utc=at_utc)
        loaded(given, "commission_user", "G1", "2026-01", [earned({"user_id": "U1"}, amount)], at_utc=at_utc)
        load = sales_read(given, "2026-01", {"E2": 60} | ({"E1": 40} if night == 1 else {}), at_utc)
        given.execute("DELETE FROM bi.sales_agents")
        for estate, number in given.execute("SELECT id, _row FROM bi.sales_estates").fetchall():
            shared = [{**agent, "estate_id": estate, "_parent_row": number}]
            rows(given, "sales_agents", "G1", "2026-01", shared, at_utc=at_utc, load_id=load)
        explained(given, "changes", "2026-01")
    found = explained(given, "changes", "2026-01", user="U1")
    assert [(one.kind, one.id, one.difference) for one in found] == [
        ("total", None, -40),
        ("sale gone", "E1", -40),
    ]
    for agents, known in (("U2, U1", [None]), ("U2, U3", [])):
        given.execute(f"UPDATE marts.sale_versions SET agent_ids = '{agents}' WHERE estate_id = 'E1'")
        _, *found = explained_again(given, "changes", "2026-01", user="U1")
        assert [one.difference for one in found] == known


def test_a_change_whose_reports_were_not_read_since_is_open_and_names_them() -> None:
    given = warehouse()
    read(given, NIGHTS[1], {"E1": 90})
    offices = [earned({"office_customer_id": name}, amount) for name, amount in (("M1", 20), ("M2", 45))]
    loaded(given, "commission_office", "G1", "2026-01", offices, at_utc=NIGHTS[2])
    found = explained(given, "changes", "2026-01", office="M1")[1:]
    assert [(one.kind, one.difference, one.awaited_reports) for one in found] == [
        ("open", -25, "sales, commission_user")
    ]


def test_days_are_those_where_the_chain_is() -> None:
    given = warehouse()
    given.execute("INSERT INTO meta.clock VALUES ('Europe/Stockholm')")
    for day, amount in ((2, 100), (3, 60)):
        read(given, datetime(2026, 2, day, 23, 30), {"E1": amount})
    assert {one.noted_on for one in explained(given, "changes", "2026-01", office="M1")} == {date(2026, 2, 4)}
    found = explained(given, "doubts", "2026-01", office="M1")
    assert {(one.kind, one.noted_on) for one in found} == {
        (kind, date(2026, 2, 4)) for kind in ("reports agree", "the whole month")
    }


def compared(given: DuckDBPyConnection, first: str, last: str = "", **asked: str) -> list[tuple[object, ...]]:
    found = explained(given, "compared", first, last, **asked)
    return [(one.period, one.number, one.difference, one.homes) for one in found]


def test_a_number_and_its_homes_are_set_beside_earlier_months() -> None:
    given = warehouse()
    for of_month, row in {
        "2025-01": earned({"office_customer_id": "M1"}, 100, 2),
        "2025-02": earned({"office_customer_id": "M1"}, 130, 2),
        "2026-01": earned({"office_customer_id": "M1"}, 80, 1),
        "2026-02": earned({"office_customer_id": "M1"}, 10, 0),
    }.items():
        loaded(given, "commission_office", "M1", of_month, [row])
    assert compared(given, "2026-02", office="M1") == [
        ("2026-02", 10, None, 0),
        ("2026-01", 80, -70, 1),
        ("2025-02", 130, -120, 2),
        ("2026-01 to 2026-02", 90, None, 1),
        ("2025-01 to 2025-02", 230, -140, 4),
    ]
    assert compared(given, "2026-01", "2026-02")[1:] == [("2025-01 to 2025-02", 230, -140, 4)]
    given.execute("DELETE FROM meta.months WHERE month = '2026-01-01'")
    assert compared(given, "2026-01", "2026-02", office="M1") == [
        ("2026-01 to 2026-02", None, None, None),
        ("2025-01 to 2025-02", 230, None, 4),
    ]


def test_a_month_that_was_not_read_to_its_end_is_compared_with_nothing() -> None:
    given = warehouse()
    for of_month in ("2026-04", "2026-05"):
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 5)])
    asked_for(given, M1="off")
    assert compared(given, "2026-05", office="M1") == [("2026-05", 5, None, 1), ("2026-04", 5, 0, 1)]
    given.execute(
        "UPDATE meta.months SET fetched_at_utc = '2026-05-20', state = 'open' WHERE month = '2026-05-01'"
    )
    assert compared(given, "2026-05", office="M1") == [("2026-05", 5, None, 1), ("2026-04", 5, None, 1)]


def running(given: DuckDBPyConnection) -> None:
    """January so far, read on the 20th, with a sale of the 15th; last year with one of the 15th and more."""
    asked_for(given, "M1")
    for of_month, at_utc in (("2025-01", NIGHTS[0]), ("2026-01", datetime(2026, 1, 20, 3))):
        is_open = of_month == "2026-01"
        row = earned({"office_customer_id": "M1"}, 500)
        loaded(given, "commission_office", "M1", of_month, [row], at_utc=at_utc, is_open=is_open)
        for day in (15,) if is_open else (15, 25):
            agent = {"id": "U1", "primary_office_customer_id": "M1", "commission_value": 100,
                     "commission_percentage_of_total": 100}  # fmt: skip
            sold(
                given, "M1", of_month, "M1", f"{of_month} {day}",
                agents=[agent], contract_day=f"{of_month}-{day}", at_utc=at_utc,
            )  # fmt: skip
    given.execute("UPDATE meta.months SET state = 'open' WHERE month = '2026-01-01'")


def test_a_month_that_is_not_over_is_compared_with_the_same_days_of_last_year() -> None:
    given = warehouse()
    running(given)
    assert compared(given, "2026-01", office="M1") == [("2026-01", 500, None, 1)]
    for whose in ({"office": "M1"}, {"user": "U1"}, {}):
        found = explained(given, "same_days", "2026-01", **whose)
        assert [(one.period, one.sold_commission, one.difference, one.homes) for one in found] == [
            ("2026-01-01 to 2026-01-19", 100, None, 1),
            ("2025-01-01 to 2025-01-19", 100, 0, 1),
        ]
    [office] = explained(given, "parts", "2026-01")
    assert (office.number, office.year_before, office.difference) == (500, None, None)


def given_a_difference() -> DuckDBPyConnection:
    """M1 and M2 in two months, of which M1 differs in February from the user report and the sales list."""
    given = warehouse()
    for of_month in ("2026-01", "2026-02"):
        offices = [earned({"office_customer_id": name}, 50) for name in ("M1", "M2")]
        loaded(given, "commission_office", "G1", of_month, offices)
        users = [earned({"user_id": name}, 50) for name in ("U1", "U2")]
        loaded(given, "commission_user", "G1", of_month, users)
        for name, user in (("M1", "U1"), ("M2", "U2")):
            missing = 10 if (of_month, name) == ("2026-02", "M1") else 0
            agent = {"id": user, "primary_office_customer_id": name, "commission_value": 50 - missing,
                     "commission_percentage_of_total": 100}  # fmt: skip
            more: dict[str, Any] = {"commission": 50 - missing, "final_price": 1000}
            sold(given, "G1", of_month, name, f"{name}{of_month}", agents=[agent], **more)
    given.execute(
        "INSERT INTO meta.check_results BY NAME SELECT 'reports_reconcile' AS name, 9 AS row_count, "
        '\'[{"month": "2026-02-01", "office_id": "M1"}]\' AS subjects, \'\' AS message'
    )
    explained(given, "doubts", "2026-01")
    return given


@pytest.fixture(scope="module")
def differing() -> DuckDBPyConnection:
    """The same, for tests that change nothing of it."""
    return given_a_difference()


@pytest.mark.parametrize(
    ("asked", "doubts"),
    [
        ({"first": "2026-02", "office": "M1"}, 1),
        ({"first": "2026-01", "last": "2026-02"}, 1),
        ({"first": "2026-01", "office": "M1"}, 0),
        ({"first": "2026-02", "office": "M2"}, 0),
        ({"first": "2026-02", "office": "M1", "measure": "valuation_parts"}, 0),
        ({"first": "2026-02", "office": "M1", "measure": "tip_count", "report": "tips_and_leads"}, 0),
    ],
    ids=["its own", "the year of the chain", "another month", "another office", "valuations", "tips"],
)
def test_one_disagreement_is_one_doubt_where_it_concerns_the_number(
    differing: DuckDBPyConnection, asked: dict[str, str], doubts: int
) -> None:
    found = [one for one in explained_again(differing, "doubts", **asked) if one.is_doubt]
    assert [(one.kind, one.first_month) for one in found] == [("reports differ", month("2026-02"))] * doubts


@pytest.fixture(scope="module")
def checked() -> DuckDBPyConnection:
    """An office's January, its marts built."""
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    explained(given, "doubts", "2026-01")
    return given


@pytest.mark.parametrize(
    ("name", "row", "is_doubt"),
    [
        ("months_keep_their_rows", '"office_id": "M1", "month": "2026-01-01"', True),
        ("months_keep_their_rows", '"office_id": "M1", "month": "2025-01-01"', False),
        ("months_keep_their_rows", '"office_id": "M2", "month": "2026-01-01"', False),
        ("budgets_are_understood", '"office_id": "M1", "month": "2026-01-01"', False),
        ("month_changes_add_up", '"office_id": "M1", "measure": "sold_estate_parts"', False),
    ],
)
def test_what_a_check_found_is_a_doubt_of_the_office_month_and_measure_that_it_names(
    checked: DuckDBPyConnection, name: str, row: str, is_doubt: bool
) -> None:
    checked.execute("DELETE FROM meta.check_results")
    checked.execute(
        "INSERT INTO meta.check_results BY NAME SELECT $1 AS name, 'Why?' AS question, 1 AS row_count, "
        "'[{' || $2 || '}]' AS subjects, '' AS message, $3 AS concerns",
        [name, row, "budgets" if name.startswith("budgets") else "commission"],
    )
    found = explained_again(checked, "doubts", "2026-01", office="M1")
    assert [one.kind for one in found if one.is_doubt] == [name] * is_doubt


@pytest.fixture(scope="module")
def failed() -> DuckDBPyConnection:
    """Two months of an office, of which January's commissions failed since; its marts built."""
    given = warehouse()
    for of_month in ("2026-01", "2026-02"):
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 5)])
        held(given, "tips_and_leads", "M1", [of_month])
    given.execute(
        "INSERT INTO meta.loads BY NAME SELECT 'L' AS load_id, 'commission_office' AS report, "
        "'M1' AS customer, [DATE '2026-01-01'] AS months, TIMESTAMP '2026-07-01' AS fetched_at_utc, "
        "'failed' AS status, 'No answer.' AS error"
    )
    explained(given, "doubts", "2026-01")
    return given


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ({"first": "2026-01"}, ["failed", "the whole month"]),
        ({"first": "2026-02"}, ["the whole month"]),
        ({"first": "2026-01", "measure": "tip_count", "report": "tips_and_leads"}, ["the whole month"]),
    ],
    ids=["its month", "another month", "another report"],
)
def test_what_failed_is_a_doubt_of_its_report_and_month(
    failed: DuckDBPyConnection, asked: dict[str, str], kinds: list[str]
) -> None:
    assert [one.kind for one in explained_again(failed, "doubts", office="M1", **asked)] == kinds


@pytest.mark.parametrize(("report", "doubts"), [("commission_office", 0), ("office_budget_crm", 1)])
def test_budgets_that_cannot_be_read_are_a_doubt_of_budgets(report: str, doubts: int) -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    for table in ("office_budget_commission_history", "office_budget_crm_history"):
        arrived(given, table, goal="BIGINT")
        rows(given, table, "M1", "2026-01", [{"goal": 5}])
    held(given, "office_budget_crm", "M1", ["2026-01"])
    found = explained(given, "doubts", "2026-01", office="M1", report=report)
    assert [one.kind for one in found].count("assumption") == doubts


def test_a_month_that_had_not_begun_is_still_to_come_and_not_so_far() -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-05", [earned({"office_customer_id": "M1"}, 5)])
    for of_month in ("2026-06", "2026-07"):
        held(given, "office_budget_commission", "M1", [of_month], is_open=True)
    asked = {"office": "M1", "report": "office_budget_commission"}
    explained(given, "doubts", "2026-06")
    found = [explained_again(given, "doubts", one, **asked)[-1].kind for one in ("2026-06", "2026-07")]
    assert found == ["so far", "still to come"]


def test_of_the_chain_a_doubt_names_its_office() -> None:
    given = warehouse()
    for customer in ("M1", "M2"):
        loaded(given, "commission_office", customer, "2026-01", [earned({"office_customer_id": customer}, 5)])
    asked_for(given, "M1", "M3", M2="off")
    found = explained(given, "doubts", "2026-01")
    assert [(one.kind, one.whose, one.is_doubt) for one in found] == [
        ("not held", "M3", True),
        ("not refreshed", "M2", True),
        ("the whole month", None, False),
    ]


def parts(given: DuckDBPyConnection, first: str, last: str = "", **asked: str) -> list[tuple[object, ...]]:
    found = explained(given, "parts", first, last, **asked)
    return [(one.id, one.number, one.year_before, one.began_month) for one in found]


def test_the_offices_make_the_chain_and_one_that_began_was_zero_before() -> None:
    given = warehouse()
    for of_month, offices in {
        "2025-01": {"M1": 50, "M2": 90, "M3": 0},
        "2026-01": {"M1": 60, "M2": 20, "M3": 5},
    }.items():
        found = [
            earned({"office_customer_id": name}, amount, int(amount > 0)) for name, amount in offices.items()
        ]
        loaded(given, "commission_office", "G1", of_month, found)
    assert parts(given, "2026-01") == [
        ("M2", 20, 90, None),
        ("M1", 60, 50, None),
        ("M3", 5, 0, month("2026-01")),
    ]


def test_agents_make_the_office_and_what_is_in_none_of_them_is_said() -> None:
    given = warehouse()
    for of_month, users in {"2025-01": {"U0": 5}, "2026-01": {"U0": 3, "U1": 5}}.items():
        found = [earned({"user_id": user}, amount) for user, amount in users.items()]
        loaded(given, "commission_user", "M1", of_month, found)
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 10)])
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc, valid_to_utc) "
        "VALUES ('M1', 'U0', 'Al', '2026-01-01', '2026-02-15'), ('M1', 'U1', 'Bo', '2026-01-01', NULL)"
    )
    assert parts(given, "2026-01", office="M1") == [
        ("U1", 5, 0, month("2026-01")),
        ("U0", 3, 5, None),
        (None, 2, None, None),
    ]
    left = [one.left_after_month for one in explained_again(given, "parts", "2026-01", office="M1")]
    assert left == [None, month("2026-01"), None]
    noted = {one.kind: one.noted_on for one in explained(given, "doubts", "2026-01", user="U0")}
    assert noted["has left"] == date(2026, 2, 15)
    count = explained(given, "parts", "2026-01", office="M1", measure="active_agent_count")
    assert sum(one.number for one in count) == 2


def test_a_sale_counts_by_the_shares_of_whom_is_asked_for_and_names_all_its_agents() -> None:
    given = warehouse()
    agents = [
        {"id": user, "name": user, "primary_office_customer_id": "M1", "commission_value": value,
         "commission_percentage_of_total": value}
        for user, value in (("U1", 15), ("U2", 85))
    ]  # fmt: skip
    sold(given, "G1", "2026-01", "M1", "E1", agents=agents)
    explained(given, "sales", "2026-01")
    asked = ({"user": "U1"}, {"office": "M1"})
    found = [explained_again(given, "sales", "2026-01", **whose) for whose in asked]
    assert [(one.commission, one.homes, one.agents) for [one] in found] == [
        (15, Decimal("0.15"), "U2 85 %, U1 15 %"),
        (100, 1, "U2 85 %, U1 15 %"),
    ]


def test_sales_of_the_year_before_and_what_is_in_no_listed_sale_are_beside_those_of_the_number() -> None:
    given = warehouse()
    agent = {"id": "U1", "primary_office_customer_id": "M1", "commission_value": 70,
             "commission_percentage_of_total": 100}  # fmt: skip
    for of_month, amount in (("2025-01", 70), ("2026-01", 100)):
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, amount)])
        sold(given, "M1", of_month, "M1", of_month, agents=[agent])
    found = explained(given, "sales", "2026-01", office="M1")
    assert [(one.period, one.home, one.commission) for one in found] == [
        ("2026-01", "2026-01", 70),
        ("2026-01", "in no listed sale", 30),
        ("2025-01", "2025-01", 70),
    ]


def test_reports_that_agree_are_named_and_months_of_a_doubt_are_not_spanned_over_others() -> None:
    given = given_a_difference()
    found = explained(given, "doubts", "2026-01", office="M1")
    assert [(one.kind, one.message) for one in found] == [
        ("reports agree", "sales list, shares of agents, user report"),
        ("the whole month", None),
    ]
    given.execute("UPDATE meta.months SET month = '2026-04-01' WHERE month = '2026-02-01'")
    given.execute("UPDATE bi.commission_office SET _month = '2026-04-01' WHERE _month = '2026-02-01'")
    whole = [one for one in explained(given, "doubts", "2026-01", "2026-04", office="M1") if not one.is_doubt]
    assert [one.first_month for one in whole if one.kind == "the whole month"] == [
        month("2026-01"), month("2026-04"),
    ]  # fmt: skip


def test_a_month_that_one_office_has_not_been_read_to_its_end_of_names_the_office() -> None:
    given = warehouse()
    for office, read_at in (("M1", datetime(2026, 2, 1, 5)), ("M2", datetime(2026, 1, 30, 5))):
        row = earned({"office_customer_id": office}, 5)
        loaded(given, "commission_office", office, "2026-01", [row], at_utc=read_at, is_open=office == "M2")
    doubts = explained(given, "doubts", "2026-01")
    found = [(one.kind, one.is_doubt, one.whose) for one in doubts if one.kind != "late"]
    assert found == [("not read to its end", True, "M2"), ("the whole month", False, None)]


def test_a_month_that_lacks_a_row_is_not_said_to_be_whole() -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    assert "the whole month" in {one.kind for one in explained(given, "doubts", "2026-01", office="M1")}
    row = "('commission_office', 'M1', DATE '2026-01-01', 'commission_office', 'x')"
    given.execute(
        f"INSERT INTO meta.quarantine_rows (report, customer, month, table_name, reason) VALUES {row}"
    )
    kinds = {one.kind for one in explained(given, "doubts", "2026-01", office="M1")}
    assert "quarantine" in kinds
    assert "the whole month" not in kinds
