"""The mart of reconciliation against a small world in which all reports agree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from tests.marts.given import (
    FIRST_MOMENT,
    Given,
    asked_for,
    build,
    built,
    earned,
    held,
    in_quarantine,
    loaded,
    month,
    sold,
    warehouse,
)
from warehouse.ledger.changes import ChangedMonth, record_disagreements
from warehouse.marts.queries import SQL
from warehouse.store.meta_schema import aware, write_configured

Earners = Mapping[str, Mapping[str, float]]
NOT_RECONCILED = (
    "SELECT office_id, compared, measure, difference::DOUBLE, likely_reason FROM marts.reconciliation "
    "WHERE NOT is_reconciled ORDER BY ALL"
)


def one_sale(connection: Given, of_month: str = "2026-01") -> None:
    """One sale of M1 in a month, shared 60 to 40 with an agent of M2, in all four reports."""
    parts = {"M1": ("U1", 0.6), "M2": ("U2", 0.4)}
    offices = [
        earned({"office_customer_id": office}, 100 * part, part, 2000 * part)
        for office, (_, part) in parts.items()
    ]
    loaded(connection, "commission_office", "G1", of_month, offices)
    users = [earned({"user_id": user}, 100 * part, part, 2000 * part) for user, part in parts.values()]
    loaded(connection, "commission_user", "G1", of_month, users)
    months = [
        {"office_id": office, "month": of_month[-1], "commission": 100 * part,
         "sold_total_price": 2000 * part, "sold_estate_parts": part} for office, (_, part) in parts.items()
    ]  # fmt: skip
    loaded(connection, "commission_office_by_month", "G1", of_month, months)
    agents = [
        {"id": user, "primary_office_customer_id": office, "commission_value": 100 * part,
         "commission_percentage_of_total": 100 * part} for office, (user, part) in parts.items()
    ]  # fmt: skip
    sold(connection, "G1", of_month, "M1", f"E{of_month}", final_price=2000, agents=agents)


@pytest.fixture
def given() -> Given:
    return warehouse(one_sale)


def test_a_sale_shared_between_two_offices_reconciles(given: Given) -> None:
    found = built(given, "SELECT count(*), bool_and(is_reconciled) FROM marts.reconciliation")
    assert found == [(20, True)]


SPOILED = {
    "2026-01": ("commission_office SET commission = commission + 0.05 WHERE office_customer_id = 'M2'",
                {("M2", "by-month report"), ("M2", "user report"), ("M2", "sales list")}),
    "2026-02": ("commission_user SET commission = commission + 0.05 WHERE user_id = 'U1'",
                {("M1", "user report")}),
    "2026-03": ("commission_office_by_month SET commission = commission - 0.05 WHERE office_id = 'M1'",
                {("M1", "by-month report")}),
    "2026-04": ("sales_agents SET commission_value = commission_value + 0.05 WHERE id = 'U2'",
                {("M2", "sales list"), ("M1", "shares of agents")}),
    "2026-05": ("sales_estates SET commission = commission + 0.05 WHERE true", {("M1", "shares of agents")}),
    "2026-06": ("commission_user SET commission = commission + 0.02 WHERE user_id = 'U1'", set()),
    "2026-07": ("commission_user SET commission = commission + 0.03 WHERE user_id = 'U1'",
                {("M1", "user report")}),
}  # fmt: skip
"""Of each month another report is changed; whose comparisons that shows in.

