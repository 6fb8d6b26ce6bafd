"""The queries of the pages: periods and their comparisons, changes, and doubtful figures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from pipelines.catalogue.reports import REPORTS
from tests.marts.given import (
    FIRST_MOMENT,
    Given,
    asked_for,
    build,
    build_for,
    built,
    earned,
    held,
    loaded,
    month,
    rows,
    sales_read,
    trademarks,
    warehouse,
)
from warehouse.ledger.ledger import record_denial
from warehouse.marts.build import VERSION_STATEMENTS
from warehouse.marts.queries import SQL
from warehouse.store.duckdb_file import mappings
from warehouse.store.meta_schema import write_configured

NIGHTS = [datetime(2026, 2, day, 3) for day in (1, 5, 15)]
JANUARY = date(2026, 1, 1)
NOW = datetime.now(UTC).replace(tzinfo=None, microsecond=0)  # lateness is measured by the reader's clock


Rows = list[dict[str, Any]]


def found(given: Given, query: str) -> Rows:
    """Build the marts of a query of the pages; returns its rows."""
    [rows_of_query] = found_together(given, query)
    return rows_of_query


def found_together(given: Given, *names: str) -> list[Rows]:
    """Build the marts of some queries of the pages; returns their rows."""
    texts = [(SQL / "page" / f"{name}.sql").read_text("utf-8") for name in names]
    build_for(given, *texts)
    return [mappings(given.execute(text)) for text in texts]


def period(periods: Rows, name: str, kind: str = "chain") -> dict[str, Any]:
    return next(
        one for one in periods if (one["period"], one["kind"], one["office_id"]) == (name, kind, None)
    )


def read(
    given: Given, office: str, amounts: Mapping[str, float], *, open_month: str = "", **more: object
) -> None:
    """The office report of some months, all of their commission from sales."""
    for of_month, amount in amounts.items():
        row = earned({"office_customer_id": office}, amount, parts=amount / 10, price=40 * amount, **more)
        loaded(given, "commission_office", office, of_month, [row], is_open=of_month == open_month)


def publish(given: Given, at_utc: datetime) -> None:
    """Publish the file at this time, with the marts that store versions."""
    build(given, *VERSION_STATEMENTS)
    published(given, at_utc)


def published(given: Given, at_utc: datetime) -> None:
    """Record a publication in which no version is new."""
    given.execute(
        "INSERT INTO meta.publications (name, at_utc, status) VALUES ($1, $1, 'published')", [at_utc]
    )


def shown(months: Rows) -> Rows:
    """The months of the table: neither those to come nor those of the small lines alone."""
    return [row for row in months if row["is_shown"]]


def test_a_period_is_compared_over_the_offices_loaded_in_both_years(given: Given) -> None:
    read(given, "M1", {"2025-01": 300, "2026-01": 330})
    read(given, "M2", {"2026-01": 50})
    row = period(found(given, "periods"), "month")
    assert (row["commission"], row["homes"], row["offices"], row["compared_offices"]) == (380, 38, 2, 1)
    assert (row["commission_before"], row["commission_change"]) == (None, pytest.approx(0.1))
    assert (row["average_price"], row["average_price_change"], row["fee_share"]) == (400, 0, 1 / 40)


def test_growth_in_total_has_offices_that_closed_or_opened_and_like_for_like_growth_has_not() -> None:
    given = warehouse()
    read(given, "M1", {"2025-01": 100, "2026-01": 110})
    closed = {f"2025-{number:02}": 0 for number in range(3, 13)}
    read(given, "M2", {"2025-01": 100, "2025-02": 100, **closed, "2026-01": 0})
    read(given, "M3", {"2025-01": 0, "2025-12": 5, "2026-01": 45})
    held(given, "commission_user", "M2", [*(f"2025-{n:02}" for n in range(1, 13)), "2026-01"])
    periods, drivers = found_together(given, "periods", "drivers")
    row = period(periods, "month")
    assert (row["compared_offices"], row["commission_change"]) == (1, pytest.approx(0.1))
    assert (row["commission"], row["total_change"]) == (155, pytest.approx(-0.225))
    assert (row["average_price_change"], drivers) == (None, [])  # of fewer than 25 homes
    chain = [one for one in periods if (one["kind"], one["period"]) == ("chain", "month")]
    before = {one["office_id"]: one["commission_before"] for one in chain}
    assert before == {None: 200, "M1": 100, "M2": 100, "M3": None}  # M3 began later
    [page] = [one for one in periods if (one["scope"], one["period"]) == ("M2", "month")]
    assert page["closed_after_month"] == month("2025-02")


def test_a_full_year_is_not_repeated_as_twelve_months(given: Given) -> None:
    read(given, "M1", {f"2025-{number:02}": 100 for number in range(1, 13)})
    assert {one["period"] for one in found(given, "periods")} == {"month", "year"}


def test_coming_months_have_only_their_budget_and_last_year(given: Given) -> None:
    read(given, "M1", {"2025-02": 90, "2026-01": 110})
    coming = [row for row in found(given, "months") if row["kind"] == "chain" and row["is_coming"]]
    assert [(row["commission"], row["commission_before"]) for row in coming[:2]] == [(None, 90), (None, None)]
    assert coming[-1]["month"] == month("2026-12")


def test_a_month_that_is_not_loaded_is_counted_as_missing_and_not_zero(given: Given) -> None:
    read(given, "M1", {"2026-01": 100, "2026-02": 100})
    read(given, "M2", {"2026-01": 50})
    asked_for(given, "M1", "M2")
    periods = found(given, "periods")
    year = period(periods, "year")
    assert (year["commission"], year["missing_months"], year["last_month"]) == (250, 1, month("2026-02"))
    assert {one["office_id"] for one in periods if one["period"] == "year"} >= {"M1", "M2"}


def test_the_current_month_is_not_compared_but_has_last_years_whole_month(given: Given) -> None:
    read(given, "M1", {"2025-01": 100, "2025-02": 90, "2026-01": 110, "2026-02": 40}, open_month="2026-02")
    periods, months = found_together(given, "periods", "months")
    running = period(periods, "running")
    assert (running["commission"], running["is_over"], running["compared_offices"]) == (40, False, 0)
    assert period(periods, "year")["last_month"] == JANUARY
    newest = shown(months)[-1]
    assert (newest["is_open"], newest["commission"], newest["commission_before"]) == (True, 40, None)
    given.execute("UPDATE meta.months SET fetched_at_utc = $1", [datetime(2026, 2, 10, 4)])
    assert shown(found(given, "months"))[-1]["commission_before"] == 90


def test_the_average_number_of_agents_covers_the_months_in_which_an_office_was_open(given: Given) -> None:
    for of_month, count in (("2025-12", 0), ("2026-01", 0), ("2026-02", 4), ("2026-03", 2)):
        read(given, "M1", {of_month: 12 * count})
        users = [{"user_id": user} for user in "ABCD"[:count]]
        loaded(given, "commission_user", "M1", of_month, [earned(user, 12) for user in users])
    year = period(found(given, "periods"), "year", "office")
    assert (year["agents"], year["per_agent"], year["commission"]) == (3, 12, 72)


def test_an_office_that_began_during_last_year_is_not_compared(given: Given) -> None:
    read(given, "M2", {"2025-01": 0, "2025-02": 50, "2026-01": 60, "2026-02": 70})
    periods = found(given, "periods")
    year = period(periods, "year", "office")
    assert (year["compared_offices"], year["began_month"]) == (0, month("2025-02"))
    assert period(periods, "month", "office")["commission_change"] == pytest.approx(0.4)


def test_a_month_without_a_budget_is_named_and_left_out_of_the_comparison(given: Given) -> None:
    read(given, "M1", {"2026-01": 100, "2026-02": 90})
    held(given, "budget_commission", "M1", ["2026-02"])
    budget = {"office_id": "M1", "user_id": "U0", "commission_budget": 10, "valid_from_utc": NIGHTS[0]}
    rows(given, "budget_commission_history", "M1", "2026-02", [budget])
    year = period(found(given, "periods"), "year", "office")
    assert (year["actual"], year["unbudgeted_months"], year["unbudgeted_office"]) == (90, [JANUARY], "M1")
    assert (year["year_forecast"] > 190, year["forecast_share"]) == (True, 9)


def test_declared_vat_is_deducted_everywhere_except_from_what_will_be_paid(given: Given) -> None:
    given.execute("INSERT INTO meta.tax_basis VALUES ('included', 0.25)")
    read(given, "M1", {"2026-01": 125})
    periods, months = found_together(given, "periods", "months")
    newest = period(periods, "month")
    assert (newest["commission"], shown(months)[-1]["commission"]) == (100, 100)
    assert newest["fee_share"] == pytest.approx(100 / 5000)
    sales_read(given, "2026-01", {"E1": 125}, NIGHTS[0])
    given.execute(
        "UPDATE bi.sales_estates SET commission_received_at = '2026-03-01', access_day = '2026-01-20'"
    )
    [owed], due_sales, money = found_together(given, "receivables", "due_sales", "money")
    assert [one["due"] for one in money if one["kind"] == "chain"] == [*[0] * 5, 125]  # five without a sale
    assert (owed["outstanding"], owed["due_to_30"], owed["not_due"]) == (125, 125, 0)
    [due] = due_sales
    assert (owed["longest_days"], due["days_due"]) == (12, 12)


def test_an_office_that_is_not_expected_any_more_has_stopped(given: Given) -> None:
    read(given, "M1", {"2026-01": 5, "2026-02": 5})
    read(given, "M2", {"2026-01": 5})
    asked_for(given, "M1", M2="off")
    states = {one["scope"]: (one["state"], one["until_on"]) for one in found(given, "scopes")}
    assert states == {"": (None, None), "M1": (None, None), "M2": ("stopped", date(2026, 1, 31))}


def nights(*given_nights: tuple[dict[str, float], float]) -> Given:
    """January's sales and the commission of the office report, as published in each night."""
    given = warehouse()
    for at_utc, (sales, commission) in zip(NIGHTS, given_nights, strict=False):
        sales_read(given, "2026-01", sales, at_utc)
        row = earned({"office_customer_id": "M1"}, commission)
        loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=at_utc)
        is_new = at_utc == NIGHTS[0] or given_nights[0] != (sales, commission)
        (publish if is_new else published)(given, at_utc)
    return given


