"""Beside the reports: bids and money of estates, areas, categories and what contacts look for.

A customer is an office here: a group has no contacts and no areas of its own, and is answered with 404.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import KnownEstate, Question
from pipelines.sandbox.calls import Refusal
from pipelines.sandbox.world import names
from pipelines.sandbox.world.chance import drawn, happens, hex_id
from pipelines.sandbox.world.records import VALUATION, Office

HALF_A_SIDE = 0.06  # degrees: areas are squares around the middle of a town
SQUARES = (("Centrum", 0, 0), ("Norr", 0, 1), ("Söder", 0, -1), ("Öster", 1, 0), ("Väster", -1, 0))
CATEGORIES = (("Spekulant", True), ("Säljare", True), ("Nyhetsbrev", False), ("VIP", False))
COMPANIES = (("Leverantör", False), ("Bank", True))
BANKS = ("Storbanken", "Sparbanken", "Hypoteksbanken")
SUBTYPES = ("Apartment", "House", "TownHouse", "Plot", "Cottage")


def bids(question: Question, *, hidden: bool) -> object:
    """Bids and HiddenBids of an estate, or of a contact; a bid of the future is not there yet."""
    estate, contact = question.ids.get("criteria.estateid"), question.ids.get("criteria.contactid")
    return [
        bid
        for known in _estates(question)
        if estate in (None, known.estate.id)
        for bid in _bids(question, known)
        if bid["isHidden"] is hidden and contact in (None, bid["contactId"])
    ]


def deposit(question: Question) -> object:
    """The deposit of a sold estate: a tenth of the price, due ten days after the contract."""
    known = _estate(question)
    chance = drawn(question.snapshot.world.history.seed, "deposit", known.estate.id)
    contract = known.now.contract_on
    due = contract + timedelta(days=10) if contract else None
    paid = datetime.combine(due, time(11)) + timedelta(days=chance.randrange(-8, 3)) if due else None
    return {
        "amount": (known.now.final_price or 0) / 10,
        "payDay": formats.day(due),
        "paidAt": formats.moment(paid if paid and paid <= question.snapshot.moment else None),
        "reportedAt": formats.moment(known.now.deposit_reported_at),
        "commissionReceivedAt": formats.moment(known.now.commission_received_at),
        "contractDay": formats.day(contract),
        "admissionDay": formats.day(known.now.access_on),
    }


def bidding_setting(question: Question) -> object:
    """How bids are shown; the model is not documented, so it has two shapes."""
    known = _estate(question)
    option = drawn(question.snapshot.world.history.seed, "setting", known.estate.id).choice(
        ("ShowBidding", "ShowHighestBid", "DontShowBidding")
    )
    if question.shapes == "b":
        return {"settings": {"biddingOptions": option, "sMSBidding": True}}
    return {"biddingOptions": option, "smsBidding": True}


def economy(question: Question) -> object:
    """The bank and the insurer of a bidder, with the account that nobody should keep."""
    known, contact = _estate(question), question.ids["contactid"]
    if contact not in {bid["contactId"] for bid in _bids(question, known)}:
        raise Refusal(404, f"There is no buyer {contact}.")
    chance = drawn("economy", contact)
    account = f"{chance.randrange(10**9, 10**10)}"
    bank = {"name": chance.choice(BANKS), "clearingNumber": "8327-9", "accountNumber": account}
    return {"bank": bank, "insuranceCompany": {"name": "Hemförsäkringar"}}


def areas(question: Question) -> object:
    """The areas of an office: five squares around its town."""
    return [area for office in _offices(question) for area in _areas(office)]


def focus_areas(question: Question) -> object:
    """The first areas of an office; the model is not documented, so it has two shapes."""
    chosen = [area for office in _offices(question) for area in _areas(office)[:2]]
    if question.shapes == "b":
        return [{"areaId": area["areaId"], "areaName": area["areaName"]} for area in chosen]
    return [
        {"id": area["areaId"], "name": area["areaName"], "polygons": [{"coordinates": area["polygonWGS84"]}]}
        for area in chosen
    ]


def categories(question: Question) -> object:
    """The categories of an office, of persons and of companies."""
    [office] = _offices(question)

    def rows(kind: str, of_kind: tuple[tuple[str, bool], ...]) -> list[Object]:
        return [
            {"id": f"{kind}{office.number}_{number}", "name": name, "readOnly": is_fixed}
            for number, (name, is_fixed) in enumerate(of_kind)
        ]

    return {"companyCategories": rows("C", COMPANIES), "personCategories": rows("P", CATEGORIES)}


def association(question: Question) -> object:
    """A housing association; any id that begins with BRF is one."""
    wanted = question.ids["associationid"]
    if not wanted.startswith("BRF"):
        raise Refusal(404, f"There is no association {wanted}.")
    return {
        "id": wanted,
        "changedAt": "2025-02-03T10:11:12",
        "name": f"Brf {wanted}",
        "numberOfApartments": 40,
        "economy": {"transferFee": 1500, "transferFeePaidBy": "Buyer"},
        "publicContact": {"name": "Styrelsen", "email": "styrelsen@example.com"},
        "documents": [],
    }


def profiles(question: Question) -> object:
    """What a contact of a lead looks for: one profile for homes, or none."""
    contact = question.ids["contactid"]
    office = next(
        (
            office
            for office in _offices(question)
            for known in question.snapshot.leads(office.customer_id)
            if known.lead.contact[0] == contact
        ),
        None,
    )
    if office is None:
        raise Refusal(404, f"There is no contact {contact}.")
    chance = drawn("profile", contact)
    lists: dict[str, list[Object]] = {
        f"{kind}Profiles": [] for kind in ("residential", "farm", "commercial", "foreign", "premise")
    }
    if happens(chance, 0.7):
        price = chance.randrange(1_500_000, 6_000_000, 250_000)
        lists["residentialProfiles"].append(
            {
                "id": hex_id(chance, "SPR"),
                "dateCreated": formats.moment(datetime.combine(question.snapshot.world.as_of, time(8))),
                "validTo": formats.day(date(question.snapshot.world.as_of.year + 1, 1, 1)),
                "subtypes": chance.sample(SUBTYPES, 2),
                "areaIds": [area["areaId"] for area in _areas(office)[: chance.randrange(3)]],
                "municipalityCodes": ["0180"],
                "newProduction": None,
                "livingSpace": {"minValue": 40, "maxValue": chance.randrange(60, 200, 10)},
                "numberOfRooms": {"minValue": 2, "maxValue": None},
                "price": {"minValue": price - 1_000_000, "maxValue": price},
                "isAutomaticProfile": happens(chance, 0.3),
                "drawnAreas": [],
                "increasedRequirementIds": [],
            }
        )
    return lists


def profile_values(question: Question) -> object:
    """What a profile may choose from."""
    _offices(question)
    return {
        "selectableResidentialSubtypes": list(SUBTYPES),
        "selectableFarmSubtypes": ["Agriculture", "HorseFarm"],
        "domesticPriceSteps": [1_000_000, 2_000_000, 5_000_000],
        "roomSteps": [1, 2, 3, 4, 5],
    }


def _offices(question: Question) -> tuple[Office, ...]:
    """The one office that is asked for."""
    if len(question.offices) > 1:
        raise Refusal(404, "There is no such office.")
    return question.offices


def _estates(question: Question) -> Iterator[KnownEstate]:
    for office in _offices(question):
        for known in question.snapshot.estates(office.customer_id):
            if known.estate.assignment != VALUATION:
                yield known


def _estate(question: Question) -> KnownEstate:
    wanted = question.ids["estateid"]
    found = next((known for known in _estates(question) if known.estate.id == wanted), None)
    if found is None:
        raise Refusal(404, f"There is no estate {wanted}.")
    return found


def _bids(question: Question, known: KnownEstate) -> Iterator[Object]:
    """The bids of an estate, one bidder after the other until the final price; amounts are texts."""
    chance = drawn(question.snapshot.world.history.seed, "bids", known.estate.id)
    contract, first = known.versions[0].contract_on or known.now.contract_on, known.versions[0]
    final = known.now.final_price or known.now.starting_price
    if contract is None or final is None:
        return
    bidders = [(hex_id(chance, "ADR"), chance.choice(names.FIRST_NAMES)) for _ in range(chance.randint(1, 5))]
    begins = datetime.combine(contract, time(9)) - timedelta(days=chance.randint(1, 9))
    number = len(bidders) + chance.randint(0, 6)
    low = min(first.starting_price, final)
    for place in range(number):
        contact, alias = bidders[place % len(bidders)]
        is_last = place == number - 1
        amount = final if is_last else low + (final - low) * place // max(number, 1)
        made = begins + (datetime.combine(contract, time(8)) - begins) * place / number
        hidden = happens(chance, 0.15)
        if made <= question.snapshot.moment:
            yield {
                "id": hex_id(chance, "BUD"),
                "estateId": known.estate.id,
                "contactId": contact,
                "isCanceled": not is_last and happens(chance, 0.05),
                "identifiedBidder": happens(chance, 0.6),
                "alias": alias,
                "amount": _amount(chance, amount),
                "createdAt": formats.moment(made.replace(microsecond=0)),
                "condition": "Förbehåll om lån" if happens(chance, 0.1) else None,
                "isHidden": hidden,
            }


def _amount(chance: Random, amount: int) -> str:
    """An amount as somebody typed it."""
    spaced = f"{amount:,}".replace(",", " ")
    return chance.choice((str(amount), str(amount), spaced, f"{spaced} kr"))


def _areas(office: Office) -> list[Object]:
    town = office.town
    return [
        {
            "areaId": f"STD{office.number}_{name}",
            "archived": False,
            "externalId": None,
            "areaName": f"{town.name} {name}",
            "description": None,
            "showOnInternet": True,
            "surrounding": {"communication": "Buss och pendeltåg"},
            "county": "0180",
            "polygon": [],
            "polygonWGS84": _square(
                town.longitude + east * 2 * HALF_A_SIDE, town.latitude + north * 2 * HALF_A_SIDE
            ),
            "images": [],
            "dateChanged": "2025-01-15T08:30:00",
        }
        for name, east, north in SQUARES
    ]


def _square(longitude: float, latitude: float) -> list[Object]:
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return [
        {"longitud": round(longitude + x * HALF_A_SIDE, 6), "latitud": round(latitude + y * HALF_A_SIDE, 6)}
        for x, y in corners
    ]
