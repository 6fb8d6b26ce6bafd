"""Marts of budgets, their versions and their attainment against a few written rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import product

import pytest

from tests.marts.given import (
    Given,
    Row,
    build,
    build_for,
    built,
    earned,
    held,
    in_quarantine,
    loaded,
    month,
    rows,
    sales_read,
    sold,
    warehouse,
)
from warehouse.marts.queries import SQL

SPRING, SUMMER, AUTUMN = datetime(2026, 3, 1), datetime(2026, 6, 1), datetime(2026, 9, 1)
VERSION: Row = {"_fetched_at_utc": SPRING, "valid_from_utc": SPRING}
BUDGET_CHANGES = (SQL / "page" / "budget_changes.sql").read_text("utf-8")


def put(given: Given, table: str, of_month: str, **values: object) -> None:
    row = {"_customer": "G1", "_month": month(of_month), "_load_id": "B1", **VERSION, **values}
    places = ", ".join(f"${place}" for place in range(1, len(row) + 1))
    given.execute(f"INSERT INTO bi.{table} ({', '.join(row)}) VALUES ({places})", [*row.values()])


def budgeted(
    given: Given, of_month: str, user: str, *commissions: tuple[int | None, datetime, object]
) -> None:
    """The commission budgeted for a user of M1 in a month, with its versions: amount, from and to."""
    held(given, "budget_commission", "G1", [of_month])
    for amount, since, until in commissions:
        put(
            given, "budget_commission_history", of_month, office_id="M1", user_id=user,
            commission_budget=amount, valid_from_utc=since, valid_to_utc=until,
        )  # fmt: skip


def test_a_budget_changed_twice_is_right_at_every_moment(given: Given) -> None:
    budgeted(given, "2026-12", "U1", (100, SPRING, SUMMER), (200, SUMMER, AUTUMN), (150, AUTUMN, None))
    built(given, "FROM marts.budget_as_of(now())")
    query = "SELECT amount::INT FROM marts.budget_as_of($1)"
    moments = (datetime(2026, 4, 1), SUMMER, datetime(2027, 1, 1))
    found = [given.execute(query, [moment]).fetchall() for moment in moments]
    assert found == [[(100,)], [(200,)], [(150,)]]


def test_an_unchanged_amount_is_one_version_whatever_else_changes(given: Given) -> None:
    budgeted(given, "2026-12", "U1", (100, SPRING, SUMMER), (100, SUMMER, AUTUMN), (150, AUTUMN, None))
    found = built(given, "SELECT amount::INT, valid_from_utc, valid_to_utc FROM marts.budgets")
    assert found == [(100, SPRING, AUTUMN), (150, AUTUMN, None)]


def test_counts_of_a_monthly_office_budget_are_measures_of_their_own(given: Given) -> None:
    held(given, "office_budget_estate", "G1", ["2026-12"])
    put(given, "budget_commission_history", "2026-12", office_id="M1")
    goals = {"sold_budget": 2, "registered_budget": 3}
    put(given, "office_budget_estate_history", "2026-12", office_id="M1", user_id="U1", **goals)
    found = built(given, "SELECT measure, amount::INT, report FROM marts.budgets ORDER BY measure")
    assert found == [
        ("registered estates", 3, "office_budget_estate"),
        ("sold estates", 2, "office_budget_estate"),
    ]


def test_registered_estates_of_an_office_are_the_loaded_ones(given: Given) -> None:
    shown = "SELECT month, budget::INT, actual::INT FROM marts.office_budget_vs_actual"
    query = f"{shown} WHERE measure = 'registered estates' ORDER BY month"
    january, february = month("2026-01"), month("2026-02")
    for of_month in ("2026-01", "2026-02"):
        load_id = held(given, "office_budget_estate", "M1", [of_month])
        put(given, "office_budget_estate_history", of_month, _customer="M1", _load_id=load_id, office_id="M1",
            registered_budget=3)  # fmt: skip
    sold(given, "M1", "2026-01", "M1", "E1")
    assert built(given, query) == [(january, 3, None), (february, 3, None)]
    load_id = held(given, "estates_by_creation", "M1", ["2026-01"])
    entered = [{"id": f"E{number}", "office_customer_id": "M1"} for number in (1, 2)]
    rows(given, "estates_by_creation_estates", "M1", "2026-01", entered, load_id=load_id)
    assert built(given, query) == [(january, 3, 2), (february, 3, None)]
    in_quarantine(given, "estates_by_creation", "M1")
    assert built(given, query) == [(january, 3, None), (february, 3, None)]


def test_an_office_is_compared_with_the_sum_of_its_users_budgets(given: Given) -> None:
    budgeted(given, "2026-01", "U1", (100, SPRING, None))
    budgeted(given, "2026-01", "U2", (300, SPRING, None))
    loaded(given, "commission_office", "G1", "2026-01", [earned({"office_customer_id": "M1"}, 500)])
    shown = "budget::INT, actual::INT, attainment_share"
    found = built(given, f"SELECT {shown} FROM marts.office_budget_vs_actual")
    assert found == [(400, 500, Decimal("1.25"))]


def office_earned(given: Given, actuals: Mapping[int, float]) -> None:
    """What M1 earned in the months of 2026 with these numbers."""
    for number, actual in actuals.items():
        row = earned({"office_customer_id": "M1"}, actual)
        loaded(given, "commission_office", "G1", f"2026-{number:02d}", [row])


def user_earned(given: Given, actuals: Mapping[int, float]) -> None:
    """What U1 of M1 earned in the months of 2026 with these numbers; 0 for months without a trace."""
    office_earned(given, actuals)
    for number, actual in actuals.items():
        found = [earned({"user_id": "U1"}, actual)] if actual else []
        loaded(given, "commission_user", "G1", f"2026-{number:02d}", found)


def test_the_year_is_forecast_from_what_was_reached_of_the_budget_so_far(given: Given) -> None:
    for number in range(1, 13):
        budgeted(given, f"2026-{number:02d}", "U1", (100, SPRING, None))
    office_earned(given, {1: 150, 2: 50, 3: 40})
    found = built(
        given,
        "SELECT month(month), year_to_date_actual::INT, year_forecast::INT, "
        "year_forecast_attainment_share::FLOAT "
        "FROM marts.office_budget_vs_actual WHERE month <= '2026-04-01'",
    )
    assert found == [
        (1, 150, 1800, 1.5),
        (2, 200, 1200, 1),
        (3, 240, 960, pytest.approx(0.8)),
        (4, None, None, None),
    ]


@pytest.mark.parametrize(
    ("earned_in_april", "read_at", "days_left", "forecast"),
    [(10, datetime(2026, 4, 16), 15, 1160), (90, datetime(2026, 4, 16, 18), Decimal("14.25"), 1238)],
)
def test_the_current_month_is_forecast_as_reached_and_by_the_time_left(
    given: Given, earned_in_april: int, read_at: datetime, days_left: Decimal, forecast: int
) -> None:
    for number in range(1, 13):
        budgeted(given, f"2026-{number:02d}", "U1", (100, SPRING, None))
    office_earned(given, {1: 150, 2: 50, 3: 100})
    in_april = [earned({"office_customer_id": "M1"}, earned_in_april)]
    loaded(given, "commission_office", "G1", "2026-04", in_april, at_utc=read_at, is_open=True)
    given.execute("UPDATE meta.months SET fetched_at_utc = least(fetched_at_utc, $1)", [read_at])
    query = "SELECT month(month), year_forecast::INT FROM marts.office_budget_vs_actual WHERE NOT is_open"
    assert built(given, query) == [(1, 1800), (2, 1200), (3, forecast)]
    assert forecast == round(300 + earned_in_april + days_left / 30 * 100 + 8 * 100)


def test_months_without_a_budget_are_in_the_year_to_date_and_the_forecast(given: Given) -> None:
    for of_month in ("2026-02", "2026-03", "2026-04"):
        budgeted(given, of_month, "U1", (100, SPRING, None))
    office_earned(given, {1: 1000, 2: 80, 3: 120})
    found = built(
        given,
        "SELECT month(month), year_to_date_actual::INT, year_to_date_budget::INT, "
        "year_to_date_attainment_share::FLOAT, year_to_date_budget_month_count, budget_month_count, "
        "year_forecast::INT FROM marts.office_budget_vs_actual WHERE NOT is_open",
    )
    assert found == [
        (1, 1000, None, None, 0, 3, 1000 + 300 + 8 * 1000),
        (2, 1080, 100, pytest.approx(0.8), 1, 3, 1080 + 160 + 8 * 540),
        (3, 1200, 200, 1, 2, 3, 1200 + 100 + 8 * 400),
    ]


def test_a_year_with_a_month_that_is_not_loaded_has_no_sum_and_no_forecast(given: Given) -> None:
    budgeted(given, "2026-02", "U1", (100, SPRING, None))
    office_earned(given, {2: 5})
    query = "SELECT actual::INT, year_to_date_actual, year_forecast FROM marts.office_budget_vs_actual"
    assert built(given, query) == [(5, None, None)]


def test_months_before_a_user_began_are_zero_and_not_average_months(given: Given) -> None:
    budgeted(given, "2026-03", "U1", (100, SPRING, None))
    user_earned(given, {1: 0, 2: 0, 3: 50, 4: 150})
    shown = "month(month), year_to_date_actual::INT, year_forecast::INT"
    found = built(given, f"SELECT {shown} FROM marts.user_budget_vs_actual")
    assert found == [(3, 50, 50 + 9 * 50), (4, 200, 200 + 8 * 100)]


def test_nothing_is_forecast_for_a_user_without_a_trace_in_three_months(given: Given) -> None:
    for number in range(1, 13):
        budgeted(given, f"2026-{number:02d}", "U1", (100, SPRING, None))
    user_earned(given, {1: 100, 2: 0, 3: 0, 4: 0})
    query = "SELECT year_forecast::INT FROM marts.user_budget_vs_actual WHERE NOT is_open"
    assert built(given, query) == [(1200,), (600,), (400,), (100,)]


@pytest.mark.parametrize(
    ("last_budget", "forecasts"), [(2, [7200, 600, 600, 600]), (12, [7200, 3600, 2400, 600])]
)
def test_a_closed_office_has_no_more_forecast(given: Given, last_budget: int, forecasts: list[int]) -> None:
    for number in range(1, last_budget + 1):
        budgeted(given, f"2026-{number:02d}", "U1", (100, SPRING, None))
    user_earned(given, {1: 600})
    for report in ("commission_office", "commission_user"):
        held(given, report, "G1", ["2026-02", "2026-03", "2026-04"])
    query = "SELECT year_forecast::INT FROM marts.chain_budget_vs_actual WHERE NOT is_open ORDER BY month"
    assert built(given, query) == [(forecast,) for forecast in forecasts]


@pytest.mark.parametrize(
    ("directory", "earned_in_march", "forecasts"),
    [
        ({"U1": None, "U2": None}, 0, [1200, 1200, 800]),
        ({"U2": None}, 0, [1200, 200, 200]),
        ({"U1": AUTUMN, "U2": None}, 100, [1200, 1200, 300]),
    ],
    ids=["listed", "missing and idle", "taken out"],
)
def test_nothing_more_is_forecast_for_a_user_who_has_left_the_directory(
    given: Given, directory: Row, earned_in_march: int, forecasts: list[int]
) -> None:
    for number in range(1, 13):
        budgeted(given, f"2026-{number:02d}", "U1", (100, SPRING, None))
    office_earned(given, {1: 100, 2: 100, 3: 100})
    for number, amount in {1: 100, 2: 100, 3: earned_in_march}.items():
        amounts = {"U1": amount, "U2": 5}
        found = [earned({"user_id": user}, one) for user, one in amounts.items() if one]
        loaded(given, "commission_user", "G1", f"2026-{number:02d}", found)
    listed = [{"id": user, "name": user, "valid_to_utc": until} for user, until in directory.items()]
    rows(given, "users_history", "G1", "2026-01", listed)
    query = "SELECT year_forecast::INT FROM marts.user_budget_vs_actual WHERE NOT is_open ORDER BY month"
    assert built(given, query) == [(forecast,) for forecast in forecasts]


def test_budgets_of_a_user_at_two_offices_are_compared_with_one_commission(given: Given) -> None:
    budgeted(given, "2026-01", "U1", (100, SPRING, None))
    of_another = {"office_id": "M2", "user_id": "U1", "commission_budget": 300}
    put(given, "budget_commission_history", "2026-01", **of_another)
    user_earned(given, {1: 200})
    query = "SELECT office_id, budget::INT, actual::INT FROM marts.user_budget_vs_actual"
    assert built(given, query) == [("M2", 400, 200)]


def test_a_user_who_has_only_a_budget_and_a_place_in_the_directory_has_earned_nothing(given: Given) -> None:
    budgeted(given, "2026-01", "U2", (100, SPRING, None))
    user_earned(given, {1: 200})
    rows(given, "users_history", "G1", "2026-01", [{"id": "U2", "name": "Al"}])
    query = "SELECT commission::INT, is_commission_complete FROM marts.agent_month WHERE user_id = 'U2'"
    assert built(given, query) == [(0, True)]


BASES = {
    "unknown": (None, 1000, "commission may include VAT; the budget does not"),
    "excluded": (None, 1000, None),
    "included": ("0.25", 800, "commission less its declared VAT of 25 %"),
}


@pytest.mark.parametrize("declared", BASES)
def test_commission_is_compared_without_vat_or_has_a_note_that_it_may_include_it(
    given: Given, declared: str
) -> None:
    rate, actual, note = BASES[declared]
    given.execute("INSERT INTO meta.tax_basis VALUES ($1, $2)", [declared, rate])
    budgeted(given, "2026-01", "U1", (800, SPRING, None))
    user_earned(given, {1: 1000})
    query = "SELECT actual::INT, year_to_date_actual::INT, basis_note FROM marts.user_budget_vs_actual"
    assert built(given, query) == [(actual, actual, note)]


def test_a_report_without_an_amount_gives_way_to_another_that_has_one(given: Given) -> None:
    held(given, "office_budget_commission", "G1", ["2026-12"])
    put(given, "office_budget_commission_history", "2026-12", office_id="M1", commission_budget=9)
    query = "SELECT report, amount::INT FROM marts.budgets"
    budgeted(given, "2026-12", "U1", (None, SPRING, None))
    assert built(given, query) == [("office_budget_commission", 9)]
    budgeted(given, "2026-12", "U2", (5, SPRING, None))
    assert built(given, query) == [("budget_commission", 5)]


def test_a_budget_without_a_user_is_the_offices_own_and_counts_once(given: Given) -> None:
    held(given, "office_budget_estate", "G1", ["2026-12"])
    put(given, "budget_commission_history", "2026-12", office_id="M1")
    for user, count in ((None, 4), ("U1", 2)):
        put(given, "office_budget_estate_history", "2026-12", office_id="M1", user_id=user, sold_budget=count)
    query = "SELECT budget::INT FROM marts.{}_budget_vs_actual WHERE measure = 'sold estates'"
    assert [built(given, query.format(kind)) for kind in ("office", "user")] == [[(6,)], [(2,)]]


MONTHS = ("2026-10", "2026-11", "2026-12")


def homes(given: Given, *amounts: Mapping[str | None, int]) -> None:
    """The budgeted homes of M1's users, or of no user, month by month."""
    for of_month, by_user in zip(MONTHS, amounts, strict=False):
        held(given, "office_budget_estate", "G1", [of_month])
        put(given, "budget_commission_history", of_month, office_id="M1")
        for user, count in by_user.items():
            row = {"office_id": "M1", "user_id": user, "sold_budget": count}
            put(given, "office_budget_estate_history", of_month, **row)


