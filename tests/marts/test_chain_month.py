"""Marts of the chain, its brands and regions: what adds up, and what must not look complete."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from tests.marts.given import (
    FIRST_MOMENT,
    Given,
    Row,
    asked_for,
    build,
    built,
    earned,
    held,
    loaded,
    trademarks,
    warehouse,
)
from warehouse.ledger.ledger import record_denial
from warehouse.store.meta_schema import write_configured

M1, M2, M3 = ({"office_customer_id": office} for office in ("M1", "M2", "M3"))
COMPLETE = (
    "SELECT month(month), commission, office_count, expected_office_count, missing_offices, is_complete "
    "FROM marts.chain_month ORDER BY month"
)


def office_reports(given: Given, customer: str, *months: str, offices: list[Row]) -> None:
    for month in months:
        loaded(given, "commission_office", customer, month, [earned(office, 100, 0.5) for office in offices])


def test_the_chain_is_the_sum_of_its_offices_and_its_averages_come_from_sums(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2026-01", [earned(M1, 900, parts=3)])
    loaded(given, "commission_office", "M2", "2026-01", [earned(M2, 100, parts=1)])
    found = built(
        given,
        "SELECT commission, sold_estate_parts, sold_average_commission, is_complete FROM marts.chain_month",
    )
    assert found == [(Decimal(1000), Decimal(4), Decimal(250), True)]


@pytest.mark.parametrize(("running", "last_over"), [({"2026-03"}, 2), ({"2026-02", "2026-03"}, 1)])
def test_exactly_one_month_is_the_last_that_is_over(given: Given, running: set[str], last_over: int) -> None:
    for of_month in ("2026-01", "2026-02", "2026-03"):
        loaded(given, "commission_office", "M1", of_month, [earned(M1, 5)], is_open=of_month in running)
        loaded(given, "commission_office", "M2", of_month, [earned(M2, 5)], is_open=of_month == "2026-03")
    assert built(given, "SELECT month(month) FROM marts.chain_month WHERE is_last_over") == [(last_over,)]


def test_a_month_without_an_office_is_not_complete_and_names_the_office(given: Given) -> None:
    office_reports(given, "M1", "2026-01", "2026-02", offices=[M1])
    office_reports(given, "M2", "2026-02", offices=[M2])
    assert built(given, COMPLETE) == [
        (1, Decimal(100), 1, 2, "M2 (commission)", False),
        (2, Decimal(200), 2, 2, None, True),
    ]


def test_a_report_of_no_office_is_unknown_and_a_report_that_one_office_lacks_is_missing(given: Given) -> None:
    for customer, office in (("M1", M1), ("M2", M2)):
        office_reports(given, customer, "2026-01", offices=[office])
    held(given, "tips_and_leads", "M1", ["2026-01"])
    query = (
        "SELECT running_commission_sek_excl_vat, incoming_lead_count, missing_offices, "
        "is_commission_complete, is_complete FROM marts.chain_month"
    )
    assert built(given, query) == [(None, 0, "M2 (leads)", True, False)]


def test_an_office_is_expected_only_while_it_is_requested(given: Given) -> None:
    office_reports(given, "M1", "2026-01", "2026-02", offices=[M1])
    office_reports(given, "M2", "2026-01", offices=[M2])
    asked_for(given, "M1", M2="off")
    assert built(given, COMPLETE) == [
        (1, Decimal(200), 2, 2, None, True),
        (2, Decimal(100), 1, 1, None, True),
    ]


def test_a_customer_that_never_answered_is_missing_too(given: Given) -> None:
    office_reports(given, "M1", "2026-01", offices=[M1])
    record_denial(given, "commission_office", "M2", FIRST_MOMENT.replace(tzinfo=UTC))
    asked_for(given, "M1", "M2")
    assert built(given, COMPLETE) == [(1, Decimal(100), 1, 2, "M2 (commission)", False)]


def test_brands_and_regions_add_up_to_the_chain(given: Given) -> None:
    office_reports(given, "G1", "2026-01", offices=[M1, M2, M3])
    trademarks(given, "G1", Ek=["M1", "M2"])
    region = {"customer": "M1", "is_active": False, "region": "Coast"}
    write_configured(given, "customers", [{"customer": "G1", "is_active": True}, region])
    build(given, "chain_month", "brand_month", "region_month")
    sums = "commission, expected_office_count FROM marts"
    chain = given.execute(f"SELECT {sums}.chain_month").fetchall()
    brands = given.execute(f"SELECT brand, {sums}.brand_month ORDER BY 1").fetchall()
    regions = given.execute(f"SELECT region, {sums}.region_month ORDER BY 1").fetchall()
    assert chain == [(Decimal(300), 3)]
    assert brands == [("Ek", Decimal(200), 2), (None, Decimal(100), 1)]
    assert regions == [("Coast", Decimal(100), 1), (None, Decimal(200), 2)]


def test_coverage_names_the_missing_reports_of_an_office(given: Given) -> None:
    office_reports(given, "M1", "2026-01", offices=[M1])
    held(given, "tips_and_leads", "M1", ["2026-01", "2026-02"])
    found = built(given, "SELECT month(month), missing_reports, is_held FROM marts.office_coverage")
    assert found == [(1, None, True), (2, "commission", False)]


@pytest.fixture(scope="module")
def frozen() -> Given:
    """M1 and M2 until November, M2 denied since 20 October; October of the year before is complete."""
    given = warehouse()
    autumn, winter = datetime(2026, 10, 20, 4), datetime(2026, 11, 22, 4)
    for customer, office in (("M1", M1), ("M2", M2)):
        for month in ("2025-01", "2025-10", "2026-08"):
            loaded(given, "commission_office", customer, month, [earned(office, 100)], at_utc=autumn)
        loaded(
            given, "commission_office", customer, "2026-10", [earned(office, 70)], at_utc=autumn, is_open=True
        )
    loaded(given, "commission_office", "M1", "2026-10", [earned(M1, 100)], at_utc=winter)
    loaded(given, "commission_office", "M1", "2026-11", [earned(M1, 60)], at_utc=winter, is_open=True)
    asked_for(given, "M1", "M2")
    record_denial(given, "commission_office", "M2", winter.replace(tzinfo=UTC))
    build(given, "chain_month", "office_month", "year_over_year", "leaderboard")
    return given


def of_october(given: Given, mart: str, columns: str) -> list[tuple[object, ...]]:
    query = f"SELECT {columns} FROM marts.{mart} WHERE month = '2026-10-01' ORDER BY ALL"
    return given.execute(query).fetchall()


def test_only_months_that_could_have_changed_since_are_not_refreshed(frozen: Given) -> None:
    query = "SELECT strftime(month, '%Y-%m') FROM marts.chain_month WHERE NOT is_refreshed ORDER BY ALL"
    assert frozen.execute(query).fetchall() == [("2026-08",), ("2026-10",)]


def test_an_office_month_states_when_it_was_read_and_whether_its_end_is_missing(frozen: Given) -> None:
    shown = "office_id, is_commission_complete, is_open, is_refreshed, read_at_utc::DATE"
    assert of_october(frozen, "office_month", shown) == [
        ("M1", True, False, True, date(2026, 11, 22)),
        ("M2", False, False, False, date(2026, 10, 20)),
    ]


def test_a_partial_month_is_not_compared(frozen: Given) -> None:
    compared = of_october(frozen, "year_over_year", "office_id, commission_change::INT")
    assert compared == [("M1", 0), ("M2", None)]
    ranked = of_october(frozen, "leaderboard", "period, earner_id, is_complete")
    assert ranked[:2] == [("month", "M1", True), ("month", "M2", False)]


def test_a_month_that_is_not_over_stays_open_for_an_office_no_longer_requested(given: Given) -> None:
    for customer, office in (("M1", M1), ("M2", M2)):
        loaded(given, "commission_office", customer, "2026-06", [earned(office, 70)], is_open=True)
    asked_for(given, "M1", M2="off")
    assert built(given, "SELECT is_open, is_complete FROM marts.chain_month") == [(True, False)]
