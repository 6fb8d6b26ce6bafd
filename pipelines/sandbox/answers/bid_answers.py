"""Bids on estates. The customer must be an office or a group of one office; a larger group gets a 404."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from random import Random

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import EstateView, ReportQuery
from pipelines.sandbox.calls import HttpError
from pipelines.sandbox.world import names
from pipelines.sandbox.world.chance import happens, hex_id, random_for
from pipelines.sandbox.world.records import VALUATION


def bids(query: ReportQuery, *, hidden: bool) -> object:
    """The answer to Bids or, if `hidden`, to HiddenBids: the bids made so far that match the query."""
    estate_id = query.parameters.get("criteria.estateid")
    contact_id = query.parameters.get("criteria.contactid")
    return [
        bid
        for view in _estates(query)
        if estate_id in (None, view.estate.id)
        for bid in _bids(query, view)
        if bid["isHidden"] is hidden and contact_id in (None, bid["contactId"])
    ]


def _estates(query: ReportQuery) -> Iterator[EstateView]:
    if len(query.offices) > 1:
        raise HttpError(404, "There is no such office.")
    [office] = query.offices
    for view in query.snapshot.estates(office.customer_id):
        if view.estate.assignment != VALUATION:
            yield view


def _bids(query: ReportQuery, view: EstateView) -> Iterator[Object]:
    rng = random_for(query.snapshot.world.history.seed, "bids", view.estate.id)
    contract, first = view.versions[0].contract_on or view.current.contract_on, view.versions[0]
    final = view.current.final_price or view.current.starting_price
    if contract is None or final is None:
        return
    bidders = [(hex_id(rng, "ADR"), rng.choice(names.FIRST_NAMES)) for _ in range(rng.randint(1, 5))]
    begins = datetime.combine(contract, time(9)) - timedelta(days=rng.randint(1, 9))
    count = len(bidders) + rng.randint(0, 6)
    low = min(first.starting_price, final)
    for index in range(count):
        contact, alias = bidders[index % len(bidders)]
        is_last = index == count - 1
        amount = final if is_last else low + (final - low) * index // max(count, 1)
        made = begins + (datetime.combine(contract, time(8)) - begins) * index / count
        hidden = happens(rng, 0.15)
        if made <= query.snapshot.moment:
            yield {
                "id": hex_id(rng, "BUD"),
                "estateId": view.estate.id,
                "contactId": contact,
                "isCanceled": not is_last and happens(rng, 0.05),
                "identifiedBidder": happens(rng, 0.6),
                "alias": alias,
                "amount": _amount(rng, amount),
                "createdAt": formats.moment(made.replace(microsecond=0)),
                "condition": "Förbehåll om lån" if happens(rng, 0.1) else None,
                "isHidden": hidden,
            }


def _amount(rng: Random, amount: int) -> str:
    """An amount as a person would type it."""
    spaced = f"{amount:,}".replace(",", " ")
    return rng.choice((str(amount), str(amount), spaced, f"{spaced} kr"))
