"""What stored answers add to the changes around a number."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from pipelines.diagnosis.around import NumberChange, with_stored_sales
from warehouse.load.landing import Landing
from warehouse.marts.lineage import TracedNumber

SALE = {
    "id": "E1",
    "address": {"streetAddress": "Storgatan 3"},
    "agents": [{"id": "U1", "commission": {"value": 75.5}}, {"id": "U2"}],
}
GONE = NumberChange(
    noted_on=date(2026, 11, 9),
    month=date(2026, 9, 1),
    kind="sale gone",
    what=None,
    amount_before=None,
    amount_after=None,
    difference=None,
    writing_change=None,
    valuation_change=None,
    other_month=None,
    other_office=None,
    awaited_reports=None,
    id="E1",
    landing="sales/G1/now/L1.tar.zst",
    sha256=None,
)


@pytest.mark.parametrize(
    ("user", "measure", "found"),
    [
        ("U1", "commission", [("Storgatan 3", Decimal("-75.5"))]),
        ("U1", "sold_total_price", [("Storgatan 3", None)]),
        ("U2", "commission", [("Storgatan 3", None)]),
        ("U3", "commission", []),
    ],
    ids=["the own part", "no price of it", "no amount in the answer", "of others"],
)
def test_a_user_has_the_own_part_of_a_sale_that_is_gone(
    tmp_path: Path, user: str, measure: str, found: list[tuple[str, Decimal | None]]
) -> None:
    landing = Landing(tmp_path)
    writer = landing.open("sales", "G1", None, None, "L1")
    writer.add({"status": 200}, json.dumps([SALE]).encode())
    writer.close({"used": [0]})
    number = TracedNumber("user", user, date(2026, 9, 1), measure)
    assert [(one.what, one.difference) for one in with_stored_sales([GONE], landing, number)] == found
