"""What does a sync do, from settings to summary? Opens what it needs, plans, asks, loads and reports."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.connect.clock import Clock
from pipelines.connect.host import Host
from pipelines.connect.pace import Pace
from pipelines.connect.refusals import Refusals
from pipelines.sync.clients import clients_of
from pipelines.sync.declaring import declared_tables
from pipelines.sync.holdings import Holdings, holdings
from pipelines.sync.loading import Loader
from pipelines.sync.outcomes import Outcome, Status, Summary
from pipelines.sync.pairs import Pair
from pipelines.sync.planned import make_plan
from pipelines.sync.planning import Plan, Planned
from pipelines.sync.reading import Reading
from pipelines.sync.recording import record
from pipelines.sync.rehearsing import clock_of
from pipelines.sync.running import Run
from pipelines.sync.selection import Selection
from pipelines.sync.spans import LearnedCap
from pipelines.sync.surroundings import Surroundings
from warehouse.landing import Landing
from warehouse.store import Store

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.settings import Settings
    from warehouse.ledger import Ledger

FLATTENINGS_AT_ONCE = 2


def ignore(news: object) -> None:
    """Listen to nothing."""
    del news


def new_run_id(clock: Clock) -> str:
    """A name for a run that sorts by time."""
    return f"{clock.utc_now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def sync(
    settings: Settings,
    selection: Selection,
    *,
    surroundings: Surroundings | None = None,
    on_plan: Callable[[Plan], None] = ignore,
    on_outcome: Callable[[Outcome], None] = ignore,
) -> Summary:
    """Ask what is missing or due, load it, and say what became of every window.

    One customer's or report's failure stops nothing else and is in the summary. Raises WarehouseError
    when nothing can be kept at all (a full disk, an unwritable directory), SettingsError for logins.
    """
    surroundings = surroundings or Surroundings()
    surroundings = replace(surroundings, clock=clock_of(settings, surroundings.clock))
    store = Store(settings.data_dir, now=surroundings.clock.utc_now)
    store.declare(declared_tables(surroundings.catalogue.values()))
    plan, ledger = make_plan(settings, selection, store, surroundings.clock, surroundings.catalogue)
    on_plan(plan)
    summary = Summary(new_run_id(surroundings.clock), surroundings.clock.utc_now())
    for planned in plan.planned:
        _note_unasked(planned, summary, on_outcome)

    def note(outcome: Outcome) -> None:
        summary.outcomes.append(outcome)
        on_outcome(outcome)

    held = holdings(ledger)
    pairs = [_pair(planned, ledger, held) for planned in plan.planned if planned.windows]
    if pairs:
        work = Work(settings, surroundings, store, selection.accept_shrink, summary, note)
        asyncio.run(work.on(pairs))
    record(store, summary, pairs, surroundings.clock)
    summary.seconds = (surroundings.clock.utc_now() - summary.started_utc).total_seconds()
    return summary


@dataclass(frozen=True)
class Work:
    """What asking and loading needs: the settings, the store, and somebody to tell."""

    settings: Settings
    surroundings: Surroundings
    store: Store
    accept_shrink: bool
    summary: Summary
    note: Callable[[Outcome], None]

    async def on(self, pairs: Sequence[Pair]) -> None:
        """Ask for all pairs, with one client per login and one pace for all of them."""
        settings, clock = self.settings, self.surroundings.clock
        pace = Pace(settings.data_dir, settings.concurrency, settings.requests_per_second, clock=clock)
        host = Host(pace, Refusals(len({pair.planned.report.name for pair in pairs})))
        customers = [pair.planned.customer for pair in pairs]
        async with AsyncExitStack() as stack:
            clients = await clients_of(settings, self.surroundings, customers, pace, host, stack)
            await self._run(clients, host).work(pairs)

    def _run(self, clients: Mapping[str, Client], host: Host) -> Run:
        settings = self.settings
        return Run(
            reading=Reading(
                run_id=self.summary.run_id,
                landing=Landing(settings.data_dir / "landing"),
                clock=self.surroundings.clock,
                timezone=settings.timezone,
                page_size=settings.page_size,
                flattening=asyncio.Semaphore(FLATTENINGS_AT_ONCE),
            ),
            loader=Loader(self.store, settings.timezone, self.note),
            clients=clients,
            host=host,
            today=settings.today_local(self.surroundings.clock),
            concurrency=settings.concurrency,
            accept_shrink=self.accept_shrink,
            summary=self.summary,
            note=self.note,
        )


def _pair(planned: Planned, ledger: Ledger, held: Holdings) -> Pair:
    mine = held.get(planned.pair, {})
    before = {month: one.rows for month, one in mine.items() if month is not None}
    cap = ledger.caps.get(planned.pair)
    learned = LearnedCap(cap.months, cap.days) if cap else LearnedCap()
    return Pair(planned, before, sum(one.rows for one in mine.values()), learned)


def _note_unasked(planned: Planned, summary: Summary, on_outcome: Callable[[Outcome], None]) -> None:
    """Say what a sync leaves alone: what is held, and what is skipped and why."""
    summary.held[planned.pair] += planned.wanted.left
    if planned.skipped:
        outcome = Outcome(*planned.pair, (), Status.SKIPPED, planned.skipped)
        summary.outcomes.append(outcome)
        on_outcome(outcome)
    if planned.out_of_reach:
        reason = "the service does not calculate these months; what is held stays"
        outcome = Outcome(*planned.pair, planned.out_of_reach, Status.SKIPPED, reason)
        summary.outcomes.append(outcome)
        on_outcome(outcome)