SUMS = ({"U1": 49, "U2": 2, "T": 51}, {"U1": 48, "U2": 2, "T": 50}, {"U1": 49, "U2": 3, "T": 52})
NO_ID = "00000000-0000-0000-0000-000000000000"
NOT_THE_SUM = "without a user, next to budgets of users: not their sum, but it may include them"
MAYBE_A_SUM = "in every month, one user has the sum of all others of the office: it may be a total"


@pytest.mark.parametrize(
    ("amounts", "directory", "counted", "trouble"),
    [
        ([{"U1": 4, None: 4}], [], [4], None),
        ([{"U1": 4, "U2": 2, " ": 6}], [], [6], None),
        ([{"U1": 4, NO_ID: 4}], [], [4], None),
        ([{"U1": 4, None: 5}], [], [9], NOT_THE_SUM),
        (SUMS, ["U1"], [51, 50, 52], None),
        (SUMS, ["U1", "T"], [102, 100, 104], MAYBE_A_SUM),
        ([{"U1": n, "U2": n, "T": 2 * n} for n in (1, 2, 3)], ["U1", "T"], [4, 8, 12], None),
        ((*SUMS[:2], {"U1": 5, "U2": 3, "T": 7}), ["U1"], [102, 100, 15], None),
    ],
    ids=["nobody's", "of a blank", "of zeros", "not the sum", "of no user", "a user", "chance", "once not"],
)
def test_a_sum_of_an_offices_users_is_not_a_budget_unless_it_may_be_a_users_own(
    given: Given,
    amounts: Sequence[Mapping[str | None, int]],
    directory: list[str],
    counted: list[int],
    trouble: str | None,
) -> None:
    homes(given, *amounts)
    rows(given, "users_history", "G1", "2026-01", [{"id": user} for user in directory], load_id="U")
    query = "SELECT sum(amount)::INT FROM marts.budgets WHERE measure = 'sold estates' GROUP BY month"
    assert built(given, f"{query} ORDER BY month") == [(amount,) for amount in counted]
    check = (SQL / "checks" / "budgets_are_understood.sql").read_text("utf-8")
    found = [kind for _, name, kind, _ in given.execute(check).fetchall() if name == "sold estates"]
    assert found == ([trouble] if trouble else [])


