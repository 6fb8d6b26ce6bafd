"""How are running commissions told? One row per step earned; rows have no id and may be equal."""

from __future__ import annotations

from datetime import datetime, time

from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.question import Question


def running_commissions(question: Question) -> object:
    """RunningCommissions: what was earned in the interval."""
    return [
        {
            "userId": step.user_id,
            "customerId": step.office,
            "estateId": step.estate_id,
            "amount": wording.kronor(step.amount),
            "exchangeRate": wording.rate(step.rate),
            "obtainedAt": wording.day(step.obtained_on),
        }
        for office in question.offices
        for step in question.known.running(office.customer_id)
        if question.covers(datetime.combine(step.obtained_on, time.min))
    ]
