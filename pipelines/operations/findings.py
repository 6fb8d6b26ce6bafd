"""What does an examination tell? One thing looked at, how bad it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad a finding is."""

    WELL = "well"
    ODD = "odd"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was found, and what to do about it."""

    subject: str
    grade: Grade
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Access:
    """What became of one small request for a report of a customer, in a word or two."""

    report: str
    customer: str
    word: str