def test_a_month_before_one_that_is_over_is_not_open_even_if_not_loaded(given: Given) -> None:
    for of_month in ("2026-01", "2026-02", "2026-03"):
        budgeted(given, of_month, "U1", (100, SPRING, None))
    office = [earned({"office_customer_id": "M1"}, 5)]
    loaded(given, "commission_office", "G1", "2026-02", office)
    found = built(given, "SELECT month(month), is_open FROM marts.office_budget_vs_actual")
    assert found == [(1, False), (2, False), (3, True)]


@pytest.mark.parametrize(
    ("asked", "row", "office"),
    [
        ("M1", {}, "M1"),
        ("G1", {"office_named": "FIR2"}, "M2"),
        ("G1", {"office_named": "FIR2", "office_id": "M1"}, "M1"),
        ("G1", {"office_named": "X9"}, None),
        ("G2", {}, "M3"),
    ],
)
def test_a_budget_without_a_customer_id_is_of_the_requested_office_or_of_its_number(
    given: Given, asked: str, row: Row, office: str | None
) -> None:
    for customer, offices in (("M1", ["M1"]), ("G1", ["M1", "M2"]), ("G2", ["M3"])):
        earners = [earned({"office_customer_id": name}, 5) for name in offices]
        loaded(given, "commission_office", customer, "2026-01", earners)
    held(given, "office_budget_commission", asked, ["2026-01"])
    budget = {"_customer": asked, "user_id": "U1", "commission_budget": 7, **row}
    put(given, "office_budget_commission_history", "2026-01", **budget)
    found = built(given, "SELECT office_id, amount::INT FROM marts.budgets")
    assert found == ([(office, 7)] if office else [])


