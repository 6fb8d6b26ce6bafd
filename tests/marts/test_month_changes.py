"""Months that were over and changed, and why: sales, agents, and the unexplained rest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.marts.given import Given, build, earned, held, loaded, month, sales_read, sold, warehouse

FIRST, CHANGED = datetime(2026, 2, 2, 3), datetime(2026, 2, 16, 3)
WEEK, DAY, MINUTE = timedelta(days=7), timedelta(days=1), timedelta(minutes=1)
NIGHTS = (FIRST, FIRST + DAY, CHANGED - WEEK, CHANGED, CHANGED + DAY, CHANGED + 2 * DAY)

Reads = Mapping[datetime, Mapping[str, Any]]
Reasons = list[tuple[object, ...]]
"""Kind, sale or agent, amount and awaited reports, of one change after the other."""


def read(
    given: Given,
    at_utc: datetime,
    of_month: str = "2026-01",
    *,
    office: float | None = None,
    sales: Mapping[str, float] | None = None,
    valuations: int | None = None,
    sold_by_agent: float = 100,
) -> None:
    """A night that read a month in these reports of M1; a valuation brings 5."""
    if office is not None:
        row = earned({"office_customer_id": "M1"}, office)
        loaded(given, "commission_office", "M1", of_month, [row], at_utc=at_utc)
    if sales is not None:
        of_its_own = {f"{of_month} {estate}": amount for estate, amount in sales.items()}
        sales_read(given, of_month, of_its_own, at_utc)
    if valuations is not None:
        more = {"valuation_parts": valuations, "sold_average_commission": sold_by_agent}
        row = earned({"user_id": "U1"}, sold_by_agent + 5 * valuations, **more)
        loaded(given, "commission_user", "M1", of_month, [row], at_utc=at_utc)


OVER: Mapping[str, Any] = {"office": 110, "sales": {"E1": 60, "E2": 40}, "valuations": 2}
"""A month of M1 in all reports, which the first night of a case has if it names no other."""


def january(given: Given) -> None:
    read(given, FIRST, **OVER)
    build(given, "month_change_reasons")


@pytest.fixture
def given() -> Given:
    return warehouse(january)


def reasons(given: Given, of_month: str = "2026-01", measure: str = "commission") -> Reasons:
    return given.execute(
        "SELECT kind, coalesce(split_part(estate_id, ' ', 2), user_id), amount::DOUBLE, awaited_reports "
        "FROM marts.month_change_reasons WHERE (month, measure) = ($1, $2) ORDER BY noted_at_utc, amount",
        [month(of_month), measure],
    ).fetchall()


CASES: Mapping[str, tuple[Reads, Mapping[datetime, Reasons]]] = {
    "a change is open until the reports that may tell are read, and then of the sale that was cancelled": (
        {
            CHANGED - WEEK: {"sales": {"E1": 60, "E2": 40}, "valuations": 2},
            CHANGED: {"office": 50},
            CHANGED + DAY: {"valuations": 2, "sold_by_agent": 40},
            CHANGED + 2 * DAY: {"sales": {"E2": 40}},
        },
        {
            CHANGED: [("open", None, -60, ["sales", "commission_user"])],
            CHANGED + DAY: [("open", None, -60, ["sales"])],
            CHANGED + 2 * DAY: [("sale gone", "E1", -60, None)],
        },
    ),
    "nobody is the reason only where all reports were read no earlier": (
        {CHANGED: {"office": 90, "sales": {"E1": 60, "E2": 40}, "valuations": 2}},
        {CHANGED: [("nobody", None, -20, None)]},
    ),
    "what the commission of agents' sales shows and no sale does is open": (
        {CHANGED: {"office": 90, "sales": {"E1": 60, "E2": 40}, "valuations": 2, "sold_by_agent": 80}},
        {CHANGED: [("open", None, -20, None)]},
    ),
    "a report that was never read is awaited": (
        {FIRST: {"office": 100, "sales": {"E1": 100}}, CHANGED: {"office": 90, "sales": {"E1": 100}}},
        {CHANGED: [("open", None, -10, ["commission_user"])]},
    ),
    "a sale that was noted a week before explains a change": (
        {CHANGED - WEEK: {"sales": {"E2": 40}}, CHANGED: {"office": 50}},
        {CHANGED: [("sale gone", "E1", -60, None)]},
    ),
    "sales that are new, gone and changed add up with what is left": (
        {CHANGED: {"office": 100, "sales": {"E2": 45, "E3": 50}, "valuations": 2, "sold_by_agent": 95}},
        {
            CHANGED: [
                ("sale gone", "E1", -60, None),
                ("nobody", None, -5, None),
                ("sale changed", "E2", 5, None),
                ("sale new", "E3", 50, None),
            ]
        },
    ),
    "an agent's valuations explain what sales do not": (
        {CHANGED: {"office": 45, "sales": {"E2": 40}, "valuations": 1, "sold_by_agent": 40}},
        {CHANGED: [("sale gone", "E1", -60, None), ("valuations", "U1", -5, None)]},
    ),
    "a sale that the office report did not show is no reason for another amount": (
        {CHANGED - WEEK: {"office": 110, "sales": {"E2": 40}}, CHANGED: {"office": 90}},
        {CHANGED: [("open", None, -20, ["sales", "commission_user"])]},
    ),
    "a sale noted after the change is its reason only with its amount": (
        {
            CHANGED: {"office": 90},
            CHANGED + DAY: {"sales": {"E1": 60, "E2": 40, "E3": 100}, "valuations": 2, "sold_by_agent": 200},
            CHANGED + 2 * DAY: {"office": 190},
        },
        {
            CHANGED + DAY: [("open", None, -20, None)],
            CHANGED + 2 * DAY: [("open", None, -20, None), ("sale new", "E3", 100, None)],
        },
    ),
    "a sale is the reason of one change": (
        {
            CHANGED: {"office": 50, "sales": {"E2": 40}, "valuations": 2, "sold_by_agent": 40},
            CHANGED + DAY: {"office": -10, "sales": {"E2": 40}, "valuations": 2, "sold_by_agent": 40},
        },
        {CHANGED + DAY: [("sale gone", "E1", -60, None), ("nobody", None, -60, None)]},
    ),
    "a sale that may be of either of two changes and fits none is stated of none": (
        {
            CHANGED: {"office": 80},
            CHANGED + DAY: {"office": 65},
            CHANGED + 2 * DAY: {"sales": {"E2": 40}, "valuations": 2, "sold_by_agent": 40},
        },
        {CHANGED + 2 * DAY: [("open", None, -30, None), ("open", None, -15, None)]},
    ),
    "of two sales that would each do alone none is stated": (
        {
            FIRST + DAY: {"office": 170, "sales": {"E1": 60, "E2": 40, "E3": 60}},
            CHANGED: {"office": 110},
            CHANGED + DAY: {"sales": {"E2": 40}},
        },
        {CHANGED + DAY: [("sale new", "E3", 60, None), ("open", None, -60, ["commission_user"])]},
    ),
}  # fmt: skip
MONTHS = {case: f"2025-{number:02}" for number, case in enumerate(CASES, start=1)}


@pytest.fixture(scope="module")
def after() -> Mapping[tuple[str, datetime], Reasons]:
    """The reasons after each night of the month of each case; a night builds the months of all together."""
    given = warehouse()
    found: dict[tuple[str, datetime], Reasons] = {}
    for night in NIGHTS:
        for case, (reads, _) in CASES.items():
            read(given, night, MONTHS[case], **{FIRST: OVER, **reads}.get(night, {}))
        build(given, "month_change_reasons")
        found |= {(case, night): reasons(given, of_month) for case, of_month in MONTHS.items()}
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_change_has_its_reasons(after: Mapping[tuple[str, datetime], Reasons], case: str) -> None:
    _, expected = CASES[case]
    assert {night: after[case, night] for night in expected} == expected


def test_reports_that_one_run_read_are_equally_new_whichever_it_read_first() -> None:
    given = warehouse()
    for at_utc, amount in ((FIRST, 100), (CHANGED, 90)):
        sales_read(given, "2026-01", {"E1": 100}, at_utc)
        agent = earned({"user_id": "U1"}, 100)
        loaded(given, "commission_user", "M1", "2026-01", [agent], at_utc=at_utc + MINUTE)
        row = earned({"office_customer_id": "M1"}, amount)
        loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=at_utc + 2 * MINUTE)
        held(given, "budget_commission", "M1", [], at_utc=at_utc + 3 * MINUTE)
        given.execute("UPDATE meta.loads SET run_id = fetched_at_utc::DATE")
        build(given, "month_change_reasons")
    assert reasons(given) == [("nobody", None, -10, None)]


def test_a_sale_counts_at_the_offices_of_its_agents_by_their_shares() -> None:
    given = warehouse()
    shared = [
        {"id": user, "primary_office_customer_id": office, "commission_percentage_of_total": percent}
        for user, office, percent in (("U1", "M1", 70), ("U2", "M2", 30))
    ]
    for at_utc, amounts in ((FIRST, (65, 40)), (CHANGED, (135, 70))):
        for office, amount in zip(("M1", "M2"), amounts, strict=True):
            row = earned({"office_customer_id": office}, amount)
            loaded(given, "commission_office", office, "2026-01", [row], at_utc=at_utc)
        sales_read(given, "2026-01", {"E1": 65}, at_utc)
        if at_utc == CHANGED:
            sold(given, "G1", "2026-01", "M1", "E2", agents=shared, at_utc=at_utc)
        build(given, "month_change_reasons")
    found = given.execute(
        "SELECT office_id, kind, estate_id, amount::INT, share::DOUBLE "
        "FROM marts.month_change_reasons ORDER BY ALL"
    )
    assert found.fetchall() == [("M1", "sale new", "E2", 70, 0.7), ("M2", "sale new", "E2", 30, 0.3)]


def two_offices(
    given: Given, at_utc: datetime, amounts: tuple[float, float], *shares: float, sale: float
) -> None:
    """A night that read January of M1 and M2, and a sale of M1 with these shares of both, if there is one."""
    for office, amount in zip(("M1", "M2"), amounts, strict=True):
        row = earned({"office_customer_id": office}, amount)
        loaded(given, "commission_office", office, "2026-01", [row], at_utc=at_utc)
    sales_read(given, "2026-01", {"E1": 65}, at_utc)
    if shares:
        agents = [
            {"id": office, "primary_office_customer_id": office, "commission_percentage_of_total": share}
            for office, share in zip(("M1", "M2"), shares, strict=True)
        ]
        sold(given, "G1", "2026-01", "M1", "E2", agents=agents, at_utc=at_utc, commission=sale)
    build(given, "month_change_reasons")


def test_a_sale_gone_counts_whole_where_it_was_listed_and_the_rest_is_open() -> None:
    given = warehouse()
    two_offices(given, FIRST, (135, 70), 70, 30, sale=100)
    two_offices(given, CHANGED, (65, 40), sale=100)
    found = given.execute(
        "SELECT office_id, kind, estate_id, amount::DOUBLE FROM marts.month_change_reasons "
        "WHERE measure = 'commission' ORDER BY ALL"
    )
    assert found.fetchall() == [
        ("M1", "open", None, 30),
        ("M1", "sale gone", "E2", -100),
        ("M2", "open", None, -30),
    ]


def listed(
    given: Given, at_utc: datetime, office: str, agents_at: tuple[str, str], *customers: str, **amounts: float
) -> None:
    """A night in which an office listed E2 of 100, which agents of these two offices share 40 to 60."""
    agents = [
        {"id": user, "primary_office_customer_id": one, "commission_percentage_of_total": share}
        for user, one, share in zip(("U1", "U2"), agents_at, (40, 60), strict=True)
    ]
    rows = [earned({"office_customer_id": one}, amount, amount / 100) for one, amount in amounts.items()]
    loaded(given, "commission_office", "G1", "2026-01", rows, at_utc=at_utc)
    user = earned({"user_id": "U1"}, amounts["M1"], amounts["M1"] / 100)
    loaded(given, "commission_user", "G1", "2026-01", [user], at_utc=at_utc)
    for customer in ("G1", *customers):
        given.execute("DELETE FROM bi.sales_estates WHERE _customer = $1", [customer])
        sold(given, customer, "2026-01", office, "E2", agents=agents, at_utc=at_utc, final_price=1000)
    build(given, "month_change_reasons")


def of_parts(given: Given) -> list[tuple[object, ...]]:
    return given.execute(
        "SELECT office_id, kind, estate_id, amount::DOUBLE, share::DOUBLE FROM marts.month_change_reasons "
        "WHERE measure = 'sold_estate_parts' ORDER BY ALL"
    ).fetchall()


def test_a_share_that_an_office_may_have_had_is_open_and_not_nobody_s() -> None:
    given = warehouse()
    listed(given, FIRST, "M2", ("M1", "M2"), M1=40)
    user = earned({"user_id": "U1"}, 0, 0)
    loaded(given, "commission_user", "G1", "2026-01", [user], at_utc=FIRST)
    build(given, "month_change_reasons")
    listed(given, CHANGED, "M1", ("M1", "M1"), M1=100)
    assert of_parts(given) == [("M1", "open", None, -0.4, None), ("M1", "sale new", "E2", 1, 1)]


def test_an_amount_that_one_office_lost_and_another_gained_is_not_nobody_s() -> None:
    given = warehouse()
    for at_utc, amounts in ((FIRST, (100, 0)), (CHANGED, (0, 100))):
        offices = [
            earned({"office_customer_id": office}, amount)
            for office, amount in zip(("M1", "M2"), amounts, strict=True)
        ]
        loaded(given, "commission_office", "G1", "2026-01", offices, at_utc=at_utc)
        loaded(given, "commission_user", "G1", "2026-01", [earned({"user_id": "U1"}, 100)], at_utc=at_utc)
        held(given, "sales", "G1", ["2026-01"], at_utc=at_utc)
        build(given, "month_change_reasons")
    assert reasons(given) == [("open", None, amount, None) for amount in (-100, 100)]


def test_a_month_that_changed_has_a_row_for_each_measure_that_did(given: Given) -> None:
    row = earned({"office_customer_id": "M1"}, 50, parts=0.5, price=1000)
    loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=CHANGED)
    build(given, "month_changes")
    found = given.execute(
        "SELECT measure, amount_before::DOUBLE, amount_after::DOUBLE, difference::DOUBLE, noted_on, "
        "over_since_utc, known_since_utc FROM marts.month_changes ORDER BY measure"
    )
    when = (CHANGED.date(), FIRST, FIRST)
    assert found.fetchall() == [
        ("commission", 110, 50, -60, *when),
        ("sold_estate_parts", 1, 0.5, -0.5, *when),
    ]


def test_reasons_add_up_to_the_difference_of_every_change(given: Given) -> None:
    read(given, CHANGED, office=70.07, sales={"E1": 59.99, "E2": 20.02}, valuations=1)
    build(given, "month_change_reasons")
    shared = {"id": "U1", "primary_office_customer_id": "M1", "commission_percentage_of_total": 33.33}
    sold(given, "G1", "2026-01", "M1", "E3", agents=[shared], at_utc=CHANGED + DAY, commission=9.99)
    read(given, CHANGED + DAY, office=77.7777, valuations=3)
    build(given, "month_change_reasons")
    keys = "office_id, month, measure, noted_at_utc"
    sums = f"SELECT {keys}, sum(amount) FROM marts.month_change_reasons GROUP BY ALL ORDER BY ALL"
    changes = f"SELECT {keys}, difference FROM marts.month_changes ORDER BY ALL"
    assert given.execute(sums).fetchall() == given.execute(changes).fetchall() != []
