"""What is the way from a number back to its bytes made of? Questions, sources, loads and rows, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from warehouse.errors import WarehouseError


class NotInTheFile(WarehouseError, ValueError):
    """The published file has no such office, month or measure; the sentence says what it has."""


@dataclass(frozen=True)
class Source:
    """Where a measure of a mart comes from: a report, a table of bi, and which of its rows."""

    report: str
    table: str
    way: str = ""  # of marts.leads; empty for amounts


@dataclass(frozen=True)
class TracedLoad:
    """The load that brought the rows, as the ledger knows it."""

    load_id: str
    report: str
    customer: str
    window_start: date | None
    window_end: date | None
    requests: int
    fetched_at_utc: datetime
    loaded_at_utc: datetime | None
    landing: str | None
    sha256: str | None


@dataclass(frozen=True)
class Part:
    """One answer that a number comes from, and which of its rows."""

    load: TracedLoad
    sales_load: TracedLoad | None  # what the same report said of sales alone, where that is held too
    query: str  # what an analyst puts after SELECT * to see the rows of bi
    rows: tuple[int, ...]  # their `_row`
    quarantined: int  # rows of the load that were set aside
    counted_elsewhere: frozenset[str]  # ids of leads that this load holds and another one counts
    counted_offices: frozenset[str]  # offices for which this customer's answer counts


@dataclass(frozen=True)
class Trace:
    """The way of one number from the mart back to its landing files; no part where nothing is held.

    It is a number of an office, or of a user; a user's may come from the answers of several customers.
    """

    mart: str
    earner_id: str
    earner_name: str
    month: date
    measure: str
    meaning: str
    value: Decimal | int | None
    is_open: bool
    source: Source
    parts: tuple[Part, ...]
    offices: frozenset[str]  # every office of the file: whose a lead is depends on them

    @property
    def is_of_user(self) -> bool:
        return self.mart == "user_month"

    @property
    def load(self) -> TracedLoad | None:
        return self.parts[0].load if self.parts else None

    @property
    def query(self) -> str:
        return self.parts[0].query if self.parts else ""

    @property
    def rows(self) -> tuple[int, ...]:
        return tuple(row for part in self.parts for row in part.rows)

    @property
    def quarantined(self) -> int:
        return sum(part.quarantined for part in self.parts)


_EARNED = (
    "commission sold_commission sold_total_price sold_estate_parts sold_average_commission "
    "sold_commission_percentage writing_parts valuation_parts"
).split()
OF_SALES = frozenset(name for name in _EARNED if name.startswith("sold_") and "commission" in name)
SOURCES: Mapping[str, Source] = {
    **dict.fromkeys(_EARNED, Source("commission_office", "commission_office")),
    "running_commission_sek_excl_vat": Source("running_commissions", "running_commissions"),
    "incoming_lead_count": Source("tips_and_leads", "incoming_leads", "incoming lead"),
    "outgoing_lead_count": Source("tips_and_leads", "outgoing_leads", "outgoing lead"),
    "tip_count": Source("tips_and_leads", "tips", "tip"),
}


SOURCES_OF_USERS: Mapping[str, Source] = {
    **SOURCES,
    **dict.fromkeys(_EARNED, Source("commission_user", "commission_user")),
}
SALES_ALONE = {"commission_office": "commission_office_sale", "commission_user": "commission_user_sale"}


LOAD_COLUMNS = ", ".join(f"loads.{name}" for name in TracedLoad.__dataclass_fields__)


@dataclass(frozen=True)
class Asked:
    """The number that is asked for: of an office or a user, in a month."""

    kind: str
    id: str
    month: date
    measure: str

    @property
    def mart(self) -> str:
        return f"{self.kind}_month"

    @property
    def sources(self) -> Mapping[str, Source]:
        return SOURCES if self.kind == "office" else SOURCES_OF_USERS

    @property
    def source(self) -> Source:
        return self.sources[self.measure]
