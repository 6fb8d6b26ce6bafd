"""Units of columns."""

from __future__ import annotations

import pytest

from pipelines.units import unit_of


@pytest.mark.parametrize(
    ("name", "type_", "unit"),
    [
        ("is_on", "BOOLEAN", "true or false"),
        ("commission_received_on", "DATE", "a day"),
        ("commission_rank", "BIGINT", "a whole number"),
        ("price_class", "BIGINT", "a whole number"),
        ("days_to_contract_total", "BIGINT", "days"),
        ("year_month", "VARCHAR", ""),
        ("commission_vat", "VARCHAR", ""),
        ("created_at", "TIMESTAMP", "a moment"),
    ],
)
def test_a_type_that_leaves_one_unit_decides_it(name: str, type_: str, unit: str) -> None:
    assert unit_of(name, type_) == unit


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("commission_per_active_month", "money; currency and tax as the meaning says"),
        ("highest_bid", "money; currency and tax as the meaning says"),
        ("amount_sek_excl_vat", "SEK without VAT"),
        ("year_to_date_attainment_share", "share, 1 is all of it"),
        ("share", "share, 1 is all of it"),
        ("sold_commission_percentage_before", "percent"),
        ("estate_parts_change", "parts, one for a whole"),
        ("amount", ""),
    ],
)
def test_the_unit_of_a_fraction_is_what_its_name_says(name: str, unit: str) -> None:
    assert unit_of(name, "DECIMAL(18,4)") == unit
