"""Which valuations and writings did an office do in a month? Small fees that count as commission."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world import market
from pipelines.sandbox.world.chance import count_around, drawn, happens, later, working_moment
from pipelines.sandbox.world.estates import contract_day, estate_number, place
from pipelines.sandbox.world.facts import (
    DONE,
    SOLD,
    VALUATION,
    WITHDRAWN,
    WRITING,
    Estate,
    Version,
)  # fmt: skip
from pipelines.sandbox.world.sharing import parts, shares
from pipelines.sandbox.world.staff import Staff

PER_DESK = {VALUATION: 0.5, WRITING: 0.15}
FEES = {VALUATION: (150_000, 480_000), WRITING: (800_000, 2_600_000)}
FIRST_NUMBER = {VALUATION: 700, WRITING: 900}
KINDS = (market.HOUSE, market.HOUSING_COOPERATIVE, market.COTTAGE, market.PLOT, market.FARM)


def assignments(seed: int, staff: Staff, month: Month, activity: float) -> list[Estate]:
    """Every valuation and every writing of the month."""
    found: list[Estate] = []
    for assignment in (VALUATION, WRITING):
        chance = drawn(seed, assignment, staff.office.number, month)
        count = count_around(chance, PER_DESK[assignment] * staff.office.desks * activity)
        found.extend(_assignment(chance, staff, month, assignment, number) for number in range(count))
    return found


def _assignment(chance: Random, staff: Staff, month: Month, assignment: str, number: int) -> Estate:
    office = staff.office
    kind = chance.choice(KINDS)
    where = place(chance, office, kind)
    estate_id, own_number = estate_number(office, month, FIRST_NUMBER[assignment] + number)
    price = market.listing_price(chance, kind, office.town, month)
    versions = _versions(chance, staff, contract_day(chance, month), assignment, price)
    return Estate(
        id=estate_id,
        number=own_number,
        office=office.customer_id,
        assignment=assignment,
        kind=kind,
        place=where,
        is_new_home=False,
        intake=chance.randint(1, 8),
        commission_text="Fast arvode" if happens(chance, 0.5) else None,
        created_at=later(chance, versions[0].known_at, -20, -2),
        advertised_at=None,
        versions=versions,
    )


def _versions(chance: Random, staff: Staff, day: date, assignment: str, price: int) -> tuple[Version, ...]:
    """As first reported; sometimes with another fee later, sometimes withdrawn."""
    agreed = parts(chance, day, staff, alone=happens(chance, 0.7))
    low, high = FEES[assignment]
    fee = chance.randrange(low, high, 4_980 if happens(chance, 0.5) else 50_000)
    is_writing = assignment == WRITING
    first = Version(
        known_at=working_moment(chance, day + timedelta(days=chance.choice((0, 0, 1, 4)))),
        status=SOLD if is_writing else DONE,
        contract_on=day,
        access_on=day + timedelta(days=chance.randint(20, 70)) if is_writing else None,
        starting_price=price,
        final_price=price if is_writing else None,
        commission=fee,
        shares=shares(agreed, fee, price, None),
    )
    versions = [first]
    if happens(chance, 0.05):
        known_at, lower = later(chance, first.known_at, 2, 40), round(fee * 0.8)
        changed = shares(agreed, lower, price, None)
        versions.append(replace(first, known_at=known_at, commission=lower, shares=changed))
    if happens(chance, 0.03):
        known_at = later(chance, first.known_at, 41, 80)
        versions.append(replace(versions[-1], known_at=known_at, status=WITHDRAWN))
    return tuple(versions)
