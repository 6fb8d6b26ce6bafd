"""What does the service of a race answer? Bodies made once, and stamped for each window."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from random import Random
from typing import Any

from pipelines.months import Month
from tests.tools.bench.stages import Stage

Row = dict[str, Any]

KINDS = 4
"""Different bodies of one stage; windows take them in turn."""

CUSTOMER, MONTHS = "@C@", tuple(f"@{number:02}@-@" for number in range(12))
NAMES = "Anna Ek,Bo Alm,Cecilia Öberg,David Ström,Eva Lind,Filip Åberg,Greta Sjö,Hugo Dahl".split(",")
AGENTS = 60


def pages(stage: Stage, number: int, customer: str, first: date) -> list[bytes]:
    """The answer to the window of this number; of a paged report, one body for each page."""
    months = [Month.of(first).plus(later) for later in range(stage.months_of_window)]
    stamps = {CUSTOMER: customer}
    stamps |= {mark: str(month) for mark, month in zip(MONTHS, months, strict=False)}
    stamps["@Y@"] = str(first.year)
    return [_stamped(body, stamps) for body in _bodies(stage, number % KINDS)]


def empty_page() -> bytes:
    """What a page after the last one holds."""
    return _written({"incomingLeads": [], "outgoingLeads": [], "tips": []})


def _stamped(body: bytes, stamps: Mapping[str, str]) -> bytes:
    for mark, text in stamps.items():
        body = body.replace(mark.encode(), text.encode())
    return body


@lru_cache
def _bodies(stage: Stage, kind: int) -> list[bytes]:
    return [_written(page) for page in _CONTENTS[stage.kind](stage, Random(kind))]


def _written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _running(stage: Stage, chance: Random) -> Iterator[object]:
    yield [
        {
            "userId": f"{CUSTOMER}U{chance.randrange(AGENTS):04}",
            "customerId": CUSTOMER,
            "estateId": f"{CUSTOMER}E{chance.randrange(1_000_000):07}",
            "amount": chance.randrange(100, 9_000_000) / 100,
            "exchangeRate": 1 if number % 20 else 11.2345,
            "obtainedAt": _moment(chance, number % 2),
        }
        for number in range(stage.items_of_window)
    ]


def _sales(stage: Stage, chance: Random) -> Iterator[object]:
    by_month: dict[int, list[Row]] = {}
    for number in range(stage.items_of_window):
        by_month.setdefault(number % 12, []).append(_estate(chance, number, number % 12))
    months = [{"month": str(month + 1), "estateSaleReports": rows} for month, rows in by_month.items()]
    office = {"customerId": CUSTOMER, "officeName": "Mäklarna", "years": [{"year": "@Y@", "months": months}]}
    yield {"officeSaleReports": [office]}


def _estate(chance: Random, number: int, month: int) -> Row:
    price, share = chance.randrange(800_000, 9_000_000, 5_000), chance.randrange(2_000_000, 20_000_000) / 100
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
        "commissionForeign": None,
        "intakeSource": {"id": 2, "text": "Tidigare kund"},
        "changes": [_change(chance, share, price, month)],
        "startingPriceForeign": None,
        "finalPriceForeign": None,
        "currencyCode": None,
        "currencyExchangeRate": None,
    }


def _agent(chance: Random, share: float, month: int, place: int) -> Row:
    number = chance.randrange(AGENTS // 2) * 2 + place
    return {
        "id": f"{CUSTOMER}U{number:04}",
        "name": NAMES[number % len(NAMES)],
        "initials": "AE",
        "employeeId": str(number),
        "responsible": place == 0,
        "primaryOffice": {"customerId": CUSTOMER, "name": "Mäklarna", "city": "Umeå"},
        "commission": {"value": share, "valueForeign": None, "percentageOfTotal": 50.0},
        "changes": [
            {
                "changedAt": _moment(chance, month),
                "commission": share,
                "commissionForeign": None,
                "percentageOfTotal": 50.0,
            }
        ],
    }


def _change(chance: Random, share: float, price: int, month: int) -> Row:
    return {
        "changedAt": _moment(chance, month),
        "status": {"id": 2, "text": "Till salu"},
        "commission": share,
        "commissionForeign": None,
        "startingPrice": price,
        "finalPrice": None,
        "startingPriceForeign": None,
        "finalPriceForeign": None,
        "currencyCode": None,
        "currencyExchangeRate": None,
    }


def _leads(stage: Stage, chance: Random) -> Iterator[object]:
    for start in range(0, stage.items_of_window, stage.page_size):
        rows = [
            _lead(chance, number)
            for number in range(start, min(start + stage.page_size, stage.items_of_window))
        ]
        yield {
            "incomingLeads": rows[0::3],
            "outgoingLeads": [_outgoing(row) for row in rows[1::3]],
            "tips": [_tip(row) for row in rows[2::3]],
        }


def _lead(chance: Random, number: int) -> Row:
    estate = {
        "id": f"{CUSTOMER}E{number}",
        "estateStatus": "ForSale",
        "status": {"id": 2, "text": "Till salu"},
    }
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
        "estate": estate if number % 3 else None,
    }


def _outgoing(row: Row) -> Row:
    lead = {name: value for name, value in row["lead"].items() if name != "state"}
    user = {"id": row["sender"]["id"], "name": row["sender"]["name"], "type": "User", "employeeNumber": "17"}
    others = {name: value for name, value in row.items() if name not in ("lead", "estate")}
    return {**others, "user": user, "lead": lead}


def _tip(row: Row) -> Row:
    tip = {**row["lead"], "type": "FromUser"}
    receiver = {**row["receiver"], "employeeNumber": "18", "type": "User"}
    others = {name: value for name, value in row.items() if name != "lead"}
    return {**others, "receiver": receiver, "tip": tip}


def _party(chance: Random) -> Row:
    number = chance.randrange(AGENTS)
    company = {"id": CUSTOMER, "name": "Mäklarna", "customerNumber": "M1"}
    return {"id": f"{CUSTOMER}U{number:04}", "name": NAMES[number % len(NAMES)], "company": company}


def _moment(chance: Random, month: int) -> str:
    drawn = chance.randrange(28 * 86_400)
    day, second = divmod(drawn, 86_400)
    return f"{MONTHS[month]}-{day + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


_CONTENTS: Mapping[str, Callable[[Stage, Random], Iterator[object]]] = {
    "running": _running,
    "sales": _sales,
    "leads": _leads,
}