def test_closed_months_changed_since_a_week_before_with_their_reasons() -> None:
    given = nights(({"E1": 5, "E2": 60}, 65), ({"E1": 5, "E2": 60}, 65), ({"E1": 5}, 5))
    [change] = found(given, "changes")
    assert (change["office_id"], change["month"], change["difference"]) == ("M1", JANUARY, -60)
    assert (change["kind"], change["home_number"], change["amount"]) == ("sale gone", "E2", -60)


def test_a_reason_noted_later_than_its_change_is_reported_again(given: Given) -> None:
    for day, sales, commission in (
        (1, {"E1": 5, "E2": 60}, 65),
        (5, {"E1": 5, "E2": 60}, 5),
        (10, {"E1": 5}, 5),
    ):
        at_utc = datetime(2026, 2, day, 3)
        sales_read(given, "2026-01", sales, at_utc)
        row = earned({"office_customer_id": "M1"}, commission)
        loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=at_utc)
        build(given, *VERSION_STATEMENTS)
    for day in (7, 15):
        published(given, datetime(2026, 2, day, 3))
    [change] = found(given, "changes")
    assert (change["difference"], change["is_late"]) == (-60, True)
    assert (change["kind"], change["amount"]) == ("sale gone", -60)


def test_agents_whose_closed_months_changed_are_listed(given: Given) -> None:
    for at_utc, *amounts in ((NIGHTS[0], 6, 4), (NIGHTS[2], 2, 8)):
        rows = [earned({"user_id": user}, amount) for user, amount in zip(("U1", "U2"), amounts, strict=True)]
        loaded(given, "commission_user", "M1", "2026-01", rows, at_utc=at_utc)
        publish(given, at_utc)
    listed = [
        (one["agent"], one["amount_before"], one["difference"]) for one in found(given, "changed_agents")
    ]
    assert listed == [("U1", 6, -4), ("U2", 4, 4)]


