"""Checks: one violation of each, and the result of a check, even if it cannot run."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.marts.given import Given, asked_for, bidden, build, earned, held, loaded, rows, sold, warehouse
from warehouse.marts.build import build_marts
from warehouse.marts.checks import CheckResult, run_checks, store_results
from warehouse.marts.queries import SQL, queries

CHECKS = SQL / "checks"
M1, U1 = {"office_customer_id": "M1"}, {"user_id": "U1"}
AGENT = {
    "id": "U1", "name": "Åsa", "primary_office_customer_id": "M1", "responsible": True,
    "commission_value": 100, "commission_percentage_of_total": 100,
}  # fmt: skip


def offend_nothing(given: Given) -> None:
    """A small warehouse that violates no check."""
    now = datetime.now(UTC).replace(tzinfo=None)  # freshness is measured by the reader's clock
    for report, earner in (("commission_office", M1), ("commission_user", U1)):
        loaded(given, report, "M1", "2026-01", [earned(earner, 100, 1, 2000)], at_utc=now)
    step = {"customer_id": "M1", "user_id": "U1", "amount": 5, "exchange_rate": 1}
    loaded(given, "running_commissions", "M1", "2026-01", [step], at_utc=now)
    sold(given, "M1", "2026-01", "M1", "E1", final_price=2000, agents=[AGENT], at_utc=now)
    load_id = held(given, "tips_and_leads", "M1", ["2026-01"], at_utc=now)
    lead = {"lead_id": "L1", "receiver_company_customer_number": "M1", "is_removed": False}
    rows(given, "incoming_leads", "M1", "2026-01", [lead], load_id=load_id, at_utc=now)


def quiet() -> Given:
    return warehouse(offend_nothing)


def sql(statement: str) -> Callable[[Given], object]:
    return lambda given: given.execute(statement)


def ambiguous_activity(given: Given) -> None:
    held(given, "live_activity", "M1", ["2026-01"])
    given.execute("ALTER TABLE bi.live_activity ADD calls VARCHAR")
    rows(given, "live_activity", "M1", "2026-01", [{**U1, "calls": "1.250"}])


def key_twice(given: Given) -> None:
    given.execute("INSERT INTO bi.commission_user SELECT * FROM bi.commission_user")


def overlap(given: Given) -> None:
    office = [earned(M1, 100, 1, 2000), earned({"office_customer_id": "M2"}, 0, 0, 0)]
    loaded(given, "commission_office", "G1", "2026-01", office)


def february_cut_short(given: Given) -> None:
    held(given, "running_commissions", "M2", ["2026-01", "2026-02"])
    for of_month, days in (("2026-01", range(1, 32)), ("2026-02", (1, 27, 28))):
        steps = [{"user_id": "U1", "obtained_at": f"{of_month}-{day:02}"} for day in days]
        rows(given, "running_commissions", "M2", of_month, 2 * steps)


def user_twice(given: Given) -> None:
    loaded(given, "commission_user", "M2", "2026-01", [earned(U1, 100, 1, 2000)])


def quarantined(given: Given) -> None:
    given.execute("INSERT INTO meta.quarantine_rows BY NAME SELECT 'sales' AS report, 'M1' AS customer")


def month_emptied(given: Given) -> None:
    build(given, "restatements")
    loaded(given, "commission_office", "M1", "2026-01", [])


def estate_in_two_months(given: Given) -> None:
    sold(given, "M1", "2026-02", "M1", "E1", final_price=2000, agents=[AGENT], at_utc=datetime(2026, 2, 1))


def estate_of_two_homes(given: Given) -> None:
    sold(given, "M2", "2026-02", "M2", "E1", final_price=3000, address_street_address="Gata 2")


def two_budgets_at_once(given: Given) -> None:
    load_id = held(given, "office_budget_commission", "M1", ["2026-01"])
    budgets = [{"office_id": "M1", "user_id": "U1", "commission_budget": amount} for amount in (5, 6)]
    rows(given, "office_budget_commission_history", "M1", "2026-01", budgets, load_id=load_id)


def outcomes_in_place_of_budgets(given: Given) -> None:
    for number in range(1, 11):
        month, amount = f"2025-{number:02}", 100 * number + 0.4
        loaded(given, "commission_user", "M1", month, [earned(U1, amount, 1, 2000)])
        load_id = held(given, "office_budget_commission", "M1", [month])
        loaded(given, "commission_office", "M1", month, [earned(M1, amount, 1, 2000)])
        user = "U1" if number % 2 else None
        budget = {"office_id": "M1", "user_id": user, "commission_budget": 100 * number}
        rows(given, "office_budget_commission_history", "M1", month, [budget], load_id=load_id)


OFFENCES: dict[str, Callable[[Given], object]] = {
    "documented_keys_are_unique": key_twice,
    "office_months_are_their_rows": sql(
        "INSERT INTO bi.commission_office SELECT * REPLACE ('another' AS _load_id) FROM bi.commission_office"
    ),
    "no_month_stands_twice": sql("UPDATE bi.running_commissions SET _load_id = 'another'"),
    "totals_are_not_negative": sql("UPDATE bi.commission_office SET writing_parts = -1"),
    "parts_and_prices_are_not_negative": sql("UPDATE bi.commission_user SET sold_estate_parts = -1"),
    "users_are_not_added_up_twice": user_twice,
    "commissions_are_not_negative": sql("UPDATE bi.commission_office SET commission = -1"),
    "shares_of_a_sale_are_whole": sql("UPDATE bi.sales_agents SET commission_percentage_of_total = 90"),
    "foreign_money_has_a_rate": sql("UPDATE bi.sales_estates SET commission_foreign = 10"),
    "nothing_is_dated_in_the_future": sql(
        "UPDATE meta.months SET fetched_at_utc = fetched_at_utc + INTERVAL 400 DAY"
    ),
    "reports_are_fresh": sql("UPDATE meta.loads SET fetched_at_utc = fetched_at_utc - INTERVAL 3 DAY"),
    "reports_reconcile": sql("UPDATE bi.commission_user SET commission = 100.05"),
    "customers_do_not_overlap": overlap,
    "numbers_are_refreshed": lambda given: asked_for(given, "G1"),
    "quarantine_is_empty": quarantined,
    "months_reach_their_end": february_cut_short,
    "months_keep_their_rows": month_emptied,
    "sales_stand_in_one_month": estate_in_two_months,
    "estate_ids_are_of_one_home": estate_of_two_homes,
    "ids_have_one_spelling": sql("UPDATE bi.commission_user SET user_id = 'u1'"),
    "running_commissions_have_an_office": sql(
        "UPDATE bi.running_commissions SET customer_id = 'M9', amount = 89635.13, exchange_rate = 11.2345"
    ),
    "leads_have_an_office": sql(
        "UPDATE bi.incoming_leads SET _customer = 'G1', receiver_company_customer_number = 'S9'"
    ),
    "leads_say_whether_they_are_removed": sql("UPDATE bi.incoming_leads SET is_removed = NULL"),
    "rows_say_whose_they_are": sql(
        "UPDATE bi.sales_estates SET office_customer_id = NULL, office_name = 'Solna'"
    ),
    "offices_were_asked_for": lambda given: sold(given, "M1", "2026-02", "X9", "E9"),
    "budgets_are_understood": two_budgets_at_once,
    "budgets_are_no_outcomes": outcomes_in_place_of_budgets,
    "activities_are_numbers": ambiguous_activity,
    "bids_are_understood": lambda given: bidden(given, "E1", {"id": "B1", "amount": "much"}),
}


def checked(given: Given, name: str, tmp_path: Path) -> CheckResult:
    """The rows that one check finds, with only the marts built that it reads."""
    (tmp_path / f"{name}.sql").symlink_to(CHECKS / f"{name}.sql")
    [check] = queries(tmp_path, "checks")
    read = sorted(table for schema, table in check.reads if schema == "marts")
    build(given, *(read or ["budgets"]))
    [result] = run_checks(given, tmp_path)
    return result


def test_no_check_fails_on_a_correct_warehouse() -> None:
    given = quiet()
    build_marts(given)
    assert [result for result in run_checks(given) if not result.passed] == []


@pytest.mark.parametrize("name", OFFENCES)
def test_a_check_finds_the_rows_that_violate_it(name: str, tmp_path: Path) -> None:
    given = quiet()
    OFFENCES[name](given)
    found = checked(given, name, tmp_path)
    assert (found.rows > 0, found.message) == (True, "")


@pytest.mark.parametrize(
    "customers", [("M1", "M9"), ("M1", "G1")], ids=["named in the settings", "of a group"]
)
def test_a_known_office_counts_as_requested(customers: tuple[str, ...], tmp_path: Path) -> None:
    given = quiet()
    asked_for(given, *customers)
    for customer in {*customers} - {"M9"}:
        sold(given, customer, "2026-02", "M9", "E9")
    assert checked(given, "offices_were_asked_for", tmp_path).passed


@pytest.mark.parametrize(
    ("of_month", "office", "more"),
    [
        ("2026-01", "M1", {"final_price": 2000}),
        ("2026-01", "M2", {"final_price": 3000, "commission": 200}),
        ("2026-02", "M2", {"final_price": 3000, "address_street_address": "GATA 1 "}),
    ],
    ids=["of a group and its office", "moved and restated", "moved to another month"],
)
def test_a_sale_that_moved_or_was_restated_is_of_one_home(
    of_month: str, office: str, more: dict[str, Any], tmp_path: Path
) -> None:
    given = quiet()
    given.execute("UPDATE bi.sales_estates SET address_street_address = 'Gata 1'")
    sold(given, "G1", of_month, office, "E1", **more)
    assert checked(given, "estate_ids_are_of_one_home", tmp_path).passed


@pytest.mark.parametrize(
    ("table", "column", "spelling", "found"),
    [
        ("commission_office", "office_customer_id", "m1",
         ("office", "M1 (running_commissions, sales, tips_and_leads); m1 (commission_office)")),
        ("running_commissions", "user_id", "0U1",
         ("user", "0U1 (running_commissions); U1 (commission_user, sales)")),
        ("running_commissions", "user_id", "U10", None),
    ],
)  # fmt: skip
def test_two_spellings_of_one_id_are_reported_with_their_reports(
    table: str, column: str, spelling: str, found: tuple[str, str] | None, tmp_path: Path
) -> None:
    given = quiet()
    given.execute(f"UPDATE bi.{table} SET {column} = '{spelling}'")
    sample = checked(given, "ids_have_one_spelling", tmp_path).sample
    assert [(row["kind"], row["spellings"]) for row in sample] == ([found] if found else [])


def test_an_amount_of_zero_needs_no_exchange_rate(tmp_path: Path) -> None:
    given = quiet()
    given.execute("UPDATE bi.sales_estates SET commission_foreign = 0, final_price_foreign = 0")
    given.execute("UPDATE bi.running_commissions SET amount = 0, exchange_rate = NULL")
    assert checked(given, "foreign_money_has_a_rate", tmp_path).passed


def test_an_event_that_counts_by_another_answer_needs_no_office(tmp_path: Path) -> None:
    given = quiet()
    for office in ("M1", "M2"):
        sold(given, "G1", "2026-01", office, f"E{office}")
    steps = [{"user_id": "U1", "amount": amount, "exchange_rate": 1} for amount in (5, 6, 7)]
    loaded(given, "running_commissions", "G1", "2026-01", [*steps, *steps, {**steps[0], "customer_id": "X9"}])
    found = checked(given, "running_commissions_have_an_office", tmp_path).sample
    assert {(row["office_id"], row["row_count"]) for row in found} == {(None, 5), ("X9", 1)}


def test_every_check_is_tried() -> None:
    assert {path.stem for path in CHECKS.glob("*.sql")} == {*OFFENCES}


def test_only_checks_for_wrong_numbers_prevent_publication() -> None:
    found = {check.name for check in queries(CHECKS, "checks") if check.blocks}
    assert found == {"no_month_stands_twice", "rows_say_whose_they_are", "totals_are_not_negative"}


def test_an_amount_taken_back_later_is_named_but_prevents_no_publication(tmp_path: Path) -> None:
    given = quiet()
    for report, earner in (("commission_office", M1), ("commission_user", U1)):
        loaded(given, report, "M1", "2026-02", [earned(earner, -60, -0.6, -1200)])
    sold(given, "M1", "2026-02", "M1", "E2", final_price=-1200)
    for name, found in (("totals_are_not_negative", 0), ("parts_and_prices_are_not_negative", 3)):
        (room := tmp_path / name).mkdir()
        assert checked(given, name, room).rows == found


HEADER = "-- Is it so?\n-- One row each.\n"


def check(tmp_path: Path, sql: str, severity: str = "error") -> list[CheckResult]:
    (tmp_path / "c.sql").write_text(f"{HEADER}-- Severity: {severity}\n{sql}")
    return run_checks(warehouse(), tmp_path)


def test_a_check_counts_its_rows_and_stores_a_sample(tmp_path: Path) -> None:
    [found] = check(tmp_path, "SELECT range AS x FROM range(5000)", "warning")
    assert (found.severity, found.rows, found.sample[0], len(found.sample)) == ("warning", 5000, {"x": 0}, 5)
    assert [*found.subjects] == [{}]


def test_a_check_leaves_very_many_rows_to_the_database(tmp_path: Path) -> None:
    counted, sql = Profile(), "SELECT 'M' || range % 2 AS office_id, range AS x FROM range(100000)"
    [found] = counted.runcall(check, tmp_path, sql)
    assert (found.rows, [one["x"] for one in found.sample]) == (100_000, [0, 1, 2, 3, 4])
    assert [*found.subjects] == [{"office_id": "M0"}, {"office_id": "M1"}]
    assert sum(entry.callcount for entry in counted.getstats()) < 100_000


@pytest.mark.parametrize("blocks", ["", "-- Blocks: nothing\n"])
def test_a_check_that_cannot_run_fails_and_stops_no_other(tmp_path: Path, blocks: str) -> None:
    (tmp_path / "d.sql").write_text(f"{HEADER}-- Severity: error\n{blocks}SELECT * FROM bi.nobody")
    good, bad = check(tmp_path, f"{blocks}SELECT 1 WHERE false")
    assert (good.passed, good.blocks, bad.passed, bad.blocks) == (True, False, False, not blocks)
    assert bad.finding.startswith("The check d could not run: ")
    assert "nobody" in bad.message


def test_results_are_kept_in_place_of_the_earlier_ones(given: Given) -> None:
    moment = datetime(2026, 6, 1, 5, tzinfo=UTC)
    for day, count in enumerate((0, 3, 2)):  # it keeps the time since when it has found rows
        result = CheckResult("c", "warning", count, ({"month": moment},), "Is it so?")
        store_results(given, [result], moment + timedelta(days=day))
    found = given.execute("SELECT name, row_count, sample, since_utc FROM meta.check_results").fetchall()
    assert found == [("c", 2, '[{"month": "2026-06-01 05:00:00+00:00"}]', datetime(2026, 6, 2, 5))]


def test_a_check_that_could_not_run_is_a_problem_whatever_its_question(given: Given) -> None:
    build(given, "meta.problems")
    unable = CheckResult("reports_are_fresh", "warning", 1, (), "Is it so?", "no such column")
    store_results(given, [unable], datetime(2026, 6, 1, 5, tzinfo=UTC))
    found = given.execute("SELECT kind, severity, message FROM meta.problems").fetchall()
    assert found == [("check", "warning", "The check reports_are_fresh could not run: no such column")]


def test_budgets_of_unknown_offices_are_found_even_without_others(tmp_path: Path) -> None:
    given, table = warehouse(), "budget_commission_history"
    rows(given, table, "G1", "2026-01", [{"user_id": "U1", "commission_budget": 5}])
    [found] = checked(given, "budgets_are_understood", tmp_path).sample
    assert "without a known office, so in no mart" in found.values()


@pytest.mark.parametrize(("rows_left", "found"), [(6, 1), (7, 0)])
def test_a_closed_month_that_lost_a_third_of_rows_is_named(given: Given, rows_left: int, found: int) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 5)])
    step = {"customer_id": "M1", "user_id": "U1", "amount": 5, "exchange_rate": 1}
    for count in (9, rows_left):
        loaded(given, "running_commissions", "M1", "2026-01", [step] * count)
        build(given, "restatements", "month_total_versions")
    check = (SQL / "checks" / "months_keep_their_rows.sql").read_text("utf-8")
    assert len(given.execute(check).fetchall()) == found
