"""Bids of estates.

Here a customer must be an office: a group has no bids of its own, and gets a 404.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from random import Random

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import KnownEstate, Question
from pipelines.sandbox.calls import Refusal
from pipelines.sandbox.world import names
from pipelines.sandbox.world.chance import drawn, happens, hex_id
from pipelines.sandbox.world.records import VALUATION


def bids(question: Question, *, hidden: bool) -> object:
    """Bids and HiddenBids of an estate or a contact, up to the day of the world."""
    estate, contact = question.ids.get("criteria.estateid"), question.ids.get("criteria.contactid")
    return [
        bid
        for known in _estates(question)
        if estate in (None, known.estate.id)
        for bid in _bids(question, known)
        if bid["isHidden"] is hidden and contact in (None, bid["contactId"])
    ]


def _estates(question: Question) -> Iterator[KnownEstate]:
    """The estates of the one office that the request names."""
    if len(question.offices) > 1:
        raise Refusal(404, "There is no such office.")
    [office] = question.offices
    for known in question.snapshot.estates(office.customer_id):
        if known.estate.assignment != VALUATION:
            yield known


def _bids(question: Question, known: KnownEstate) -> Iterator[Object]:
    """The bids of an estate, by one bidder after another up to the final price; amounts are texts."""
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
    """An amount as a person would type it."""
    spaced = f"{amount:,}".replace(",", " ")
    return chance.choice((str(amount), str(amount), spaced, f"{spaced} kr"))
