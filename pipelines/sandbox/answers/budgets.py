"""How are budgets told? By office or user and month, or as a report over months; their rows are guesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipelines.months import Month, months_between
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world.facts import Budget, Goals, Office

Measure = Callable[[Goals], Answer]


def estate_goals(goals: Goals) -> Answer:
    """Homes to sell and to take in."""
    return {"sold": goals.sold, "registered": goals.registered}


def commission_goals(goals: Goals) -> Answer:
    """Kronor to earn."""
    return {"commission": goals.commission}


def crm_goals(goals: Goals) -> Answer:
    """Customers to meet."""
    return {"total": goals.meetings, "ownBooked": goals.own_booked}


def sold_goals(goals: Goals) -> Answer:
    """Homes to sell."""
    return {"sold": goals.sold}


def monthly(measure: Measure, group: str) -> Callable[[Question], object]:
    """Budget/Estate, /Commission and /Crm of one month, for an office or for one user."""

    def answer(question: Question) -> object:
        return [
            _row(question, office, budget, measure, group)
            for office in question.offices
            for budget in _budgets(question, office)
            if question.user_id in (None, budget.user_id)
        ]

    return answer


def reported(measure: Measure) -> Callable[[Question], object]:
    """Report/Budget: offices (documented) and their users over months (a guess)."""

    def answer(question: Question) -> object:
        return [
            {
                "customerId": office.customer_id,
                "name": office.name,
                "city": office.town.name,
                "users": _users(question, office, measure),
            }
            for office in question.offices
        ]

    return answer


def _row(question: Question, office: Office, budget: Budget, measure: Measure, group: str) -> Answer:
    goals = measure(budget.goals)
    if question.shapes == "b":
        inner: object = goals[group] if len(goals) == 1 else goals
        return {
            "officeId": office.own_id,
            "user": {"id": budget.user_id, "name": _name(question, budget)},
            "period": {"year": budget.month.year, "month": budget.month.number},
            group: inner,
        }
    return {
        "customerId": office.customer_id,
        "userId": budget.user_id,
        "year": budget.month.year,
        "month": budget.month.number,
        **goals,
    }


def _users(question: Question, office: Office, measure: Measure) -> list[Answer]:
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
            yield from question.known.budgets(office.customer_id, month)


def _name(question: Question, budget: Budget) -> str:
    return question.known.card(question.known.user(budget.office, budget.user_id)).name


def this_year(question: Question) -> tuple[Month, Month]:
    """What a budget report covers when nothing is said: the year of today."""
    year = question.known.world.as_of.year
    return Month(year, 1), Month(year, 12)
