"""The queries of sql/explain about a number."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.marts.given import (
    Given,
    asked_for,
    build_for,
    earned,
    explained,
    explained_again,
    explaining,
    held,
    lacking,
    loaded,
    month,
    sold,
    warehouse,
)
from warehouse.marts.queries import SQL
from warehouse.store.meta_schema import write_configured

NIGHTS = [datetime(2026, number, 2, 3) for number in (1, 2, 3, 4)]


def test_each_query_returns_nothing_if_nothing_is_loaded() -> None:
    given, questions = warehouse(), [path.stem for path in (SQL / "explain").glob("*.sql")]
    build_for(given, *map(explaining, questions))
    found = [explained_again(given, question, "2026-01", office="M1") for question in questions]
    assert found == [[]] * len(questions) != []


def read(given: Given, at_utc: datetime, sales: Mapping[str, float], *, is_open: bool = False) -> None:
    """January in a night: sales of M1, whose commission M1 and M2 share by halves."""
    whole = sum(sales.values())
    offices = [earned({"office_customer_id": name}, whole / 2) for name in ("M1", "M2")]
    loaded(given, "commission_office", "G1", "2026-01", offices, at_utc=at_utc, is_open=is_open)
    users = [earned({"user_id": name}, whole / 2) for name in ("U1", "U2")]
    loaded(given, "commission_user", "G1", "2026-01", users, at_utc=at_utc, is_open=is_open)
    given.execute("DELETE FROM bi.sales_estates; DELETE FROM bi.sales_agents")
    for estate, amount in sales.items():
        share = {"commission_value": amount / 2, "commission_percentage_of_total": 50}
        agents = [
            {"id": user, "primary_office_customer_id": office, **share}
            for user, office in (("U1", "M1"), ("U2", "M2"))
        ]
        sold(given, "G1", "2026-01", "M1", estate, agents=agents, at_utc=at_utc, commission=amount)
    build_for(given, explaining("changes"), explaining("reasons"))


@pytest.fixture(scope="module")
def restated() -> Given:
    """A January whose first change was found when it was over, and a later one."""
    given = warehouse()
    read(given, NIGHTS[0], {"E1": 100, "E2": 100}, is_open=True)
    read(given, NIGHTS[1], {"E1": 90, "E2": 100})
    read(given, NIGHTS[2], {"E1": 60, "E2": 100})
    return given  # its marts are built


@pytest.mark.parametrize("whose", [{"office": "M1"}, {"office": "M2"}, {"user": "U1"}])
def test_changes_and_their_reasons_are_since_the_month_ended(restated: Given, whose: dict[str, str]) -> None:
    [change] = explained_again(restated, "changes", "2026-01", **whose)
    [reason] = explained_again(restated, "reasons", "2026-01", **whose)
    assert (change["noted_on"], change["difference"]) == (NIGHTS[2].date(), -15)
    assert (reason["noted_on"], reason["kind"], reason["id"], reason["amount"]) == (
        NIGHTS[2].date(), "sale changed", "E1", -15,
    )  # fmt: skip


def test_days_are_in_the_chains_time_zone(given: Given) -> None:
    given.execute("INSERT INTO meta.clock VALUES ('Europe/Stockholm')")
    for day, amount in ((2, 100), (3, 60)):
        read(given, datetime(2026, 2, day, 23, 30), {"E1": amount})
    assert {one["noted_on"] for one in explained(given, "changes", "2026-01", office="M1")} == {
        date(2026, 2, 4)
    }
    [source] = explained(given, "sources", "2026-01", office="M1")
    assert source["read_on"] == date(2026, 2, 4)


def compared(given: Given, first: str, last: str = "", **asked: str) -> list[tuple[object, ...]]:
    """The months that the number is compared with: number, difference from the year before, and homes."""
    found = explained(given, "compared", first, last, **asked)
    return [(f"{row['month']:%Y-%m}", row["number"], row["difference"], row["homes"]) for row in found]


def test_a_number_and_its_homes_are_compared_with_the_previous_month_and_last_year(given: Given) -> None:
    for of_month, row in {
        "2025-01": earned({"office_customer_id": "M1"}, 100, 2),
        "2025-02": earned({"office_customer_id": "M1"}, 130, 2),
        "2026-01": earned({"office_customer_id": "M1"}, 80, 1),
        "2026-02": earned({"office_customer_id": "M1"}, 10, 0),
    }.items():
        loaded(given, "commission_office", "M1", of_month, [row])
    months = [("2026-02", 10, -120, 0), ("2026-01", 80, -20, 1)]
    assert compared(given, "2026-02", office="M1") == months
    assert compared(given, "2026-01", "2026-02") == months
    given.execute("DELETE FROM meta.months WHERE month = '2025-01-01'")
    assert compared(given, "2026-02", office="M1") == [months[0], ("2026-01", 80, None, 1)]


def test_a_commission_declared_with_vat_is_given_without_it_too(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 100)])
    given.execute("INSERT INTO meta.tax_basis VALUES ('included', 0.25)")
    [commission] = explained(given, "compared", "2026-01", office="M1", measure="commission")
    [price] = explained_again(given, "compared", "2026-01", office="M1", measure="average_price")
    assert (commission["number_without_vat"], price["number_without_vat"]) == (80, None)


def test_a_month_that_is_not_over_is_not_compared_with_a_complete_month(given: Given) -> None:
    asked_for(given, "M1")
    for of_month, at_utc in (("2025-01", NIGHTS[0]), ("2026-01", datetime(2026, 1, 20, 3))):
        row, is_open = earned({"office_customer_id": "M1"}, 500), of_month == "2026-01"
        loaded(given, "commission_office", "M1", of_month, [row], at_utc=at_utc, is_open=is_open)
    assert compared(given, "2026-01", office="M1") == [("2026-01", 500, None, 1)]
    [office] = explained(given, "parts", "2026-01")
    assert (office["number"], office["year_before"], office["difference"]) == (500, None, None)


@pytest.fixture(scope="module")
def checked() -> Given:
    """An office's January, its marts built."""
    given = warehouse()
    write_configured(given, "tax_basis", [{"commission_vat": "excluded", "vat_rate": None}])
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
        ("office_months_are_their_rows", '"office_id": "M1", "measure": "sold_estate_parts"', False),
    ],
)
def test_a_finding_of_a_check_is_a_doubt_about_the_office_month_and_measure_that_it_names(
    checked: Given, name: str, row: str, is_doubt: bool
) -> None:
    checked.execute("DELETE FROM meta.check_results")
    checked.execute(
        "INSERT INTO meta.check_results BY NAME SELECT $1 AS name, 'Why?' AS question, 1 AS row_count, "
        "'warning' AS severity, '[{' || $2 || '}]' AS subjects, '' AS message, $3 AS concerns",
        [name, row, "budgets" if name.startswith("budgets") else "commission"],
    )
    found = explained_again(checked, "doubts", "2026-01", office="M1")
    assert [f"`brokerbi query {name}`" in str(one["remedy"]) for one in found] == [True] * is_doubt