Amounts of users may differ by the rounding of each.
"""


def test_more_than_rounding_in_one_report_is_found() -> None:
    given = warehouse()
    for of_month, (change, _) in SPOILED.items():
        one_sale(given, of_month)
        given.execute(f"UPDATE bi.{change} AND _month = '{of_month}-01'")
    query = "SELECT strftime(month, '%Y-%m'), office_id, compared FROM marts.reconciliation"
    found = built(given, f"{query} WHERE NOT is_reconciled")
    expected = {(of_month, *place) for of_month, (_, places) in SPOILED.items() for place in places}
    assert {*found} == expected


def test_a_report_that_is_not_loaded_is_named_and_not_judged(given: Given) -> None:
    given.execute("DELETE FROM meta.months WHERE report = 'commission_user'; DELETE FROM bi.commission_user")
    shown = "compared_amount, difference, is_reconciled, likely_reason"
    found = built(given, f"SELECT DISTINCT {shown} FROM marts.reconciliation WHERE compared = 'user report'")
    assert found == [(None, None, None, "month not loaded in the other report, or not in the assumed shape")]


def test_quarantined_rows_are_named_as_the_likely_reason(given: Given) -> None:
    given.execute(
        "DELETE FROM bi.commission_user WHERE user_id = 'U1'; UPDATE bi.sales_agents SET commission_value = 1"
    )
    in_quarantine(given, "commission_user", "G1")
    query = "SELECT office_id, likely_reason FROM marts.reconciliation WHERE likely_reason <> ''"
    found = {*built(given, query)}
    assert found == {("M1", "rows in quarantine"), ("M1", "not explained"), ("M2", "not explained")}


@pytest.mark.parametrize(
    ("read_on", "found"),
    [(-3, {"an answer that is no longer refreshed: M1: customer switched off"}), (0, {"not explained"})],
)
def test_an_answer_no_longer_refreshed_is_the_likely_reason_if_the_other_was_read_later(
    given: Given, read_on: int, found: set[str]
) -> None:
    row = earned({"office_customer_id": "M1"}, 1)
    loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=days(read_on))
    given.execute("DELETE FROM meta.months WHERE (report, customer) = ('commission_office', 'G1')")
    asked_for(given, "G1", M1="off")
    assert {reason for *_, reason in built(given, NOT_RECONCILED)} == found


def test_an_office_that_the_office_report_leaves_out_is_one_disagreement(given: Given) -> None:
    given.execute("DELETE FROM bi.commission_office WHERE office_customer_id = 'M1'")
    shown = "office_id, differing_reports, odd_report, commission_difference"
    assert built(given, f"SELECT {shown} FROM marts.disagreements") == [
        ("M1", "by-month report, sales list, user report", "office report", None)
    ]
    assert len(given.execute(NOT_RECONCILED).fetchall()) == 9


def test_shares_that_only_an_unloaded_office_can_list_are_a_reason_and_no_violation() -> None:
    given = warehouse()
    for of_month, user, amount in (("2026-01", "U2", 0), ("2026-02", "U1", 60), ("2026-03", "U1", 99)):
        loaded(given, "commission_office", "M1", of_month, [earned({"office_customer_id": "M1"}, 60)])
        agent = {"id": user, "primary_office_customer_id": f"M{user[1]}", "commission_value": amount}
        sold(given, "M1", of_month, "M1", of_month, agents=[agent], commission=amount)
    query = "SELECT max(month), min(month), max(likely_reason) FROM marts.disagreements"
    reason = "sale shared with an office whose sales are not loaded"
    assert built(given, query) == [(month("2026-03"), month("2026-01"), reason)]
    [(found, *_)] = given.execute((SQL / "checks" / "reports_reconcile.sql").read_text("utf-8")).fetchall()
    assert found == month("2026-03")


REPORTS = ("commission_office", "commission_office_by_month", "commission_user", "sales")


def days(number: float) -> datetime:
    """The time this many days after all four reports were read."""
    return FIRST_MOMENT + timedelta(days=number)


def disagreements(connection: Given) -> list[ChangedMonth]:
    build(connection, "reconciliation", "month_total_versions", "user_month_versions")
    return record_disagreements(connection, REPORTS)


def cancelled(connection: Given, seen_at: datetime) -> None:
    """The sale is cancelled, and only the by-month report is read again."""
    loaded(connection, "commission_office_by_month", "G1", "2026-01", [], at_utc=seen_at)


def test_reports_that_were_read_long_before_one_that_disagrees_are_due(given: Given) -> None:
    cancelled(given, days(10))
    [load] = given.execute("SELECT load_id FROM meta.months WHERE report = $1", [REPORTS[1]]).fetchone() or ()
    newest = aware(days(10))
    found = [ChangedMonth(one, "G1", month("2026-01"), newest, newest, 0, load) for one in REPORTS]
    assert disagreements(given) == [found[0], *found[2:]]
    assert record_disagreements(given, REPORTS) == []  # they are due already


def test_reports_that_disagree_and_were_read_within_two_days_are_not_due(given: Given) -> None:
    cancelled(given, days(1.9))
    assert disagreements(given) == []


def test_a_lasting_disagreement_is_due_once_for_each_turn(given: Given) -> None:
    others, by_month = (REPORTS[0], *REPORTS[2:]), REPORTS[1:2]
    cancelled(given, days(10))
    found = [len(disagreements(given))]
    for at, reports in ((11, others), (20, by_month), (21, others)):
        for report in reports:
            held(given, report, "G1", ["2026-01"], at_utc=days(at))
        found.append(len(disagreements(given)))
    assert found == [3, 0, 3, 0]


def test_reports_that_agree_are_not_due_however_far_apart_they_were_read(given: Given) -> None:
    held(given, "commission_user", "G1", ["2026-01"], at_utc=days(10))
    assert disagreements(given) == []


@pytest.mark.parametrize(
    ("changed_months", "promised"),
    [(12, "; the office report is requested again by the next nightly run"), (0, "")],
)
def test_the_report_that_was_read_later_is_named_and_the_other_is_asked_again_if_the_settings_let_it(
    given: Given, changed_months: int, promised: str
) -> None:
    write_configured(given, "rereading", [{"changed_months": changed_months}])
    cancelled(given, days(10))
    [reason] = {reason for *_, reason in built(given, NOT_RECONCILED)}
    assert reason == f"read on different days: the by-month report was read later, on 2026-06-11{promised}"


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (0, "restated between two readings: the office report was read later, on 2026-06-02"),
        (1, "not explained"),
    ],
)
def test_restated_is_said_only_where_the_report_that_was_read_later_has_another_total_since(
    given: Given, before: int, reason: str
) -> None:
    more = "UPDATE bi.commission_office SET commission = commission + $1 WHERE office_customer_id = 'M1'"
    given.execute(more, [before])
    build(given, "reconciliation")
    held(given, "commission_office", "G1", ["2026-01"], at_utc=days(1))
    given.execute(more, [1 - before])
    assert {reason for *_, reason in built(given, NOT_RECONCILED)} == {reason}


def offices_read(given: Given, at: float, *of_m1: float) -> None:
    """The office report has these amounts for M1, and M2's are unchanged."""
    m2 = earned({"office_customer_id": "M2"}, 40, 0.4, 800)
    offices = [earned({"office_customer_id": "M1"}, *of_m1), m2]
    loaded(given, "commission_office", "G1", "2026-01", offices, at_utc=days(at))


