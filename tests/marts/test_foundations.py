"""The basis of other marts: whose answer counts, where a user works, totals of months, sources."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.marts.given import (
    FIRST_MOMENT,
    Given,
    asked_for,
    built,
    earned,
    held,
    loaded,
    rows,
    sold,
    trademarks,
    warehouse,
)
from warehouse.ledger.ledger import record_denial
from warehouse.store.meta_schema import write_configured

M1, M2 = {"office_customer_id": "M1"}, {"office_customer_id": "M2"}
LATER = datetime(2026, 6, 3, 5)
COUNTED = "SELECT customer_id, source_state, is_refreshed FROM marts.office_sources WHERE office_id = 'M1'"
EARNED_BY_M1 = "SELECT commission FROM marts.office_month WHERE office_id = 'M1' ORDER BY month"


def step(office: str, **more: object) -> dict[str, object]:
    """A running commission of U1 at an office."""
    return {"customer_id": office, "user_id": "U1", "amount": 5, "exchange_rate": 1, **more}


def test_every_loaded_month_of_a_report_has_one_source_for_an_office(given: Given) -> None:
    own = held(given, "sales", "M1", ["2026-01"])
    loaded(given, "commission_office", "M1", "2026-01", [earned(M1, 5)])
    sold(given, "G1", "2026-01", "M1", "E1")
    held(given, "sales", "G1", ["2026-02"])
    shown = f"strftime(month, '%m'), customer_id, load_id = '{own}'"
    found = built(given, f"SELECT {shown} FROM marts.office_sources WHERE report = 'sales'")
    assert found == [("01", "M1", True), ("02", "G1", False)]


def group_and_office(*, group: datetime = FIRST_MOMENT, office: datetime = FIRST_MOMENT) -> Given:
    """G1 of M1 and M2, and M1 itself, read at these moments: 500 as G1 has it, 70 as M1 has it."""
    given = warehouse()
    loaded(given, "commission_office", "G1", "2026-01", [earned(M1, 500), earned(M2, 5)], at_utc=group)
    loaded(given, "commission_office", "M1", "2026-01", [earned(M1, 70)], at_utc=office)
    return given


@pytest.mark.parametrize(
    ("group", "office", "run", "counted"),
    [
        (LATER, FIRST_MOMENT, None, "G1"),
        (FIRST_MOMENT, LATER, None, "M1"),
        (LATER, LATER, None, "M1"),
        (LATER, FIRST_MOMENT, "one run", "M1"),
    ],
)
def test_the_newest_answer_counts_and_of_two_equally_new_ones_the_offices_own(
    group: datetime, office: datetime, run: str | None, counted: str
) -> None:
    given = group_and_office(group=group, office=office)
    given.execute("UPDATE meta.loads SET run_id = $1", [run])
    assert built(given, COUNTED) == [(counted, "asked for", True)]


@pytest.mark.parametrize(
    ("configured", "state"),
    [({"G1": "on", "M1": "off"}, "customer switched off"), ({"G1": "on"}, "customer removed")],
)
def test_a_customer_no_longer_requested_counts_if_alone(configured: dict[str, str], state: str) -> None:
    given = group_and_office(office=LATER)
    loaded(given, "commission_office", "M1", "2026-02", [earned(M1, 7)])
    asked_for(given, **configured)
    assert built(given, COUNTED) == [("G1", "asked for", True), ("M1", state, False)]


def test_a_denied_customer_counts_only_if_no_other_answers() -> None:
    given = group_and_office(office=LATER)
    record_denial(given, "commission_office", "M1", LATER.replace(tzinfo=UTC))
    assert built(given, COUNTED) == [("G1", "asked for", True)]
    record_denial(given, "commission_office", "G1", LATER.replace(tzinfo=UTC))
    assert built(given, COUNTED) == [("M1", "access refused", False)]


def test_a_switched_off_report_stays_so_whatever_was_denied_before() -> None:
    given = group_and_office()
    record_denial(given, "commission_office", "M1", LATER.replace(tzinfo=UTC))
    record_denial(given, "commission_office", "G1", LATER.replace(tzinfo=UTC))
    write_configured(given, "reports", [{"report": "commission_office", "is_on": False}])
    assert built(given, COUNTED) == [("M1", "report switched off", False)]


def test_a_customer_that_is_not_found_counts_with_what_was_read() -> None:
    given = group_and_office(office=LATER)
    given.execute(
        "INSERT INTO meta.loads BY NAME SELECT 'commission_office' AS report, 'M1' AS customer, "
        "404 AS http_status, 'failed' AS status, $1::TIMESTAMP AS fetched_at_utc",
        [LATER + timedelta(days=1)],
    )
    assert built(given, COUNTED) == [("G1", "asked for", True)]
    loaded(given, "commission_office", "M1", "2026-02", [earned(M1, 7)], at_utc=LATER + timedelta(hours=23))
    assert built(given, f"{COUNTED} AND month(month) = 1") == [("G1", "asked for", True)]
    given.execute("UPDATE meta.loads SET run_id = 'one run, which found another month'")
    assert built(given, f"{COUNTED} AND month(month) = 1") == [("M1", "asked for", True)]


def test_an_office_that_left_its_group_is_not_zero_in_later_months() -> None:
    given = group_and_office()
    loaded(given, "commission_office", "M1", "2026-02", [earned(M1, 7)])
    loaded(given, "commission_office", "G1", "2026-02", [earned(M2, 5)], at_utc=LATER)
    assert built(given, EARNED_BY_M1) == [(70,), (7,)]


def group_that_an_office_left() -> Given:
    """M1 was in G1 from January to March; then G2 names it, and G1 has read February again."""
    given = warehouse()
    for month in ("2026-01", "2026-02", "2026-03"):
        loaded(given, "commission_office", "G1", month, [earned(M1, 5), earned(M2, 6)])
        loaded(given, "commission_office", "G2", month, [earned(M1, 5)], at_utc=LATER)
    loaded(given, "commission_office", "G1", "2026-02", [earned(M2, 6)], at_utc=LATER + timedelta(days=1))
    asked_for(given, "G1", "G2")
    return given


def test_an_office_that_moved_is_not_zero_while_the_first_groups_answers_are_loaded() -> None:
    assert built(group_that_an_office_left(), EARNED_BY_M1) == [(5,), (5,), (5,)]


def test_a_user_month_of_a_moved_office_is_unknown_if_only_the_first_group_read_it_since() -> None:
    given = group_that_an_office_left()
    of_february = "_customer = 'G2' AND month(_month) = 2"
    given.execute(f"DELETE FROM bi.commission_office WHERE {of_february}")
    given.execute("DELETE FROM meta.months WHERE customer = 'G2' AND month(month) = 2")
    user, read_since = earned({"user_id": "U1"}, 5), LATER + timedelta(days=1)
    loaded(given, "running_commissions", "G1", "2026-01", [step("M1")])
    loaded(given, "commission_user", "G1", "2026-01", [user])
    loaded(given, "commission_user", "G1", "2026-02", [], at_utc=read_since)
    loaded(given, "commission_user", "G2", "2026-02", [])  # read before it had the office
    loaded(given, "commission_user", "G2", "2026-03", [user], at_utc=LATER)
    found = built(given, "SELECT commission, is_commission_complete FROM marts.user_month ORDER BY month")
    assert found == [(5, True), (None, False), (5, True)]
    assert built(given, EARNED_BY_M1) == [(5,), (5,)]


def test_groups_do_not_overlap_in_an_office_that_moved_from_one_to_the_other() -> None:
    found = built(group_that_an_office_left(), "SELECT is_asked_twice FROM marts.customer_overlaps")
    assert found == [(False,)]


def test_a_group_that_knows_of_a_cancelled_sale_counts_if_it_names_the_office_before_and_after() -> None:
    given = group_and_office(office=FIRST_MOMENT)
    for month, offices in (("2026-02", [M2]), ("2026-03", [M1, M2])):
        loaded(given, "commission_office", "M1", month, [earned(M1, 7)])
        of_group = [earned(office, 5) for office in offices]
        loaded(given, "commission_office", "G1", month, of_group, at_utc=LATER)
    assert built(given, EARNED_BY_M1) == [(70,), (0,), (5,)]


def test_customers_name_the_offices_that_are_no_longer_refreshed() -> None:
    given = group_and_office()
    given.execute("INSERT INTO meta.clock VALUES ('Europe/Stockholm')")
    loaded(given, "commission_office", "M1", "2026-02", [earned(M1, 7)], at_utc=datetime(2026, 1, 31, 23))
    record_denial(given, "sales", "G1", LATER.replace(tzinfo=UTC))
    asked_for(given, "G1", M1="off")
    shown = "customer_id, is_active, is_refreshed, refused_reports, not_refreshed_offices, month(last_month)"
    found = built(given, f"SELECT {shown} FROM marts.customers")
    assert found == [("G1", True, False, "sales", None, 1), ("M1", False, False, None, "M1", 2)]


def test_the_newest_complete_answer_on_a_user_counts() -> None:
    given = group_and_office()
    answers = {
        "2026-01": (FIRST_MOMENT, FIRST_MOMENT, ["M1"], "G1"),
        "2026-02": (LATER, FIRST_MOMENT, ["M1"], "G1"),
        "2026-03": (FIRST_MOMENT, LATER, ["M1"], "M1"),
        "2026-04": (FIRST_MOMENT, LATER, ["M1", "M2"], "G1"),  # M1 knows but a part of what the user earned
    }
    for of_month, (group, office, offices, _) in answers.items():
        loaded(given, "commission_user", "G1", of_month, [earned({"user_id": "U1"}, 500)], at_utc=group)
        loaded(given, "commission_user", "M1", of_month, [earned({"user_id": "U1"}, 70)], at_utc=office)
        loaded(given, "running_commissions", "G1", of_month, [*map(step, offices)])
    found = built(given, "SELECT customer_id FROM marts.user_sources ORDER BY month")
    assert found == [(counted,) for *_, counted in answers.values()]


def test_of_overlapping_groups_an_office_of_a_user_counts_once(given: Given) -> None:
    cases = {
        "one office of each group": (["M1", "M3"], 570),
        "two offices of the first": (["M1", "M2"], 500),
        "two offices of the second": (["M2", "M3"], 70),
    }
    for group, members, commission in (("G1", ("M1", "M2"), 500), ("G2", ("M2", "M3"), 70)):
        totals = [earned({"office_customer_id": office}, 9) for office in members]
        loaded(given, "commission_office", group, "2026-01", totals)
        users = [earned({"user_id": user}, commission) for user in cases]
        loaded(given, "commission_user", group, "2026-01", users)
        steps = [
            {**step(office), "user_id": user}
            for user, (offices, _) in cases.items()
            for office in offices
            if office in members
        ]
        loaded(given, "running_commissions", group, "2026-01", steps)
    found = built(given, "SELECT user_id, commission FROM marts.user_month ORDER BY user_id")
    assert found == [(user, commission) for user, (_, commission) in cases.items()]


def test_a_user_works_at_the_office_with_most_of_the_months_sales(given: Given) -> None:
    for estate, office in (("E1", "M1"), ("E2", "M2"), ("E3", "M2")):
        agent = {"id": "U1", "primary_office_customer_id": office}
        sold(given, "G1", "2026-01", office, estate, agents=[agent])
    loaded(given, "commission_user", "G1", "2026-01", [earned({"user_id": "U1"}, 5)])
    assert built(given, "SELECT office_id, office_basis FROM marts.user_month") == [("M2", "this month")]


def test_a_user_without_a_sale_works_where_running_commissions_leads_or_budgets_are(given: Given) -> None:
    loaded(given, "commission_office", "G1", "2026-01", [earned(M1, 5)])
    loaded(given, "running_commissions", "G1", "2026-01", [step("M1")])
    users = [{"user_id": user, "commission": 0} for user in ("U2", "U3")]
    loaded(given, "commission_user", "G1", "2026-01", users)
    held(given, "tips_and_leads", "G1", ["2026-01"])
    lead = {"lead_id": "L1", "receiver_id": "U2", "receiver_company_customer_number": "M1"}
    rows(given, "incoming_leads", "G1", "2026-01", [lead])
    held(given, "office_budget_commission", "G1", ["2026-01"])
    budget = {"office_id": "M1", "user_id": "U3", "commission_budget": 5}
    rows(given, "office_budget_commission_history", "G1", "2026-01", [budget])
    found = built(given, "SELECT user_id, office_id FROM marts.user_month")
    assert found == [("U1", "M1"), ("U2", "M1"), ("U3", "M1")]


def test_an_event_answered_by_a_group_and_its_office_counts_once_and_equal_events_count_twice() -> None:
    given = warehouse()
    event = step("M1", estate_id="P1", exchange_rate=2)
    for customer in ("G1", "M1"):
        loaded(given, "commission_office", customer, "2026-01", [earned(M1, 5)])
        loaded(given, "running_commissions", customer, "2026-01", [event, event])
    found = built(given, "SELECT _customer, amount_sek_excl_vat FROM marts.running_commissions")
    assert found == [("M1", Decimal(10)), ("M1", Decimal(10))]


def test_an_old_number_in_a_group_is_the_only_office_with_that_number() -> None:
    given = warehouse()
    loaded(given, "commission_office", "M11", "2026-01", [earned({"customer_id": 11}, 5)])
    rows_of_group = [earned({"customer_id": 11}, 5), earned({"office_customer_id": "12"}, 7)]
    loaded(given, "commission_office", "G1", "2026-01", rows_of_group)
    found = built(given, "SELECT office_id, _customer, commission FROM marts.office_month")
    assert sorted(found) == [("12", "G1", Decimal(7)), ("M11", "M11", Decimal(5))]


def test_an_ambiguous_old_number_counts_at_no_office_and_makes_months_incomplete() -> None:
    given = warehouse()
    for office in ("M11", "N11"):
        sold(given, "G1", "2026-01", office, f"E{office}")
    rows_of_group = [earned({"customer_id": 11}, 5), earned({"office_customer_id": "M1"}, 7)]
    loaded(given, "commission_office", "G1", "2026-01", rows_of_group)
    loaded(given, "commission_office", "N11", "2026-02", [earned({"customer_id": 11}, 9)])
    shown = "office_id, month(month), commission, is_commission_complete"
    which = "commission IS NOT NULL OR month < '2026-02-01'"
    assert built(given, f"SELECT {shown} FROM marts.office_month WHERE {which}") == [
        ("M1", 1, Decimal(7), True), ("M11", 1, None, False),
        ("N11", 1, None, False), ("N11", 2, Decimal(9), True),
    ]  # fmt: skip


def test_a_row_of_an_office_and_month_leads_to_request_and_landing_file(given: Given) -> None:
    report = {"report": "commission_office", "path": "/Report/{customerId}", "is_on": True}
    write_configured(given, "customers", [{"customer": "G1", "is_active": True}])
    write_configured(given, "reports", [report])
    loaded(given, "commission_office", "G1", "2026-01", [earned(M1, 5)])
    given.execute("UPDATE meta.loads SET landing = 'here', sha256 = 'abc', requests = 1")
    shown = "report, customer_id, tables, path, requests, landing, sha256"
    found = built(given, f"SELECT {shown} FROM marts.sources_of('M1', DATE '2026-01-01')")
    assert found == [("commission_office", "G1", "bi.commission_office", "/Report/G1", 1, "here", "abc")]
    assert given.execute("FROM marts.sources_of('M1', DATE '2026-02-01')").fetchall() == []


def test_a_row_of_a_user_and_month_leads_to_every_answer_that_it_rests_on(given: Given) -> None:
    loaded(given, "commission_office", "G1", "2026-01", [earned(M1, 5)])
    loaded(given, "commission_user", "G1", "2026-01", [earned({"user_id": "U1"}, 5)])
    loaded(given, "commission_user", "G2", "2026-01", [earned({"user_id": "U2"}, 5)])
    loaded(given, "running_commissions", "G1", "2026-01", [step("M1")])
    held(given, "tips_and_leads", "G1", ["2026-01"])
    query = "SELECT report, customer_id FROM marts.sources_of_user('{}', DATE '2026-01-01')"
    found = [("commission_user", "G1"), ("running_commissions", "G1")]
    assert built(given, query.format("U1")) == found
    assert given.execute(query.format("U2")).fetchall() == [("commission_user", "G2")]


def test_an_office_counts_under_the_trademark_in_its_name(given: Given) -> None:
    for office, name in (("M1", "Ekbacken Uppsala"), ("M2", "Torget")):
        sold(given, "G1", "2026-01", office, f"E{office}", office_name=name)
    offices = ("M1", "M2")
    trademarks(given, "G1", Ek=offices, Ekbacken=offices, Backe=offices)
    found = built(given, "SELECT office_id, brand, trademarks FROM marts.offices")
    assert found == [("M1", "Ekbacken", "Backe, Ek, Ekbacken"), ("M2", "Backe", "Backe, Ek, Ekbacken")]


def test_trademarks_may_list_offices_by_number_or_name_none(given: Given) -> None:
    for customer, office in (("G1", "M1"), ("G1", "M2"), ("M3", "M3"), ("G1", "M4")):
        sold(given, customer, "2026-01", office, f"E{office}")
    trademarks(given, "G1", Ek=["2", "FIR4"])
    trademarks(given, "M3", Alm=[])
    found = built(given, "SELECT office_id, brand FROM marts.offices")
    assert found == [("M1", None), ("M2", "Ek"), ("M3", "Alm"), ("M4", "Ek")]


def test_the_region_of_an_office_is_its_own_or_else_that_of_its_group(given: Given) -> None:
    for office in ("M1", "M2"):
        sold(given, "G1", "2026-01", office, f"E{office}")
    regions = [
        {"customer": "G1", "is_active": True, "region": "Coast"},
        {"customer": "M2", "is_active": False, "region": "Inland"},
    ]
    write_configured(given, "customers", regions)
    assert built(given, "SELECT office_id, region FROM marts.offices") == [("M1", "Coast"), ("M2", "Inland")]
