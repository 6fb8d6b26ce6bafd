"""What users are budgeted to reach month by month, and what they do day by day."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from pipelines.months import Month, months_between
from pipelines.sandbox.world import market
from pipelines.sandbox.world.chance import drawn, happens, working_moment
from pipelines.sandbox.world.records import Budget, Goals, User

REVISED, REVISED_AGAIN = 0.35, 0.5


def budgets(seed: int, user: User, year: int) -> list[Budget]:
    """Every budget ever set for a user and a year, oldest first; some are changed once, some twice."""
    if user.hired >= date(year, 12, 1) or (user.left is not None and user.left <= date(year, 1, 1)):
        return []
    chance = drawn(seed, "budget", user.id, year)
    decided = working_moment(chance, date(year - 1, 11, 10) + timedelta(days=chance.randrange(35)))
    hired = datetime.combine(user.hired, time(13))
    first = max(Month(year, 1), Month.of(user.hired))
    strength = chance.uniform(0.6, 1.5)
    original = [
        Budget(user.id, user.office, month, max(decided, hired), _goals(strength, month))
        for month in months_between(first, Month(year, 12))
    ]
    found = list(original)
    revisions = 0
    if happens(chance, REVISED):
        revisions = 2 if happens(chance, REVISED_AGAIN) else 1
    for earliest in (date(year, 3, 1), date(year, 8, 1))[:revisions]:
        moment = working_moment(chance, earliest + timedelta(days=chance.randrange(90)))
        factor = chance.choice((0.75, 0.85, 0.9, 1.1, 1.2))
        if moment > hired:
            found.extend(
                replace(budget, goals=_scaled(budget.goals, factor), known_at=moment)
                for budget in original
                if budget.month > Month.of(moment.date())
            )
    return found


def _goals(strength: float, month: Month) -> Goals:
    sold = max(0, round(1.4 * strength * market.season(month)))
    registered = sold + (1 if strength > 1 else 0)
    commission = round(105_000 * strength * market.season(month) * market.price_level(month) / 500) * 500
    return Goals(commission, sold, registered, meetings=registered * 2 + 1, own_booked=registered)


def _scaled(goals: Goals, factor: float) -> Goals:
    return replace(
        goals,
        commission=round(goals.commission * factor / 500) * 500,
        sold=max(0, goals.sold + (1 if factor > 1 else -1)),
    )


@lru_cache(maxsize=4_000)
def activity(seed: int, user_id: str, month: Month) -> tuple[tuple[int, int, int, int], ...]:
    """Meetings, viewings, calls and new contacts of each day; weekends have viewings on Sundays only."""
    chance = drawn(seed, "activity", user_id, month)
    days: list[tuple[int, int, int, int]] = []
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
