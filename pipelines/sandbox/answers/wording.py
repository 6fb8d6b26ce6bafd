"""How are moments, amounts and codes written in an answer?"""

from __future__ import annotations

from datetime import date, datetime

from pipelines.sandbox.world import facts, market

Answer = dict[str, object]

STATUS_IDS = {
    facts.FOR_SALE: (2, "Till salu"),
    facts.SOLD: (3, "Såld"),
    facts.WITHDRAWN: (9, "Återtagen"),
    facts.DONE: (12, "Utförd"),
    "AssignmentAttempt": (0, "Intagsförsök"),
}
ASSIGNMENT_IDS = {
    facts.SALE: (1, "Försäljning"),
    facts.VALUATION: (2, "Värdering"),
    facts.WRITING: (3, "Skrivning"),
}
KIND_IDS = {
    market.HOUSE: (0, "Villa"),
    market.ROW_HOUSE: (1, "Radhus"),
    market.HOUSING_COOPERATIVE: (2, "Bostadsrätt"),
    market.COTTAGE: (3, "Fritidshus"),
    market.PLOT: (4, "Tomt"),
    market.FARM: (5, "Gård/skog"),
    market.COMMERCIAL: (8, "Kommersiell fastighet"),
    market.CONDOMINIUM: (9, "Ägarlägenhet"),
    market.FOREIGN: (10, "Utlandsfastighet"),
}
INTAKES = (
    "Egen bearbetning", "Rekommendation", "Tidigare kund", "Hemsidan", "Annons", "Visning",
    "Lånekontoret", "Övrigt",
)  # fmt: skip


def moment(value: datetime | None) -> str | None:
    """Wall clock without offset; fractions are cut to the digits there are, as the service does."""
    if value is None:
        return None
    text = value.isoformat(timespec="seconds")
    if not value.microsecond:
        return text
    digits = (
        f"{value.microsecond:06d}0" if value.microsecond % 1_000 else f"{value.microsecond:06d}".rstrip("0")
    )
    return f"{text}.{digits}"


def day(value: date | None) -> str | None:
    """A day is written as its midnight."""
    return None if value is None else f"{value.isoformat()}T00:00:00"


def amount(hundredths: int | None) -> float | None:
    """Öre as kronor, cents as units."""
    return None if hundredths is None else hundredths / 100


def kronor(hundredths: int) -> float:
    """Öre as kronor."""
    return hundredths / 100


def percent(basis_points: int) -> float:
    """Hundredths of a percent as percent."""
    return basis_points / 100


def parts(basis_points: int) -> float:
    """Hundredths of a percent as parts of one."""
    return basis_points / 10_000


def rate(ten_thousandths: int) -> float:
    """Ten-thousandths of a krona as kronor for one unit."""
    return ten_thousandths / 10_000


def described(code: tuple[int, str]) -> Answer:
    """An id with its label."""
    return {"id": code[0], "text": code[1]}


def without_nulls(answer: object) -> object:
    """The answer as a service words it that leaves out what is empty."""
    if isinstance(answer, dict):
        return {key: without_nulls(value) for key, value in answer.items() if value is not None}
    if isinstance(answer, list):
        return [without_nulls(item) for item in answer]
    return answer
