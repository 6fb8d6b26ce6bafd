"""Replay: tables rebuilt from landing alone, and with them what months, sales and users were before.

The tables can be rebuilt from the loads in force; what the service restated shows only beside what was
replaced. After the working file was lost, all loads are loaded once more, run by run, into a file of its own,
and what the marts say after each run is remembered as on that day. What cannot be known: what landing does
not hold any more, and whether marts were truly built after each run; where they were not, two changes
that were one row of marts.restatements or marts.sale_changes become two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.sync.declaration import declare_catalogue, declared_tables
from pipelines.sync.privacy import documented_tables, private_rows
from pipelines.sync.window.answers import read_landed_tables
from warehouse.errors import LandingDamaged, OlderFormat, WarehouseError
from warehouse.ledger.window_result import WindowResult
from warehouse.load.landing import Landing
from warehouse.load.schema_evolution import declare_tables
from warehouse.load.write_session import WriteSession
from warehouse.marts.build import MEMORY, build_marts
from warehouse.persons.erased_list import read_erased
from warehouse.persons.rebuild import (
    REBUILDING,
    effective_loads,
    fresh_file,
    lacks_memory,
    loads_behind_memory,
    relearn,
    replace_file,
    replace_memory,
    working_folder,
)
from warehouse.persons.suppression import suppress_tables
from warehouse.publishing.retention import leave_traces
from warehouse.store.database import LOCK_SECONDS, Store
from warehouse.store.files import make_folder
from warehouse.store.lock import locked_file

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

LOADS_IN_A_GROUP = 50


@dataclass
class Replayed:
    """What a replay did: loads and rows loaded again, the loads that could not be, and what to know of it."""

    loads: int = 0
    rows: int = 0
    rejected: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _quiet(done: int, total: int) -> None:
    """Show no progress."""
    del done, total


def replay(
    settings: Settings,
    *,
    reports: Sequence[str] = (),
    customers: Sequence[str] = (),
    quarantine: bool = False,
    catalogue: Mapping[str, Report] = REPORTS,
    clock: Clock | None = None,
    on_load: Callable[[int, int], None] = _quiet,
    on_totals: Callable[[int, int], None] = _quiet,
) -> Replayed:
    """Rebuild tables from landing alone, without a request; identical to what was loaded.

    `quarantine` only repeats the loads that have rows in quarantine: after a model was mended they
    move to their tables. A landing file that is missing or damaged is named, and the rest goes on.
    `on_load` and `on_totals` are called with how many loads of how many are done.
    """
    landing, done = Landing(settings.data_dir / "landing"), Replayed()
    store = Store(settings.data_dir, now=(clock or SystemClock()).utc_now, transform=private_rows(settings))
    replaying = _Replay(settings, landing, catalogue, clock or SystemClock(), on_load, done)
    if _is_older(store):
        replaying.replace_older_file(store)
        if done.failures:
            return done
    else:
        replaying.load_again(store, reports, customers, quarantine=quarantine)
    if store.transform is not None:  # the names that were loaded before there was a key are in free space
        with store.writing() as connection:
            leave_traces(connection)
    if not quarantine:
        with store.reading() as connection:
            is_lacking = lacks_memory(connection)
        if is_lacking and (note := _rebuild_memory(store, landing, settings, catalogue, on_totals)):
            done.notes.append(note)
    return done


def _is_older(store: Store) -> bool:
    """Whether an earlier version wrote the working file."""
    try:
        with store.reading():
            return False
    except OlderFormat:
        return True


@dataclass
class _Replay:
    """What loads are read from, and what has become of them so far."""

    settings: Settings
    landing: Landing
    catalogue: Mapping[str, Report]
    clock: Clock
    on_load: Callable[[int, int], None]
    done: Replayed

    def replace_older_file(self, store: Store) -> None:
        """Rebuild the whole working file of an earlier version; it stays while an answer is missing."""
        with fresh_file(store) as fresh:
            self.load_again(fresh, histories_left=self.done.notes)  # they were copied
            if not self.done.failures:
                replace_file(store, fresh)
                return
        self.done.failures.append(
            f"{store.path} stays as it was: copy the stored answers that are missing or damaged back into "
            f"{self.landing.root} from a backup, and run `brokerbi replay` again"
        )

    def load_again(
        self,
        store: Store,
        reports: Sequence[str] = (),
        customers: Sequence[str] = (),
        *,
        quarantine: bool = False,
        histories_left: list[str] | None = None,
    ) -> None:
        """Load what is in force again; why histories stay as they are is a failure, or goes to a list."""
        done, landing = self.done, self.landing
        with store.writing() as connection:
            declare_catalogue(connection, self.settings, self.catalogue, self.clock)
        if not quarantine:
            _relearn(store, landing, done.failures)
            erased = read_erased(self.settings.data_dir)  # a backup may name persons erased since
            with store.writing() as connection:
                suppress_tables(connection, erased, documented_tables(self.catalogue))
        with store.reading() as connection:
            landed = effective_loads(
                connection, reports or None, customers or None, only_quarantined=quarantine
            )
        gone = {load.report for load in landed} - self.catalogue.keys()
        done.notes += [
            f"{name} is no longer in the catalogue, so it is not replayed" for name in sorted(gone)
        ]
        landed = [load for load in landed if load.report not in gone]
        afresh: set[tuple[str, str]] = set()
        if not quarantine:
            left = done.failures if histories_left is None else histories_left
            landed, afresh = _whole_histories(landed, landing, left)
        with WriteSession(store) as session:
            for group in _groups(landed):
                readable = list(
                    _read_again(landing, group, self.catalogue, self.settings.timezone, done.failures)
                )
                first = {load.pair for load in readable} & afresh
                done.loads += len(readable)
                done.rows += sum(table.frame.height for load in readable for table in load.tables)
                done.rejected += sum(row.count for load in readable for row in load.rejected)
                session.load(readable, afresh=bool(first))
                afresh -= first
                self.on_load(done.loads, len(landed))


def _relearn(store: Store, landing: Landing, failures: list[str]) -> None:
    """Write loads that only landing knows into the ledger, as after the working file was lost."""
    found = list(landing.walk())
    failures += [str(file) for file in found if isinstance(file, LandingDamaged)]
    whole = [file for file in found if not isinstance(file, LandingDamaged)]
    with store.writing() as connection:
        relearn(connection, (file for file in whole if file.header.get("kept", True)))


def _whole_histories(
    landed: Sequence[WindowResult], landing: Landing, failures: list[str]
) -> tuple[list[WindowResult], set[tuple[str, str]]]:
    """The loads without the histories of which a file is missing, and the histories to begin afresh.

    A history is only begun afresh when all of it can be repeated: what cannot is left as it is.
    """
    afresh = {load.pair for load in landed if load.history}
    for load in landed:
        if load.history and load.pair in afresh:
            try:
                landing.landed(load.landing)
            except (WarehouseError, OSError) as error:
                afresh.discard(load.pair)
                failures.append(f"the history of {load.report} of {load.customer} stays as it is: {error}")
    return [load for load in landed if not load.history or load.pair in afresh], afresh


def _groups(landed: Sequence[WindowResult]) -> Iterator[list[WindowResult]]:
    """Loads a few at a time, never two pairs of report and customer in one group.

    A history is begun afresh, so all its snapshots are in one group: killed, it is the old one or the new.
    """
    group: list[WindowResult] = []
    for load in sorted(landed, key=lambda load: load.pair):
        is_next_pair = bool(group) and load.pair != group[0].pair
        if is_next_pair or (len(group) >= LOADS_IN_A_GROUP and not load.history):
            yield group
            group = []
        group.append(load)
    if group:
        yield group


def _read_again(
    landing: Landing,
    group: Sequence[WindowResult],
    catalogue: Mapping[str, Report],
    timezone: str,
    failures: list[str],
) -> Iterator[WindowResult]:
    """The loads of a group with their rows; one that cannot be read is a failure of the replay."""
    for load in group:
        try:
            yield read_landed_tables(landing, load, catalogue[load.report], timezone)
        except (WarehouseError, OSError) as error:
            failures.append(f"{load.report} of {load.customer}, {load.when}: {error}")


def _rebuild_memory(
    store: Store,
    landing: Landing,
    settings: Settings,
    catalogue: Mapping[str, Report],
    on_totals: Callable[[int, int], None],
) -> str:
    """Rebuild what marts remember from all landed loads; answers why it was left, if it was.

    Nothing changes before the end, so one that was killed is simply begun again. The failures of loads that
    cannot be read are known from the rebuilding of the tables.
    """
    folder = settings.data_dir / "work" / REBUILDING
    known: list[str] = []
    make_folder(folder.parent)
    with locked_file(folder.with_suffix(".lock"), LOCK_SECONDS), working_folder(folder):
        rebuilt = Store(folder, now=store.now, transform=store.transform)
        declare_tables(rebuilt, declared_tables(catalogue.values()))
        _relearn(rebuilt, landing, known)
        with rebuilt.reading() as connection:
            landed = loads_behind_memory(connection)
        done = 0
        for run in _runs(landed):
            with WriteSession(rebuilt) as session:
                for start in range(0, len(run), LOADS_IN_A_GROUP):
                    group = run[start : start + LOADS_IN_A_GROUP]
                    done += len(group)
                    session.load(list(_read_again(landing, group, catalogue, settings.timezone, known)))
                    on_totals(done, len(landed))
            with rebuilt.writing() as connection:
                build_marts(connection, wanted=MEMORY)
        return replace_memory(store, rebuilt)


def _runs(landed: Sequence[WindowResult]) -> list[list[WindowResult]]:
    """The loads of each run, oldest first; the run whose last answer is oldest comes first."""
    by_run: dict[str, list[WindowResult]] = {}
    for load in sorted(landed, key=lambda load: load.fetched):
        by_run.setdefault(load.run_id, []).append(load)
    return sorted(by_run.values(), key=lambda run: run[-1].fetched)
