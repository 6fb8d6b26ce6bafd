"""How are tables rebuilt without the service? Every load in force, flattened again from its landing file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.operations.pseudonyms import pseudonyms_of
from pipelines.operations.reliving import relive
from pipelines.sync.fetch import read_landed_tables
from pipelines.sync.finish import declared_tables
from warehouse.database import Store
from warehouse.errors import LandingDamaged, WarehouseError
from warehouse.landing import Landing
from warehouse.rebuilding import effective_loads, relearn
from warehouse.reliving import is_forgetful
from warehouse.window_result import WindowResult

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

    def count(self, group: Sequence[WindowResult]) -> None:
        """Add loads that are about to be loaded again."""
        self.loads += len(group)
        self.rows += sum(table.frame.height for one in group for table in one.tables)
        self.rejected += sum(len(one.rejected) for one in group)


def _quiet(done: int, total: int) -> None:
    """Tell nobody how far it is."""
    del done, total


def replay(
    settings: Settings,
    *,
    reports: Sequence[str] = (),
    customers: Sequence[str] = (),
    quarantine: bool = False,
    catalogue: Mapping[str, Report] = REPORTS,
    on_load: Callable[[int, int], None] = _quiet,
    on_lived: Callable[[int, int], None] = _quiet,
) -> Replayed:
    """Rebuild tables from landing alone, without a request; identical to what was loaded.

    `quarantine` only repeats the loads that have rows in quarantine: after a model was mended they
    move to their tables. A landing file that is missing or damaged is named, and the rest goes on.
    """
    store, done = _store(settings, catalogue), Replayed()
    if not quarantine:
        _relearn(store, Landing(settings.data_dir / "landing"), done)
    with store.reading() as connection:
        landed = effective_loads(connection, reports or None, customers or None, only_quarantined=quarantine)
    afresh: set[tuple[str, str]] = set()
    if not quarantine:
        landed, afresh = _whole_histories(landed, Landing(settings.data_dir / "landing"), done)
    for group in _groups(landed):
        readable = [one for one in group if _read_again(settings, catalogue, one, done)]
        first = {one.pair for one in readable} & afresh
        done.count(readable)
        store.load(readable, afresh=bool(first))
        afresh -= first
        on_load(done.loads, len(landed))
    if not quarantine and is_forgetful(store):
        done.notes += _relive(store, settings, catalogue, on_lived)
    return done


def _store(settings: Settings, catalogue: Mapping[str, Report]) -> Store:
    """The store, with every table of the catalogue."""
    store = Store(settings.data_dir, transform=pseudonyms_of(settings))
    store.declare(declared_tables(catalogue.values()))
    return store


def _relive(
    store: Store,
    settings: Settings,
    catalogue: Mapping[str, Report],
    on_lived: Callable[[int, int], None],
) -> list[str]:
    """Remember again what months added up to before; what cannot be read again was said already."""
    aside = Replayed()

    def prepare(lived: Store) -> None:
        lived.declare(declared_tables(catalogue.values()))
        _relearn(lived, Landing(settings.data_dir / "landing"), aside)

    def again(load: WindowResult) -> WindowResult | None:
        return load if _read_again(settings, catalogue, load, aside) else None

    reason = relive(store, settings.data_dir, prepare, again, on_lived)
    return [reason] if reason else []


def _relearn(store: Store, landing: Landing, done: Replayed) -> None:
    """Tell the ledger of loads that only landing knows, as after the working file was lost."""
    found = list(landing.walk())
    done.failures += [str(one) for one in found if isinstance(one, LandingDamaged)]
    whole = (one for one in found if not isinstance(one, LandingDamaged))
    with store.writing() as connection:
        relearn(connection, (one for one in whole if one.header.get("kept", True)))


def _whole_histories(
    landed: Sequence[WindowResult], landing: Landing, done: Replayed
) -> tuple[list[WindowResult], set[tuple[str, str]]]:
    """The loads without the histories of which a file is missing, and the histories to begin afresh.

    A history is only begun afresh when all of it can be repeated: what cannot is left as it is.
    """
    afresh = {(one.report, one.customer) for one in landed if one.history}
    for one in landed:
        if one.history and (one.report, one.customer) in afresh:
            try:
                landing.landed(one.landing)
            except (WarehouseError, OSError) as error:
                afresh.discard((one.report, one.customer))
                done.failures.append(f"the history of {one.report} of {one.customer} stays as it is: {error}")
    return [one for one in landed if not one.history or (one.report, one.customer) in afresh], afresh


def _groups(landed: Sequence[WindowResult]) -> Iterator[list[WindowResult]]:
    """Loads a few at a time, never two pairs of report and customer in one group.

    A history is begun afresh, so all its snapshots are in one group: killed, it is the old one or the new.
    """
    group: list[WindowResult] = []
    for one in sorted(landed, key=lambda load: (load.report, load.customer, load.fetched)):
        strange = group and (one.report, one.customer) != (group[0].report, group[0].customer)
        if strange or (len(group) >= LOADS_IN_A_GROUP and not one.history):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _read_again(
    settings: Settings, catalogue: Mapping[str, Report], load: WindowResult, done: Replayed
) -> bool:
    """Put the rows of a load into its record; a load that cannot be read is a failure of the replay."""
    report = catalogue.get(load.report)
    if report is None:
        done.failures.append(f"{load.report} is no longer in the catalogue; its rows stay as they are")
        return False
    try:
        read_landed_tables(Landing(settings.data_dir / "landing"), load, report, settings.timezone)
    except (WarehouseError, OSError) as error:
        done.failures.append(f"{load.report} of {load.customer}, {load.when}: {error}")
        return False
    return True