def without_commission(given: Given, at: float) -> None:
    """The office report of M1 has its row, without a commission."""
    offices_read(given, at, 60, 0.6, 1200)
    given.execute("UPDATE bi.commission_office SET commission = NULL WHERE office_customer_id = 'M1'")


def test_a_row_without_its_amount_beside_a_number_is_a_disagreement(given: Given) -> None:
    without_commission(given, 0)
    reason = "the office report has no row with the amount"
    found = {(office, compared, why) for office, compared, _, _, why in built(given, NOT_RECONCILED)}
    assert found == {("M1", one, reason) for one in ("by-month report", "user report", "sales list")}


def test_an_amount_that_a_report_gives_nowhere_is_not_judged(given: Given) -> None:
    given.execute("UPDATE bi.commission_office SET commission = NULL")
    assert built(given, NOT_RECONCILED) == []


def is_due(connection: Given) -> bool:
    return "commission_office" in {one.report for one in disagreements(connection)}


def test_a_report_without_its_amount_is_due_at_once_and_then_every_week(given: Given) -> None:
    found = []
    for at in (0.5, 1.5, 8.5):
        without_commission(given, at)
        found.append(is_due(given))
        held(given, "sold_estates", "G1", ["2026-02"], at_utc=days(at + 6.5))
        found.append(is_due(given))
    assert found == [True, False, False, True, True, False]