@pytest.mark.parametrize(("own", "user"), [(None, "U1"), ("U2", "U2")])
def test_a_budget_without_a_user_belongs_to_the_requested_user(own: str | None, user: str) -> None:
    given, table = warehouse(), "user_budget_commission_history"
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    held(given, "user_budget_commission", "M1", ["2026-01"])
    put(given, table, "2026-01", _customer="M1", asked_user_id="U1", user_id=own, commission_budget=7)
    found = built(given, "SELECT office_id, user_id, amount::INT FROM marts.budgets")
    assert found == [("M1", user, 7)]


def test_a_groups_budget_without_an_office_is_of_the_only_office_where_its_user_sells(given: Given) -> None:
    of_offices = [earned({"office_customer_id": office}, 5) for office in ("M1", "M2")]
    loaded(given, "commission_office", "G1", "2026-01", of_offices)
    agents = [("U1", "M1"), ("U2", "M1"), ("U2", "M2")]
    shares = [{"id": user, "primary_office_customer_id": office} for user, office in agents]
    rows(given, "sales_agents", "G1", "2026-01", shares)
    held(given, "office_budget_commission", "G1", ["2026-01"])
    for user in ("U1", "U2", "U3"):
        put(given, "office_budget_commission_history", "2026-01", user_id=user, commission_budget=7)
    assert built(given, "SELECT office_id, user_id, amount::INT FROM marts.budgets") == [("M1", "U1", 7)]
    check = (SQL / "checks" / "budgets_are_understood.sql").read_text("utf-8")
    trouble = "without a known office, so in no mart"
    assert given.execute(check).fetchall() == [("office_budget_commission", "commission", trouble, 2)]
    held(given, "budget_commission", "G1", ["2026-01"])
    put(given, "budget_commission_history", "2026-01", office_id="M1", user_id="U2", commission_budget=7)
    put(given, "office_budget_commission_history", "2026-01", commission_budget=21)
    assert built(given, "SELECT user_id FROM marts.budgets") == [("U2",)]
    assert given.execute(check).fetchall() == [("office_budget_commission", "commission", trouble, 2)]


