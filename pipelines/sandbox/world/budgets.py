"""What is each user budgeted to reach, month by month, and when was that decided or changed?"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta

from pipelines.months import Month, months_between
from pipelines.sandbox.world import market
from pipelines.sandbox.world.chance import drawn, happens, working_moment
from pipelines.sandbox.world.facts import Budget, Goals, User

REVISED = 0.35
REVISED_AGAIN = 0.5


def budgets(seed: int, user: User, year: int) -> list[Budget]:
    """Every budget ever set for a user and a year, oldest first; some are changed once, some twice."""
    if user.hired >= date(year, 12, 1) or (user.left is not None and user.left <= date(year, 1, 1)):
        return []
    chance = drawn(seed, "budget", user.id, year)
    decided = working_moment(chance, date(year - 1, 11, 10) + timedelta(days=chance.randrange(35)))
    hired = datetime.combine(user.hired, time(13))
    first = max(Month(year, 1), Month.of(user.hired))
    strength = chance.uniform(0.6, 1.5)
    found = [
        Budget(user.id, user.office, month, max(decided, hired), _goals(strength, month))
        for month in months_between(first, Month(year, 12))
    ]
    revisions = 0
    if happens(chance, REVISED):
        revisions = 2 if happens(chance, REVISED_AGAIN) else 1
    for number in range(revisions):
        earliest = date(year, 3, 1) if number == 0 else date(year, 8, 1)
        moment = working_moment(chance, earliest + timedelta(days=chance.randrange(90)))
        factor = chance.choice((0.75, 0.85, 0.9, 1.1, 1.2))
        if moment > hired:
            found.extend(_revised(found[: 13 - first.number], moment, factor))
    return found


def goals_after(budget: Budget, goals: Goals, known_at: datetime) -> Budget:
    """The same user and month with other goals."""
    return replace(budget, goals=goals, known_at=known_at)


def _goals(strength: float, month: Month) -> Goals:
    sold = max(0, round(1.4 * strength * market.season(month)))
    registered = sold + (1 if strength > 1 else 0)
    commission = round(105_000 * strength * market.season(month) * market.price_level(month) / 500) * 500
    return Goals(commission, sold, registered, meetings=registered * 2 + 1, own_booked=registered)


def _revised(first: list[Budget], moment: datetime, factor: float) -> list[Budget]:
    """New goals for the months after the one in which they were changed."""
    return [
        goals_after(budget, _scaled(budget.goals, factor), moment)
        for budget in first
        if budget.month > Month.of(moment.date())
    ]


def _scaled(goals: Goals, factor: float) -> Goals:
    return replace(
        goals,
        commission=round(goals.commission * factor / 500) * 500,
        sold=max(0, goals.sold + (1 if factor > 1 else -1)),
    )
