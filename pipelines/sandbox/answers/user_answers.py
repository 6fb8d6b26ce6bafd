"""Users, trademarks and the live activity of users."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from pipelines.months import Month
from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import ReportQuery
from pipelines.sandbox.world.organization import daily_activity
from pipelines.sandbox.world.records import User, UserCard

LANGUAGE_NAMES = {
    "sv": "Svenska", "en": "Engelska", "de": "Tyska", "fi": "Finska", "ar": "Arabiska", "es": "Spanska",
    "fr": "Franska", "pl": "Polska", "so": "Somaliska", "fa": "Persiska", "no": "Norska", "da": "Danska",
}  # fmt: skip


def users(query: ReportQuery) -> object:
    """External/Users: every current user; the rows do not name an office."""
    return [
        {
            "id": user.id,
            "name": card.name,
            "emailAddress": card.email,
            "publicPhoneNumber": card.public_phone,
            "cellPhone": card.cell_phone,
            "spokenLanguages": [_language(query, code) for code in card.languages],
            "changedAt": formats.moment(card.known_at),
            "image": _image(card),
        }
        for office in query.offices
        for user, card in query.snapshot.users(office.customer_id)
    ]


def trademarks(query: ReportQuery) -> object:
    """External/Trademarks: both shapes of the answer are guesses."""
    requested = {office.customer_id: office for office in query.offices}
    rows: list[Object] = []
    for mark in query.snapshot.world.history.chain.trademarks:
        members = [requested[office_id] for office_id in mark.offices if office_id in requested]
        if members and query.shapes == "b":
            offices = [{"customerId": office.customer_id, "name": office.name} for office in members]
            rows.append({"trademarkId": mark.id, "trademark": mark.name, "offices": offices})
        elif members:
            customers = [office.customer_id for office in members]
            rows.append({"id": mark.id, "name": mark.name, "customerIds": customers})
    return rows


def activity_report(query: ReportQuery) -> object:
    """LiveData/Report: the numbers of each user's activities in the interval. Both shapes are guesses."""
    offices: list[Object] = []
    users: list[Object] = []
    for office in query.offices:
        nested: list[Object] = []
        for user, card in query.employed(office):
            meetings, viewings, calls, contacts = _activity(query, user)
            flat = {"userId": user.id, "name": card.name, "customerId": office.customer_id}
            counts = {"meetings": meetings, "viewings": viewings, "calls": calls, "newContacts": contacts}
            users.append({**flat, **counts})
            met: Object = {"meetings": {"total": meetings, "ownBooked": meetings // 2}, "viewings": viewings}
            activity = {**met, "phone": {"calls": calls}, "contacts": contacts}
            nested.append({"id": user.id, "name": card.name, "activity": activity})
        offices.append({"customerId": office.customer_id, "users": nested})
    return {"offices": offices} if query.shapes == "b" else {"users": users}


def _activity(query: ReportQuery, user: User) -> list[int]:
    """The numbers of the user's meetings, viewings, calls and new contacts in the interval, up to today."""
    world = query.snapshot.world
    last = min(query.end.date(), world.as_of)
    sums = [0, 0, 0, 0]
    for number in range((last - query.start.date()).days + 1):
        day = query.start.date() + timedelta(days=number)
        if user.works_on(day) and query.covers(datetime.combine(day, time(12))):
            counts = daily_activity(world.history.seed, user.id, Month.of(day))[day.day - 1]
            sums = [total + count for total, count in zip(sums, counts, strict=True)]
    return sums


def _language(query: ReportQuery, code: str) -> Object:
    if query.shapes == "b":
        return {"languageCode": code, "displayName": LANGUAGE_NAMES[code], "native": code == "sv"}
    return {"id": code, "name": LANGUAGE_NAMES[code]}


def _image(card: UserCard) -> Object | None:
    if card.image_id is None:
        return None
    address = f"https://images.example/{card.image_id}"
    changed_at = formats.moment(card.known_at)
    return {
        "imageId": card.image_id,
        "dateChanged": changed_at,
        "dateChangedImageData": changed_at,
        "url": f"{address}.jpg",
        "showImageOnInternet": True,
        "extension": "jpg",
        "cdnReferences": [{"name": size, "url": f"{address}-{size}.jpg"} for size in ("small", "large")],
    }