def of_two_offices(given: Given, of_month: str, *actuals: float) -> None:
    """A budget of 100 each for M1 and M2 in a month, and what each reached, if known."""
    held(given, "budget_commission", "G1", [of_month])
    for office in ("M1", "M2"):
        row = {"office_id": office, "user_id": f"U {office}", "commission_budget": 100}
        put(given, "budget_commission_history", of_month, **row)
    for office, actual in zip(("M1", "M2"), actuals, strict=False):
        loaded(given, "commission_office", office, of_month, [earned({"office_customer_id": office}, actual)])


def test_a_level_is_unknown_against_its_budget_if_one_of_its_offices_is(given: Given) -> None:
    of_two_offices(given, "2026-01", 90, 60)
    of_two_offices(given, "2026-02", 90)
    shown = "month(month), budget::INT, actual::INT, attainment_share::FLOAT, missing_offices"
    levels = "marts.chain_budget_vs_actual", "marts.brand_budget_vs_actual", "marts.region_budget_vs_actual"
    build(given, *levels)
    found = [given.execute(f"SELECT {shown} FROM {level}").fetchall() for level in levels]
    assert found == [[(1, 200, 150, 0.75, None), (2, 200, None, None, "M2")]] * 3


def test_a_forecast_has_the_range_of_the_worst_miss_of_three_earlier_years(given: Given) -> None:
    for year, number in product(range(2023, 2026), range(1, 13)):
        of_two_offices(given, f"{year}-{number:02}", 110 if (year, number) > (2025, 6) else 100, 100)
    for number in range(1, 7):
        of_two_offices(given, f"2026-{number:02}", 200, 100)
    found = built(
        given,
        "SELECT year_forecast::INT, year_actual::INT, round(miss_share, 4)::FLOAT, "
        "round(worst_miss_of_year_share, 4)::FLOAT, past_year_count, "
        "year_forecast_low::INT, year_forecast_high::INT "
        "FROM marts.forecast_accuracy WHERE level = 'chain' AND month(month) = 6 ORDER BY month OFFSET 2",
    )
    assert found == [
        (2400, 2460, pytest.approx(0.025), pytest.approx(0.025), 2, None, None),
        (3600, None, None, None, 3, 3510, 3690),
    ]  # fmt: skip


