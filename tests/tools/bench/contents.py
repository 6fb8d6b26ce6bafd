"""Answers of the service of a race: bodies made once, and stamped for each window."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from random import Random
from typing import Any

from pipelines.months import Month
from tests.tools.bench.stages import Stage

Row = dict[str, Any]

VARIANTS = 4
"""Different bodies of one stage; windows take them in turn."""
CUSTOMER, YEAR, MONTHS = "@C@", "@Y@", tuple(f"@{number:02}@-@" for number in range(12))
NAMES = "Anna Ek,Bo Alm,Cecilia Öberg,David Ström,Eva Lind,Filip Åberg,Greta Sjö,Hugo Dahl".split(",")
AGENTS = 60
FOREIGN = ("commissionForeign", "startingPriceForeign", "finalPriceForeign")
NO_CURRENCY = dict.fromkeys((*FOREIGN, "currencyCode", "currencyExchangeRate"))


def answer(stage: Stage, number: int, customer: str, first: date) -> bytes:
    """The answer to the window of this number."""
    return _stamped(_body(stage, number % VARIANTS), stage, customer, first)


def _stamped(body: bytes, stage: Stage, customer: str, first: date) -> bytes:
    stamps = {CUSTOMER: customer, YEAR: str(first.year)}
    for later in range(stage.kind.months_of_window):
        stamps[MONTHS[later]] = str(Month.of(first).plus(later))
    for mark, text in stamps.items():
        body = body.replace(mark.encode(), text.encode())
    return body


@lru_cache
def _body(stage: Stage, variant: int) -> bytes:
    made = _CONTENTS[stage.answers_as](stage.items_of_window, Random(variant))
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()


def _running(count: int, chance: Random) -> object:
    return [
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


def _sales(count: int, chance: Random) -> object:
    by_month: dict[int, list[Row]] = {}
    for number in range(count):
        by_month.setdefault(number % 12, []).append(_estate(chance, number, number % 12))
    months = [{"month": str(month + 1), "estateSaleReports": rows} for month, rows in by_month.items()]
    office = {"customerId": CUSTOMER, "officeName": "Mäklarna", "years": [{"year": YEAR, "months": months}]}
    return {"officeSaleReports": [office]}


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


def _moment(chance: Random, month: int) -> str:
    day, second = divmod(chance.randrange(28 * 86_400), 86_400)
    return f"{MONTHS[month]}-{day + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


_CONTENTS: Mapping[str, Callable[[int, Random], object]] = {"running": _running, "sales": _sales}