def test_new_and_removed_sales_are_listed_but_not_those_read_for_the_first_time() -> None:
    given = nights(({"E1": 5, "E2": 60}, 65), ({"E1": 5, "E2": 60}, 65), ({"E1": 25, "E3": 70}, 95))
    sales_read(given, "2025-12", {"E9": 900}, NIGHTS[2])
    sales = [(one["change"], one["home_number"], one["difference"]) for one in found(given, "changed_sales")]
    assert sales == [("gone", "E2", -60), ("changed", "E1", 20), ("new", "E3", 70)]


def test_a_sale_that_moved_to_another_month_is_listed_with_the_same_commission(given: Given) -> None:
    sales_read(given, "2026-01", {"E1": 5, "E2": 6}, NIGHTS[0])
    publish(given, NIGHTS[0])
    published(given, NIGHTS[1])
    sales_read(given, "2026-01", {"E1": 5}, NIGHTS[2])
    sales_read(given, "2026-02", {"E2": 6}, NIGHTS[2])
    publish(given, NIGHTS[2])
    [sale] = found(given, "changed_sales")
    assert (sale["change"], sale["home_number"], sale["difference"]) == ("moved", "E2", 0)


def test_without_an_earlier_publication_nothing_has_changed() -> None:
    given = nights(({"E1": 5}, 65))
    *news, basis = found_together(given, "changes", "changed_sales", "budget_changes", "basis")
    assert (news, basis[0]["since_utc"]) == ([[], [], []], None)


