"""Which estates did an office sell in a month? Each with its sale, before anything was changed later."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world import market
from pipelines.sandbox.world.chance import count_around, drawn, happens, later, working_moment
from pipelines.sandbox.world.facts import FOR_SALE, SALE, SOLD, Estate, Foreign, Office, Place, Version
from pipelines.sandbox.world.money import in_kronor
from pipelines.sandbox.world.names import STREETS
from pipelines.sandbox.world.revisions import revisions
from pipelines.sandbox.world.sharing import Parts, parts, shares
from pipelines.sandbox.world.staff import Staff
from pipelines.sandbox.world.towns import FOREIGN_PLACES

SALES_PER_DESK = 1.25
BUILT = (market.HOUSING_COOPERATIVE, market.HOUSE, market.ROW_HOUSE)
DOORS = ("", "", "", "A", "B", "C")


def sales(seed: int, staff: Staff, month: Month, activity: float) -> list[Estate]:
    """Every sale whose contract was first dated in the month."""
    chance = drawn(seed, "sales", staff.office.number, month)
    count = count_around(chance, SALES_PER_DESK * staff.office.desks * market.season(month) * activity)
    return [_sale(seed, staff, month, number) for number in range(count)]


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


def _sale(seed: int, staff: Staff, month: Month, number: int) -> Estate:
    office = staff.office
    chance = drawn(seed, "sale", office.number, month, number)
    kind = market.kind_of_estate(chance)
    where = place(chance, office, kind)
    signed = contract_day(chance, month)
    agreed = parts(chance, signed, staff)
    created = later(chance, datetime.combine(signed, time.min), -120, -12)
    advertised = later(chance, created, 1, 10)
    listed = _listed(chance, office, month, kind, where, created)
    sold = _sold(chance, listed, signed, agreed)
    estate_id, own_number = estate_number(office, month, number)
    return Estate(
        id=estate_id,
        number=own_number,
        office=office.customer_id,
        assignment=SALE,
        kind=kind,
        place=where,
        is_new_home=kind in BUILT and happens(chance, 0.07),
        intake=chance.randint(1, 8),
        commission_text="Fast arvode enligt avtal" if happens(chance, 0.05) else None,
        created_at=created,
        advertised_at=advertised,
        versions=(listed, sold, *revisions(chance, agreed, sold)),
    )


def _listed(
    chance: Random, office: Office, month: Month, kind: str, where: Place, created: datetime
) -> Version:
    """The estate as it was put up for sale."""
    if where.currency is None:
        starting = market.listing_price(chance, kind, office.town, month)
        return Version(created, FOR_SALE, None, None, starting, None, 0, ())
    asked = market.foreign_listing_price(chance, where.rate, month)
    abroad = Foreign(where.currency, where.rate, asked, None, 0)
    return Version(created, FOR_SALE, None, None, in_kronor(asked, where.rate), None, 0, (), foreign=abroad)


def _sold(chance: Random, listed: Version, signed: date, agreed: Parts) -> Version:
    """The estate as it was first reported sold."""
    abroad = listed.foreign
    if abroad is None:
        final = market.final_price(chance, listed.starting_price)
        earned = market.commission(chance, final)
    else:
        final_foreign = market.final_price(chance, abroad.starting_price)
        fee = round(final_foreign * 100 * chance.uniform(0.03, 0.05))
        abroad = replace(abroad, final_price=final_foreign, commission=fee)
        final, earned = in_kronor(final_foreign, abroad.rate), in_kronor(fee, abroad.rate)
    return Version(
        known_at=_registered(chance, signed),
        status=SOLD,
        contract_on=signed,
        access_on=signed + timedelta(days=chance.randint(25, 110)),
        starting_price=listed.starting_price,
        final_price=final,
        commission=earned,
        shares=shares(agreed, earned, final, abroad.commission if abroad else None),
        foreign=abroad,
    )


def _registered(chance: Random, signed: date) -> datetime:
    """When the sale reached the system: mostly at once, sometimes weeks later."""
    if happens(chance, 0.04):
        return later(chance, datetime.combine(signed, time.min), 8, 45)
    return working_moment(chance, signed + timedelta(days=chance.choice((0, 0, 0, 0, 1, 1, 2, 3))))
