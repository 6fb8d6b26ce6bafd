"""Calls to the sandbox with the right login, answered in memory."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from pipelines.months import Month
from pipelines.sandbox.answers.snapshot import Shapes
from pipelines.sandbox.calls import Call, Reply
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.world import World

BI = "/BusinessIntelligence"
END_OF_2025 = date(2025, 12, 31)
YEAR = {"dateFrom": "2025-01-01T00:00:00", "dateTo": "2025-12-31T23:59:59"}
MAY = {"dateFrom": "2025-05-01T00:00:00", "dateTo": "2025-05-31T23:59:59"}
AGREED = {"selectionType": "Agreement"}
EVERYTHING = {"activeStatusTipLead": "ActiveAndRemoved"}

Json = Any


@lru_cache
def world() -> World:
    """Seven offices since 2024; the same object each time, for a world is never changed by being asked."""
    return World.build(seed=1, start=Month(2024, 1), as_of=END_OF_2025)


@lru_cache
def quiet(shapes: Shapes = "a") -> Service:
    """A service over that world only to be asked; a test that switches anything makes its own."""
    return Service(world(), shapes=shapes)


def credentials(username: str = "sandbox", password: str = "sandbox") -> str:
    return "Basic " + b64encode(f"{username}:{password}".encode()).decode()


def call(path: str, **query: object) -> Call:
    """A request with the right login."""
    target = f"{path}?{urlencode(query)}" if query else path
    return Call("GET", target, {"authorization": credentials(), "accept": "application/json"})


def reply(service: Service, path: str, **query: object) -> Reply:
    return service.respond(call(path, **query))


def ask(service: Service, path: str, **query: object) -> Json:
    """The answer to a legal request."""
    answered = reply(service, path, **query)
    assert answered.status == 200, (path, query, answered.body[:300])
    return json.loads(answered.body, parse_float=Decimal)


def estates(answer: Json) -> Iterator[tuple[str, str, Json]]:
    """Every estate of a sales tree with its office and its month."""
    for office in answer["officeSaleReports"]:
        for year in office["years"]:
            for month in year["months"]:
                for estate in month["estateSaleReports"]:
                    yield office["customerId"], f"{year['year']}-{int(month['month']):02d}", estate


def leads(answer: Json) -> Iterator[tuple[str, Json]]:
    """Every lead and tip with the way it went."""
    for way, name in (("incoming", "incomingLeads"), ("outgoing", "outgoingLeads"), ("tip", "tips")):
        for row in answer[name]:
            yield way, row
