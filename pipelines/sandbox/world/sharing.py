"""Who shares the commission of an estate, and how?"""

from __future__ import annotations

from datetime import date
from random import Random

from pipelines.sandbox.world.chance import happens, weighted
from pipelines.sandbox.world.facts import Share, User
from pipelines.sandbox.world.money import WHOLE, split
from pipelines.sandbox.world.staff import Staff

Parts = tuple[tuple[User, int], ...]
"""Users and their hundredths of a percent; the first is responsible for the estate."""

BETWEEN_OFFICES = 0.08

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


def parts(chance: Random, day: date, staff: Staff, *, alone: bool = False) -> Parts:
    """Choose the users of an estate among those at work that day; now and then one is of another office."""
    at_work = staff.at_work(day)
    nearby = [user for user, _ in staff.nearby(day)]
    wanted = (WHOLE,) if alone else weighted(chance, SPLITS)
    chosen = chance.sample(at_work, min(len(wanted), len(at_work)))
    if nearby and len(wanted) > 1 and happens(chance, BETWEEN_OFFICES * 3):
        chosen = [*chosen[: len(wanted) - 1], chance.choice(nearby)]
    if len(chosen) < len(wanted):
        wanted = (WHOLE,) if len(chosen) == 1 else (5_000, 5_000)
    return tuple(zip(chosen, wanted, strict=True))


def reweighted(chance: Random, old: Parts) -> Parts:
    """The same users with other shares, as when colleagues settle up afterwards."""
    if len(old) != 2:
        return old
    first = chance.choice([share for share in (4_000, 5_000, 5_500, 6_500, 8_000) if share != old[0][1]])
    return ((old[0][0], first), (old[1][0], WHOLE - first))


def shares(agreed: Parts, commission: int, price: int, commission_foreign: int | None) -> tuple[Share, ...]:
    """What each user gets of the commission (öre) and is credited of the price (kronor in, öre out)."""
    weights = [weight for _, weight in agreed]
    values = split(commission, weights)
    prices = split(price * 100, weights)
    foreign = split(commission_foreign, weights) if commission_foreign is not None else [None] * len(weights)
    return tuple(
        Share(user.id, user.office, weight, value, abroad, part)
        for (user, weight), value, abroad, part in zip(agreed, values, foreign, prices, strict=True)
    )
