"""What is held, refused and learned so far? The ledger, read in one go as a plain value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class HeldMonth:
    """The load in force for one month of one report of one customer; `state` is 'held' or 'open'."""

    load_id: str
    rows: int
    loaded_at_utc: datetime
    fetched_at_utc: datetime
    state: str


@dataclass(frozen=True, slots=True)
class Cap:
    """The longest window the service was seen to accept, in days or in calendar months."""

    days: int | None = None
    months: int | None = None


@dataclass(frozen=True)
class Ledger:
    """Everything a plan needs to know; months without a month (snapshots) stand under None."""

    months: Mapping[tuple[str, str, date | None], HeldMonth] = field(default_factory=dict)
    denied: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    caps: Mapping[tuple[str, str], Cap] = field(default_factory=dict)
    pages: Mapping[tuple[str, str], int] = field(default_factory=dict)
