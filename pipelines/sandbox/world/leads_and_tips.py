"""Leads and tips of an office in a month, with their senders, receivers and states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from functools import lru_cache
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world import market, names
from pipelines.sandbox.world.chance import (
    count_around,
    days_after,
    happens,
    hex_id,
    pick,
    random_for,
    working_moment,
)
from pipelines.sandbox.world.organization import Staff
from pipelines.sandbox.world.records import Estate, Lead, LeadStep, Office, Party, User

Statuses = tuple[tuple[datetime, str], ...]

INCOMING, OUTGOING, TIP = "incoming", "outgoing", "tip"
PER_DESK = {INCOMING: 2.6, OUTGOING: 0.8, TIP: 0.6}
SELLING = "Värderingsförfrågan"
TYPES = {
    INCOMING: ("Spekulantanmälan", "Kontakta mig", "Bevakning", "Visningsanmälan"),
    OUTGOING: ("Lånelöfte", "Flytthjälp", "Elavtal", "Hemförsäkring"),
    TIP: ("FromUser", "FromViewing"),
}
FIRST_STATES = (("Claimed", 6.0), ("AutoAssigned", 2.0), ("AssignedToDistributor", 1.0), ("Delegated", 1.0))
LAST_STATES = (
    ("Done", 6.0), ("NoAssignment", 2.0), ("NoAnswerOrBusy", 1.5), ("Cancelled", 1.0), ("Reassigned", 0.8),
)  # fmt: skip
REMOVED_STATES = ("IncorrectOrDuplicate", "RemovedOther", "Cancelled")

_party = lru_cache(maxsize=20_000)(Party)
"""Cached, so that a party is one object in all its leads."""


def leads(seed: int, staff: Staff, month: Month, sold: Sequence[Estate], activity: float) -> Iterator[Lead]:
    """The leads and tips of a month, and the earlier requests of the sellers in that month's sales."""
    yield from _seller_requests(random_for(seed, "sellers", staff.office.number, month), staff, sold)
    yield from _midnight_leads(random_for(seed, "midnight", staff.office.number, month), staff, month, sold)
    for way, per_desk in PER_DESK.items():
        chance = random_for(seed, way, staff.office.number, month)
        count = count_around(chance, per_desk * staff.office.desks * market.season(month) * activity)
        for _ in range(count):
            yield _lead_in_month(chance, staff, month, way, sold)


def _seller_requests(chance: Random, staff: Staff, sold: Sequence[Estate]) -> Iterator[Lead]:
    """Requests for a valuation, made by sellers before the estate was listed."""
    for estate in sold:
        if not happens(chance, 0.45):
            continue
        created = days_after(chance, estate.created_at, -40, -3)
        user = chance.choice(staff.at_work(created.date()))
        statuses = [(days_after(chance, created, 1, 2), "AssignmentAttempt")]
        statuses += [(version.known_at, version.status) for version in estate.versions]
        steps = (
            LeadStep(created, "New", removed=False),
            LeadStep(days_after(chance, created, 1, 2), "Claimed", removed=False),
            LeadStep(estate.created_at, "Done", removed=False),
        )
        yield _lead(chance, staff, INCOMING, user, created, SELLING, steps, (estate.id, _changes(statuses)))


def _midnight_leads(chance: Random, staff: Staff, month: Month, sold: Sequence[Estate]) -> Iterator[Lead]:
    """In some months, a lead that is created in the very last second."""
    if happens(chance, 0.25):
        second = datetime.combine(month.last_day, time(23, 59, 59))
        moment = second + timedelta(milliseconds=10 * chance.randrange(1, 100))
        yield _lead_at(chance, staff, moment, INCOMING, sold)


def _lead_in_month(chance: Random, staff: Staff, month: Month, way: str, sold: Sequence[Estate]) -> Lead:
    created = working_moment(chance, month.first_day + timedelta(days=chance.randrange(month.last_day.day)))
    return _lead_at(chance, staff, created, way, sold)


def _lead_at(chance: Random, staff: Staff, created: datetime, way: str, sold: Sequence[Estate]) -> Lead:
    user = chance.choice(staff.at_work(created.date()))
    concerned = _concerned_estate(chance, way, created, sold)
    kind = chance.choice(TYPES[way])
    return _lead(chance, staff, way, user, created, kind, _steps(chance, way, created), concerned)