@pytest.fixture(scope="module")
def failed() -> Given:
    """Two months of an office, with its marts; January's commissions have failed since."""
    given = warehouse()
    for of_month in ("2026-01", "2026-02"):
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 5)])
        held(given, "tips_and_leads", "M1", [of_month])
    given.execute(
        "INSERT INTO meta.loads BY NAME SELECT 'L' AS load_id, 'commission_office' AS report, "
        "'M1' AS customer, [DATE '2026-01-01'] AS months, TIMESTAMP '2026-07-01' AS fetched_at_utc, "
        "'failed' AS status, 'No answer.' AS error"
    )
    write_configured(given, "tax_basis", [{"commission_vat": "excluded", "vat_rate": None}])
    explained(given, "doubts", "2026-01")
    return given


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ({"first": "2026-01"}, ["failed"]),
        ({"first": "2026-02"}, []),
        ({"first": "2026-01", "measure": "tip_count", "report": "tips_and_leads"}, []),
    ],
)
def test_a_failure_is_a_doubt(failed: Given, asked: dict[str, str], kinds: list[str]) -> None:
    assert [one["kind"] for one in explained_again(failed, "doubts", office="M1", **asked)] == kinds


@pytest.mark.parametrize(("declared", "kinds"), [("unknown", ["tax basis"]), ("included", [])])
def test_undeclared_vat_is_a_doubt_about_commissions_for_analysts_and_explanations(
    given: Given, declared: str, kinds: list[str]
) -> None:
    write_configured(given, "tax_basis", [{"commission_vat": declared, "vat_rate": Decimal("0.25")}])
    loaded(given, "commission_office", "M1", "2026-01", [earned({"customer_id": "M1"}, 5)])
    loaded(given, "commission_user", "M1", "2026-01", [earned({"user_id": "U1"}, 5)])
    commission = explained(given, "doubts", "2026-01", office="M1", measure="sold_commission")
    parts = explained_again(given, "doubts", "2026-01", office="M1", measure="sold_estate_parts")
    assert [[doubt["kind"] for doubt in doubts] for doubts in (commission, parts)] == [kinds, []]
    query = "SELECT subject FROM marts.doubts WHERE kind = 'tax basis' ORDER BY ALL"
    assert given.execute(query).fetchall() == [("agents",), ("commission",)] * (declared == "unknown")