def test_an_amount_that_all_reports_lack_is_due_and_its_month_not_complete_if_it_was_known() -> None:
    given = warehouse()
    asked_for(given, "M1")
    complete = "SELECT is_commission_complete FROM marts.office_month WHERE month = '2026-01-01'"
    found = []
    for amount, at in ((100, 0), (None, 1), (0, 2)):
        row = {**earned({"office_customer_id": "M1"}, 100), "commission": amount}
        loaded(given, "commission_office", "M1", "2026-01", [row], at_utc=days(at))
        found.append((is_due(given), given.execute(complete).fetchall()))
    assert found == [(False, [(True,)]), (True, [(False,)]), (False, [(True,)])]


def test_an_amount_that_becomes_null_where_null_is_written_for_0_is_complete() -> None:
    given = warehouse()
    for amount, at in ((100, 0), (None, 1)):
        row = {**earned({"office_customer_id": "M1"}, 100), "commission": amount}
        never = {**earned({"office_customer_id": "M2"}, 0), "commission": None}
        loaded(given, "commission_office", "M1", "2026-01", [row, never], at_utc=days(at))
        build(given, "month_total_versions")
    assert not is_due(given)
    lacking = given.execute("SELECT DISTINCT lacks_amount FROM marts.office_sources")
    assert lacking.fetchall() == [(False,)]


def test_an_office_or_its_users_that_became_0_are_asked_once_more_for_each_turn(given: Given) -> None:
    found = []
    for at in (0.5, 1.5, 28):
        offices_read(given, at, 0, 0, 0)
        found.append(is_due(given))
    assert found == [True, False, True]


def test_a_user_of_two_offices_is_held_against_each_with_what_its_own_report_says() -> None:
    given = warehouse()
    for office, amount in (("M1", 70), ("M2", 5)):
        by_office(given, "2026-01", 0, {office: {"U1": amount}})
    sold(given, "M1", "2026-01", "M1", "E1", agents=[{"id": "U1", "primary_office_customer_id": "M1"}])
    query = "SELECT office_id, compared_amount, is_reconciled FROM marts.reconciliation WHERE compared = "
    found = built(given, f"{query} 'user report' AND measure = 'commission' ORDER BY office_id")
    assert found == [("M1", 70, True), ("M2", 5, True)]


USERS = {"M1": {"U1": 60}, "M2": {"U2": 40}}


def by_office(given: Given, of_month: str, at: float, users: Earners) -> None:
    """Each of two offices answers for a month with its users' earnings, and their sum."""
    for office, amounts in users.items():
        total = earned({"office_customer_id": office}, sum(amounts.values()))
        loaded(given, "commission_office", office, of_month, [total], at_utc=days(at))
        own = [earned({"user_id": user}, amount) for user, amount in amounts.items()]
        loaded(given, "commission_user", office, of_month, own, at_utc=days(at))


@pytest.mark.parametrize(
    ("users", "is_moved"),
    [({"M1": {}, "M2": {"U1": 60, "U2": 40}}, True), ({"M1": {"U1": 10}, "M2": {"U2": 90}}, False)],
)
def test_a_users_past_under_another_office_makes_both_due(users: Earners, *, is_moved: bool) -> None:
    given = warehouse()
    asked_for(given, "M1", "M2")
    by_office(given, "2024-05", 0, USERS)
    by_office(given, "2026-05", 0, USERS)
    build(given, "month_total_versions", "user_month_versions")
    by_office(given, "2026-05", 1, users)
    both = [(report, office) for report in REPORTS[::2] for office in ("M1", "M2")]
    found = disagreements(given)
    due = [(one.report, one.customer) for one in found if one.month == month("2024-05")]
    assert due == (both if is_moved else [])