def _concerned_estate(
    chance: Random, way: str, created: datetime, sold: Sequence[Estate]
) -> tuple[str | None, Statuses]:
    """The estate that a lead or tip concerns, and its statuses; outgoing leads and most others have none."""
    listed = [estate for estate in sold if estate.created_at < created]
    if way == OUTGOING or not listed or happens(chance, 0.5):
        return None, ()
    estate = chance.choice(listed)
    return estate.id, _changes(
        [(max(created, version.known_at), version.status) for version in estate.versions]
    )


def _changes(statuses: Sequence[tuple[datetime, str]]) -> Statuses:
    """Statuses in chronological order, without repetitions."""
    distinct: list[tuple[datetime, str]] = []
    for moment, status in sorted(statuses, key=lambda entry: entry[0]):
        if not distinct or distinct[-1][1] != status:
            distinct.append((moment, status))
    return tuple(distinct)


def _steps(chance: Random, way: str, created: datetime) -> tuple[LeadStep, ...]:
    """The steps of a lead: new (sometimes recorded weeks late), handled, closed; some leads are removed."""
    noted = days_after(chance, created, 5, 45) if happens(chance, 0.03) else created
    steps = [LeadStep(noted, "New", removed=False)]
    if way != OUTGOING:
        if happens(chance, 0.92):
            steps.append(LeadStep(days_after(chance, noted, 1, 3), pick(chance, FIRST_STATES), removed=False))
        if happens(chance, 0.8):
            steps.append(LeadStep(days_after(chance, noted, 4, 50), pick(chance, LAST_STATES), removed=False))
    if happens(chance, 0.07):
        removed_at = max(days_after(chance, noted, 1, 60), steps[-1].known_at + timedelta(hours=3))
        steps.append(LeadStep(removed_at, chance.choice(REMOVED_STATES), removed=True))
    return tuple(steps)


def _lead(
    chance: Random,
    staff: Staff,
    way: str,
    user: User,
    created: datetime,
    kind: str,
    steps: tuple[LeadStep, ...],
    concerned: tuple[str | None, Statuses],
) -> Lead:
    sender, receiver = _parties(chance, staff, way, user, created)
    family = chance.choice(names.DOUBLE_NAMES if happens(chance, 0.04) else names.LAST_NAMES)
    contact_id, first = hex_id(chance, "ADR"), chance.choice(names.FIRST_NAMES)
    last = "" if happens(chance, 0.02) else family
    lead_id = hex_id(chance, "LED" if way != TIP else "TIP")
    title = f"{'Tips' if way == TIP else kind}: {first} {last}".strip()
    message = chance.choice(names.MESSAGES)
    texts, contact = (title, kind, message), (contact_id, first, last)
    office = staff.office.customer_id
    return Lead(lead_id, way, office, user.id, created, *texts, contact, sender, receiver, steps, *concerned)


def _parties(chance: Random, staff: Staff, way: str, user: User, created: datetime) -> tuple[Party, Party]:
    """Sender and receiver: leads come from or go to other companies, tips go to a colleague or the office."""
    here = _user_party(user, staff.office, created)
    if way == INCOMING:
        receiver = _office_party(staff.office) if happens(chance, 0.25) else here
        return _outside_party(chance.choice(names.LEAD_SENDERS)), receiver
    if way == OUTGOING:
        return here, _outside_party(chance.choice(names.LEAD_RECEIVERS))
    nearby = staff.nearby(created.date())
    if nearby and happens(chance, 0.3):
        return here, _user_party(*chance.choice(nearby), created)
    colleague = chance.choice(staff.at_work(created.date()))
    if colleague is user:
        return here, _office_party(staff.office)
    return here, _user_party(colleague, staff.office, created)


def _user_party(user: User, office: Office, moment: datetime) -> Party:
    """A user, with the name at that time."""
    name = next((card.name for card in reversed(user.cards) if card.known_at <= moment), user.cards[0].name)
    return _party(user.id, name, "User", user.employee_id, office.own_id, office.name, office.customer_id)


def _office_party(office: Office) -> Party:
    return _party(office.own_id, office.name, "Office", None, office.own_id, office.name, office.customer_id)


def _outside_party(name: str) -> Party:
    """A company that is not an office; its number is computed from its name."""
    number = f"{sum(ord(letter) * place for place, letter in enumerate(name, start=1)) % 100_000:05d}"
    return _party(f"KUN{number}", name, "Company", None, f"KUN{number}", name, f"S{number}")
