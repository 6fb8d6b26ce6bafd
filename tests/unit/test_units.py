"""Units of columns."""

from __future__ import annotations

import pytest

from pipelines.units import unit_of

FRACTION = "DECIMAL(18,4)"


@pytest.mark.parametrize(
    ("name", "type_", "unit"),
    [
        ("is_on", "BOOLEAN", "true or false"),
        ("commission_received_on", "DATE", "a day"),
        ("commission_rank", "BIGINT", "a whole number"),
        ("days_to_contract_total", "BIGINT", "days"),
        ("created_at", "TIMESTAMP", "a moment"),
        ("commission_per_active_month", FRACTION, "money; the meaning states currency and tax"),
        ("amount_sek_excl_vat", FRACTION, "SEK without VAT"),
        ("sold_commission_percentage_before", FRACTION, "percent"),
        ("estate_parts_change", FRACTION, "parts; 1 is a whole"),
        ("amount", FRACTION, ""),
    ],
)
def test_the_unit_of_a_column_follows_from_its_type_and_name(name: str, type_: str, unit: str) -> None:
    assert unit_of(name, type_) == unit
