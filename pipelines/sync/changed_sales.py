"""Changed sales: the service is asked which sales it changed, and their months are to be read again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report, declared_columns
from pipelines.connect.errors import Forbidden, HostDown, Unauthorized
from pipelines.planning.plan import PlannedReport
from pipelines.planning.probes import PlannedProbe
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
"""With fewer estates than this, nothing is concluded from their being changed before the days asked for."""
UNFILTERED = (
    "most of the sales told were changed before {}: the service seems to answer without regard to the days "
    "asked for, so only those changed since then count"
)
UNDATED = "{} sales do not say when they were changed, and count as changed just now"
UNANSWERED = (
    "the service did not tell which sales were changed, so older months are read again only once in "
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
    """Ask about every customer at once, and write down which months of the reports that concerns.

    `customers` are all that are asked for. A question that fails is reported and stops nothing.
    """

    async def ask(probe: PlannedProbe) -> WindowResult:
        window = Window((), probe.spans)
        task = TaskState(PlannedReport(probe.report, probe.customer, windows=(window,)))
        client = clients(probe.customer.id, probe.report.endpoint.path)
        result, error = await fetcher.fetch(client, task, window, task.begin(window, run_id))
        if error is not None:
            return await asyncio.to_thread(_remember_failure, probe, result, error, store)
        return await asyncio.to_thread(
            _remember_answer, probe, result, store, reports, customers, fetcher.timezone
        )

    return list(await asyncio.gather(*map(ask, probes)))


def _remember_answer(
    probe: PlannedProbe,
    result: WindowResult,
    store: Store,
    reports: Sequence[Report],
    customers: Sequence[str],
    timezone: str,
) -> WindowResult:
    estates, notes = changed_estates(result.tables[0].frame, probe.first, result.fetched, timezone)
    if rejected := sum(one.count for one in result.rejected):
        notes.append(f"{rejected} rows could not be read")
    guided = [report for report in reports if report.timing.follows_sales]
    with store.reading() as connection:
        concerned = _concerned(connection, result, guided, estates, customers)
    changed_at = {one.id: one.changed_at_utc for one in sorted(estates, key=lambda one: one.changed_at_utc)}
    changed = [
        Changed(
            report,
            customer,
            month,
            max(changed_at[estate] for estate in ids),
            result.fetched,
            len(ids),
            result.load_id,
        )
        for (report, customer, month), ids in concerned.items()
    ]
    with store.writing() as connection:
        remember_probe(
            connection, result, probe.asked_of, changed, note="; ".join(notes), estates=len(estates)
        )
    months = len({one.month for one in changed})
    reason = f"{len(estates)} sales were changed since {probe.first}, which concerns {months} months"
    return result.ended(WindowStatus.TOLD, reason, warnings=tuple(notes))


def _concerned(
    connection: Connection,
    result: WindowResult,
    guided: Sequence[Report],
    estates: Sequence[ChangedEstate],
    customers: Sequence[str],
) -> dict[tuple[str, str, date], list[str]]:
    """The months that the estates concern, by report, customer and first day, each with their ids.

    Those of the customer that was asked, and of all others that answer for the office of an agent of the
    sale: its commission counts there. Such a customer does not list the sale, so its lists of sales stay.
    """
    named = {one.name: (one.tables[0].name, one.estate_id_column) for one in guided if one.estate_id_column}
    lists = {one.name for one in guided if one.estate_id_column and one.tables[0].dated_by == BY_CONTRACT}
    asked = result.customer
    held = months_naming(connection, named, asked, [one.id for one in estates])
    concerned = {
        (report.name, asked, month): ids
        for report in guided
        for month, ids in touched_months(report, guided, estates, held).items()
    }
    for customer, shared in _shared_with(connection, result, guided, estates, customers).items():
        theirs = [one for one in estates if one.id in shared]
        of_lists = {report: [pair for pair in held[report] if pair[0] in shared] for report in lists}
        own = {report: of for report, of in named.items() if report not in lists}
        both = of_lists | months_naming(connection, own, customer, sorted(shared))
        for report in guided:
            if report.name not in lists:
                months = touched_months(report, guided, theirs, both)
                concerned |= {(report.name, customer, month): ids for month, ids in months.items()}
    return concerned


def _shared_with(
    connection: Connection,
    result: WindowResult,
    guided: Sequence[Report],
    estates: Sequence[ChangedEstate],
    customers: Sequence[str],
) -> dict[str, set[str]]:
    """The other customers that answer for offices of agents, held or told now, each with its estates."""
    declared = {
        table.name: {column.name for column in declared_columns(table)}
        for report in guided
        for table in report.tables
    }
    of_agents = [name for name, columns in declared.items() if {"estate_id", OFFICE_OF_AGENT} <= columns]
    of_offices = [name for name, columns in declared.items() if OFFICE in columns]
    counted = {one.id for one in estates}
    pairs = offices_of_agents(connection, of_agents, result.customer, sorted(counted))
    for table in result.tables:
        if table.frame.width and {"estate_id", OFFICE_OF_AGENT} <= set(table.frame.columns):
            told = table.frame.select("estate_id", OFFICE_OF_AGENT).drop_nulls().unique().rows()
            pairs.update((estate, office) for estate, office in told if estate in counted)
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
    # to this question: that report may be answered
    note = WindowStatus.NO_ACCESS.value if isinstance(error, Forbidden) else ""
    with store.writing() as connection:
        remember_probe(connection, result, probe.asked_of, error=reason, note=note)
    if isinstance(error, Unauthorized | HostDown):  # of those every window says the same
        return result.ended(WindowStatus.SKIPPED, reason)
    unanswered = UNANSWERED.format(reason)
    return result.ended(WindowStatus.SKIPPED, unanswered, warnings=(unanswered,))


@dataclass(frozen=True)
class ChangedEstate:
    """An estate that was changed: when, and the months of its own dates, where it has them."""

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
        notes.append(UNFILTERED.format(first))
    if len(told) < len(rows):
        notes.append(UNDATED.format(len(rows) - len(told)))
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


def touched_months(
    report: Report,
    reports: Sequence[Report],
    estates: Sequence[ChangedEstate],
    held: Mapping[str, Sequence[tuple[str, date]]],
) -> dict[date, list[str]]:
    """The months of a report that the estates concern, each with their ids.

    A sale counts in the month of its contract: the one it has now, and the one under which it is held,
    for a corrected date moves it. Rows that name their estate but are dated by themselves are in the month
    under which they are held, and may move to the month of access. `held` has pairs of estate and month.
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


def _month(row: Mapping[str, object], column: str) -> date | None:
    moment = row.get(column)
    return moment.date().replace(day=1) if isinstance(moment, datetime) else None


def latest_utc(moment: datetime, zone: ZoneInfo) -> datetime:
    """A local moment in UTC; a day without a time may mean any moment of it, so its end."""
    if moment.time() == time.min:
        moment = datetime.combine(moment.date(), time(23, 59, 59))
    return moment.replace(tzinfo=zone).astimezone(UTC)
