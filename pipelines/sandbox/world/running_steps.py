"""Commissions earned in steps: from homes sold abroad or new, and from projects of new homes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world.chance import count_around, drawn, happens, working_moment
from pipelines.sandbox.world.market import split
from pipelines.sandbox.world.records import WITHDRAWN, Estate, Office, RunningStep, User

PROJECT_MONTHS = 18


def of_estates(chance: Random, estates: Sequence[Estate]) -> Iterator[RunningStep]:
    """Two steps for every new or foreign home, one more when it was restated, none once cancelled."""
    for estate in estates:
        if estate.is_new_home or estate.versions[-1].foreign is not None:
            yield from _steps_of(chance, estate)


def _steps_of(chance: Random, estate: Estate) -> Iterator[RunningStep]:
    sold, last = estate.versions[1], estate.versions[-1]
    rate = sold.foreign.rate if sold.foreign else 10_000
    gone_at = last.known_at if last.status == WITHDRAWN else None

    def step(number: int, amount: int, day: date, known_at: datetime) -> RunningStep:
        user = sold.shares[number]
        return RunningStep(user.user_id, user.office, estate.id, amount, rate, day, known_at, gone_at)

    for number, share in enumerate(sold.shares):
        amount = share.value if share.value_foreign is None else share.value_foreign
        days = (sold.contract_on, sold.access_on)
        for part, day in zip(split(amount, (5_000, 5_000)), days, strict=True):
            if day is not None and (gone_at is None or day < gone_at.date()):
                noted = working_moment(chance, day + timedelta(days=chance.choice((0, 0, 1, 6))))
                yield step(number, part, day, max(sold.known_at, noted))
    restated = next((one for one in estate.versions[2:] if one.commission != sold.commission), None)
    if restated is not None:
        for number, (old, new) in enumerate(zip(sold.shares, restated.shares, strict=True)):
            change = new.value - old.value
            if new.value_foreign is not None and old.value_foreign is not None:
                change = new.value_foreign - old.value_foreign
            if change:
                yield step(number, change, restated.known_at.date(), restated.known_at)


def of_projects(
    seed: int, office: Office, month: Month, own: Sequence[User], activity: float
) -> Iterator[RunningStep]:
    """The units of a project booked in the month; units booked alike give rows that are truly equal."""
    number = ((month.year - 2000) * 12 + month.number) // PROJECT_MONTHS
    project = drawn(seed, "project", office.number, number)
    if not happens(project, 0.6):
        return
    fee = project.randrange(2_500_000, 6_000_000, 12_475)
    chance = drawn(seed, "project", office.number, month)
    at_work = [user for user in own if user.works_on(month.last_day)]
    project_id = f"PRO{office.number}_{number}"
    for _ in range(count_around(chance, 1.4 * activity)):
        booked = month.first_day + timedelta(days=chance.randrange(month.last_day.day))
        user = chance.choice(at_work)
        noted = working_moment(chance, booked + timedelta(days=chance.choice((0, 1, 2))))
        for _ in range(2 if happens(chance, 0.4) else 1):
            for part, wait in zip(split(fee, (4_000, 6_000)), (0, 75), strict=True):
                day = booked + timedelta(days=wait)
                known = max(noted, datetime.combine(day, time(12)))
                yield RunningStep(user.id, user.office, project_id, part, 10_000, day, known, None)
