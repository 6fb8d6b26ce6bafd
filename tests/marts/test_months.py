"""Marts of offices and months, and of users and months, against a few written rows."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from tests.marts.given import (
    Given,
    Row,
    asked_for,
    build_for,
    built,
    earned,
    held,
    in_quarantine,
    loaded,
    rows,
    sold,
    warehouse,
)
from warehouse.marts.queries import SQL

M1, M2 = {"office_customer_id": "M1"}, {"office_customer_id": "M2"}


def test_a_loaded_month_without_rows_is_zero_and_an_unloaded_month_has_no_row(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [earned(M1, 500)])
    loaded(given, "commission_office", "M1", "2026-03", [])
    found = built(given, "SELECT strftime(month, '%m'), commission FROM marts.office_month ORDER BY month")
    assert found == [("01", Decimal(500)), ("03", Decimal(0))]


def test_an_office_month_with_rows_in_quarantine_is_unknown_and_not_zero(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [])
    loaded(given, "commission_office", "M1", "2026-02", [earned(M1, 5)])
    loaded(given, "commission_office", "G1", "2026-01", [earned(M2, 70)])
    loaded(given, "commission_office", "M3", "2026-01", [earned({"office_customer_id": "M3"}, 8)])
    for report in ("running_commissions", "tips_and_leads"):
        held(given, report, "M1", ["2026-01", "2026-02"])
    for report, customer in (
        ("commission_office", "M1"),
        ("commission_office", "G1"),
        ("running_commissions", "M1"),
    ):
        in_quarantine(given, report, customer)
    in_quarantine(given, "tips_and_leads", "M1", "tips")
    shown = "commission, is_commission_complete, running_commission_sek_excl_vat, tip_count"
    found = built(given, f"SELECT office_id, month(month), {shown} FROM marts.office_month ORDER BY ALL")
    assert found == [
        ("M1", 1, None, False, None, None),
        ("M1", 2, Decimal(5), True, Decimal(0), 0),
        ("M2", 1, Decimal(70), True, None, None),
        ("M3", 1, Decimal(8), True, None, None),
    ]
    shown = "commission, is_commission_complete, missing_offices"
    found = built(given, f"SELECT {shown} FROM marts.chain_month WHERE month = '2026-01-01'")
    [(commission, is_complete, missing)] = found
    assert (commission, is_complete) == (Decimal(78), False)
    assert str(missing).startswith("M1 (commission incomplete: rows in quarantine, ")
    remembered = (
        "SELECT row_count, commission FROM marts.month_total_versions WHERE report = 'commission_office' "
    )
    assert built(given, f"{remembered} AND office_id = 'M1' AND month = '2026-01-01'") == [(0, None)]


def test_a_month_of_which_some_rows_are_in_quarantine_is_not_complete(given: Given) -> None:
    months = ("2026-01", "2026-02", "2026-03")
    for of_month in months:
        loaded(given, "commission_office", "M1", of_month, [earned(M1, 500)])
    step = {"customer_id": "M1", "user_id": "U1", "amount": 5, "exchange_rate": 1}
    lead = {"lead_id": "L1", "receiver_company_customer_number": "M1", "is_removed": False}
    cases = [("running_commissions", "running_commissions", step), ("tips_and_leads", "incoming_leads", lead)]
    for (report, table, row), of_month in zip(cases, months, strict=False):
        held(given, report, "M1", months)
        rows(given, table, "M1", of_month, [row])
    shown = (
        "SELECT is_commission_complete, is_complete, missing_offices FROM marts.chain_month ORDER BY month"
    )
    assert built(given, shown) == [(True, True, None)] * 3
    for (report, table, _), of_month in zip(cases, months, strict=False):
        in_quarantine(given, report, "M1", table, of_month)
    lacking = "M1 ({} incomplete: rows in quarantine)".format
    assert built(given, shown) == [
        (True, False, lacking("running commission")), (True, False, lacking("leads")), (True, True, None),
    ]  # fmt: skip


def test_a_commission_without_an_amount_or_row_is_unknown_if_another_report_has_one(given: Given) -> None:
    for office, entries in (("M1", [M1]), ("M2", [M2]), ("M3", [])):
        loaded(given, "commission_office", office, "2026-01", entries)
        held(given, "sales", office, ["2026-01"])
    for office in ("M1", "M3"):
        sale = {"office_customer_id": office, "id": office, "contract_day": datetime(2026, 1, 15)}
        rows(given, "sales_estates", office, "2026-01", [sale])
    query = "SELECT office_id, commission, is_commission_complete FROM marts.office_month ORDER BY 1"
    assert built(given, query) == [("M1", None, False), ("M2", None, True), ("M3", None, False)]
    [(is_complete, missing)] = built(given, "SELECT is_complete, missing_offices FROM marts.chain_month")
    assert (is_complete, str(missing).startswith("M1 (commission without an amount")) == (False, True)


def test_a_row_without_a_readable_date_may_be_of_any_current_month_of_its_load() -> None:
    given = warehouse()
    for of_month in ("2026-01", "2026-02", "2026-03"):
        loaded(given, "commission_office", "M1", of_month, [earned(M1, 5)])
    of_three = held(given, "running_commissions", "M1", ["2026-01", "2026-02", "2026-03"])
    held(given, "running_commissions", "M1", ["2026-03"])
    given.execute(
        "INSERT INTO meta.quarantine_rows (load_id, report, customer, table_name, is_undatable) VALUES "
        f"('{of_three}', 'running_commissions', 'M1', 'running_commissions', true)"
    )
    shown = "month(month), running_commission_sek_excl_vat"
    found = built(given, f"SELECT {shown} FROM marts.office_month ORDER BY 1")
    assert found == [(1, None), (2, None), (3, Decimal(0))]


def test_a_user_month_with_rows_in_quarantine_is_unknown_but_nested_rows_do_not_matter() -> None:
    given = warehouse()
    for month, users in (("2025-12", ["U1", "U2"]), ("2026-01", ["U2"])):
        loaded(given, "commission_office", "M1", month, [earned(M1, 10)])
        loaded(given, "commission_user", "M1", month, [earned({"user_id": user}, 5) for user in users])
    shown = "user_id, commission, is_commission_complete FROM marts.user_month WHERE month = '2026-01-01'"
    nested = given.execute("SELECT table_name FROM meta.tables WHERE parent_name IS NOT NULL").fetchall()
    in_quarantine(given, "commission_user", "M1", nested[0][0])
    assert built(given, f"SELECT {shown} ORDER BY ALL") == [
        ("U1", Decimal(0), True),
        ("U2", Decimal(5), True),
    ]
    in_quarantine(given, "commission_user", "M1")
    assert built(given, f"SELECT {shown} ORDER BY ALL") == [("U1", None, False), ("U2", Decimal(5), True)]


def test_a_month_that_is_over_and_was_last_read_before_its_end_is_not_complete(given: Given) -> None:
    for office, read_at in (("M1", datetime(2026, 2, 1, 5)), ("M2", datetime(2026, 1, 30, 5))):
        row, is_open = earned({"office_customer_id": office}, 5), office == "M2"
        user = earned({"user_id": f"U{office}"}, 5)
        for report, given_row in (("commission_office", row), ("commission_user", user)):
            loaded(given, report, office, "2026-01", [given_row], at_utc=read_at, is_open=is_open)
    query = "SELECT office_id, is_open, is_commission_complete FROM marts.office_month ORDER BY 1"
    assert built(given, query) == [("M1", False, True), ("M2", True, False)]
    found = built(given, "SELECT user_id, is_open, is_commission_complete FROM marts.user_month ORDER BY 1")
    assert found == [("UM1", False, True), ("UM2", True, False)]
    found = built(given, "SELECT missing_offices, is_complete FROM marts.chain_month")
    assert found == [("M2 (commission read only to 30 January 2026)", False)]
    given.execute("UPDATE meta.months SET fetched_at_utc = '2026-01-30', state = 'open'")
    assert built(given, "SELECT missing_offices, is_complete FROM marts.chain_month") == [(None, True)]


def test_the_commission_of_sales_is_computed_from_the_average_if_there_are_valuations() -> None:
    mixed = earned(M1, 1300, parts=2, sold_average_commission=500, valuation_parts=1)
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [mixed])
    found = built(given, "SELECT commission, sold_commission FROM marts.office_month")
    assert found == [(Decimal(1300), Decimal(1000))]


def test_the_commission_of_sales_is_exact_if_the_report_of_sales_alone_is_loaded() -> None:
    mixed = earned(M1, 1300, parts=3, sold_average_commission=333.33, valuation_parts=1)
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [mixed])
    loaded(given, "commission_office_sale", "M1", "2026-01", [earned(M1, 1000.01, parts=3)])
    assert built(given, "SELECT sold_commission FROM marts.office_month") == [(Decimal("1000.01"),)]


def test_a_running_commission_without_an_office_counts_at_the_requested_or_only_office(given: Given) -> None:
    cases = {"G1": (["M1"], "0"), "G2": (["G2", "M2"], None), "G3": (["M3", "M4"], "")}
    asked_for(given, *cases)
    for customer, (offices, named) in cases.items():
        earners = [earned({"office_customer_id": office}, 0) for office in offices]
        loaded(given, "commission_office", customer, "2026-01", earners)
        step = {"customer_id": named, "user_id": f"U {customer}", "amount": 100, "exchange_rate": 1}
        loaded(given, "running_commissions", customer, "2026-01", [step])
    query = "SELECT office_id FROM marts.office_month WHERE running_commission_sek_excl_vat = 100 ORDER BY 1"
    check = (SQL / "checks/running_commissions_have_an_office.sql").read_text()
    build_for(given, query, check)
    assert given.execute(query).fetchall() == [("G2",), ("M1",)]
    assert len(given.execute(check).fetchall()) == 1


def test_a_month_with_a_running_commission_that_cannot_be_turned_into_sek_is_unknown(given: Given) -> None:
    step = {"customer_id": "M1", "user_id": "U1", "amount": 100, "exchange_rate": 1, "estate_id": "P1"}
    others = {"2026-01": (100, None), "2026-02": (0, 0), "2026-03": (100, 2)}
    for of_month, (amount, rate) in others.items():
        loaded(given, "commission_office", "M1", of_month, [earned(M1, 0)])
        other = {**step, "amount": amount, "exchange_rate": rate}
        loaded(given, "running_commissions", "M1", of_month, [step, other])
    query = "SELECT running_commission_sek_excl_vat::INT FROM marts.office_month ORDER BY month"
    assert built(given, query) == [(None,), (100,), (300,)]


def test_leads_count_for_the_office_they_belong_to(given: Given) -> None:
    loaded(given, "commission_office", "G1", "2026-01", [earned(M1, 0), earned(M2, 0)])
    held(given, "tips_and_leads", "G1", ["2026-01"])
    sent = {"sender_company_customer_number": "M1"}
    received = {"lead_id": "L1", "receiver_company_customer_number": "M2"}
    rows(given, "incoming_leads", "G1", "2026-01", [received])
    rows(given, "outgoing_leads", "G1", "2026-01", [{"lead_id": "L2", **sent}])
    rows(given, "tips", "G1", "2026-01", [{"tip_id": "T1", **sent}])
    counts = "incoming_lead_count, outgoing_lead_count, tip_count"
    found = built(given, f"SELECT office_id, {counts} FROM marts.office_month")
    assert found == [("M1", 0, 1, 1), ("M2", 1, 0, 0)]


def test_agents_who_left_dilute_no_average_and_there_is_none_without_the_user_report(given: Given) -> None:
    for month, users in (("2026-01", ["U1", "U2"]), ("2026-02", ["U1"]), ("2026-03", ["U1"])):
        loaded(given, "commission_office", "M1", month, [earned(M1, 60)])
        if month != "2026-03":
            loaded(given, "commission_user", "M1", month, [earned({"user_id": user}, 30) for user in users])
    query = "SELECT active_agent_count, commission_per_active_agent FROM marts.office_month ORDER BY month"
    assert built(given, query) == [(2, Decimal(30)), (1, Decimal(60)), (None, None)]


U1 = {"user_id": "U1"}


def user_report(given: Given, customer: str, month: str, users: list[Row]) -> None:
    loaded(given, "commission_user", customer, month, users)


def test_a_user_is_zero_in_loaded_months_after_the_first_trace_and_absent_before(given: Given) -> None:
    user_report(given, "M1", "2026-01", [])
    user_report(given, "M1", "2026-02", [earned(U1, 70)])
    user_report(given, "M1", "2026-03", [])
    found = built(given, "SELECT strftime(month, '%m'), commission FROM marts.user_month")
    assert found == [("02", Decimal(70)), ("03", Decimal(0))]


def test_the_office_of_a_user_is_that_of_the_months_sales_and_carried_to_other_months(given: Given) -> None:
    for month in ("2026-01", "2026-02", "2026-03"):
        user_report(given, "G1", month, [earned(U1, 70)])
    sold(given, "G1", "2026-02", "M1", "E1", agents=[{"id": "U1", "primary_office_customer_id": "M2"}])
    found = built(given, "SELECT strftime(month, '%m'), office_id, office_basis FROM marts.user_month")
    assert found == [("01", "M2", "later month"), ("02", "M2", "this month"), ("03", "M2", "earlier month")]


def test_a_user_without_a_trace_belongs_to_the_requested_customer_if_that_is_an_office() -> None:
    given = warehouse()
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 7)])
    user_report(given, "M1", "2026-01", [earned(U1, 0, 0, 0)])
    assert built(given, "SELECT office_id, office_basis FROM marts.user_month") == [("M1", "customer asked")]


def test_a_user_without_a_commission_report_has_unknown_commission(given: Given) -> None:
    step = {"customer_id": "M1", "user_id": "U1", "amount": 100, "exchange_rate": 1}
    loaded(given, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 7)])
    loaded(given, "running_commissions", "M1", "2026-01", [step])
    held(given, "tips_and_leads", "M1", ["2026-01"])
    amounts = "commission, running_commission_sek_excl_vat, incoming_lead_count"
    assert built(given, f"SELECT {amounts} FROM marts.user_month") == [(None, Decimal(100), 0)]


def test_a_user_is_active_in_the_months_with_a_trace_whatever_comes_later(given: Given) -> None:
    idle, busy, cancelled = earned(U1, 0, parts=0), earned(U1, 7), earned(U1, -2, parts=0)
    for month, users in enumerate(([idle], [busy], [], [busy], [cancelled]), 1):
        user_report(given, "M1", f"2026-0{month}", users)
    shown = "month(month), is_active, month(first_active_month), month(last_active_month)"
    found = built(given, f"SELECT {shown} FROM marts.user_month")
    assert found == [
        (1, False, 2, 4), (2, True, 2, 4), (3, False, 2, 4), (4, True, 2, 4), (5, False, 2, 4)
    ]  # fmt: skip


def test_an_office_without_a_trace_in_three_months_has_closed_and_is_compared_and_ranked_no_more() -> None:
    given = warehouse()
    for month, amount in (("2025-03", 9), ("2026-01", 7), ("2026-02", 0), ("2026-03", 0), ("2026-04", 0)):
        for office, found in (("M1", earned(M1, amount, parts=int(amount > 0))), ("M2", earned(M2, 5))):
            loaded(given, "commission_office", office, month, [found])
            user_report(given, office, month, [])
    held(given, "tips_and_leads", "M1", ["2026-04"])
    lead = {"lead_state": "New", "created_at": datetime(2026, 5, 20)}
    leads = [{**lead, "lead_id": place, "receiver_company_id": office} for place, office in enumerate("112")]
    rows(given, "incoming_leads", "M1", "2026-04", leads)
    untouched = f"SELECT office_id FROM ({(SQL / 'page' / 'untouched.sql').read_text('utf-8')})"
    closed = "SELECT DISTINCT office_id, closed_after_month FROM marts.office_month ORDER BY 1"
    changes = (
        "SELECT is_closed, commission_change FROM marts.year_over_year WHERE month = '2026-03-01' "
        "ORDER BY office_id"
    )
    ranked = "SELECT max(month) FROM marts.leaderboard WHERE earner_id = 'M1' AND period = 'year'"
    of_member = "SELECT max(month) FROM marts.commission_drivers WHERE member_id"
    driven = f"{of_member} = 'M1' UNION ALL {of_member} = 'M2'"
    queries = (closed, changes, ranked, driven, untouched)
    build_for(given, *queries)
    assert [given.execute(query).fetchall() for query in queries] == [
        [("M1", date(2026, 1, 1)), ("M2", None)],
        [(True, None), (False, 0)],
        [(date(2026, 1, 1),)],
        [(date(2026, 1, 1),), (date(2026, 4, 1),)],
        [("M2",), ("M1",)],  # although M1 has more untouched leads
    ]
    given.execute("DELETE FROM meta.months WHERE month = '2026-03-01' AND report = 'commission_user'")
    assert built(given, closed) == [("M1", None), ("M2", None)]


def test_a_late_step_of_a_commission_is_no_activity_if_a_user_report_is_loaded(given: Given) -> None:
    user_report(given, "M1", "2026-01", [earned(U1, 7)])
    held(given, "commission_user", "M1", ["2026-02"])
    for office, users in {"M1": ["U1", "U2"], "M3": ["U3"]}.items():
        loaded(given, "commission_office", office, "2026-02", [earned({"office_customer_id": office}, 7)])
        step = {"customer_id": office, "amount": 100, "exchange_rate": 1}
        loaded(given, "running_commissions", office, "2026-02", [{**step, "user_id": user} for user in users])
    query = "SELECT user_id, is_active FROM marts.user_month WHERE month = '2026-02-01'"
    assert built(given, query) == [("U1", False), ("U2", False), ("U3", True)]