def test_an_agent_without_activity_for_two_months_was_last_seen_then(given: Given) -> None:
    for of_month, amounts in (("2026-01", (5, 7)), ("2026-04", (0, 7))):
        users = [earned({"user_id": f"U{n}"}, amount, parts=amount and 1) for n, amount in enumerate(amounts)]
        loaded(given, "commission_user", "M1", of_month, users)
        read(given, "M1", {of_month: sum(amounts)})
    assert _status(given) == {"U0": ("left", JANUARY), "U1": (None, None)}


def _status(given: Given) -> dict[str, tuple[object, ...]]:
    """For each agent, whether they have left, are quiet or new, and since when."""
    return {one["name"]: (one["status"], one["status_month"]) for one in _agents(given)}


def _agents(given: Given, period: str = "year") -> Rows:
    return [one for one in found(given, "agents") if one["period"] == period]


def test_an_agent_may_leave_in_the_current_month_and_an_idle_one_is_in_its_table(given: Given) -> None:
    for of_month, ids in {"2025-01": ["U0", "U1"], "2026-01": ["U0", "U1"], "2026-02": ["U0"]}.items():
        users = [earned({"user_id": user}, 5) for user in ids]
        loaded(given, "commission_user", "M1", of_month, users, is_open=of_month == "2026-02")
        read(given, "M1", {of_month: 10}, open_month="2026-02")
    assert set(_status(given).values()) == {(None, None)}
    given.execute(
        "INSERT INTO bi.users_history (_customer, id, name, valid_from_utc, valid_to_utc) "
        "VALUES ('M1', 'U0', 'Al', '2026-01-01', '2026-02-15'), ('M1', 'U1', 'Bo', '2026-01-01', NULL)"
    )
    assert set(_status(given).values()) == {(None, None), ("left", month("2026-02"))}
    assert [one["commission_change"] for one in _agents(given)] == [0, 0]
    assert sorted(one["month"] for one in _agents(given, "month")) == [JANUARY] * 2 + [month("2026-02")] * 2


