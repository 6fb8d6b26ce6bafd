"""Formats of times, codes and whole answers."""

from __future__ import annotations

import json
from datetime import date, datetime

from pipelines.sandbox.world import market, records

Object = dict[str, object]
"""A JSON object; its amounts are in kronor or another currency, not in öre or cents."""

STATUSES = {
    records.FOR_SALE: (2, "Till salu"),
    records.SOLD: (3, "Såld"),
    records.WITHDRAWN: (9, "Återtagen"),
    records.DONE: (12, "Utförd"),
    "AssignmentAttempt": (0, "Intagsförsök"),
}
ASSIGNMENTS = {
    records.SALE: (1, "Försäljning"), records.VALUATION: (2, "Värdering"), records.WRITING: (3, "Skrivning"),
}  # fmt: skip
KINDS = {
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
    """A local time without an offset; a fraction has up to three digits, or seven if three are too few."""
    if value is None:
        return None
    text = value.isoformat(timespec="seconds")
    if not value.microsecond:
        return text
    digits = f"{value.microsecond:06d}"
    return f"{text}.{f'{digits}0' if value.microsecond % 1_000 else digits.rstrip('0')}"


def day(value: date | None) -> str | None:
    """A day, written as its midnight."""
    return None if value is None else f"{value.isoformat()}T00:00:00"


def from_hundredths(value: int | None) -> float | None:
    """Convert öre to kronor, or cents to units of their currency, with decimals; None stays None."""
    return None if value is None else value / 100


def id_and_text(code: tuple[int, str]) -> Object:
    """The id and the label of a code."""
    return {"id": code[0], "text": code[1]}


def without_nulls(answer: object) -> object:
    """An answer without the members that are null."""
    if isinstance(answer, dict):
        return {key: without_nulls(value) for key, value in answer.items() if value is not None}
    if isinstance(answer, list):
        return [without_nulls(item) for item in answer]
    return answer


def json_body(answer: object) -> bytes:
    """The answer in JSON and UTF-8."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
