"""Probes: requests that ask the service which sales changed. The affected months become due."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import polars as pl

from pipelines.catalogue.model import Report
from pipelines.connect.errors import Forbidden
from pipelines.planning.plan import PlannedProbe
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.task import TaskState
from pipelines.words import counted
from warehouse.ledger.changes import ChangedMonth, months_with_estates, record_probe
from warehouse.ledger.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from pipelines.sync.run_context import Clients
    from warehouse.store.database import Connection, Store

BY_CONTRACT = "contract_day"


async def probe_changed_sales(
    probes: Sequence[PlannedProbe],
    clients: Clients,
    fetcher: Fetcher,
    store: Store,
    catalogue: Mapping[str, Report],
    run_id: str,
) -> list[WindowResult]:
    """Send all probes at once, and record the months that the changes affect.

    A failed probe does not stop the sync: its result has the status SKIPPED.
    """
    reports = [report for report in catalogue.values() if report.timing.follows_sales]

    async def send(probe: PlannedProbe) -> WindowResult:
        task, [window] = TaskState(probe), probe.windows
        client = clients(probe.customer.id, probe.report.endpoint.path)
        result, error = await fetcher.fetch(client, task, window, task.begin(window, run_id))
        if error is not None:
            return await asyncio.to_thread(_record_failure, probe, result, error, store)
        return await asyncio.to_thread(_record_answer, probe, result, store, reports, fetcher.timezone)

    return list(await asyncio.gather(*map(send, probes)))


def _record_answer(
    probe: PlannedProbe, result: WindowResult, store: Store, reports: Sequence[Report], timezone: str
) -> WindowResult:
    first = probe.windows[0].spans[0].first
    estates = changed_estates(result.tables[0].frame, first, result.fetched, timezone)
    note = f"{counted(len(result.rejected), 'row')} could not be read" if result.rejected else ""
    with store.reading() as connection:
        affected = _affected_months(connection, result.customer, reports, estates)
    changed_at = {row.id: row.changed_at_utc for row in sorted(estates, key=lambda row: row.changed_at_utc)}
    changed = [
        ChangedMonth(
            report,
            result.customer,
            month,
            max(map(changed_at.__getitem__, ids)),
            result.fetched,
            len(ids),
            result.load_id,
        )
        for (report, month), ids in affected.items()
    ]
    with store.writing() as connection:
        record_probe(connection, result, probe.source, changed, note=note, estates=len(estates))
    month_count = len({change.month for change in changed})
    reason = f"{counted(len(estates), 'sale')} of {counted(month_count, 'month')} changed since {first}"
    return result.ended(WindowStatus.ANSWERED, reason, warnings=(note,) if note else ())


def _affected_months(
    connection: Connection, customer: str, reports: Sequence[Report], estates: Sequence[ChangedEstate]
) -> dict[tuple[str, date], set[str]]:
    """The ids of the changed estates, by the report and month that they affect.

    In every report, a changed estate affects the months of its stored and its new contract date, because a
    corrected date moves the sale. Some reports have ids of estates, but are not dated by contract. In these
    reports, an estate also affects the months of its stored rows, and the month of its possession, because
    the rows may move there.
    """
    tables = {
        report.name: (report.tables[0].name, report.estate_id_column)
        for report in reports
        if report.estate_id_column
    }
    dated_by_contract = {report.name for report in reports if report.tables[0].dated_by == BY_CONTRACT}
    stored = months_with_estates(connection, tables, customer, sorted(estate.id for estate in estates))
    by_contract = {(estate.id, estate.contract_month) for estate in estates if estate.contract_month}
    by_contract |= {pair for name in dated_by_contract for pair in stored.get(name, ())}
    by_possession = {(estate.id, estate.possession_month) for estate in estates if estate.possession_month}
    affected: dict[tuple[str, date], set[str]] = {}
    for report in reports:
        has_own_dates = report.name in tables and report.name not in dated_by_contract
        pairs = by_contract | (by_possession | {*stored[report.name]} if has_own_dates else set())
        for estate, month in pairs:
            affected.setdefault((report.name, month), set()).add(estate)
    return affected


def _record_failure(
    probe: PlannedProbe, result: WindowResult, error: Exception, store: Store
) -> WindowResult:
    reason = " ".join(str(getattr(error, "issue", error)).split())
    # only the probe is recorded as denied, because ordinary requests of the report may be allowed
    note = WindowStatus.NO_ACCESS.value if isinstance(error, Forbidden) else ""
    with store.writing() as connection:
        record_probe(connection, result, probe.source, error=reason, note=note)
    return result.ended(WindowStatus.SKIPPED, f"changes unknown: {reason}")


@dataclass(frozen=True)
class ChangedEstate:
    """A changed estate: when it changed, and its months of contract and possession, if known."""

    id: str
    changed_at_utc: datetime
    contract_month: date | None
    possession_month: date | None


def changed_estates(
    frame: pl.DataFrame, first: date, fetched_at_utc: datetime, timezone: str
) -> list[ChangedEstate]:
    """The estates in an answer that were changed on or after the first requested day.

    Earlier changes are skipped, because a service that ignores the requested days sends all sales. An estate
    without a time of change counts as changed when it was fetched.
    """
    zone, estates = ZoneInfo(timezone), []
    for row in frame.filter(pl.col("id").fill_null("") != "").iter_rows(named=True):
        changed_at = row.get("changed_at")
        if changed_at is None or changed_at.date() >= first:
            utc = latest_possible_utc(changed_at, zone) if changed_at else fetched_at_utc
            estates.append(ChangedEstate(row["id"], utc, _month(row, BY_CONTRACT), _month(row, "access_day")))
    return estates


def _month(row: Mapping[str, object], column: str) -> date | None:
    value = row.get(column)
    return value.date().replace(day=1) if isinstance(value, datetime) else None


def latest_possible_utc(local: datetime, zone: ZoneInfo) -> datetime:
    """A local time in UTC. Midnight counts as the end of its day, because it may be a date without a time."""
    if local.time() == time.min:
        local = datetime.combine(local.date(), time(23, 59, 59))
    return local.replace(tzinfo=zone).astimezone(UTC)
