"""Budgets of one month, and budget reports over several months. The shapes of their rows are guesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from pipelines.months import months_between
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import ReportQuery
from pipelines.sandbox.world.records import Budget, Office

MEASURES: dict[str, Callable[[Budget], Object]] = {
    "Estate": lambda budget: {"sold": budget.sold, "registered": budget.registered},
    "Commission": lambda budget: {"commission": budget.commission},
    "Crm": lambda budget: {"total": budget.meetings, "ownBooked": budget.own_booked},
    "SoldEstates": lambda budget: {"sold": budget.sold},
}
GROUPS = {"Estate": "estates", "Commission": "commission", "Crm": "saleMeetings"}


def month_report(name: str, query: ReportQuery) -> object:
    """Budget/Estate, /Commission and /Crm: the budgets of one month, for all users or for one."""
    rows: list[Object] = []
    for office in query.offices:
        for budget in _budgets(query, office):
            goals = MEASURES[name](budget)
            period = {"year": budget.month.year, "month": budget.month.number}
            if query.user_id not in (None, budget.user_id):
                continue
            if query.shapes == "a":
                ids = {"customerId": office.customer_id, "userId": budget.user_id}
                rows.append({**ids, **period, **goals})
            else:
                user = {"id": budget.user_id, "name": _name(query, budget)}
                inner = goals[GROUPS[name]] if len(goals) == 1 else goals
                rows.append({"officeId": office.own_id, "user": user, "period": period, GROUPS[name]: inner})
    return rows


def range_report(name: str, query: ReportQuery) -> object:
    """Report/Budget: a row for each office, with its users."""
    return [
        {
            "customerId": office.customer_id,
            "name": office.name,
            "city": office.town.name,
            "users": _users(query, office, MEASURES[name]),
        }
        for office in query.offices
    ]


def _users(query: ReportQuery, office: Office, measure: Callable[[Budget], Object]) -> list[Object]:
    """Shape "a" has one row per user, with a list of months. Shape "b" has one row per user and month."""
    budgets = list(_budgets(query, office))
    if query.shapes == "b":
        return [
            {
                "id": budget.user_id,
                "userName": _name(query, budget),
                "period": f"{budget.month}-01T00:00:00",
                "budget": measure(budget),
            }
            for budget in budgets
        ]
    users: dict[str, Object] = {}
    months: defaultdict[str, list[Object]] = defaultdict(list)
    for budget in budgets:
        user_id, month = budget.user_id, budget.month
        months[user_id].append({"year": month.year, "month": month.number, **measure(budget)})
        row: Object = {"userId": user_id, "name": _name(query, budget), "months": months[user_id]}
        users.setdefault(user_id, row)
    return list(users.values())


def _budgets(query: ReportQuery, office: Office) -> Iterator[Budget]:
    if query.months is not None:
        for month in months_between(*query.months):
            yield from query.snapshot.budgets(office.customer_id, month)


def _name(query: ReportQuery, budget: Budget) -> str:
    return query.snapshot.card(query.snapshot.user(budget.office, budget.user_id)).name
