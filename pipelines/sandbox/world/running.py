"""Which commissions were earned in steps? From homes sold abroad or new, and from projects of new homes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world.chance import count_around, drawn, happens, working_moment
from pipelines.sandbox.world.facts import WITHDRAWN, Estate, Office, Running, User, Version
from pipelines.sandbox.world.money import split

PROJECT_MONTHS = 18
STEPS = ((4_000, 0), (6_000, 75))


def of_estates(chance: Random, estates: Sequence[Estate]) -> list[Running]:
    """Two steps for every new or foreign home, one more when it was restated, none once cancelled."""
    found: list[Running] = []
    for estate in estates:
        if estate.is_new_home or estate.versions[-1].foreign is not None:
            found.extend(_steps_of(chance, estate))
    return found


def _steps_of(chance: Random, estate: Estate) -> Iterator[Running]:
    sold, last = estate.versions[1], estate.versions[-1]
    gone_at = last.known_at if last.status == WITHDRAWN else None
    for share_number, share in enumerate(sold.shares):
        amount = share.value if share.value_foreign is None else share.value_foreign
        days = (sold.contract_on, sold.access_on)
        for part, day in zip(split(amount, (5_000, 5_000)), days, strict=True):
            if day is not None and (gone_at is None or day < gone_at.date()):
                yield _running(estate, sold, share_number, part, day, _noted(chance, sold, day), gone_at)
    for version in estate.versions[2:]:
        if version.commission != sold.commission:
            yield from _corrections(estate, sold, version, gone_at)
            break


def _corrections(
    estate: Estate, sold: Version, version: Version, gone_at: datetime | None
) -> Iterator[Running]:
    """A step up or down for each user, earned on the day the commission was restated."""
    for number, (old, new) in enumerate(zip(sold.shares, version.shares, strict=True)):
        now, then = (
            (new.value, old.value)
            if new.value_foreign is None or old.value_foreign is None
            else (new.value_foreign, old.value_foreign)
        )
        if now != then:
            day = version.known_at.date()
            yield _running(estate, sold, number, now - then, day, version.known_at, gone_at)


def _running(
    estate: Estate, sold: Version, share: int, amount: int, day: date, known: datetime, gone: datetime | None
) -> Running:
    rate = sold.foreign.rate if sold.foreign else 10_000
    taker = sold.shares[share]
    return Running(taker.user_id, taker.office, estate.id, amount, rate, day, known, gone)


def _noted(chance: Random, sold: Version, day: date) -> datetime:
    """When the step reached the system: never before the sale did."""
    return max(sold.known_at, working_moment(chance, day + timedelta(days=chance.choice((0, 0, 1, 6)))))


def of_projects(
    seed: int, office: Office, month: Month, own: Sequence[User], activity: float
) -> list[Running]:
    """The units of a project booked in the month; units booked alike give rows that are truly equal."""
    number = ((month.year - 2000) * 12 + month.number) // PROJECT_MONTHS
    project = drawn(seed, "project", office.number, number)
    if not happens(project, 0.6):
        return []
    fee = project.randrange(2_500_000, 6_000_000, 12_475)
    chance = drawn(seed, "project", office.number, month)
    at_work = [user for user in own if user.works_on(month.last_day)]
    found: list[Running] = []
    for _ in range(count_around(chance, 1.4 * activity)):
        day = month.first_day + timedelta(days=chance.randrange(month.last_day.day))
        user = chance.choice(at_work)
        noted = working_moment(chance, day + timedelta(days=chance.choice((0, 1, 2))))
        for _ in range(2 if happens(chance, 0.4) else 1):
            found.extend(_unit(user, f"PRO{office.number}_{number}", fee, day, noted))
    return found


def _unit(user: User, project_id: str, fee: int, booked: date, noted: datetime) -> Iterator[Running]:
    for part, (_, wait) in zip(split(fee, [share for share, _ in STEPS]), STEPS, strict=True):
        day = booked + timedelta(days=wait)
        known = max(noted, datetime.combine(day, time(12)))
        yield Running(user.id, user.office, project_id, part, 10_000, day, known, None)