def test_an_agent_who_moved_is_not_compared_and_one_at_two_offices_has_no_share_of_budget() -> None:
    given = warehouse()
    months = {"2025-01": (2, 0), "2025-02": (2, 0), "2026-01": (2, 2), "2026-02": (1, 2)}
    for of_month, users_of_offices in months.items():
        for office, users in zip(("M1", "M2"), users_of_offices, strict=True):
            reported = [earned({"user_id": f"U{number}"}, 9) for number in range(users)]
            loaded(given, "commission_user", office, of_month, reported)
            read(given, office, {of_month: 9 * users})
    for office, user in (("M1", "U0"), ("M2", "U1")):
        held(given, "budget_commission", office, ["2026-02"])
        budget = {"office_id": office, "user_id": user, "commission_budget": 10, "valid_from_utc": NIGHTS[0]}
        rows(given, "budget_commission_history", office, "2026-02", [budget])
    names = ("office_id", "name", "status", "status_month", "commission_change", "actual", "budget_months")
    assert [tuple(one[name] for name in names) for one in _agents(given)] == [
        ("M1", "U0", None, None, 0, None, 1),
        ("M1", "U1", "moved to", month("2026-02"), None, None, None),
        ("M2", "U0", "here", JANUARY, None, None, None),
        ("M2", "U1", "moved from", month("2026-02"), None, 9, 1),
    ]


def test_agents_and_offices_that_were_away_in_a_part_of_last_year_have_no_share_of_change() -> None:
    given = warehouse()
    for of_month in ("2024-09", "2025-01", "2025-02", "2026-01", "2026-02"):
        users = {"2024-09": ["U0", "U2"], "2025-01": ["U0"]}.get(of_month, ["U0", "U1", "U2"])
        loaded(given, "commission_user", "M1", of_month, [earned({"user_id": one}, 5) for one in users])
        read(given, "M1", {of_month: 5 * len(users)})
        read(given, "M2", {of_month: 0 if of_month < "2025-02" else 5})
    agents = [(one["name"], one["status"], one["commission_change"]) for one in _agents(given)]
    assert agents == [("U0", None, 0), ("U1", "new", None), ("U2", None, None)]
    query = "SELECT office_id, year_to_date_change_share::FLOAT FROM marts.year_over_year"
    changes = built(given, f"{query} WHERE month = '2026-02-01' ORDER BY office_id")
    assert changes == [("M1", pytest.approx(30 / 20 - 1)), ("M2", None)]


def test_an_agent_is_compared_with_the_same_months_of_last_year_if_they_are_loaded(given: Given) -> None:
    for of_month, amounts in (("2025-01", (5, 7, 9)), ("2026-01", (6, 0, 0)), ("2025-02", (100, 0, 0))):
        users = [earned({"user_id": f"U{place}"}, amount) for place, amount in enumerate(amounts) if amount]
        loaded(given, "commission_user", "M1", of_month, users)
        read(given, "M1", {of_month: sum(amounts)})
    agents = [(one["name"], one["commission"], one["commission_before"]) for one in _agents(given)]
    assert agents == [("U0", 6, 5), ("U1", 0, 7), ("U2", 0, 9)]


def test_a_denied_report_makes_only_figures_of_its_offices_doubtful(given: Given) -> None:
    rows_of_group = [earned({"office_customer_id": office}, 5) for office in ("M1", "M2")]
    loaded(given, "commission_office", "G1", "2026-01", rows_of_group)
    read(given, "M3", {"2026-01": 5})
    for report in ("sales", "trademarks"):
        held(given, report, "G1", ["2026-01"], at_utc=NOW - timedelta(hours=1))
        record_denial(given, report, "G1", NOW.replace(tzinfo=UTC))
    given.execute("UPDATE meta.loads SET fetched_at_utc = $1", [NOW])
    lost, *others = found(given, "doubts")[:-1]
    assert (lost["kind"], lost["subjects"], lost["office_ids"]) == ("access lost", ["sales"], ["M1", "M2"])
    assert {(one["kind"], *one["subjects"]) for one in others} == {("reports differ", "agents", "commission")}


def reaches(given: Given, first: str, last: str) -> None:
    """The office report can be requested for these months, from the first on."""
    months = {"first_month": month(first), "last_month": month(last)}
    write_configured(given, "reports", [{"report": "commission_office", "is_on": True, **months}])
    customer = {"customer": "M1", "start_month": month(first), "is_active": True}
    write_configured(given, "customers", [customer])


