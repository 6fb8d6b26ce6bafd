"""Replay: tables rebuilt from the answers in landing.

If the working file has an earlier format, its rows are copied to a new file, and the answers are replayed
into it. If the working file is lost, the answers are replayed into a copy of the newest undamaged published
version or, if there is none, into an empty file. A note states what is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.declaration import declare_catalogue
from pipelines.sync.guard import check_columns, check_shrink
from pipelines.sync.privacy import documented_tables, privacy_transform
from pipelines.sync.window.answers import read_landed_tables, rows_by_month
from pipelines.words import counted
from warehouse.errors import LandingDamaged, ReplayNeeded, WarehouseError
from warehouse.ledger.stored_answers import loads_to_replay, record_unreadable
from warehouse.ledger.window_result import WindowResult, results_by_pair
from warehouse.load.landing import Landing
from warehouse.load.load import load_group
from warehouse.load.profile import Profiles, TableProfile, read_load_profiles, read_replaced_profiles
from warehouse.persons.erased_list import read_erased
from warehouse.persons.rebuild import fresh_file, record_lost_loads, replace_file
from warehouse.persons.suppression import suppress_tables
from warehouse.publishing.retention import record_traces
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

LOADS_IN_A_GROUP = 50


@dataclass
class ReplayResult:
    """The outcome of a replay: counts of repeated loads and of their rows, and messages."""

    loads: int = 0
    rows: int = 0
    rejected: int = 0  # rows in quarantine
    failures: list[str] = field(default_factory=list)  # messages about missing or damaged landing files
    unfit: list[str] = field(default_factory=list)  # messages about answers that do not fit the shape
    notes: list[str] = field(default_factory=list)


def replay(
    settings: Settings,
    *,
    reports: Sequence[str] = (),
    quarantine: bool = False,
    catalogue: Mapping[str, Report] | None = None,
    clock: Clock | None = None,
    on_load: Callable[[int, int], None] = lambda *_: None,
) -> ReplayResult:
    """Rebuild the tables of `reports`, by default all, from the answers in landing. Sends no request.

    - With `quarantine`, only loads that have rows in quarantine are repeated.
    - `catalogue` is by default the built-in one with the operator's shapes.
    - `on_load` receives the number of loads repeated so far and the number of loads to repeat.

    If a landing file is missing or damaged, or its answer does not fit the present shape, the rows of its
    load stay as they are. If the load belongs to a history, the whole history stays as it is. If the working
    file is lost or has an earlier format, all are rebuilt, and `reports` and `quarantine` have no effect.
    """
    clock = settings.run_clock(clock or SystemClock())
    transform = privacy_transform(settings)
    store = Store(settings.data_dir, now=clock.utc_now, transform=transform, rebuilds=True)
    if catalogue is None:
        catalogue = with_shapes(REPORTS, settings.shapes_file)
    if store.is_lost:
        reports, quarantine = (), False
    running = _Replay(settings, catalogue, clock, on_load)
    result = running.result
    try:
        running.load_again(store, reports or [*catalogue], quarantine=quarantine)
        result.failures += running.unchanged_histories
    except ReplayNeeded:
        with fresh_file(store) as fresh:
            running.load_again(fresh, [*catalogue])
            result.notes += running.unchanged_histories
            replace_file(store, fresh)
    # deleted rows may have had real names, and their bytes stay in the file until a publication rewrites it
    if settings.pseudonym_key.get_secret_value():
        with store.writing() as connection:
            record_traces(connection)
    return result


@dataclass
class _Replay:
    """A running replay and its outcome so far."""

    settings: Settings
    catalogue: Mapping[str, Report]
    clock: Clock
    on_load: Callable[[int, int], None]
    result: ReplayResult = field(default_factory=ReplayResult)
    unchanged_histories: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)  # errors of loads not repeated, by load id
    damaged: list[str] = field(default_factory=list)  # the errors of damaged landing files
    replaced: Mapping[str, Profiles] = field(default_factory=dict)  # what failed loads would replace

    def load_again(self, store: Store, reports: Sequence[str], *, quarantine: bool = False) -> None:
        """Repeat the loads of these reports. The loads of a history are repeated together or not at all."""
        with store.writing() as connection:
            declare_catalogue(connection, self.settings, self.catalogue, self.clock)
        if not quarantine:
            self._record_lost_loads(store, reports)
        with store.reading() as connection:
            loads = loads_to_replay(connection, reports, only_quarantined=quarantine)
        result = self.result
        for group in _groups(loads):
            is_history = group[0].history
            with store.reading() as connection:
                stored = read_load_profiles(connection, group)
                self.replaced = read_replaced_profiles(connection, group)
            readable = list(self._read_again(group, stored))
            if is_history and len(readable) < len(group):
                reason = "Another answer of the same history could not be read."
                self.unreadable |= {load.load_id: reason for load in readable}
                continue
            result.loads += len(readable)
            result.rows += sum(table.frame.height for load in readable for table in load.tables)
            result.rejected += sum(len(load.rejected) for load in readable)
            load_group(store, readable, from_scratch=is_history and not quarantine)
            self.on_load(result.loads, len(loads))
        result.failures += [damage for damage in self.damaged if damage not in self.unreadable.values()]
        with store.writing() as connection:
            record_unreadable(connection, self.unreadable)

    def _record_lost_loads(self, store: Store, reports: Sequence[str]) -> None:
        files = list(Landing(self.settings.data_dir / "landing").walk(reports))
        self.damaged = [str(file) for file in files if isinstance(file, LandingDamaged)]
        landed = [
            file for file in files if not isinstance(file, LandingDamaged) and file.header.get("kept", True)
        ]
        with store.writing() as connection:
            count = record_lost_loads(connection, landed)
            # a restored backup may name persons erased after it was made
            erased = read_erased(self.settings.data_dir)
            suppress_tables(connection, erased, documented_tables(self.catalogue))
        if count:
            self.result.notes.append(
                f"{counted(count, 'stored answer')} restored from landing, so marts.restatements, "
                "marts.sale_changes and marts.user_month_versions may lack changes among them"
            )

    def _read_again(
        self, group: Sequence[WindowResult], stored: Mapping[str, Mapping[str, TableProfile]]
    ) -> Iterator[WindowResult]:
        landing = Landing(self.settings.data_dir / "landing")
        rows: Mapping[str, TableProfile] = {}
        for load in group:
            report = self.catalogue[load.report]
            # a snapshot that changed nothing has no rows of its own, but is as the one before
            rows = stored.get(load.load_id) or (rows if load.history else {})
            try:
                reread = read_landed_tables(landing, load, report, self.settings.timezone)
                # raises if a column would become empty: the answer then has an earlier shape
                check_columns(rows, reread.tables)
                if load.load_id in self.replaced:  # it failed: it may not replace rows that a sync would keep
                    counts = rows_by_month(reread.tables, load.months)
                    check_shrink(report, self.replaced[load.load_id], reread.tables, counts)
                yield reread
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - one answer must not stop the others
                subject, sentences = f"{load.report} of {load.customer}, {load.when}", self.result.failures
                if load.history:
                    subject = f"the history of {load.report} of {load.customer} stays as it is"
                    sentences = self.unchanged_histories
                if not isinstance(error, WarehouseError | OSError):
                    sentences = self.result.unfit
                if not (load.history and any(sentence.startswith(subject) for sentence in sentences)):
                    sentences.append(f"{subject}: {error}")
                self.unreadable[load.load_id] = str(error)


def _groups(loads: Sequence[WindowResult]) -> Iterator[list[WindowResult]]:
    """Group the loads by transaction. A history is one group, so that a kill cannot leave half of it old."""
    monthly = sorted((load for load in loads if not load.history), key=lambda load: load.pair)
    yield from (monthly[at : at + LOADS_IN_A_GROUP] for at in range(0, len(monthly), LOADS_IN_A_GROUP))
    yield from results_by_pair(load for load in loads if load.history).values()