def test_a_column_that_budgets_lack_is_a_doubt_about_budgets(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    lacking(given, "budget_commission", "M1", "budget_commission.commission_budget")
    commission = explained(given, "doubts", "2026-01", office="M1", report="commission_office")
    budgets = explained_again(given, "doubts", "2026-01", office="M1", report="budget_commission")
    found = [[doubt["kind"] for doubt in doubts].count("column missing") for doubts in (commission, budgets)]
    assert found == [0, 1]


def test_offices_whose_answers_lack_something_are_named_for_the_chain(given: Given) -> None:
    for customer in ("M1", "M2"):
        loaded(given, "commission_office", customer, "2026-01", [earned({"office_customer_id": customer}, 5)])
    asked_for(given, "M1", "M3", M2="off")
    found = explained(given, "sources", "2026-01")
    assert [(one["office"], one["state"], one["is_not_refreshed"]) for one in found] == [
        ("M2", "customer switched off", True)
    ]
    [chain] = explained(given, "compared", "2026-01")
    assert "M3" in chain["missing_offices"]


def parts(given: Given, first: str, last: str = "", **asked: str) -> list[tuple[object, ...]]:
    found = explained(given, "parts", first, last, **asked)
    return [(one["id"], one["number"], one["year_before"], one["began_month"]) for one in found]


def test_the_offices_make_the_chain_and_one_that_began_was_zero_before(given: Given) -> None:
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


def test_agents_make_the_office(given: Given) -> None:
    for of_month, users in {"2025-01": {"U0": 5}, "2026-01": {"U0": 3, "U1": 5}}.items():
        found = [earned({"user_id": user}, amount) for user, amount in users.items()]
        loaded(given, "commission_user", "M1", of_month, found)
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 10)])
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc, valid_to_utc) "
        "VALUES ('M1', 'U0', 'Al', '2026-01-01', '2026-02-15'), ('M1', 'U1', 'Bo', '2026-01-01', NULL)"
    )
    assert parts(given, "2026-01", office="M1") == [("U1", 5, 0, month("2026-01")), ("U0", 3, 5, None)]
    left = [one["left_after_month"] for one in explained_again(given, "parts", "2026-01", office="M1")]
    assert left == [None, month("2026-01")]
    count = explained(given, "parts", "2026-01", office="M1", measure="active_agent_count")
    assert sum(one["number"] for one in count) == 2


def test_a_sale_counts_by_the_shares_of_the_explained_office_or_user(given: Given) -> None:
    agents = [
        {"id": user, "name": user, "primary_office_customer_id": office, "commission_value": value,
         "commission_percentage_of_total": value}
        for user, office, value in (("U1", "M1", 15), ("U2", "M1", 80), ("U3", "M2", 5))
    ]  # fmt: skip
    for of_month in ("2025-01", "2026-01"):
        sold(given, "G1", of_month, "M1", f"E {of_month}", agents=agents)
    explained(given, "sales", "2026-01")
    asked: tuple[dict[str, str], ...] = ({"user": "U1"}, {"office": "M1"}, {"office": "M2"}, {})
    found = [
        [
            (one["agent"], one["commission"], one["commission_share"], one["id"])
            for one in explained_again(given, "sales", "2026-01", **whose)
        ]
        for whose in asked
    ]
    low, high, other = (
        (user, value, Decimal(value) / 100, "E 2026-01")
        for user, value in (("U1", 15), ("U2", 80), ("U3", 5))
    )
    assert found == [[low], [high, low], [other], []]
