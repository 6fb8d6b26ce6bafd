"""Sales that are listed no more, as the answer before had them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from pipelines.diagnosis.stored_sales import StoredSale, stored_sales
from warehouse.load.landing import Landing

AGENTS = [
    {
        "id": user,
        "name": name,
        "responsible": user == "U1",
        "primaryOffice": {"customerId": office},
        "commission": {"value": value},
    }
    for user, name, office, value in (("U1", "Åsa Berg", "M1", 75.0), ("U2", "Nils Lind", "M2", 25.0))
]
EARNED = {"U1": Decimal("75.0"), "U2": Decimal("25.0")}
SALE = {"id": "E1", "address": {"streetAddress": "Storgatan 94C"}, "agents": AGENTS}


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    """Landing with one answer, in which a sale is four levels down."""
    landing = Landing(tmp_path)
    writer = landing.open("sales", "G1", None, None, "L1")
    writer.add({"status": 200}, json.dumps({"offices": [{"months": [{"estates": [SALE]}]}]}).encode())
    writer.close({"used": [0]})
    return landing


STORED = "sales/G1/now/L1.tar.zst"


def test_a_sale_that_vanished_has_its_home_and_shares_as_long_as_the_answer_is_kept(landing: Landing) -> None:
    wanted = [(path, None, "E1") for path in (STORED, "gone.tar.zst")]
    assert stored_sales(landing, wanted) == {(STORED, "E1"): StoredSale("Storgatan 94C", EARNED)}


def test_an_answer_of_an_unknown_shape_is_no_sale(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    writer = landing.open("sales", "G1", None, None, "L1")
    writer.add({}, json.dumps({"id": "E1", "agents": "somebody", "address": 5}).encode())
    writer.close({"used": [0]})
    assert stored_sales(landing, [(STORED, None, "E1")]) == {(STORED, "E1"): StoredSale(None, {})}
