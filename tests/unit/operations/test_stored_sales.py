"""Sales that are listed no more, as the answer before had them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from pipelines.operations.stored_sales import sales_as_last_held
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
SALE = {"id": "E1", "address": {"streetAddress": "Storgatan 94C"}, "agents": AGENTS}


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    """Landing with one answer, in which a sale is four levels down."""
    landing = Landing(tmp_path)
    writer = landing.open("sales", "G1", None, None, "L1")
    writer.add({"status": 200}, json.dumps({"offices": [{"months": [{"estates": [SALE]}]}]}).encode())
    writer.close({"used": [0]})
    return landing


def vanished(path: str = "sales/G1/now/L1.tar.zst", *, is_listed_here: bool = True) -> dict[str, object]:
    known = {"street_address": None, "agents": None, "landing": path, "sha256": None}
    return {"estate_id": "E1", "share": None, "is_listed_here": is_listed_here, **known}


@pytest.mark.parametrize(
    ("whose", "shares"),
    [
        ({"office": "M1"}, [Decimal("0.75")]),
        ({"office": "M2"}, [Decimal("0.25")]),
        ({"user": "U2"}, [Decimal("0.25")]),
        ({"user": "U3"}, []),
    ],
)
def test_a_sale_that_vanished_is_told_with_its_home_its_agents_and_the_share(
    landing: Landing, whose: dict[str, str], shares: list[Decimal]
) -> None:
    found = sales_as_last_held(landing, [vanished(is_listed_here=False)], **whose)
    assert [(one["street_address"], one["agents"], one["share"]) for one in found] == [
        ("Storgatan 94C", "Åsa Berg, Nils Lind", share) for share in shares
    ]


def test_without_the_answer_a_sale_counts_whole_where_it_was_listed(landing: Landing) -> None:
    gone = [vanished("gone.tar.zst"), vanished("gone.tar.zst", is_listed_here=False)]
    found = sales_as_last_held(landing, gone, office="M1")
    assert [(one["street_address"], one["share"]) for one in found] == [(None, 1)]


def test_an_answer_of_an_unknown_shape_is_no_sale(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    writer = landing.open("sales", "G1", None, None, "L1")
    writer.add({}, json.dumps({"id": "E1", "agents": "somebody", "address": 5}).encode())
    writer.close({"used": [0]})
    assert sales_as_last_held(landing, [vanished()], office="M1") == []
