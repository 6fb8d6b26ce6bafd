"""Changed sales: which sales the service changed, and which months are read again for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report, declared_columns
from pipelines.connect.errors import Forbidden, HostDown, Unauthorized
from pipelines.planning.plan import PlannedProbe, PlannedReport
from pipelines.planning.windows import Window
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.task import TaskState
from warehouse.ledger.changes import (
    Changed,
    customers_answering,
    months_naming,
    offices_of_agents,
    remember_probe,
)
from warehouse.ledger.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    import polars as pl

    from pipelines.sync.run_context import Clients
    from warehouse.store.database import Connection, Store

BY_CONTRACT = "contract_day"
OFFICE, OFFICE_OF_AGENT = "office_customer_id", "primary_office_customer_id"
ENOUGH_TO_JUDGE = 10
"""With fewer estates, changes before the requested days prove nothing."""
UNFILTERED = (
    "most of the reported sales changed before {}: the service seems to ignore the requested days, so only "
    "sales changed since then count"
)
UNDATED = "{} sales do not state when they changed, and count as changed just now"
UNANSWERED = (
    "the service did not report which sales changed, so older months are read again only once in "
    "four weeks: {}"
)


async def ask_what_changed(
    probes: Sequence[PlannedProbe],
    clients: Clients,
    fetcher: Fetcher,
    store: Store,
    reports: Sequence[Report],
    customers: Sequence[str],
    run_id: str,
) -> list[WindowResult]:
    """Ask about all customers at once, and record the months that the changes concern.

    `customers` are all active customers. A failed probe is reported and stops nothing.
    """
    guided = [report for report in reports if report.timing.follows_sales]

    async def ask(probe: PlannedProbe) -> WindowResult:
        window = Window((), probe.spans)
        task = TaskState(PlannedReport(probe.report, probe.customer, windows=(window,)))
        client = clients(probe.customer.id, probe.report.endpoint.path)
        result, error = await fetcher.fetch(client, task, window, task.begin(window, run_id))
        if error is not None:
            return await asyncio.to_thread(_remember_failure, probe, result, error, store)
        return await asyncio.to_thread(
            _remember_answer, probe, result, store, guided, customers, fetcher.timezone
        )

    return list(await asyncio.gather(*map(ask, probes)))


def _remember_answer(
    probe: PlannedProbe,
    result: WindowResult,
    store: Store,
    guided: Sequence[Report],
    customers: Sequence[str],
    timezone: str,
) -> WindowResult:
    estates, notes = changed_estates(result.tables[0].frame, probe.spans[0].first, result.fetched, timezone)
    if rejected := len(result.rejected):
        notes.append(f"{rejected} rows could not be read")
    with store.reading() as connection:
        concerned = _concerned(connection, result, guided, estates, customers)
    changed_at = {
        estate.id: estate.changed_at_utc for estate in sorted(estates, key=lambda row: row.changed_at_utc)
    }
    changed = [
        Changed(*key, max(changed_at[id_] for id_ in ids), result.fetched, len(ids), result.load_id)
        for key, ids in concerned.items()
    ]
    with store.writing() as connection:
        remember_probe(
            connection, result, probe.asked_of, changed, note="; ".join(notes), estates=len(estates)
        )
    months = len({change.month for change in changed})
    reason = f"{len(estates)} sales changed since {probe.spans[0].first}, in {months} months"
    return result.ended(WindowStatus.TOLD, reason, warnings=tuple(notes))


def _concerned(
    connection: Connection,
    result: WindowResult,
    guided: Sequence[Report],
    estates: Sequence[ChangedEstate],
    customers: Sequence[str],
) -> dict[tuple[str, str, date], set[str]]:
    """Ids of estates by the month they concern: report, customer and first day.

    A sale concerns the month of its contract: its present month and the stored one, because a corrected date
    moves a sale. Rows that name an estate but have a date of their own concern the month under which they are
    stored, and the month of access, to which they may move. Other customers that answer for an agent's office
    are concerned in the same months, except in their lists of sales, which lack the sale.
    """
    named = {
        report.name: (report.tables[0].name, report.estate_id_column)
        for report in guided
        if report.estate_id_column
    }
    lists = {report.name for report in guided if report.tables[0].dated_by == BY_CONTRACT}
    events = {name: column for name, column in named.items() if name not in lists}
    ids = {estate.id for estate in estates}
    stored = months_naming(connection, named, result.customer, sorted(ids))
    by_contract = {(estate.id, estate.contract_month) for estate in estates if estate.contract_month}
    by_contract |= {pair for name in lists for pair in stored.get(name, ())}
    by_access = {(estate.id, estate.access_month) for estate in estates if estate.access_month}
    concerned: dict[tuple[str, str, date], set[str]] = {}
    shared = _shared_with(connection, result, guided, ids, customers)
    for customer, theirs in {result.customer: ids, **shared}.items():
        own = months_naming(connection, events, customer, sorted(theirs))
        for report in guided:
            if report.name in lists and customer != result.customer:
                continue
            is_event = report.name in events
            pairs = by_contract | (by_access | {*own[report.name]} if is_event else set())
            for estate, month in pairs:
                if estate in theirs:
                    concerned.setdefault((report.name, customer, month), set()).add(estate)
    return concerned


def _shared_with(
    connection: Connection,
    result: WindowResult,
    guided: Sequence[Report],
    estates: Collection[str],
    customers: Sequence[str],
) -> dict[str, set[str]]:
    """The estates of each other customer that answers for an agent's office, stored or received now."""
    declared = {
        table.name: {column.name for column in declared_columns(table)}
        for report in guided
        for table in report.tables
    }
    of_agents = [name for name, columns in declared.items() if {"estate_id", OFFICE_OF_AGENT} <= columns]
    of_offices = [name for name, columns in declared.items() if OFFICE in columns]
    pairs = offices_of_agents(connection, of_agents, result.customer, sorted(estates))
    for table in result.tables:
        if {"estate_id", OFFICE_OF_AGENT} <= set(table.frame.columns):
            received = table.frame.select("estate_id", OFFICE_OF_AGENT).drop_nulls().unique().rows()
            pairs.update((estate, office) for estate, office in received if estate in estates)
    answering = customers_answering(connection, of_offices, {office for _, office in pairs}, customers)
    shared: dict[str, set[str]] = {}
    for estate, office in pairs:
        for answered, customer in answering:
            if answered == office and customer != result.customer:
                shared.setdefault(customer, set()).add(estate)
    return shared


