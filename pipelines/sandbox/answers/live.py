"""How are live figures told? Activity and commissions per user; nothing about their rows is documented."""

from __future__ import annotations

from collections.abc import Container
from datetime import date, datetime, time, timedelta

from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.commissions import Earned, latest_three_months, shares
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world import activity
from pipelines.sandbox.world.facts import Office, User, UserCard


def activity_report(question: Question) -> object:
    """LiveData/Report: what users did in the interval, summed up."""
    days = _days(question)
    if question.shapes == "b":
        return {
            "offices": [
                {
                    "customerId": office.customer_id,
                    "users": [
                        {"id": user.id, "name": card.name, "activity": _nested(question, user, days)}
                        for user, card in _staff(question, office)
                    ],
                }
                for office in question.offices
            ]
        }
    return {
        "users": [
            {
                "userId": user.id,
                "name": card.name,
                "customerId": office.customer_id,
                **_flat(question, user, days),
            }
            for office in question.offices
            for user, card in _staff(question, office)
        ]
    }


def commission_report(question: Question) -> object:
    """LiveData/CommissionReport: only the latest three months are calculated; older ones are told as zero."""
    earned: dict[str, Earned] = {}
    first, after = latest_three_months(question)
    for signed, assignment, share in shares(question):
        if first <= signed < after:
            earned.setdefault(share.user_id, Earned()).add(assignment, share)
    rows = [
        _commission(question, office, user, card, earned.get(user.id, Earned()))
        for office in question.offices
        for user, card in _staff(question, office, also=earned)
    ]
    return {"rows": rows} if question.shapes == "b" else {"users": rows}


def _commission(question: Question, office: Office, user: User, card: UserCard, earned: Earned) -> Answer:
    if question.shapes == "b":
        return {
            "agent": {"id": user.id, "name": card.name, "office": office.customer_id},
            "commission": {"value": wording.kronor(earned.commission), "currency": "SEK"},
            "parts": wording.parts(earned.sold),
        }
    return {
        "userId": user.id,
        "customerId": office.customer_id,
        "commission": wording.kronor(earned.commission),
        "soldEstateParts": wording.parts(earned.sold),
    }


def _staff(question: Question, office: Office, also: Container[str] = ()) -> list[tuple[User, UserCard]]:
    """Users employed at some time in the interval, and others who earned something in it."""
    first, last = question.start.date(), min(question.end.date(), question.known.world.as_of)
    return [
        (user, question.known.card(user))
        for user in question.known.world.history.users(office.customer_id)
        if (user.hired <= last and (user.left is None or user.left > first)) or user.id in also
    ]


def _days(question: Question) -> list[date]:
    """The days of the interval that have come."""
    last = min(question.end.date(), question.known.world.as_of)
    count = (last - question.start.date()).days + 1
    days = [question.start.date() + timedelta(days=number) for number in range(max(0, count))]
    return [day for day in days if question.covers(datetime.combine(day, time(12)))]


def _summed(question: Question, user: User, days: list[date]) -> tuple[int, int, int, int]:
    seed = question.known.world.history.seed
    found = [activity.on_day(seed, user.id, day) for day in days if user.works_on(day)]
    meetings, viewings, calls, contacts = (sum(column) for column in zip(activity.QUIET, *found, strict=True))
    return meetings, viewings, calls, contacts


def _flat(question: Question, user: User, days: list[date]) -> Answer:
    meetings, viewings, calls, contacts = _summed(question, user, days)
    return {"meetings": meetings, "viewings": viewings, "calls": calls, "newContacts": contacts}


def _nested(question: Question, user: User, days: list[date]) -> Answer:
    meetings, viewings, calls, contacts = _summed(question, user, days)
    return {
        "meetings": {"total": meetings, "ownBooked": meetings // 2},
        "viewings": viewings,
        "phone": {"calls": calls},
        "contacts": contacts,
    }
