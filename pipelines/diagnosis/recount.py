"""Independent count of a measure in stored answers: straight from the JSON, to contradict the tables.

It shares nothing with normalize, the tables or SQL.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

Number = Decimal | int
Json = Mapping[str, Any]

AMOUNTS = {
    "commission": "commission",
    "sold_total_price": "soldTotalPrice",
    "sold_estate_parts": "soldEstateParts",
    "writing_parts": "writingParts",
    "valuation_parts": "valuationParts",
}
QUOTIENTS = {
    "sold_average_commission": ("sold_commission", "sold_estate_parts", 1),
    "average_price": ("sold_total_price", "sold_estate_parts", 1),
    "sold_commission_percentage": ("sold_commission", "sold_total_price", 100),
}
"""Measures that one divided by another is, and a factor."""
# By measure: key of the list, party whose office a lead belongs to, party whose user, key of the id.
LEADS = {
    "incoming_lead_count": ("incomingLeads", "receiver", "receiver", "lead"),
    "outgoing_lead_count": ("outgoingLeads", "sender", "user", "lead"),
    "tip_count": ("tips", "sender", "sender", "tip"),
}
NEARLY_ALL = Decimal("0.9")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class RecountedNumber:
    """The number to count, of an office or a user in a month, and what says whose a row is."""

    office: str
    month: date
    measure: str
    customer: str
    timezone: str
    offices: Collection[str] = ()
    counted_elsewhere: Collection[str] = ()
    sales_alone: Number | None = None  # what the service answered when asked for sales alone
    user: str = ""
    counted_offices: Collection[str] = ()  # of a user: the offices for which this customer's answer counts
    unnamed_office: str = ""  # the office of rows that name none: the one asked, or its only one


@dataclass(frozen=True)
class Recount:
    """The number, and how many objects of the answers it was made of."""

    number: Number | None
    objects: int


def recount(bodies: Iterable[bytes], number: RecountedNumber, removed: Iterable[bytes] = ()) -> Recount:
    """The number in these answers; zero where they do not mention the office or user, none without an amount.

    Leads in the answers of `removed` ones do not count, also where the others name them; unless they name
    nearly all of the others, as a service does that ignores what it is asked.
    """
    objects = _objects_of(bodies)
    if number.measure in LEADS:
        given, again = _lead_ids(objects), _lead_ids(_objects_of(removed))
        is_ignored = len(given & again) >= NEARLY_ALL * len(given)
        return _leads(objects, number, again - given if is_ignored else again)
    if number.measure.startswith("running_commission"):
        return _running_commissions(objects, number)
    return _earnings(objects, number)


def _objects_of(bodies: Iterable[bytes]) -> list[Json]:
    return list(_every_object([json.loads(body, parse_float=Decimal, parse_int=Decimal) for body in bodies]))


def _earnings(objects: Sequence[Json], number: RecountedNumber) -> Recount:
    measure = number.measure
    rows = [one for one in objects if "soldEstateParts" in one and _earned_by(one, number)]
    if measure in AMOUNTS:
        return Recount(sum_of(_amount(row, AMOUNTS[measure]) for row in rows), len(rows))
    if measure == "sold_commission":
        return Recount(sum_of(_sold_commission(row, number.sales_alone) for row in rows), len(rows))
    dividend, divisor, factor = QUOTIENTS[measure]
    above = _earnings(objects, replace(number, measure=dividend)).number
    below = _earnings(objects, replace(number, measure=divisor)).number
    return Recount(quotient(above, below, factor), len(rows))


def quotient(dividend: Number | None, divisor: Number | None, factor: int) -> Decimal | None:
    """The quotient of two sums, times a factor; unknown where one is, and without a divisor."""
    return factor * Decimal(dividend) / Decimal(divisor) if dividend is not None and divisor else None


def _earned_by(row: Json, number: RecountedNumber) -> bool:
    """Whether earnings are the user's or the office's, by its id or an old number that is surely its own."""
    if number.user:
        return bool(row.get("userId") == number.user)
    old_number = number.office.lstrip(LETTERS)
    alike = [one for one in number.offices if one.lstrip(LETTERS) == old_number]
    is_known = number.customer == number.office or alike == [number.office]
    ids = [number.office, old_number] if is_known else [number.office]
    named = _id_of(_object(row, "office").get("customerId")) or _id_of(row.get("customerId"))
    return named in ids


def _id_of(value: object) -> str:
    """An id as text; empty where it is missing, as blanks and zeros are."""
    return str(value) if value and str(value).strip(" 0.-") else ""


def _sold_commission(row: Json, sales_alone: Number | None) -> Decimal | None:
    """Commission of sales alone: all of it, what was asked for apart, or the average times the homes."""
    if _amount(row, "writingParts") == _amount(row, "valuationParts") == 0:
        return _amount(row, "commission")
    if sales_alone is not None:
        return Decimal(sales_alone)
    homes, average = _amount(row, "soldEstateParts"), _amount(row, "soldAverageCommission")
    if not homes:
        return homes
    return None if average is None else (average * homes).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _running_commissions(objects: Iterable[Json], number: RecountedNumber) -> Recount:
    offices = number.counted_offices if number.user else [number.office]
    events = [
        one
        for one in objects
        if _month(one.get("obtainedAt"), number.timezone) == number.month
        and (_id_of(one.get("customerId")) or number.unnamed_office) in offices
        and (not number.user or one.get("userId") == number.user)
    ]
    amounts = [_in_kronor(one) for one in events]
    return Recount(None if None in amounts else sum_of(amounts), len(events))


def _in_kronor(event: Json) -> Decimal | None:
    """The amount of an event in SEK; unknown without an exchange rate, which 0 is not."""
    amount, rate = _amount(event, "amount"), _amount(event, "exchangeRate")
    if amount == 0:
        return Decimal(0)
    if amount is None or rate is None or rate <= 0:
        return None
    return (amount * rate).quantize(Decimal("0.0001"), ROUND_HALF_UP)


def _lead_ids(objects: Sequence[Json]) -> set[tuple[str, object]]:
    """The ids in all lists of leads, with the list that each is in."""
    return {
        (list_key, _object(row, id_key).get("id"))
        for list_key, _, _, id_key in LEADS.values()
        for one in objects
        for row in one.get(list_key) or ()
    }


def _leads(
    objects: Iterable[Json], number: RecountedNumber, removed: Collection[tuple[str, object]]
) -> Recount:
    list_key, office_party, user_party, id_key = LEADS[number.measure]
    gone = {lead_id for key, lead_id in removed if key == list_key}
    leads = [
        row
        for one in objects
        for row in one.get(list_key) or ()
        if isinstance(row, Mapping) and _month(row.get("createdAt"), number.timezone) == number.month
    ]
    if number.user:
        leads = [row for row in leads if _object(row, user_party).get("id") == number.user]
    else:
        leads = [row for row in leads if _office_of(_object(row, office_party), number) == number.office]
    ids = [_object(row, id_key).get("id") for row in leads]
    distinct = {one for one in ids if one is not None} - set(number.counted_elsewhere) - gone
    return Recount(len(distinct) + ids.count(None), len(leads))


def _office_of(party: Json, number: RecountedNumber) -> str | None:
    """The office of a lead's party: its company, if that is an office of ours, else the customer asked."""
    company = _object(party, "company")
    candidates = (company.get("customerNumber"), company.get("id"), number.customer)
    return next((str(one) for one in candidates if one in number.offices), None)


def _month(text: object, timezone: str) -> date | None:
    """The first day of the month of a written time, on the brokerage's clock; none when it is no time."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(ZoneInfo(timezone))
    return moment.date().replace(day=1)


def _every_object(value: object) -> Iterator[Json]:
    """Every object of a document, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _object(row: Json, key: str) -> Json:
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}


def _amount(row: Json, key: str) -> Decimal | None:
    """The number under a key, also one that is written as text."""
    value = row.get(key)
    try:
        number = Decimal(value) if isinstance(value, str) else value
    except InvalidOperation:
        return None
    return number if isinstance(number, Decimal) and number.is_finite() else None


def sum_of(amounts: Iterable[Number | None]) -> Number | None:
    """The sum of the amounts that are known; zero where no row is, unknown where no row has one."""
    found = list(amounts)
    known = [one for one in found if one is not None]
    return sum(known, Decimal(0)) if known or not found else None