def test_months_since_the_start_that_are_not_loaded_or_denied_are_missing(given: Given) -> None:
    read(given, "M1", {"2026-01": 5})
    reaches(given, "2025-11", "2026-01")
    states = []
    for refused in (False, True):
        if refused:
            record_denial(given, "commission_office", "M1", NOW.replace(tzinfo=UTC))
        states.append(built(given, "SELECT state FROM meta.coverage WHERE month IS NOT NULL ORDER BY month"))
    assert states == [[(why,), (why,), ("empty",)] for why in ("missing", "refused")]


def test_a_denied_login_is_a_doubt_by_its_failure_with_the_day_of_its_figures_and_no_check_warns_as_well(
    given: Given,
) -> None:
    read(given, "M1", {"2025-12": 10, "2026-01": 10})
    given.execute(
        "INSERT INTO meta.loads BY NAME SELECT 'commission_office' AS report, 'M1' AS customer, "
        "[DATE '2026-01-01'] AS months, $1::TIMESTAMP AS fetched_at_utc, 'failed' AS status, "
        "'Unauthorized' AS error_kind",
        [NOW],
    )
    doubts = found(given, "doubts")
    assert {(one["kind"], one["read_at_utc"]) for one in doubts} == {("failed again", FIRST_MOMENT)}
    check = (SQL / "checks" / "numbers_are_refreshed.sql").read_text("utf-8")
    assert built(given, "SELECT DISTINCT source_state FROM marts.office_sources") == [("login refused",)]
    assert given.execute(check).fetchall() == []


def test_each_of_several_brands_has_a_page_with_the_sums_of_its_offices(given: Given) -> None:
    for office in ("M1", "M2", "M3"):
        read(given, office, {"2026-01": 50})
    trademarks(given, "G1", Ek=["M1", "M2"], Lind=["M3"])
    scopes, periods = found_together(given, "scopes", "periods")
    pages = [(one["kind"], one["scope"]) for one in scopes]
    assert pages[:3] == [("brand", "Ek"), ("brand", "Lind"), ("chain", "")]
    assert period(periods, "month", "brand")["commission"] == 100
    sums = (
        "SELECT member_id, sum(commission) FROM marts.level_office_month WHERE level = 'brand' GROUP BY ALL"
    )
    assert sorted(built(given, sums)) == [("Ek", 100), ("Lind", 50)]


def test_a_check_that_failed_makes_its_figures_doubtful_on_the_chain_s_page(given: Given) -> None:
    read(given, "M1", {"2026-01": 5})
    for name, concerned in (("no_office", "leads"), ("differ", "nothing"), ("somebody_s_own", "commission")):
        given.execute(
            "INSERT INTO meta.check_results BY NAME SELECT $1 AS name, 'warning' AS severity, '' AS message, "
            "'Is it so?' AS question, 3 AS row_count, $2 AS concerns, $3::TIMESTAMP AS since_utc",
            [name, concerned, NOW],
        )
    checks = [one for one in found(given, "doubts") if one["kind"] == "check"]
    assert [(one["subjects"], one["is_chain_only"]) for one in checks] == [(["commission", "leads"], True)]


def test_a_figure_no_longer_read_is_doubtful_with_the_months_until_its_office_closed(given: Given) -> None:
    read(given, "M1", {"2026-01": 5, "2026-02": 5})
    closed = dict.fromkeys(("2026-02", "2026-03", "2026-04"), 0)
    read(given, "M2", {"2023-01": 5, "2025-12": 5, "2026-01": 5, **closed})
    held(given, "commission_user", "M2", [*closed])
    asked_for(given, "M1", M2="off")
    [doubt] = [one for one in found(given, "doubts") if one["kind"] == "not refreshed"]
    assert (doubt["office_ids"], doubt["subjects"]) == (["M2"], ["commission"])
    assert doubt["months"] == [month("2025-12"), JANUARY]


def test_the_budget_reports_are_those_of_the_catalogue(given: Given) -> None:
    given.execute((SQL / "macros.sql").read_text("utf-8"))
    budgets = given.execute("SELECT report FROM meta.subjects WHERE numbers = 'budgets'").fetchall()
    assert {name for (name,) in budgets} == {one.name for one in REPORTS.values() if one.subject == "budgets"}
