"""How is a budget changed through the service? The one thing that can be posted."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from pipelines.sandbox.answers.standing import Known
from pipelines.sandbox.calls import Call, Refusal
from pipelines.sandbox.reading import path_month
from pipelines.sandbox.world.facts import Budget, Goals

MOST_COMMISSION = 10_000_000
FIELDS = {
    "commission": ("commission",),
    "sold": ("estates", "sold"),
    "registered": ("estates", "registered"),
    "meetings": ("saleMeetings", "total"),
    "own_booked": ("saleMeetings", "ownBooked"),
}


def customer_of(call: Call) -> str | None:
    """The customer named by the path of a budget, if it is one."""
    segments = call.segments
    is_budget = (
        call.method == "POST" and len(segments) == 7 and segments[:2] == ("BusinessIntelligence", "Budget")
    )
    return segments[2] if is_budget else None


def post_budget(known: Known, call: Call, customer: str) -> None:
    """POST Budget/{customerId}/{officeId}/{userId}/{year}/{month}: the goals count from now on."""
    if customer_of(call) is None:
        raise Refusal(404, "There is nothing here.")
    _, _, _, office_id, user_id, year, month = call.segments
    office = next((one for one in known.world.offices_of(customer) if one.own_id == office_id), None)
    if office is None:
        raise Refusal(404, f"There is no office {office_id} of the customer {customer}.")
    if all(user.id != user_id for user, _ in known.users(office.customer_id)):
        raise Refusal(404, f"There is no user {user_id} at the office {office_id}.")
    goals = _goals(call)
    posted = known.world.history.posted
    moment = datetime.combine(known.world.as_of, datetime.min.time()) + timedelta(
        hours=23, milliseconds=len(posted)
    )
    posted.append(Budget(user_id, office.customer_id, path_month(year, month), moment, goals))


def _goals(call: Call) -> Goals:
    """The body, a RealtorBudget; what it leaves out is zero."""
    try:
        body = json.loads(call.body)
    except ValueError as error:
        raise Refusal(400, "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise Refusal(400, "The body is not a budget.")
    wrong: dict[str, list[str]] = {}
    values: dict[str, int] = {}
    for name, path in FIELDS.items():
        value: object = body
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            value = 0
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COMMISSION:
            wrong[".".join(path)] = [f"A whole number from 0 to {MOST_COMMISSION} is needed."]
        else:
            values[name] = value
    if wrong:
        raise Refusal(400, "The request is invalid.", wrong)
    return Goals(**values)
