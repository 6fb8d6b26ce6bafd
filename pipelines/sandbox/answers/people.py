"""How are users and trademarks told?"""

from __future__ import annotations

from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world.facts import UserCard

LANGUAGE_NAMES = {
    "sv": "Svenska", "en": "Engelska", "de": "Tyska", "fi": "Finska", "ar": "Arabiska", "es": "Spanska",
    "fr": "Franska", "pl": "Polska", "so": "Somaliska", "fa": "Persiska", "no": "Norska", "da": "Danska",
}  # fmt: skip


def users(question: Question) -> object:
    """External/Users: everybody at work, without an office."""
    return [
        {
            "id": user.id,
            "name": card.name,
            "emailAddress": card.email,
            "publicPhoneNumber": card.public_phone,
            "cellPhone": card.cell_phone,
            "spokenLanguages": [_language(question, code) for code in card.languages],
            "changedAt": wording.moment(card.known_at),
            "image": _image(card),
        }
        for office in question.offices
        for user, card in question.known.users(office.customer_id)
    ]


def trademarks(question: Question) -> object:
    """External/Trademarks: the shape is a guess."""
    wanted = {office.customer_id: office for office in question.offices}
    found: list[Answer] = []
    for mark in question.known.world.history.chain.trademarks:
        members = [wanted[office_id] for office_id in mark.offices if office_id in wanted]
        if not members:
            continue
        if question.shapes == "b":
            offices = [{"customerId": office.customer_id, "name": office.name} for office in members]
            found.append({"trademarkId": mark.id, "trademark": mark.name, "offices": offices})
        else:
            customers = [office.customer_id for office in members]
            found.append({"id": mark.id, "name": mark.name, "customerIds": customers})
    return found


def _language(question: Question, code: str) -> Answer:
    if question.shapes == "b":
        return {"languageCode": code, "displayName": LANGUAGE_NAMES[code], "native": code == "sv"}
    return {"id": code, "name": LANGUAGE_NAMES[code]}


def _image(card: UserCard) -> Answer | None:
    if card.image_id is None:
        return None
    address = f"https://images.example/{card.image_id}"
    return {
        "imageId": card.image_id,
        "dateChanged": wording.moment(card.known_at),
        "dateChangedImageData": wording.moment(card.known_at),
        "url": f"{address}.jpg",
        "showImageOnInternet": True,
        "extension": "jpg",
        "cdnReferences": [{"name": size, "url": f"{address}-{size}.jpg"} for size in ("small", "large")],
    }
