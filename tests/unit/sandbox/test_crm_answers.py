"""Answers beside the reports: documented fields, rights of offices and groups, and what is not there."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.asking import AGREED, BI, YEAR, ask, estates, quiet, reply

OFFICE = "M30016"
FIELDS = {
    "/CRM/Bids/{office}": "id estateId contactId isCanceled identifiedBidder alias amount createdAt "
    "condition isHidden",
    "/CRM/Economy/{office}/CRM/Estate/{estate}/deposit": "amount payDay paidAt reportedAt "
    "commissionReceivedAt contractDay admissionDay",
    "/Area/GetAreas": "areaId archived externalId areaName description showOnInternet surrounding county "
    "polygon polygonWGS84 images dateChanged",
    "/Category/GetCategories": "companyCategories personCategories",
    "/CRM/Contact/{office}/SearchProfile/{contact}": "residentialProfiles farmProfiles commercialProfiles "
    "foreignProfiles premiseProfiles",
}
BY_QUERY = {"/Area/GetAreas": "criteria.customerId", "/Category/GetCategories": "customerId"}


def sold() -> list[str]:
    tree = ask(quiet(), f"{BI}/GetSalesReport", customerId=OFFICE, **AGREED, **YEAR)
    return [estate["id"] for _, _, estate in estates(tree)]


def contact() -> str:
    found = ask(
        quiet(), f"{BI}/TipsAndLeads/Report", customerId=OFFICE, dateFrom="2025-05-01", dateTo="2025-05-31"
    )
    return str(found["incomingLeads"][0]["contact"]["id"])


@pytest.mark.parametrize("path", FIELDS)
def test_an_answer_has_the_documented_fields(path: str) -> None:
    query = {BY_QUERY[path]: OFFICE} if path in BY_QUERY else {}
    filled = path.format(office=OFFICE, estate=sold()[0], contact=contact())
    answer = ask(quiet(), filled, **query)
    assert list(answer[0] if isinstance(answer, list) else answer) == FIELDS[path].split()


def test_bids_are_of_the_estate_that_was_asked_for_visible_and_hidden_ones_apart() -> None:
    for operation, hidden in (("Bids", False), ("HiddenBids", True)):
        found = [
            bid
            for id_ in sold()
            for bid in ask(quiet(), f"/CRM/{operation}/{OFFICE}", **{"criteria.estateId": id_})
        ]
        assert {(bid["estateId"] in sold(), bid["isHidden"]) for bid in found} == {(True, hidden)}


@pytest.mark.parametrize(
    "path",
    [
        "/CRM/Bids/G1",
        f"/CRM/Economy/{OFFICE}/CRM/Estate/OBJ1_1/deposit",
        f"/CRM/Contact/{OFFICE}/SearchProfile/ADR1",
        f"/Advertising/Association/{OFFICE}/1",
    ],
)
def test_what_an_office_does_not_have_and_what_a_group_is_asked_for_is_not_there(path: str) -> None:
    assert reply(quiet(), path).status == 404


@pytest.mark.parametrize("path", ["/Area/FocusArea", f"/CRM/Estate/{OFFICE}/{{estate}}/biddingSettings"])
def test_what_is_not_documented_has_two_shapes(path: str) -> None:
    query = {} if "{" in path else {"request.customerId": OFFICE}
    found = [ask(quiet(shapes=one), path.format(estate=sold()[0]), **query) for one in ("a", "b")]
    rows = [one[0] if isinstance(one, list) else one for one in found]
    assert rows[0].keys() != rows[1].keys()
