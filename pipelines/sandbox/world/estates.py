"""Which estates did an office sell in a month? Each with its sale, before anything was changed later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world import market
from pipelines.sandbox.world.chance import count_around, drawn, happens, later, working_moment
from pipelines.sandbox.world.facts import FOR_SALE, SALE, SOLD, Estate, Foreign, Office, User, Version
from pipelines.sandbox.world.money import in_kronor
from pipelines.sandbox.world.names import STREETS
from pipelines.sandbox.world.revisions import revisions
from pipelines.sandbox.world.sharing import Parts, parts, shares
from pipelines.sandbox.world.towns import FOREIGN_PLACES

SALES_PER_DESK = 1.25
DOORS = ("", "", "", "A", "B", "C")


@dataclass(frozen=True, slots=True)
class Place:
    """An address, and the currency in use there (None at home)."""

    street: str
    zip_code: str
    country: str
    latitude: float
    longitude: float
    currency: str | None
    rate: int


def sales(
    seed: int, office: Office, month: Month, own: Sequence[User], neighbours: Sequence[User], activity: float
) -> list[Estate]:
    """Every sale whose contract was first dated in the month."""
    chance = drawn(seed, "sales", office.number, month)
    count = count_around(chance, SALES_PER_DESK * office.desks * market.season(month) * activity)
    return [_sale(seed, office, month, number, own, neighbours) for number in range(count)]


def estate_number(office: Office, month: Month, number: int) -> tuple[str, str]:
    """The id of an estate and the number the office itself gives it."""
    running = (month.year - 2000) * 12 + month.number
    return (
        f"OBJ{office.number}_{running}{number:03d}",
        f"{month.year % 100:02d}{month.number:02d}-{number:03d}",
    )


def contract_day(chance: Random, month: Month) -> date:
    """A day of the month, rarely a Sunday."""
    day = month.first_day + timedelta(days=chance.randrange(month.last_day.day))
    return day - timedelta(days=1) if day.weekday() == 6 and day.day > 1 else day


def place(chance: Random, office: Office, kind: str) -> Place:
    """Where the estate is: around the office, or abroad."""
    if kind == market.FOREIGN:
        country, street, zip_code, latitude, longitude, currency, rate = chance.choice(FOREIGN_PLACES)
        moved = rate + round(chance.gauss(0, rate * 0.02))
        return Place(
            f"{street} {chance.randint(1, 80)}", zip_code, country, latitude, longitude, currency, moved
        )
    town = office.town
    return Place(
        street=f"{chance.choice(STREETS)} {chance.randint(1, 120)}{chance.choice(DOORS)}",
        zip_code=f"{town.zip_prefix} {chance.randint(20, 60)}",
        country="SE",
        latitude=round(town.latitude + chance.gauss(0, 0.04), 6),
        longitude=round(town.longitude + chance.gauss(0, 0.07), 6),
        currency=None,
        rate=10_000,
    )


def _sale(
    seed: int, office: Office, month: Month, number: int, own: Sequence[User], neighbours: Sequence[User]
) -> Estate:
    chance = drawn(seed, "sale", office.number, month, number)
    kind = market.kind_of_estate(chance)
    where = place(chance, office, kind)
    signed = contract_day(chance, month)
    agreed = parts(chance, signed, own, neighbours)
    created = later(chance, datetime.combine(signed, datetime.min.time()), -120, -12)
    advertised = later(chance, created, 1, 10)
    listed, sold = _versions(chance, month, kind, where, signed, created, agreed, office)
    estate_id, own_number = estate_number(office, month, number)
    is_new_home = kind in (market.HOUSING_COOPERATIVE, market.HOUSE, market.ROW_HOUSE) and happens(
        chance, 0.07
    )
    return Estate(
        id=estate_id,
        number=own_number,
        office=office.customer_id,
        assignment=SALE,
        kind=kind,
        street=where.street,
        zip_code=where.zip_code,
        country=where.country,
        latitude=where.latitude,
        longitude=where.longitude,
        is_new_home=is_new_home,
        intake=chance.randint(1, 8),
        commission_text="Fast arvode enligt avtal" if happens(chance, 0.05) else None,
        created_at=created,
        advertised_at=advertised,
        versions=(listed, sold, *revisions(chance, agreed, sold)),
    )


def _versions(
    chance: Random,
    month: Month,
    kind: str,
    where: Place,
    signed: date,
    created: datetime,
    agreed: Parts,
    office: Office,
) -> tuple[Version, Version]:
    """The estate as it was listed, and as it was first reported sold."""
    listed_abroad: Foreign | None = None
    sold_abroad: Foreign | None = None
    if where.currency:
        final_foreign = market.foreign_price(chance, where.rate, month)
        asked = market.starting_price(chance, final_foreign)
        fee = round(final_foreign * 100 * chance.uniform(0.03, 0.05))
        listed_abroad = Foreign(where.currency, where.rate, asked, None, 0)
        sold_abroad = Foreign(where.currency, where.rate, asked, final_foreign, fee)
        final, starting = in_kronor(final_foreign, where.rate), in_kronor(asked, where.rate)
        earned = in_kronor(fee, where.rate)
    else:
        final = market.swedish_price(chance, kind, office.town, month)
        starting = market.starting_price(chance, final)
        earned = market.commission(chance, final)
    known = _registered(chance, signed)
    access = signed + timedelta(days=chance.randint(25, 110))
    shared = shares(agreed, earned, final, sold_abroad.commission if sold_abroad else None)
    listed = Version(created, FOR_SALE, None, None, starting, None, 0, (), foreign=listed_abroad)
    sold = Version(known, SOLD, signed, access, starting, final, earned, shared, foreign=sold_abroad)
    return listed, sold


def _registered(chance: Random, signed: date) -> datetime:
    """When the sale reached the system: mostly at once, sometimes weeks later."""
    if happens(chance, 0.04):
        return later(chance, datetime.combine(signed, datetime.min.time()), 8, 45)
    return working_moment(chance, signed + timedelta(days=chance.choice((0, 0, 0, 0, 1, 1, 2, 3))))