def test_a_forecast_is_judged_as_it_was_read_a_week_after_its_month(given: Given) -> None:
    for number in range(1, 4):
        of_two_offices(given, f"2025-{number:02}")
        reached_at(given, number, 110, datetime(2025, number + 1, 3))
    reached_at(given, 1, 44, datetime(2025, 9, 1))
    query = (
        "SELECT month(month), year_forecast::INT, year_forecast_then::INT FROM marts.forecast_accuracy "
        "WHERE level = 'office' AND member_id = 'M1' AND measure = 'commission' ORDER BY month"
    )
    assert built(given, query) == [(1, 528, 1320), (2, 924, 1320), (3, 1056, 1320)]


def reached_at(given: Given, number: int, amount: float, at_utc: datetime) -> None:
    """M1's commission in a month of 2025, read at a given time, with the marts of that night."""
    row = earned({"office_customer_id": "M1"}, amount)
    loaded(given, "commission_office", "M1", f"2025-{number:02}", [row], at_utc=at_utc)
    build(given, "month_total_versions")


def test_coming_years_budgets_are_compared_with_the_same_months_of_this_year(given: Given) -> None:
    office_earned(given, {12: 90})
    january = [earned({"office_customer_id": "M1"}, 9)]
    loaded(given, "commission_office", "G1", "2027-01", january, is_open=True)
    for of_month, users in (("2026-01", 3), ("2026-02", 2), ("2026-03", 1), ("2027-01", 1), ("2027-02", 1)):
        for user in range(1, users + 1):
            budgeted(given, of_month, f"U{user}", (100 * user, SPRING, None))
    query = (SQL / "page" / "coming_budgets.sql").read_text("utf-8")
    assert built(given, query) == [("M1", "M1", month("2027-01"), month("2027-02"), 1, 200, 900)]


