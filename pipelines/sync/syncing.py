"""What does a sync do, from settings to summary? Opens what it needs, plans, asks, loads and reports."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.clock import Clock
from pipelines.connect.rate_limit import RateLimit
from pipelines.operations.pseudonyms import pseudonyms_of
from pipelines.planning.holdings import RowsHeld, rows_held
from pipelines.planning.plan import Plan, Planned
from pipelines.planning.planned import plan_on
from pipelines.planning.selection import Pair as PairName
from pipelines.planning.selection import Selection
from pipelines.sync.clients import clients_of
from pipelines.sync.declaring import declared_tables
from pipelines.sync.loading import Loader
from pipelines.sync.pairs import Pair
from pipelines.sync.probing import Prober
from pipelines.sync.reading import Reading
from pipelines.sync.recording import record
from pipelines.sync.rehearsing import clock_of
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.running import Run
from pipelines.sync.spans import LearnedCap
from pipelines.sync.summary import Summary
from pipelines.sync.surroundings import Surroundings
from warehouse.access import users
from warehouse.errors import WarehouseError
from warehouse.evolving import declare, undeclared
from warehouse.landing import Landing
from warehouse.outlines import read_outline, read_rows
from warehouse.store import Store
from warehouse.threads import spare_threads
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.settings.model import Settings
    from warehouse.ledger import Cap

FLATTENINGS_AT_ONCE = 2
POSTPONED = (
    "{} more months were changed than the {} that one night reads again (BROKERBI_CHANGED_MONTHS); "
    "the next nights read them"
)


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
    on_outcome: Callable[[WindowResult], None] = ignore,
) -> Summary:
    """Ask what is missing or due, load it, and say what became of every window.

    One customer's or report's failure stops nothing else and is in the summary. Raises WarehouseError
    when nothing can be kept at all (a full disk, an unwritable directory), SettingsError for logins.
    """
    surroundings = surroundings or Surroundings()
    surroundings = replace(surroundings, clock=clock_of(settings, surroundings.clock))
    now, before = surroundings.clock.utc_now, pseudonyms_of(settings)
    store = Store(settings.data_dir, now=now, before=before)
    summary = Summary(new_run_id(surroundings.clock), surroundings.clock.utc_now())

    def note(outcome: WindowResult) -> None:
        summary.outcomes.append(outcome)
        on_outcome(outcome)

    work = Work(settings, surroundings, store, selection, summary, on_plan, note)
    agenda = work.agenda()
    if agenda.plan.windows or agenda.plan.probings:
        asyncio.run(work.on(agenda))
    else:
        work.begin(agenda)
    summary.seconds = (surroundings.clock.utc_now() - summary.started_utc).total_seconds()
    return summary


@dataclass(frozen=True)
class Agenda:
    """What there is to ask, and what is held and known of those who are asked."""

    plan: Plan
    rows: Mapping[PairName, RowsHeld]
    caps: Mapping[PairName, Cap]


@dataclass(frozen=True)
class Work:
    """What asking and loading needs: the settings, the store, and somebody to tell."""

    settings: Settings
    surroundings: Surroundings
    store: Store
    selection: Selection
    summary: Summary
    on_plan: Callable[[Plan], None]
    note: Callable[[WindowResult], None]

    def agenda(self) -> Agenda:
        """What there is to ask as the ledger stands now, with every documented table declared.

        The file is opened once for all of it.
        """
        clock, catalogue = self.surroundings.clock, self.surroundings.catalogue
        with self.store.writing() as connection:
            if missing := undeclared(connection, declared_tables(catalogue.values())):
                spare_threads(connection)
                declare(connection, missing, clock.utc_now().replace(tzinfo=None))
            outline, users_of = read_outline(connection), partial(users, connection)
            plan = plan_on(outline, users_of, self.settings, self.selection, clock, catalogue)
            rows = read_rows(connection, [one.pair for one in plan.planned if one.windows])
        return Agenda(plan, rows_held(rows), outline.caps)

    def begin(self, agenda: Agenda) -> list[Pair]:
        """Tell the plan and what it leaves alone; the rest as pairs to work on."""
        self.on_plan(agenda.plan)
        for planned in agenda.plan.planned:
            _note_unasked(planned, self.summary, self.note)
        return [_pair(planned, agenda) for planned in agenda.plan.planned if planned.windows]

    async def on(self, agenda: Agenda) -> None:
        """Ask what was changed, then for all that is wanted: one client per login, one pace for all."""
        settings, clock, plan = self.settings, self.surroundings.clock, agenda.plan
        rate_limit = RateLimit(
            settings.data_dir, settings.concurrency, settings.requests_per_second, clock=clock
        )
        reports = {one.report.name for one in plan.planned if one.windows}
        circuit_breaker = CircuitBreaker(rate_limit, reports=len(reports))
        log = RequestLogger(settings.data_dir, self.summary.run_id, clock)
        async with AsyncExitStack() as stack:
            stack.callback(self._account, log)
            clients = await clients_of(
                settings, self.surroundings, plan.customers, rate_limit, circuit_breaker, stack, log.record
            )
            reading = self._reading()
            if plan.probings:
                prober = Prober(reading, self.store, list(self.surroundings.catalogue.values()))
                for outcome in await prober.ask(plan.probings, clients):
                    self.note(outcome)
                agenda = self.agenda()
            pairs = self.begin(agenda)
            if pairs:
                await self._run(reading, clients, circuit_breaker).work(pairs)
        record(self.store, self.summary, pairs, clock)

    def _account(self, log: RequestLogger) -> None:
        """Add up what was asked, however the run ended; what ended it is more important to tell."""
        with suppress(WarehouseError):
            self.store.add_requests(list(log.counts.values()))

    def _reading(self) -> Reading:
        return Reading(
            run_id=self.summary.run_id,
            landing=Landing(self.settings.data_dir / "landing"),
            clock=self.surroundings.clock,
            timezone=self.settings.timezone,
            page_size=self.settings.page_size,
            flattening=asyncio.Semaphore(FLATTENINGS_AT_ONCE),
        )

    def _run(self, reading: Reading, clients: Mapping[str, Client], circuit_breaker: CircuitBreaker) -> Run:
        return Run(
            reading=reading,
            loader=Loader(self.store, self.settings.timezone, self.note),
            clients=clients,
            circuit_breaker=circuit_breaker,
            today=self.settings.today_local(self.surroundings.clock),
            concurrency=self.settings.concurrency,
            accept_shrink=self.selection.accept_shrink,
            summary=self.summary,
            note=self.note,
        )


def _pair(planned: Planned, agenda: Agenda) -> Pair:
    rows, cap = agenda.rows.get(planned.pair, {}), agenda.caps.get(planned.pair)
    before = {month: count for month, count in rows.items() if month is not None}
    learned = LearnedCap(cap.months, cap.days) if cap else LearnedCap()
    return Pair(planned, before, sum(rows.values()), learned)


def _note_unasked(planned: Planned, summary: Summary, note: Callable[[WindowResult], None]) -> None:
    """Say what a sync leaves alone: what is held, and what is skipped and why."""
    summary.held[planned.pair] += planned.wanted.left
    if planned.skipped:
        note(WindowResult(*planned.pair, status=WindowStatus.SKIPPED, reason=planned.skipped))
    if planned.out_of_reach:
        reason = "the service does not calculate these months; what is held stays"
        months = tuple(month.first_day for month in planned.out_of_reach)
        note(WindowResult(*planned.pair, months, status=WindowStatus.SKIPPED, reason=reason))
    if waiting := planned.wanted.postponed:
        reason = POSTPONED.format(len(waiting), len(planned.wanted.changed))
        months = tuple(month.first_day for month in waiting)
        note(
            WindowResult(
                *planned.pair, months, status=WindowStatus.SKIPPED, reason=reason, warnings=(reason,)
            )
        )
