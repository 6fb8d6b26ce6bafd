"""Seeded chance: the same key always draws the same values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from random import Random
from typing import TypeVar

T = TypeVar("T")


def random_for(*key: object) -> Random:
    """A separate random generator for a key."""
    return Random("/".join(str(part) for part in key))


def count_around(rng: Random, mean: float) -> int:
    """A random count with this mean."""
    return max(0, round(rng.gauss(mean, mean**0.5))) if mean > 0 else 0


def happens(rng: Random, share: float) -> bool:
    """True with this probability."""
    return rng.random() < share


def pick(rng: Random, choices: Sequence[tuple[T, float]]) -> T:
    """One of the choices, with probabilities in proportion to their weights."""
    return rng.choices([choice for choice, _ in choices], [weight for _, weight in choices])[0]


def working_moment(rng: Random, day: date) -> datetime:
    """A time between 08:00 and 20:00 on a day, with a fraction of a second of up to six digits."""
    fraction = pick(rng, ((0, 1.0), (10_000, 5.0), (1_000, 3.0), (1, 1.0)))
    microsecond = rng.randrange(1_000_000 // fraction) * fraction if fraction else 0
    seconds = rng.randrange(12 * 3600)
    return datetime.combine(day, time(8)) + timedelta(seconds=seconds, microseconds=microsecond)


def days_after(rng: Random, moment: datetime, fewest_days: int, most_days: int) -> datetime:
    """A working time on a random day after `moment`, or before it if the numbers of days are negative."""
    return working_moment(rng, moment.date() + timedelta(days=rng.randint(fewest_days, most_days)))


def hex_id(rng: Random, prefix: str) -> str:
    """An id as the service writes it: a prefix and 32 hexadecimal digits."""
    return f"{prefix}{rng.getrandbits(128):032X}"
