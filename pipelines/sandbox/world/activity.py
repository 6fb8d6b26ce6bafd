"""What did a user do on a day? Meetings, viewings, calls and new contacts, drawn by lot."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from pipelines.months import Month
from pipelines.sandbox.world.chance import drawn

Activity = tuple[int, int, int, int]
"""Meetings, viewings, calls, new contacts."""

QUIET: Activity = (0, 0, 0, 0)


def on_day(seed: int, user_id: str, day: date) -> Activity:
    """Weekends are quiet but for viewings on Sundays."""
    return _of_month(seed, user_id, Month.of(day))[day.day - 1]


@lru_cache(maxsize=4_000)
def _of_month(seed: int, user_id: str, month: Month) -> tuple[Activity, ...]:
    chance = drawn(seed, "activity", user_id, month)
    days: list[Activity] = []
    for number in range(1, month.last_day.day + 1):
        weekday = date(month.year, month.number, number).weekday()
        busy = weekday < 5
        days.append(
            (
                chance.randint(0, 3) if busy else 0,
                chance.randint(0, 2) if busy or weekday == 6 else 0,
                chance.randint(0, 14) if busy else 0,
                chance.randint(0, 4) if busy else 0,
            )
        )
    return tuple(days)