def _remember_failure(
    probe: PlannedProbe, result: WindowResult, error: Exception, store: Store
) -> WindowResult:
    reason = " ".join(str(getattr(error, "found", error)).split())
    note = WindowStatus.NO_ACCESS.value if isinstance(error, Forbidden) else ""  # the report may be allowed
    with store.writing() as connection:
        remember_probe(connection, result, probe.asked_of, error=reason, note=note)
    if isinstance(error, Unauthorized | HostDown):  # every window reports those
        return result.ended(WindowStatus.SKIPPED, reason)
    unanswered = UNANSWERED.format(reason)
    return result.ended(WindowStatus.SKIPPED, unanswered, warnings=(unanswered,))


@dataclass(frozen=True)
class ChangedEstate:
    """A changed estate: when it changed, and the months of its dates, if known."""

    id: str
    changed_at_utc: datetime
    contract_month: date | None
    access_month: date | None


def changed_estates(
    frame: pl.DataFrame, first: date, fetched_at_utc: datetime, timezone: str
) -> tuple[list[ChangedEstate], list[str]]:
    """The estates of an answer that changed on or after the first requested day, and notes on odd answers."""
    zone, notes = ZoneInfo(timezone), []
    rows = [row for row in frame.iter_rows(named=True) if row.get("id")]
    dated = [row["changed_at"] for row in rows if row.get("changed_at")]
    before = sum(moment.date() < first for moment in dated)
    is_unfiltered = len(dated) >= ENOUGH_TO_JUDGE and before * 2 > len(dated)
    if is_unfiltered:
        notes.append(UNFILTERED.format(first))
    if len(dated) < len(rows):
        notes.append(UNDATED.format(len(rows) - len(dated)))
    estates = []
    for row in rows:
        moment = row.get("changed_at")
        if moment is not None and moment.date() < first:
            if is_unfiltered:
                continue
            moment = None
        at = latest_utc(moment, zone) if moment else fetched_at_utc
        estates.append(ChangedEstate(row["id"], at, _month(row, BY_CONTRACT), _month(row, "access_day")))
    return estates, notes


def _month(row: Mapping[str, object], column: str) -> date | None:
    moment = row.get(column)
    return moment.date().replace(day=1) if isinstance(moment, datetime) else None


def latest_utc(moment: datetime, zone: ZoneInfo) -> datetime:
    """A local moment in UTC; a day without a time counts as its end."""
    if moment.time() == time.min:
        moment = datetime.combine(moment.date(), time(23, 59, 59))
    return moment.replace(tzinfo=zone).astimezone(UTC)
