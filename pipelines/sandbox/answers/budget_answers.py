"""Budgets by office or user of one month, or as a report over months; their rows are guesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipelines.months import months_between
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import Question
from pipelines.sandbox.world.records import Budget, Goals, Office

MEASURES: dict[str, Callable[[Goals], Object]] = {
    "Estate": lambda goals: {"sold": goals.sold, "registered": goals.registered},
    "Commission": lambda goals: {"commission": goals.commission},
    "Crm": lambda goals: {"total": goals.meetings, "ownBooked": goals.own_booked},
    "SoldEstates": lambda goals: {"sold": goals.sold},
}
GROUPS = {"Estate": "estates", "Commission": "commission", "Crm": "saleMeetings"}


def of_month(name: str) -> Callable[[Question], object]:
    """Budget/Estate, /Commission and /Crm of one month, for an office or for one user."""
    measure, group = MEASURES[name], GROUPS[name]

    def row(question: Question, office: Office, budget: Budget) -> Object:
        goals = measure(budget.goals)
        year, month = budget.month.year, budget.month.number
        if question.shapes == "b":
            return {
                "officeId": office.own_id,
                "user": {"id": budget.user_id, "name": _name(question, budget)},
                "period": {"year": year, "month": month},
                group: goals[group] if len(goals) == 1 else goals,
            }
        return {
            "customerId": office.customer_id,
            "userId": budget.user_id,
            "year": year,
            "month": month,
            **goals,
        }

    def answer(question: Question) -> object:
        return [
            row(question, office, budget)
            for office in question.offices
            for budget in _budgets(question, office)
            if question.user_id in (None, budget.user_id)
        ]

    return answer


def over_months(name: str) -> Callable[[Question], object]:
    """Report/Budget: offices (documented) and their users over months (a guess)."""

    def answer(question: Question) -> object:
        return [
            {
                "customerId": office.customer_id,
                "name": office.name,
                "city": office.town.name,
                "users": _users(question, office, MEASURES[name]),
            }
            for office in question.offices
        ]

    return answer


def _users(question: Question, office: Office, measure: Callable[[Goals], Object]) -> list[Object]:
    """Shape a has a user's months in a list; shape b a row per user and month."""
    budgets = list(_budgets(question, office))
    if question.shapes == "b":
        return [
            {
                "id": budget.user_id,
                "userName": _name(question, budget),
                "period": f"{budget.month}-01T00:00:00",
                "budget": measure(budget.goals),
            }
            for budget in budgets
        ]
    by_user: dict[str, list[Budget]] = {}
    for budget in budgets:
        by_user.setdefault(budget.user_id, []).append(budget)
    return [
        {
            "userId": user_id,
            "name": _name(question, held[0]),
            "months": [
                {"year": one.month.year, "month": one.month.number, **measure(one.goals)} for one in held
            ],
        }
        for user_id, held in by_user.items()
    ]


def _budgets(question: Question, office: Office) -> Iterator[Budget]:
    if question.months is not None:
        for month in months_between(*question.months):
            yield from question.snapshot.budgets(office.customer_id, month)


def _name(question: Question, budget: Budget) -> str:
    return question.snapshot.card(question.snapshot.user(budget.office, budget.user_id)).name
