"""Answers of the service of a race: bodies made once, and stamped for each window."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from random import Random
from typing import Any

from pipelines.months import Month
from tests.tools.bench.stages import PAGE_SIZE, Stage

Row = dict[str, Any]

VARIANTS = 4
"""Different bodies of one stage; windows take them in turn."""
CUSTOMER, YEAR, MONTHS = "@C@", "@Y@", tuple(f"@{number:02}@-@" for number in range(12))
NAMES = "Anna Ek,Bo Alm,Cecilia Öberg,David Ström,Eva Lind,Filip Åberg,Greta Sjö,Hugo Dahl".split(",")
AGENTS = 60
EMPTY_PAGE = b'{"incomingLeads":[],"outgoingLeads":[],"tips":[]}'
FOREIGN = ("commissionForeign", "startingPriceForeign", "finalPriceForeign")
NO_CURRENCY = dict.fromkeys((*FOREIGN, "currencyCode", "currencyExchangeRate"))


def pages(stage: Stage, number: int, customer: str, first: date) -> list[bytes]:
    """The answer to the window of this number; of a paged report, one body for each page."""
    return [_stamped(body, stage, customer, first) for body in _bodies(stage, number % VARIANTS)]


def _stamped(body: bytes, stage: Stage, customer: str, first: date) -> bytes:
    stamps = {CUSTOMER: customer, YEAR: str(first.year)}
    for later in range(stage.kind.months_of_window):
        stamps[MONTHS[later]] = str(Month.of(first).plus(later))
    for mark, text in stamps.items():
        body = body.replace(mark.encode(), text.encode())
    return body


@lru_cache
def _bodies(stage: Stage, variant: int) -> list[bytes]:
    made = _CONTENTS[stage.answers_as](stage.items_of_window, Random(variant))
    return [json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode() for page in made]


def _running(count: int, chance: Random) -> Iterator[object]:
    yield [
        {
            "userId": f"{CUSTOMER}U{chance.randrange(AGENTS):04}",
            "customerId": CUSTOMER,
            "estateId": f"{CUSTOMER}E{chance.randrange(1_000_000):07}",
            "amount": chance.randrange(100, 9_000_000) / 100,
            "exchangeRate": 1 if number % 20 else 11.2345,
            "obtainedAt": _moment(chance, number % 2),
        }
        for number in range(count)
    ]


def _sales(count: int, chance: Random) -> Iterator[object]:
    by_month: dict[int, list[Row]] = {}
    for number in range(count):
        by_month.setdefault(number % 12, []).append(_estate(chance, number, number % 12))
    months = [{"month": str(month + 1), "estateSaleReports": rows} for month, rows in by_month.items()]
    office = {"customerId": CUSTOMER, "officeName": "Mäklarna", "years": [{"year": YEAR, "months": months}]}
    yield {"officeSaleReports": [office]}


def _estate(chance: Random, number: int, month: int) -> Row:
    price, share = chance.randrange(800_000, 9_000_000, 5_000), chance.randrange(2_000_000, 20_000_000) / 100
    change = {
        "changedAt": _moment(chance, month), "status": {"id": 2, "text": "Till salu"}, "commission": share,
        "startingPrice": price, "finalPrice": None, **NO_CURRENCY,
    }  # fmt: skip
    return {
        "id": f"{CUSTOMER}E{number:07}",
        "estateNumber": f"{number:05}",
        "status": {"id": 3, "text": "Såld"},
        "type": {"id": 1, "text": "Villa"},
        "assignment": {"id": 1, "text": "Försäljning"},
        "address": {"streetAddress": f"Storgatan {number}", "zipCode": "111 22", "countryCode": "SE"},
        "agents": [_agent(chance, share / 2, month, place) for place in range(2)],
        "contractDay": _moment(chance, month),
        "accessDay": None,
        "depositReportedAt": _moment(chance, month),
        "commission": share,
        "commissionText": "Enligt avtal",
        "commissionReceivedAt": None,
        "isNewHome": number % 10 == 0,
        "wgs84Coordinate": {"longitud": 18.0 + number % 977 / 977, "latitud": 59.0 + number % 733 / 733},
        "changedAt": _moment(chance, month),
        "startingPrice": price,
        "finalPrice": price + 95_000,
        "intakeSource": {"id": 2, "text": "Tidigare kund"},
        "changes": [change],
        **NO_CURRENCY,
    }


def _agent(chance: Random, share: float, month: int, place: int) -> Row:
    number = chance.randrange(AGENTS // 2) * 2 + place
    change = {"changedAt": _moment(chance, month), "commission": share, "commissionForeign": None}
    return {
        "id": f"{CUSTOMER}U{number:04}",
        "name": NAMES[number % len(NAMES)],
        "initials": "AE",
        "employeeId": str(number),
        "responsible": place == 0,
        "primaryOffice": {"customerId": CUSTOMER, "name": "Mäklarna", "city": "Umeå"},
        "commission": {"value": share, "valueForeign": None, "percentageOfTotal": 50.0},
        "changes": [{**change, "percentageOfTotal": 50.0}],
    }


def _leads(count: int, chance: Random) -> Iterator[object]:
    for start in range(0, count, PAGE_SIZE):
        rows = [_lead(chance, number) for number in range(start, min(start + PAGE_SIZE, count))]
        yield {
            "incomingLeads": rows[0::3],
            "outgoingLeads": [_outgoing(row) for row in rows[1::3]],
            "tips": [_tip(row) for row in rows[2::3]],
        }


def _lead(chance: Random, number: int) -> Row:
    status = {"id": 2, "text": "Till salu"}
    return {
        "createdAt": _moment(chance, number % 2),
        "sender": _party(chance),
        "receiver": _party(chance),
        "lead": {
            "id": f"{CUSTOMER}L{number:06}",
            "title": "Vill sälja",
            "type": "Web",
            "state": "New",
            "message": f"Ring mig efter klockan {number % 12}, tack.",
        },
        "contact": {"id": f"{CUSTOMER}K{number}", "firstName": "Per", "lastName": chance.choice(NAMES)},
        "estate": {"id": f"{CUSTOMER}E{number}", "estateStatus": "ForSale", "status": status}
        if number % 3
        else None,
    }


def _outgoing(row: Row) -> Row:
    lead = {name: value for name, value in row["lead"].items() if name != "state"}
    user = {"id": row["sender"]["id"], "name": row["sender"]["name"], "type": "User", "employeeNumber": "17"}
    others = {name: value for name, value in row.items() if name not in ("lead", "estate")}
    return {**others, "user": user, "lead": lead}


def _tip(row: Row) -> Row:
    receiver = {**row["receiver"], "employeeNumber": "18", "type": "User"}
    others = {name: value for name, value in row.items() if name != "lead"}
    return {**others, "receiver": receiver, "tip": {**row["lead"], "type": "FromUser"}}


def _party(chance: Random) -> Row:
    number = chance.randrange(AGENTS)
    company = {"id": CUSTOMER, "name": "Mäklarna", "customerNumber": "M1"}
    return {"id": f"{CUSTOMER}U{number:04}", "name": NAMES[number % len(NAMES)], "company": company}


def _moment(chance: Random, month: int) -> str:
    day, second = divmod(chance.randrange(28 * 86_400), 86_400)
    return f"{MONTHS[month]}-{day + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


_CONTENTS: Mapping[str, Callable[[int, Random], Iterator[object]]] = {
    "running": _running,
    "sales": _sales,
    "leads": _leads,
}
