"""Which months does a changed sale concern? Those it stands in now, stood in, and earned something in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report

if TYPE_CHECKING:
    import polars as pl

BY_CONTRACT = "contract_day"
ENOUGH_TO_JUDGE = 10
"""With fewer estates than this, nothing is concluded from their being changed before the days asked for."""
EVERYTHING = (
    "most of the sales told were changed before {}: the service seems to answer without regard to the days "
    "asked for, so only those changed since then count"
)
UNDATED = "{} sales do not say when they were changed, and count as changed just now"

Pairs = Sequence[tuple[str, date]]


@dataclass(frozen=True)
class ChangedEstate:
    """An estate that was changed: when, and the months of its own dates, where it tells them."""

    id: str
    changed_at_utc: datetime
    contract_month: date | None
    access_month: date | None


def changed_estates(
    frame: pl.DataFrame, first: date, fetched_at_utc: datetime, timezone: str
) -> tuple[list[ChangedEstate], list[str]]:
    """The estates of an answer that count as changed since the first day asked for, and what was odd."""
    zone, notes = ZoneInfo(timezone), []
    rows = [row for row in frame.iter_rows(named=True) if row.get("id")]
    told = [row["changed_at"] for row in rows if row.get("changed_at")]
    before = sum(moment.date() < first for moment in told)
    is_unfiltered = len(told) >= ENOUGH_TO_JUDGE and before * 2 > len(told)
    if is_unfiltered:
        notes.append(EVERYTHING.format(first))
    if len(told) < len(rows):
        notes.append(UNDATED.format(len(rows) - len(told)))
    estates = []
    for row in rows:
        moment = row.get("changed_at")
        if moment is not None and moment.date() < first:
            if is_unfiltered:
                continue
            moment = None
        at = _in_utc(moment, zone) if moment else fetched_at_utc
        estates.append(ChangedEstate(row["id"], at, _month(row, BY_CONTRACT), _month(row, "access_day")))
    return estates, notes


def touched_months(
    report: Report,
    reports: Sequence[Report],
    estates: Sequence[ChangedEstate],
    held: Mapping[str, Pairs],
) -> dict[date, list[str]]:
    """The months of a report that the estates concern, each with their ids.

    A sale counts in the month of its contract: the one it has now, and the one under which it is held,
    for a corrected date moves it. Rows that name their estate but are dated by themselves stand where
    they are held, and may come to stand in the month of access.
    """
    pairs = [(one.id, one.contract_month) for one in estates if one.contract_month]
    for other in reports:
        if other.tables[0].dated_by == BY_CONTRACT:
            pairs += held.get(other.name, ())
    if report.estate_id_column and report.tables[0].dated_by != BY_CONTRACT:
        pairs += held.get(report.name, ())
        pairs += [(one.id, one.access_month) for one in estates if one.access_month]
    months: dict[date, list[str]] = {}
    for estate, month in sorted(set(pairs)):
        months.setdefault(month, []).append(estate)
    return months


def _in_utc(moment: datetime, zone: ZoneInfo) -> datetime:
    """A local moment in UTC; a day without a time may mean any moment of it, so its end."""
    if moment.time() == time.min:
        moment = datetime.combine(moment.date(), time(23, 59, 59))
    return moment.replace(tzinfo=zone).astimezone(UTC)


def _month(row: Mapping[str, object], column: str) -> date | None:
    moment = row.get(column)
    return moment.date().replace(day=1) if isinstance(moment, datetime) else None