def changed_budgets(given: Given) -> list[tuple[object, ...]]:
    """The budgets that the page shows as changed since spring."""
    sales_read(given, "2026-01", {"E1": 5}, SPRING)
    build_for(given, BUDGET_CHANGES)
    for at_utc in (SPRING, AUTUMN):
        given.execute(
            "INSERT INTO meta.publications (name, at_utc, status) VALUES ($1, $1, 'published')", [at_utc]
        )
    shown = "office_id, first_month, last_month, read_first_months, agents, agents_differences::INT[]"
    amounts = "amount_before::INT, amount_after::INT"
    return given.sql(BUDGET_CHANGES).select(f"{shown}, {amounts}").fetchall()


def test_the_page_names_the_agents_whose_budgets_changed_an_offices(given: Given) -> None:
    budgeted(given, "2026-12", "U1", (100, SPRING, SUMMER))
    budgeted(given, "2026-12", "U2", (500, SPRING, None))
    budgeted(given, "2026-12", "U3", (200, SUMMER, None))
    december = month("2026-12")
    assert changed_budgets(given) == [("M1", december, december, [], ["U3", "U1"], [200, -100], 600, 700)]


def test_a_budget_first_read_next_to_a_changed_one_is_in_no_sum(given: Given) -> None:
    budgeted(given, "2026-11", "U1", (100, SPRING, SUMMER), (150, SUMMER, None))
    budgeted(given, "2026-12", "U1", (100, SUMMER, AUTUMN), (120, AUTUMN, None))
    budgeted(given, "2026-12", "U2", (500, SUMMER, None))
    november, december = month("2026-11"), month("2026-12")
    assert changed_budgets(given) == [("M1", november, december, [december], ["U1"], [70], 200, 270)]
