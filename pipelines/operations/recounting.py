"""What does a stored answer say of one office and month? Counted anew from its JSON, by nobody's tables.

This knows nothing of flattening, tables or SQL, so that it can contradict them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

Number = Decimal | int


@dataclass(frozen=True)
class Question:
    """Whose number, of which month, and what is needed to know whose a lead is."""

    office: str
    month: date
    measure: str
    customer: str
    timezone: str
    offices: Collection[str] = ()
    counted_elsewhere: Collection[str] = ()
    sales_alone: Number | None = None  # where the service was asked for sales alone: what it said
    user: str = ""  # where the number is a user's: whose
    counted_offices: Collection[str] = ()  # then: the offices for which this customer's answer counts


@dataclass(frozen=True)
class Recounted:
    """The number, and the objects of the answer that it was made of."""

    number: Number | None
    objects: int


_AMOUNTS = {
    "commission": "commission",
    "sold_total_price": "soldTotalPrice",
    "sold_estate_parts": "soldEstateParts",
    "writing_parts": "writingParts",
    "valuation_parts": "valuationParts",
}
_LEADS = {
    "incoming_lead_count": ("incomingLeads", "receiver", "lead"),
    "outgoing_lead_count": ("outgoingLeads", "sender", "lead"),
    "tip_count": ("tips", "sender", "tip"),
}
_USERS_LEADS = {
    **dict.fromkeys(_LEADS, "sender"),
    "incoming_lead_count": "receiver",
    "outgoing_lead_count": "user",
}


def recount(bodies: Iterable[bytes], question: Question) -> Recounted:
    """The number of a measure in these answers; zero where they do not speak of the office."""
    documents = [json.loads(body, parse_float=Decimal, parse_int=Decimal) for body in bodies]
    if question.measure in _LEADS:
        return _leads(documents, question)
    if question.measure.startswith("running_commission"):
        return _running(documents, question)
    mine = [one for one in _objects(documents) if "soldEstateParts" in one and _is_of(one, question)]
    return Recounted(_earned(mine, question), len(mine))


def _earned(mine: Sequence[Mapping[str, Any]], question: Question) -> Number | None:
    measure = question.measure
    if measure in _AMOUNTS:
        return _sum(mine, _AMOUNTS[measure])
    commission = sum((_of_sales(one, question.sales_alone) for one in mine), Decimal(0))
    if measure == "sold_commission":
        return commission
    divisor = _sum(mine, "soldEstateParts" if measure == "sold_average_commission" else "soldTotalPrice")
    factor = 1 if measure == "sold_average_commission" else 100
    return factor * commission / divisor if divisor else None


def _of_sales(one: Mapping[str, Any], sales_alone: Number | None) -> Decimal:
    """Commission of sales alone: all of it, what was asked for apart, or the average times the homes."""
    if not one.get("writingParts") and not one.get("valuationParts"):
        return Decimal(one.get("commission") or 0)
    if sales_alone is not None:
        return Decimal(sales_alone)
    homes = Decimal(one.get("soldEstateParts") or 0)
    average = Decimal(one.get("soldAverageCommission") or 0)
    return (average * homes).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _running(documents: Sequence[Any], question: Question) -> Recounted:
    mine = [
        one
        for one in _objects(documents)
        if _earned_it(one, question) and _month(one.get("obtainedAt"), question) == question.month
    ]
    amounts = [
        (one["amount"] * one["exchangeRate"]).quantize(Decimal("0.0001"), ROUND_HALF_UP)
        for one in mine
        if one.get("amount") is not None and one.get("exchangeRate") is not None
    ]
    return Recounted(sum(amounts, Decimal(0)), len(mine))


def _leads(documents: Sequence[Any], question: Question) -> Recounted:
    key, party, about = _LEADS[question.measure]
    listed = [row for one in _objects(documents) for row in one.get(key) or () if isinstance(row, Mapping)]
    mine = [
        row
        for row in listed
        if _month(row.get("createdAt"), question) == question.month and _belongs(row, party, question)
    ]
    ids = [_under(row, about).get("id") for row in mine]
    named = {one for one in ids if one is not None} - set(question.counted_elsewhere)
    return Recounted(len(named) + ids.count(None), len(mine))


def _earned_it(one: Mapping[str, Any], question: Question) -> bool:
    """Whether an event is the office's, or the user's at an office whose answer this is."""
    if question.user:
        return one.get("userId") == question.user and one.get("customerId") in question.counted_offices
    return bool(one.get("customerId") == question.office)


def _belongs(row: Mapping[str, Any], party: str, question: Question) -> bool:
    if question.user:
        return bool(_under(row, _USERS_LEADS[question.measure]).get("id") == question.user)
    return _office_of(_under(row, party), question) == question.office


def _office_of(party: Mapping[str, Any], question: Question) -> str | None:
    """The office of a lead's party: its company, if that is an office of ours, else the customer asked."""
    company = _under(party, "company")
    for name in (company.get("customerNumber"), company.get("id"), question.customer):
        if name in question.offices:
            return str(name)
    return None


def _is_of(one: Mapping[str, Any], question: Question) -> bool:
    if question.user:
        return bool(one.get("userId") == question.user)
    named = _under(one, "office").get("customerId")
    return str(one.get("customerId") if named is None else named) in _names(question)


def _names(question: Question) -> list[str]:
    """The office's id, and its old number where no other office has that."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    number = question.office.lstrip(letters)
    alike = [one for one in question.offices if one.lstrip(letters) == number]
    return [question.office, number] if alike == [question.office] else [question.office]


def _month(text: object, question: Question) -> date | None:
    """The month of a written time, on the brokerage's clock; none when it is no time."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(ZoneInfo(question.timezone))
    return moment.date().replace(day=1)


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    """Every object of a document, wherever it stands."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _under(one: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = one.get(key)
    return value if isinstance(value, Mapping) else {}


def _sum(mine: Iterable[Mapping[str, Any]], key: str) -> Decimal:
    return sum((Decimal(one.get(key) or 0) for one in mine), Decimal(0))
