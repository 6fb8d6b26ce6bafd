"""Answers: the rows that were asked for, in documented shapes or in one of two undocumented ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from pipelines.sandbox.answers.snapshot import Shapes
from pipelines.sandbox.calls import Call
from tests.truth import truth
from tests.unit.sandbox.asking import (
    AGREED,
    BI,
    EVERYTHING,
    MAY,
    YEAR,
    Json,
    ask,
    call,
    estates,
    leads,
    quiet,
    reply,
    world,
)

ESTATE = (
    "id estateNumber status type assignment address agents contractDay accessDay depositReportedAt "
    "commission commissionText commissionReceivedAt isNewHome wgs84Coordinate changedAt startingPrice "
    "finalPrice"
)
AGENT = "id name initials employeeId responsible primaryOffice commission"
FOREIGN = "commissionForeign startingPriceForeign finalPriceForeign currencyCode currencyExchangeRate"
# Of an estate, its agent, the agent's commission, and a change of the agent and of the estate.
FIELDS = {
    "GetEstateReportProdDb": [ESTATE, AGENT, "value percentageOfTotal"],
    "GetSalesReport": [
        f"{ESTATE} {FOREIGN} intakeSource changes",
        f"{AGENT} changes",
        "value valueForeign percentageOfTotal",
        "changedAt commission commissionForeign percentageOfTotal",
        f"changedAt status commission startingPrice finalPrice {FOREIGN}",
    ],
}
BID = "id estateId contactId isCanceled identifiedBidder alias amount createdAt condition isHidden"
MEASURES = (
    "commission soldTotalPrice soldCommissionPercentage soldAverageCommission soldEstateParts writingParts "
    "valuationParts"
).split()
SHAPES: tuple[Shapes, ...] = ("a", "b")
WALL_CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.(\d{1,3}|\d{7}))?")
UNDOCUMENTED: tuple[tuple[str, dict[str, Any]], ...] = (
    (f"{BI}/LiveData/Report", MAY),
    (f"{BI}/LiveData/CommissionReport", MAY),
    (f"{BI}/TipsAndLeads/Report/Paged", {**MAY, "pageIndex": 0, "pageSize": 10}),
    (f"{BI}/External/Trademarks", {}),
    (f"{BI}/Budget/Estate/G1/2025/5", {}),
    (f"{BI}/Budget/Commission/G1/2025/5", {}),
    (f"{BI}/Budget/Crm/G1/2025/5", {}),
    ("/Report/Budget/G1/SoldEstates", {}),
    ("/Report/Budget/G1/Commission", {}),
    ("/Report/Budget/G1/Crm", {}),
    (f"{BI}/CommissionOfficeReportByMonth/G1", YEAR),
)


def _names(answer: Json) -> Iterator[str]:
    """Every path of names there is."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield name
            yield from (f"{name}.{inner}" for inner in _names(value))
    elif isinstance(answer, list):
        for item in answer:
            yield from (f"[].{inner}" for inner in _names(item))


@pytest.mark.parametrize(("report", "fields"), FIELDS.items())
def test_an_estate_has_the_documented_fields(report: str, fields: list[str]) -> None:
    tree = ask(quiet(), f"{BI}/{report}", customerId="G1", **AGREED, **YEAR)
    estate = next(estate for _, _, estate in estates(tree))
    agent = estate["agents"][0]
    changes = [part["changes"][0] for part in (agent, estate) if "changes" in part]
    found = [sorted(part) for part in (estate, agent, agent["commission"], *changes)]
    assert found == [sorted(names.split()) for names in fields]


def test_commission_rows_have_the_documented_fields() -> None:
    service = quiet()
    office = ask(service, f"{BI}/CommissionOfficeReport/G1", **YEAR)[0]
    user = ask(service, f"{BI}/CommissionUserReport/G1", **YEAR)[0]
    assert [list(office), list(user)] == [["customerId", "office", *MEASURES], ["userId", *MEASURES]]


def test_moments_are_wall_clock_without_an_offset() -> None:
    answer = ask(quiet(), f"{BI}/TipsAndLeads/Report", customerId="G1", **EVERYTHING, **MAY)
    written = [row["createdAt"] for _, row in leads(answer)]
    assert [text for text in written if not WALL_CLOCK.fullmatch(text)] == []
    assert len({len(text) for text in written}) > 2


@pytest.mark.parametrize(("path", "query"), UNDOCUMENTED)
def test_what_is_not_documented_has_two_shapes(path: str, query: dict[str, object]) -> None:
    asked = query if "/G1" in path else {"customerId": "G1", **query}
    first, second = (set(_names(ask(quiet(shapes=shapes), path, **asked))) for shapes in ("a", "b"))
    assert first != second


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("application/xml", "application/xml"),
        ("application/xml;q=0.9, application/json", "application/json"),
    ],
)
def test_xml_is_answered_only_when_json_is_not_accepted(accept: str, kind: str) -> None:
    asked = call(f"{BI}/External/Users", customerId="G1")
    answered = quiet().respond(Call("GET", asked.target, {**asked.headers, "accept": accept}))
    assert answered.headers["Content-Type"].partition(";")[0] == kind


ONE_OFFICE = {"customerId": "M30016"}


def _sold() -> list[Json]:
    tree = ask(quiet(), f"{BI}/GetSalesReport", **ONE_OFFICE, **AGREED, **YEAR)
    return [estate for _, _, estate in estates(tree)]


def test_an_estate_is_found_by_its_id_where_its_own_customer_asks() -> None:
    wanted = _sold()[0]
    for query, found in (
        ({**ONE_OFFICE, "estateId": wanted["id"]}, [wanted]),
        ({**ONE_OFFICE, "estateId": "OBJ1_1"}, []),
        ({"customerId": "G1", "estateId": wanted["id"]}, []),
        (ONE_OFFICE, []),
    ):
        assert ask(quiet(), f"{BI}/GetSalesReportForEstate", **query) == {"estates": found}


@pytest.mark.parametrize("name", ["GetEstatesReport", "GetEstateReportProdDb"])
def test_the_estates_reports_have_sales_and_writings(name: str) -> None:
    true = truth(world(), "G1", date(2025, 1, 1), date(2025, 12, 31))
    tree = ask(quiet(), f"{BI}/{name}", customerId="G1", **AGREED, **YEAR)
    assert len(list(estates(tree))) == sum(row["count"] for row in true["sales"] + true["writings"])


def test_bids_of_an_estate_are_visible_or_hidden_and_a_group_has_none() -> None:
    sales = ask(quiet(), f"{BI}/GetSalesReport", customerId="M30016", **AGREED, **YEAR)
    sold = {estate["id"] for _, _, estate in estates(sales)}
    for operation, hidden in (("Bids", False), ("HiddenBids", True)):
        bids = [
            bid
            for estate in sold
            for bid in ask(quiet(), f"/CRM/{operation}/M30016", **{"criteria.estateId": estate})
        ]
        assert {(bid["estateId"] in sold, bid["isHidden"]) for bid in bids} == {(True, hidden)}
        assert " ".join(bids[0]) == BID
    assert reply(quiet(), "/CRM/Bids/G1").status == 404
