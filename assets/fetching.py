"""How do squares become rows? One sync for all the squares of a run, and an event for each that is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import dagster as dg

from assets import events
from assets.complaining import failure, in_short
from assets.judging import Judge, State, Verdict
from assets.matrix import count_squares_again
from assets.previews import with_looks
from assets.progress import Progress
from assets.project import Project
from assets.squares import Square, months_by_pair
from assets.telling import kept_open
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.settings.messages import SettingsError
from warehouse.errors import WarehouseError
from warehouse.store import Store
from warehouse.window_result import WindowStatus

if TYPE_CHECKING:
    from pipelines.planning.due import Calendar
    from warehouse.ledger import Ledger
    from warehouse.window_result import WindowResult

HELD = "brokerbi/held"
SKIP = "skip"
"""Run tag brokerbi/held=skip: months that are held and not due are not asked for again."""
NIGHT_OF = "brokerbi/night"
"""Run tag: the day in whose night a run was started; such a run asks the service what it changed as well."""
ACCEPT_SHRINK = "brokerbi/accept_shrink"
YES = "yes"
"""Run tag brokerbi/accept_shrink=yes: a customer may lose more than half of its rows."""


@dataclass
class Fetching:
    """One run's work on some squares; `outcomes` grow while it goes on."""

    project: Project
    context: dg.AssetExecutionContext
    squares: Sequence[Square]
    stopped: str = ""
    shut_out: Sequence[str] = ()
    outcomes: list[WindowResult] = field(default_factory=list)

    def run(self) -> None:
        """Fetch the squares and log an event for each that is done; raises dg.Failure if any failed.

        What was fetched is logged also when the run is cancelled or breaks down on the way.
        """
        try:
            verdicts = self._fetched()
        except (SettingsError, WarehouseError) as error:
            raise dg.Failure(str(error)) from error
        self._log([one for one in verdicts if one.is_done])
        self.context.log.info(in_short(verdicts))
        if found := failure(verdicts, self.stopped, self.shut_out):
            raise found

    def _fetched(self) -> list[Verdict]:
        started = self.project.clock.utc_now()
        before = self._ledger()
        try:
            self._sync(before)
        except BaseException:
            with suppress(WarehouseError):
                self._log([one for one in self._verdicts(before, started) if one.state is State.FETCHED])
            raise
        return self._verdicts(before, started)

    @cached_property
    def calendar(self) -> Calendar:
        return self.project.calendar

    def _sync(self, before: Ledger) -> None:
        exact = months_by_pair(self._owed(before), self.calendar)
        if not exact:
            return
        from pipelines.sync.syncing import sync

        progress = Progress(self.context.log)

        def happened(outcome: WindowResult) -> None:
            self.outcomes.append(outcome)
            progress.happened(outcome)

        summary = sync(
            self.project.settings,
            Selection(
                exact=exact,
                refresh=not self._is_tagged(HELD, SKIP),
                accept_shrink=self._is_tagged(ACCEPT_SHRINK, YES),
                guided=NIGHT_OF in self.context.run.tags,
            ),
            surroundings=self.project.surroundings,
            on_plan=progress.planned,
            on_outcome=happened,
        )
        self.stopped, self.shut_out = summary.stopped, summary.shut_out

    def _owed(self, before: Ledger) -> Iterator[Square]:
        """The squares to ask for: not those that an earlier attempt of this run has fetched already."""
        known = {customer.id for customer in self.project.settings.customers}
        since = self._first_attempt()
        judge = self._judge(before, before, since) if since else None
        for square in self.squares:
            if square.customer in known and not (judge and since and judge.is_fresh(square, since)):
                yield square

    def _verdicts(self, before: Ledger, started: datetime) -> list[Verdict]:
        judge = self._judge(before, self._ledger(), self._first_attempt() or started)
        return list(judge.verdicts([*self.squares, *self._beyond()], self.outcomes))

    def _beyond(self) -> Iterator[Square]:
        """The squares of older months that were read because the service told of a change."""
        known = {(*one.pair, month) for one in self.squares for month in one.months(self.calendar)}
        reports = {one.report.name: one.report for one in self.squares}
        asked = [
            one for one in self.outcomes if one.status is not WindowStatus.SKIPPED and one.report in reports
        ]
        places = {(*one.pair, Month.of(day)) for one in asked for day in one.months}
        for report, customer, month in sorted(places - known):
            yield Square(reports[report], customer, month)

    def _judge(self, before: Ledger, after: Ledger, started: datetime) -> Judge:
        active = {customer.id for customer in self.project.settings.active_customers}
        return Judge(self.calendar, before, after, active, started)

    def _log(self, verdicts: Sequence[Verdict]) -> None:
        with suppress(WarehouseError):
            verdicts = with_looks(verdicts, Store(self.project.settings.data_dir))
        with kept_open(self.context.instance, self.context.run.run_id):
            for event in events.materializations(verdicts):
                self.context.log_event(event)
        reports = {one.square.report.name for one in verdicts if one.square.month}
        count_squares_again(self.context.instance, map(dg.AssetKey, sorted(reports)))

    def _ledger(self) -> Ledger:
        return Store(self.project.settings.data_dir).ledger()

    def _is_tagged(self, name: str, value: str) -> bool:
        return self.context.run.tags.get(name) == value

    def _first_attempt(self) -> datetime | None:
        """When the first attempt of this run was made, if this is another one."""
        if self.context.run.root_run_id is None:
            return None
        record = self.context.instance.get_run_record_by_id(self.context.run.root_run_id)
        return self.project.as_of(record.create_timestamp) if record else None
