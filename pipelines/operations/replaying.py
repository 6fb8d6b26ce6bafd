"""How are tables rebuilt without the service? Every load in force, flattened again from its landing file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.operations.pseudonyms import pseudonyms_of
from pipelines.operations.reliving import relive
from pipelines.operations.rereading import flat_from_landing
from pipelines.planning.windows import NOW, Span, Window
from pipelines.sync.declaring import declared_tables
from pipelines.sync.fetched import Fetched, load_of
from warehouse.errors import LandingDamaged, WarehouseError
from warehouse.landing import Landing
from warehouse.reliving import is_forgetful
from warehouse.store import Store
from warehouse.window_result import WindowResult

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from warehouse.sitting import WriteSession

LOADS_IN_A_GROUP = 50


@dataclass
class Replayed:
    """What a replay did: loads and rows loaded again, the loads that could not be, and what to know of it."""

    loads: int = 0
    rows: int = 0
    rejected: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, fetched: Sequence[Fetched]) -> None:
        """Add loads that were loaded again."""
        self.loads += len(fetched)
        self.rows += sum(one.rows for one in fetched)
        self.rejected += sum(len(one.flat.rejected) for one in fetched)


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
    landed = store.effective_loads(reports or None, customers or None, only_quarantined=quarantine)
    afresh: set[tuple[str, str]] = set()
    if not quarantine:
        landed, afresh = _whole_histories(landed, Landing(settings.data_dir / "landing"), done)
    with store.session() as session:
        for group in _groups(landed):
            read = (_again(settings, catalogue, load, done) for load in _politely(group, session))
            fetched = [one for one in read if one is not None]
            first = {(one.report.name, one.customer) for one in fetched} & afresh
            session.load([load_of(one, settings.timezone) for one in fetched], afresh=bool(first))
            afresh -= first
            done.count(fetched)
            on_load(done.loads, len(landed))
    if not quarantine and is_forgetful(store):
        done.notes += _relive(store, settings, catalogue, on_lived)
    return done


def _store(settings: Settings, catalogue: Mapping[str, Report]) -> Store:
    """The store, with every table of the catalogue."""
    store = Store(settings.data_dir, before=pseudonyms_of(settings))
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
        fetched = _again(settings, catalogue, load, aside)
        return load_of(fetched, settings.timezone) if fetched else None

    reason = relive(store, settings.data_dir, prepare, again, on_lived)
    return [reason] if reason else []


def _relearn(store: Store, landing: Landing, done: Replayed) -> None:
    """Tell the ledger of loads that only landing knows, as after the working file was lost."""
    found = list(landing.walk())
    done.failures += [str(one) for one in found if isinstance(one, LandingDamaged)]
    whole = (one for one in found if not isinstance(one, LandingDamaged))
    store.relearn(one for one in whole if one.header.get("kept", True))


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


def _politely(group: Sequence[WindowResult], session: WriteSession) -> Iterator[WindowResult]:
    """One load after the other to be read; whoever waits for the working file gets it in between."""
    for load in group:
        session.make_way()
        yield load


def _again(
    settings: Settings, catalogue: Mapping[str, Report], load: WindowResult, done: Replayed
) -> Fetched | None:
    report = catalogue.get(load.report)
    if report is None:
        done.failures.append(f"{load.report} is no longer in the catalogue; its rows stay as they are")
        return None
    window = window_of(load)
    landing = Landing(settings.data_dir / "landing")
    try:
        flat = flat_from_landing(landing, load.landing, load.sha256, report, window, settings.timezone)
    except (WarehouseError, OSError) as error:
        done.failures.append(f"{load.report} of {load.customer}, {window}: {error}")
        return None
    return Fetched(
        report=report,
        customer=load.customer,
        window=window,
        load_id=load.load_id,
        run_id=load.run_id,
        flat=flat,
        landing=load.landing,
        sha256=load.sha256,
        requests=load.requests,
        bytes=load.bytes,
        seconds=load.seconds,
        fetched_at_utc=load.fetched,
        asked=load.asked,
        notes=load.notes,
    )


def window_of(load: WindowResult) -> Window:
    """The window a load was asked for, as the ledger remembers it."""
    if not load.months or load.window_start is None or load.window_end is None:
        return NOW
    months = tuple(Month.of(day) for day in sorted(load.months))
    return Window(months, (Span(load.window_start, load.window_end),))
