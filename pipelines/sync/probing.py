"""What did the service change? Asked of every customer, and kept as months that are to be read again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.connect.errors import Forbidden, HostDown, Unauthorized
from pipelines.planning.plan import Planned
from pipelines.planning.windows import Window
from pipelines.sync.fetched import Fetched
from pipelines.sync.guiding import Probing
from pipelines.sync.pairs import Pair
from pipelines.sync.reading import Missed, Reading
from pipelines.sync.spans import LearnedCap
from pipelines.sync.touching import ChangedEstate, changed_estates, touched_months
from warehouse.changes import ANSWERED, FAILED, Changed, Probe
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from warehouse.store import Store

WITHOUT = (
    "the service did not tell which sales were changed, so older months are read again only once in a "
    "calendar month: {}"
)


@dataclass(frozen=True)
class Prober:
    """Asks what was changed, for many customers at once, and writes down which months that concerns."""

    reading: Reading
    store: Store
    reports: Sequence[Report]

    async def ask(self, probings: Sequence[Probing], clients: Mapping[str, Client]) -> list[WindowResult]:
        """What came of every question; one that fails is told and stops nothing."""
        tasks = [self._one(one, clients[one.customer.id]) for one in probings]
        return list(await asyncio.gather(*tasks))

    async def _one(self, probing: Probing, client: Client) -> WindowResult:
        window = Window((), probing.spans)
        planned = Planned(probing.report, probing.customer, windows=(window,))
        read = await self.reading.read(client, Pair(planned, {}, 0, LearnedCap()), window)
        if isinstance(read, Fetched):
            return await asyncio.to_thread(self._answered, probing, read)
        if isinstance(read, Missed):
            return await asyncio.to_thread(self._missed, probing, read)
        raise TypeError("a question without months cannot be asked month by month")

    def _answered(self, probing: Probing, fetched: Fetched) -> WindowResult:
        frame = fetched.flat.tables[0].frame
        estates, notes = changed_estates(frame, probing.first, fetched.fetched_at_utc, self.reading.timezone)
        if fetched.flat.rejected:
            notes.append(f"{len(fetched.flat.rejected)} rows could not be read")
        changed = self._changed(probing, fetched, estates)
        probe = _probe(self.reading.run_id, probing, fetched, note="; ".join(notes), estates=len(estates))
        self.store.remember_probe(probe, changed)
        months = len({one.month for one in changed})
        told = f"{len(estates)} sales were changed since {probing.first}, which concerns {months} months"
        return _outcome(probing, fetched, WindowStatus.TOLD, told, warnings=tuple(notes))

    def _missed(self, probing: Probing, missed: Missed) -> WindowResult:
        reason = " ".join(str(missed.error).split())
        self.store.remember_probe(_probe(self.reading.run_id, probing, missed, error=reason), ())
        if isinstance(missed.error, Forbidden):
            self.store.deny(probing.asked_of, probing.customer.id, missed.fetched_at_utc)
        if isinstance(missed.error, (Unauthorized, HostDown)):
            return _outcome(
                probing, missed, WindowStatus.SKIPPED, reason
            )  # the windows say the same once more
        words = WITHOUT.format(reason)
        return _outcome(probing, missed, WindowStatus.SKIPPED, words, warnings=(words,))

    def _changed(self, probing: Probing, fetched: Fetched, estates: Sequence[ChangedEstate]) -> list[Changed]:
        guided = [report for report in self.reports if report.follows_sales]
        places = {
            one.name: (one.tables[0].name, one.estate_id_column) for one in guided if one.estate_id_column
        }
        held = self.store.months_naming(places, probing.customer.id, [one.id for one in estates])
        changed_at = {
            one.id: one.changed_at_utc for one in sorted(estates, key=lambda one: one.changed_at_utc)
        }
        return [
            Changed(
                report.name,
                probing.customer.id,
                month,
                max(changed_at[estate] for estate in ids),
                fetched.fetched_at_utc,
                len(ids),
                fetched.load_id,
            )
            for report in guided
            for month, ids in touched_months(report, guided, estates, held).items()
        ]


def _probe(
    run_id: str,
    probing: Probing,
    read: Fetched | Missed,
    *,
    error: str = "",
    note: str = "",
    estates: int = 0,
) -> Probe:
    return Probe(
        load_id=read.load_id,
        run_id=run_id,
        customer=probing.customer.id,
        asked_of=probing.asked_of,
        window_start=probing.first,
        window_end=probing.last,
        requests=read.requests,
        bytes=read.bytes,
        seconds=read.seconds,
        fetched_at_utc=read.fetched_at_utc,
        status=FAILED if error else ANSWERED,
        error=error,
        landing=read.landing,
        estates=estates,
        note=note,
    )


def _outcome(
    probing: Probing,
    read: Fetched | Missed,
    status: WindowStatus,
    reason: str,
    warnings: tuple[str, ...] = (),
) -> WindowResult:
    return WindowResult(
        report=probing.report.name,
        customer=probing.customer.id,
        months=(),
        status=status,
        reason=reason,
        requests=read.requests,
        bytes=read.bytes,
        seconds=read.seconds,
        load_id=read.load_id,
        landing=read.landing,
        fetched_at_utc=read.fetched_at_utc,
        window_start=probing.first,
        window_end=probing.last,
        warnings=warnings,
    )
