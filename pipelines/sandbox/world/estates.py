"""An office's estates of a month in all their versions, and the steps in which agents earn commission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world import market, records
from pipelines.sandbox.world.chance import count_around, days_after, happens, pick, random_for, working_moment
from pipelines.sandbox.world.market import WHOLE, in_kronor, split
from pipelines.sandbox.world.names import FOREIGN_PLACES, STREETS
from pipelines.sandbox.world.organization import Staff
from pipelines.sandbox.world.records import Estate, Foreign, Office, Place, RunningStep, Share, User, Version

Parts = tuple[tuple[User, int], ...]
"""Users and their shares in hundredths of a percent. The first user is responsible for the estate."""

PROJECT_MONTHS = 18  # how long a project sells new homes
SALES_PER_DESK = 1.25  # in an average month
BUILT = (market.HOUSING_COOPERATIVE, market.HOUSE, market.ROW_HOUSE)  # kinds of homes that may be new
DOORS = ("", "", "", "A", "B", "C")
ASSIGNED_KINDS = (market.HOUSE, market.HOUSING_COOPERATIVE, market.COTTAGE, market.PLOT, market.FARM)
ASSIGNMENTS_PER_DESK = {records.VALUATION: 2.5, records.WRITING: 0.15}  # in a month
FEES = {records.VALUATION: (150_000, 480_000), records.WRITING: (800_000, 2_600_000)}
"""The lowest and the highest fee, in öre."""
FIRST_NUMBER = {records.VALUATION: 700, records.WRITING: 900}  # sales have lower numbers
NEARBY_USER_SHARE = 0.24
"""Of the estates with several users, this share has one from another office of the group."""
SPLITS: tuple[tuple[tuple[int, ...], float], ...] = (
    ((WHOLE,), 60.0),
    ((5_000, 5_000), 14.0),
    ((6_000, 4_000), 7.0),
    ((7_000, 3_000), 6.0),
    ((6_667, 3_333), 3.0),
    ((3_333, 3_333, 3_334), 5.0),
    ((5_000, 2_500, 2_500), 4.0),
    ((7_250, 1_500, 1_250), 1.0),
)
"""The ways in which users share an estate, each with its frequency in percent."""
REVISIONS = (("restate", 0.10, 150), ("reprice", 0.04, 40), ("redate", 0.02, 35), ("cancel", 0.03, 100))
"""Later changes of a sale: the kind, its probability, and the days within which it happens."""


def sales(seed: int, staff: Staff, month: Month, activity: float) -> list[Estate]:
    """Every sale whose original contract day is in the month."""
    rng = random_for(seed, "sales", staff.office.number, month)
    count = count_around(rng, SALES_PER_DESK * staff.office.desks * market.season(month) * activity)
    return [_sale(seed, staff, month, number) for number in range(count)]


def assignments(seed: int, staff: Staff, month: Month, activity: float) -> list[Estate]:
    """Every valuation and writing assignment of the month. Their small fees count as commission."""
    estates: list[Estate] = []
    for assignment in (records.VALUATION, records.WRITING):
        rng = random_for(seed, assignment, staff.office.number, month)
        count = count_around(rng, ASSIGNMENTS_PER_DESK[assignment] * staff.office.desks * activity)
        estates.extend(_assignment(rng, staff, month, assignment, number) for number in range(count))
    return estates


def _sale(seed: int, staff: Staff, month: Month, number: int) -> Estate:
    office = staff.office
    rng = random_for(seed, "sale", office.number, month, number)
    kind = pick(rng, market.KINDS)
    place = _place(rng, office, kind)
    signed = _contract_day(rng, month)
    parts = _parts(rng, signed, staff)
    created = days_after(rng, datetime.combine(signed, time.min), -120, -12)
    advertised = days_after(rng, created, 1, 10)
    listed = _listed_version(rng, office, month, kind, place, created)
    sold = _sold_version(rng, listed, signed, parts)
    is_new_home = kind in BUILT and happens(rng, 0.07)
    intake = rng.randint(1, 8)
    text = "Fast arvode enligt avtal" if happens(rng, 0.05) else None
    versions = (listed, sold, *_revisions(rng, parts, sold))
    ids = _estate_ids(office, month, number)
    return Estate(*ids, records.SALE, kind, place, is_new_home, intake, text, created, advertised, versions)


def _assignment(rng: Random, staff: Staff, month: Month, assignment: str, number: int) -> Estate:
    office = staff.office
    kind = rng.choice(ASSIGNED_KINDS)
    place = _place(rng, office, kind)
    price = market.listing_price(rng, kind, office.town, month)
    versions = _assignment_versions(rng, staff, _contract_day(rng, month), assignment, price)
    intake = rng.randint(1, 8)
    text = "Fast arvode" if happens(rng, 0.5) else None
    created = days_after(rng, versions[0].known_at, -20, -2)
    ids = _estate_ids(office, month, FIRST_NUMBER[assignment] + number)
    return Estate(*ids, assignment, kind, place, False, intake, text, created, None, versions)


def _estate_ids(office: Office, month: Month, number: int) -> tuple[str, str, str]:
    """The id of an estate, its number at the office, and the customer id of the office."""
    running = (month.year - 2000) * 12 + month.number
    own_number = f"{month.year % 100:02d}{month.number:02d}-{number:03d}"
    return f"OBJ{office.number}_{running}{number:03d}", own_number, office.customer_id


def _contract_day(rng: Random, month: Month) -> date:
    day = month.first_day + timedelta(days=rng.randrange(month.last_day.day))
    return day - timedelta(days=1) if day.weekday() == 6 and day.day > 1 else day


def _place(rng: Random, office: Office, kind: str) -> Place:
    if kind == market.FOREIGN:
        country, street, zip_code, latitude, longitude, currency, usual = rng.choice(FOREIGN_PLACES)
        rate = usual + round(rng.gauss(0, usual * 0.02))
        address = f"{street} {rng.randint(1, 80)}"
        return Place(address, zip_code, country, latitude, longitude, currency, rate)
    town = office.town
    address = f"{rng.choice(STREETS)} {rng.randint(1, 120)}{rng.choice(DOORS)}"
    zip_code = f"{town.zip_prefix} {rng.randint(20, 60)}"
    latitude = round(town.latitude + rng.gauss(0, 0.04), 6)
    longitude = round(town.longitude + rng.gauss(0, 0.07), 6)
    return Place(address, zip_code, "SE", latitude, longitude, None, 10_000)


def _parts(rng: Random, day: date, staff: Staff, *, alone: bool = False) -> Parts:
    at_work = staff.at_work(day)
    nearby = [user for user, _ in staff.nearby(day)]
    weights = (WHOLE,) if alone else pick(rng, SPLITS)
    chosen = rng.sample(at_work, min(len(weights), len(at_work)))
    if nearby and len(weights) > 1 and happens(rng, NEARBY_USER_SHARE):
        chosen = [*chosen[: len(weights) - 1], rng.choice(nearby)]
    if len(chosen) < len(weights):
        weights = (WHOLE,) if len(chosen) == 1 else (5_000, 5_000)
    return tuple(zip(chosen, weights, strict=True))


def _with_shares(parts: Parts, version: Version) -> Version:
    weights = [weight for _, weight in parts]
    values = split(version.commission, weights)
    price = version.starting_price if version.status == records.DONE else version.final_price or 0
    prices = split(price * 100, weights)
    foreign: list[int] | list[None] = [None] * len(weights)
    if version.foreign is not None:
        foreign = split(version.foreign.commission, weights)
    shares = tuple(
        Share(user.id, user.office, weight, value, value_foreign, price_share)
        for (user, weight), value, value_foreign, price_share in zip(
            parts, values, foreign, prices, strict=True
        )
    )
    return replace(version, shares=shares)


def _listed_version(
    rng: Random, office: Office, month: Month, kind: str, place: Place, created: datetime
) -> Version:
    if place.currency is None:
        starting = market.listing_price(rng, kind, office.town, month)
        return Version(created, records.FOR_SALE, None, None, starting, None, 0, ())
    price = market.foreign_listing_price(rng, place.rate, month)
    abroad = Foreign(place.currency, place.rate, price, None, 0)
    return Version(
        created, records.FOR_SALE, None, None, in_kronor(price, place.rate), None, 0, (), foreign=abroad
    )


def _sold_version(rng: Random, listed: Version, signed: date, parts: Parts) -> Version:
    abroad = listed.foreign
    if abroad is None:
        final = market.final_price(rng, listed.starting_price)
        earned = market.commission(rng, final)
    else:
        final_foreign = market.final_price(rng, abroad.starting_price)
        fee = round(final_foreign * 100 * rng.uniform(0.03, 0.05))
        abroad = replace(abroad, final_price=final_foreign, commission=fee)
        final, earned = in_kronor(final_foreign, abroad.rate), in_kronor(fee, abroad.rate)
    if happens(rng, 0.04):
        known_at = days_after(rng, datetime.combine(signed, time.min), 8, 45)
    else:
        known_at = working_moment(rng, signed + timedelta(days=rng.choice((0, 0, 0, 0, 1, 1, 2, 3))))
    access = signed + timedelta(days=rng.randint(25, 110))
    sold = Version(
        known_at, records.SOLD, signed, access, listed.starting_price, final, earned, (), foreign=abroad
    )
    return _with_shares(parts, sold)


def _assignment_versions(
    rng: Random, staff: Staff, day: date, assignment: str, price: int
) -> tuple[Version, ...]:
    parts = _parts(rng, day, staff, alone=happens(rng, 0.7))
    low, high = FEES[assignment]
    fee = rng.randrange(low, high, 4_980 if happens(rng, 0.5) else 50_000)
    is_writing = assignment == records.WRITING
    known_at = working_moment(rng, day + timedelta(days=rng.choice((0, 0, 1, 4))))
    access = day + timedelta(days=rng.randint(20, 70)) if is_writing else None
    status, final = (records.SOLD, price) if is_writing else (records.DONE, None)
    first = _with_shares(parts, Version(known_at, status, day, access, price, final, fee, ()))
    versions = [first]
    if happens(rng, 0.05):
        known_at = days_after(rng, first.known_at, 2, 40)
        versions.append(_with_shares(parts, replace(first, known_at=known_at, commission=round(fee * 0.8))))
    if happens(rng, 0.03):
        known_at = days_after(rng, first.known_at, 41, 80)
        versions.append(replace(versions[-1], known_at=known_at, status=records.WITHDRAWN))
    return tuple(versions)


def _revisions(rng: Random, parts: Parts, sold: Version) -> list[Version]:
    planned: list[tuple[datetime, str]] = []
    for kind, probability, days in REVISIONS:
        if happens(rng, probability):
            planned.append((days_after(rng, sold.known_at, 3, days), kind))
    if sold.access_on is not None:
        access = datetime.combine(sold.access_on, time(9))
        settled = max(days_after(rng, access, 0, 9), days_after(rng, sold.known_at, 4, 12))
        planned.append((settled, "settle"))
    versions: list[Version] = []
    last = sold
    for known_at, kind in sorted(planned):
        if kind == "restate":
            parts, last = _restate(rng, parts, last)
        elif kind == "reprice":
            last = _reprice(rng, parts, last)
        elif kind == "redate":
            last = _redate(rng, last)
        elif kind == "settle":
            received = known_at + timedelta(days=1)
            last = replace(last, deposit_reported_at=known_at, commission_received_at=received)
        else:
            last = replace(last, status=records.WITHDRAWN)
        last = replace(last, known_at=known_at)
        versions.append(last)
        if last.status == records.WITHDRAWN:
            break
    return versions


def _restate(rng: Random, parts: Parts, last: Version) -> tuple[Parts, Version]:
    """The next version, with a different split between two agents or a different commission."""
    if happens(rng, 0.4) and len(parts) == 2:
        (first, first_share), (second, _) = parts
        share = rng.choice([part for part in (4_000, 5_000, 5_500, 6_500, 8_000) if part != first_share])
        parts = ((first, share), (second, WHOLE - share))
        return parts, _with_shares(parts, last)
    factor = rng.choice((0.85, 0.9, 0.95, 1.05, 1.1))
    if last.foreign is None:
        return parts, _with_shares(parts, replace(last, commission=round(last.commission * factor)))
    abroad = replace(last.foreign, commission=round(last.foreign.commission * factor))
    earned = in_kronor(abroad.commission, abroad.rate)
    return parts, _with_shares(parts, replace(last, commission=earned, foreign=abroad))


def _reprice(rng: Random, parts: Parts, last: Version) -> Version:
    """The correction of a mistyped final price."""
    if last.foreign is not None and last.foreign.final_price is not None:
        price = last.foreign.final_price + rng.choice((-2_000, 3_000))
        abroad = replace(last.foreign, final_price=price)
        return _with_shares(parts, replace(last, final_price=in_kronor(price, abroad.rate), foreign=abroad))
    final = (last.final_price or 0) + rng.choice((-15_000, -5_000, 10_000, 20_000, 50_000))
    return _with_shares(parts, replace(last, final_price=final))


def _redate(rng: Random, last: Version) -> Version:
    """The correction of a mistyped contract day, which may move the sale to another month."""
    moved = timedelta(days=rng.choice((-12, -7, -3, 2, 5)))
    if last.contract_on is None or last.access_on is None:
        return last
    return replace(last, contract_on=last.contract_on + moved, access_on=last.access_on + timedelta(days=7))


def running_steps(rng: Random, estates: Sequence[Estate]) -> Iterator[RunningStep]:
    """The steps in which agents earn commission on new and foreign homes: two for each agent of a home.

    If the commission is restated, each changed share has one more step. A cancelled sale loses its steps.
    """
    for estate in estates:
        if estate.is_new_home or estate.versions[-1].foreign is not None:
            yield from _estate_steps(rng, estate)


def _estate_steps(rng: Random, estate: Estate) -> Iterator[RunningStep]:
    sold, last = estate.versions[1], estate.versions[-1]
    rate = sold.foreign.rate if sold.foreign else 10_000
    gone_at = last.known_at if last.status == records.WITHDRAWN else None

    def step(number: int, amount: int, day: date, known_at: datetime) -> RunningStep:
        share = sold.shares[number]
        return RunningStep(share.user_id, share.office, estate.id, amount, rate, day, known_at, gone_at)

    for number, share in enumerate(sold.shares):
        amount = share.value if share.value_foreign is None else share.value_foreign
        days = (sold.contract_on, sold.access_on)
        for part, day in zip(split(amount, (5_000, 5_000)), days, strict=True):
            if day is not None and (gone_at is None or day < gone_at.date()):
                noted = working_moment(rng, day + timedelta(days=rng.choice((0, 0, 1, 6))))
                yield step(number, part, day, max(sold.known_at, noted))
    restated = next(
        (version for version in estate.versions[2:] if version.commission != sold.commission), None
    )
    if restated is not None:
        for number, (old, new) in enumerate(zip(sold.shares, restated.shares, strict=True)):
            change = new.value - old.value
            if new.value_foreign is not None and old.value_foreign is not None:
                change = new.value_foreign - old.value_foreign
            if change:
                yield step(number, change, restated.known_at.date(), restated.known_at)


def project_steps(
    seed: int, office: Office, month: Month, own: Sequence[User], activity: float
) -> Iterator[RunningStep]:
    """The steps of the homes that a project sells in the month. Two homes may have equal rows, on purpose."""
    number = ((month.year - 2000) * 12 + month.number) // PROJECT_MONTHS
    project = random_for(seed, "project", office.number, number)
    if not happens(project, 0.6):
        return
    fee = project.randrange(2_500_000, 6_000_000, 12_475)
    rng = random_for(seed, "project", office.number, month)
    at_work = [user for user in own if user.works_on(month.last_day)]
    project_id = f"PRO{office.number}_{number}"
    for _ in range(count_around(rng, 1.4 * activity)):
        booked = month.first_day + timedelta(days=rng.randrange(month.last_day.day))
        user = rng.choice(at_work)
        noted = working_moment(rng, booked + timedelta(days=rng.choice((0, 1, 2))))
        for _ in range(2 if happens(rng, 0.4) else 1):
            for part, wait in zip(split(fee, (4_000, 6_000)), (0, 75), strict=True):
                day = booked + timedelta(days=wait)
                known_at = max(noted, datetime.combine(day, time(12)))
                yield RunningStep(user.id, user.office, project_id, part, 10_000, day, known_at, None)
