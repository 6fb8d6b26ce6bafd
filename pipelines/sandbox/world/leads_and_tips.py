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
    """The leads and tips of a month, and the earlier valuation requests that led to sales of the month."""
    yield from _seller_requests(random_for(seed, "sellers", staff.office.number, month), staff, sold)
    yield from _midnight_leads(random_for(seed, "midnight", staff.office.number, month), staff, month, sold)
    for way, per_desk in PER_DESK.items():
        rng = random_for(seed, way, staff.office.number, month)
        count = count_around(rng, per_desk * staff.office.desks * market.season(month) * activity)
        for _ in range(count):
            yield _lead_in_month(rng, staff, month, way, sold)


def _seller_requests(rng: Random, staff: Staff, sold: Sequence[Estate]) -> Iterator[Lead]:
    for estate in sold:
        if not happens(rng, 0.45):
            continue
        created = days_after(rng, estate.created_at, -40, -3)
        user = rng.choice(staff.at_work(created.date()))
        statuses = [(days_after(rng, created, 1, 2), "AssignmentAttempt")]
        statuses += [(version.known_at, version.status) for version in estate.versions]
        steps = (
            LeadStep(created, "New", removed=False),
            LeadStep(days_after(rng, created, 1, 2), "Claimed", removed=False),
            LeadStep(estate.created_at, "Done", removed=False),
        )
        yield _lead(rng, staff, INCOMING, user, created, SELLING, steps, (estate.id, _changes(statuses)))


def _midnight_leads(rng: Random, staff: Staff, month: Month, sold: Sequence[Estate]) -> Iterator[Lead]:
    """A lead in the last second of the month; most months have none."""
    if happens(rng, 0.25):
        second = datetime.combine(month.last_day, time(23, 59, 59))
        moment = second + timedelta(milliseconds=10 * rng.randrange(1, 100))
        yield _lead_at(rng, staff, moment, INCOMING, sold)


def _lead_in_month(rng: Random, staff: Staff, month: Month, way: str, sold: Sequence[Estate]) -> Lead:
    created = working_moment(rng, month.first_day + timedelta(days=rng.randrange(month.last_day.day)))
    return _lead_at(rng, staff, created, way, sold)


def _lead_at(rng: Random, staff: Staff, created: datetime, way: str, sold: Sequence[Estate]) -> Lead:
    user = rng.choice(staff.at_work(created.date()))
    concerned = _concerned_estate(rng, way, created, sold)
    kind = rng.choice(TYPES[way])
    return _lead(rng, staff, way, user, created, kind, _steps(rng, way, created), concerned)


def _concerned_estate(
    rng: Random, way: str, created: datetime, sold: Sequence[Estate]
) -> tuple[str | None, Statuses]:
    listed = [estate for estate in sold if estate.created_at < created]
    if way == OUTGOING or not listed or happens(rng, 0.5):
        return None, ()
    estate = rng.choice(listed)
    return estate.id, _changes(
        [(max(created, version.known_at), version.status) for version in estate.versions]
    )


def _changes(statuses: Sequence[tuple[datetime, str]]) -> Statuses:
    """The statuses in chronological order, without those that equal the one before."""
    distinct: list[tuple[datetime, str]] = []
    for moment, status in sorted(statuses, key=lambda entry: entry[0]):
        if not distinct or distinct[-1][1] != status:
            distinct.append((moment, status))
    return tuple(distinct)


def _steps(rng: Random, way: str, created: datetime) -> tuple[LeadStep, ...]:
    noted = days_after(rng, created, 5, 45) if happens(rng, 0.03) else created
    steps = [LeadStep(noted, "New", removed=False)]
    if way != OUTGOING:
        if happens(rng, 0.92):
            steps.append(LeadStep(days_after(rng, noted, 1, 3), pick(rng, FIRST_STATES), removed=False))
        if happens(rng, 0.8):
            steps.append(LeadStep(days_after(rng, noted, 4, 50), pick(rng, LAST_STATES), removed=False))
    if happens(rng, 0.07):
        removed_at = max(days_after(rng, noted, 1, 60), steps[-1].known_at + timedelta(hours=3))
        steps.append(LeadStep(removed_at, rng.choice(REMOVED_STATES), removed=True))
    return tuple(steps)


def _lead(
    rng: Random,
    staff: Staff,
    way: str,
    user: User,
    created: datetime,
    kind: str,
    steps: tuple[LeadStep, ...],
    concerned: tuple[str | None, Statuses],
) -> Lead:
    sender, receiver = _parties(rng, staff, way, user, created)
    family = rng.choice(names.DOUBLE_NAMES if happens(rng, 0.04) else names.LAST_NAMES)
    contact_id, first_name = hex_id(rng, "ADR"), rng.choice(names.FIRST_NAMES)
    last_name = "" if happens(rng, 0.02) else family
    lead_id = hex_id(rng, "LED" if way != TIP else "TIP")
    title = f"{'Tips' if way == TIP else kind}: {first_name} {last_name}".strip()
    message = rng.choice(names.MESSAGES)
    texts, contact = (title, kind, message), (contact_id, first_name, last_name)
    office = staff.office.customer_id
    return Lead(lead_id, way, office, user.id, created, *texts, contact, sender, receiver, steps, *concerned)


def _parties(rng: Random, staff: Staff, way: str, user: User, created: datetime) -> tuple[Party, Party]:
    """The sender and the receiver of a lead or tip."""
    here = _user_party(user, staff.office, created)
    if way == INCOMING:
        receiver = _office_party(staff.office) if happens(rng, 0.25) else here
        return _outside_party(rng.choice(names.LEAD_SENDERS)), receiver
    if way == OUTGOING:
        return here, _outside_party(rng.choice(names.LEAD_RECEIVERS))
    nearby = staff.nearby(created.date())
    if nearby and happens(rng, 0.3):
        return here, _user_party(*rng.choice(nearby), created)
    colleague = rng.choice(staff.at_work(created.date()))
    if colleague is user:
        return here, _office_party(staff.office)
    return here, _user_party(colleague, staff.office, created)


def _user_party(user: User, office: Office, moment: datetime) -> Party:
    name = next((card.name for card in reversed(user.cards) if card.known_at <= moment), user.cards[0].name)
    return _party(user.id, name, "User", user.employee_id, office.own_id, office.name, office.customer_id)


def _office_party(office: Office) -> Party:
    return _party(office.own_id, office.name, "Office", None, office.own_id, office.name, office.customer_id)


def _outside_party(name: str) -> Party:
    number = f"{sum(ord(letter) * place for place, letter in enumerate(name, start=1)) % 100_000:05d}"
    return _party(f"KUN{number}", name, "Company", None, f"KUN{number}", name, f"S{number}")
