"""The effects of homes, prices and fees on a change of commission."""

from __future__ import annotations

from decimal import Decimal
from math import log

import pytest

from tests.marts.given import Given, built, earned, held, loaded

CHAIN = "FROM marts.commission_drivers WHERE level = 'chain' AND year(month) = 2026"
EFFECTS = "homes_effect, price_effect, fee_effect"


def office_report(given: Given, month: str, **offices: tuple[float, float, float]) -> None:
    """Commission, homes and price of offices in a month."""
    found = [
        earned({"office_customer_id": office}, commission, parts, price)
        for office, (commission, parts, price) in offices.items()
    ]
    loaded(given, "commission_office", "G1", month, found)


def test_homes_price_and_fee_are_logarithmic_parts_of_the_difference(given: Given) -> None:
    office_report(given, "2025-03", M1=(50_000, 2, 2_000_000))  # 1,000,000 a home, 2.5 %
    office_report(given, "2026-03", M1=(90_000, 3, 4_500_000))  # 1,500,000 a home, 2 %
    [found] = built(given, f"SELECT {EFFECTS}, difference {CHAIN} AND period = 'month'")
    mean = 40_000 / log(90_000 / 50_000)
    expected = [mean * log(3 / 2), mean * log(1.5), mean * log(2 / 2.5)]
    assert [float(str(one)) for one in found[:3]] == pytest.approx(expected, abs=1e-3)
    assert sum(found[:3]) == found[3] == Decimal(40_000)  # type: ignore[arg-type]


def test_effects_are_unknown_where_a_factor_is_zero_or_negative(given: Given) -> None:
    office_report(given, "2025-03", M1=(0, 0, 0), M2=(-5, 1, 100), M3=(100, 0, 4_000), M4=(100, 1, 0))
    office_report(given, "2026-03", **dict.fromkeys(("M1", "M2", "M3", "M4"), (100, 2, 4_000)))
    offices = f"{CHAIN.replace('chain', 'office')} AND period = 'month' ORDER BY member_id"
    found = built(given, f"SELECT {EFFECTS}, difference {offices}")
    assert found == [(None, None, None, Decimal(amount)) for amount in (100, 105, 0, 0)]


def test_the_year_to_date_adds_up_its_months_and_the_chain_its_offices(given: Given) -> None:
    for year in (2025, 2026):
        for month in ("01", "02"):
            office_report(given, f"{year}-{month}", M1=(100, 1, 4_000), M2=(year, 1, 40_000))
    query = "SELECT level, sold_commission, sold_commission_before FROM marts.commission_drivers "
    found = built(given, f"{query} WHERE period = 'year to date' AND month = '2026-02-01' ORDER BY ALL")
    assert [row for row in found if row[0] in ("chain", "office")] == [
        ("chain", 4252, 4250), ("office", 200, 200), ("office", 4052, 4050),
    ]  # fmt: skip


def test_a_period_with_an_unknown_office_is_not_compared_and_names_the_office(given: Given) -> None:
    loaded(given, "commission_office", "M1", "2025-01", [earned({"office_customer_id": "M1"}, 100)])
    for office in ("M1", "M2"):
        loaded(given, "commission_office", office, "2026-01", [earned({"office_customer_id": office}, 100)])
    query = "SELECT sold_commission, sold_commission_before, difference, missing_offices"
    assert built(given, f"{query} {CHAIN} AND period = 'month'") == [(Decimal(200), None, None, "M2")]


def test_a_month_that_is_not_over_has_no_row(given: Given) -> None:
    held(given, "commission_office", "M1", ["2025-01"])
    held(given, "commission_office", "M1", ["2026-01"], is_open=True)
    assert built(given, f"SELECT count(*) {CHAIN}") == [(0,)]


def test_an_office_that_opened_is_a_part_of_its_own_and_changes_no_other_effect(given: Given) -> None:
    office_report(given, "2025-03", M1=(50, 2, 2_000))
    office_report(given, "2026-03", M1=(90, 3, 4_500), M2=(9, 1, 50))
    parts = "offices_effect, homes_effect + price_effect + fee_effect"
    assert built(given, f"SELECT {parts} {CHAIN} AND period = 'month'") == [(Decimal(9), Decimal(40))]
