"""How is a person forgotten, everywhere? Landing first, then tables, published files, logs and traces."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.connect.clock import Clock, SystemClock
from pipelines.operations.drawing import PAGE, draw_beside
from pipelines.operations.replaying import replay
from pipelines.sync.finishing import finish
from warehouse import erasing
from warehouse.compacting import compact
from warehouse.forgetting import Pair, forget, known_by, pairs_with
from warehouse.marts import build_marts
from warehouse.persons import Kind, Person
from warehouse.store import Store
from warehouse.versions import Versions

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


LEAVES_TRACES = "UPDATE meta.storage SET has_traces = true"
"""What is deleted stands in free space until the file is rewritten, and must not be copied until then."""


@dataclass
class Receipt:
    """What was touched, in numbers; nothing in it tells who the person was."""

    kind: str
    at_utc: str
    values: int = 0
    landing_files: int = 0
    leftovers_removed: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    rebuilt: list[str] = field(default_factory=list)
    log_places: int = 0
    published: str = ""
    versions_removed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether anything of the person was kept anywhere."""
        return bool(self.values or self.landing_files or self.rows)

    def described(self) -> dict[str, object]:
        return asdict(self)


def erase(
    settings: Settings,
    kind: Kind,
    id_: str,
    *,
    clock: Clock | None = None,
    catalogue: Mapping[str, Report] = REPORTS,
    runs: Path | None = None,
) -> Receipt:
    """Take a person out of landing, tables, histories, quarantine, logs and published files.

    What stands beside the id goes, and what that tells (a full name, an address) wherever it stands without
    an id, in the rows of the same customers. Amounts and counts stay; the id becomes a random one. `runs` is
    where Dagster keeps its history: it is searched, not changed. May be killed and run again at any moment.
    Refuses an empty id.
    """
    if not id_.strip():
        raise ValueError("name the person's id; an empty one would mean everybody")
    clock = clock or SystemClock()
    person = Person(kind, id_, f"erased-{secrets.token_hex(8)}")
    receipt = Receipt(kind.value, clock.utc_now().isoformat(timespec="seconds"))
    store = Store(settings.data_dir)
    with store.alone():
        with store.reading() as connection:
            person = known_by(connection, person)
            pairs, receipt.rows = pairs_with(connection, person)
        person, customers = erasing.known_in_landing(settings.data_dir / "landing", person)
        customers |= {customer for _, customer in pairs}
        begun = erasing.was_begun(settings.data_dir, person)
        with erasing.noted(settings.data_dir, person, customers) as (person, owners):
            receipt.values = len(person.values)
            task = _Erasure(settings, clock, catalogue, store, person, owners, receipt)
            task.landing(pairs)
            task.tables()
            task.published(begun=begun)
            task.rest(runs)
    return receipt


@dataclass(frozen=True)
class _Erasure:
    """One person on the way out: where everything is kept, and what was done so far."""

    settings: Settings
    clock: Clock
    catalogue: Mapping[str, Report]
    store: Store
    person: Person
    customers: frozenset[str]
    receipt: Receipt

    def landing(self, pairs: set[Pair]) -> None:
        """Rewrite landing, and load again from it what the person was in."""
        rewritten = erasing.erase_landing(self.settings.data_dir / "landing", self.person, self.customers)
        self.receipt.landing_files = len(rewritten.held)
        with self.store.writing() as connection:
            erasing.settle_ledger(connection, rewritten)
            connection.execute(LEAVES_TRACES)
        for report, customer in sorted(pairs | rewritten.pairs):
            done = replay(self.settings, reports=[report], customers=[customer], catalogue=self.catalogue)
            self.receipt.rebuilt.append(f"{report} of {customer}")
            self.receipt.problems += done.failures

    def tables(self) -> None:
        """Empty what no landing file can be read for any more, and leave nothing in free space."""
        with self.store.writing() as connection:
            for table, number in forget(connection, self.person, self.customers).items():
                self.receipt.rows.setdefault(table, number)
            connection.execute(LEAVES_TRACES)
            build_marts(connection)  # the old ones would leave the person in the free space of the file
        compact(self.settings.data_dir)

    def published(self, *, begun: bool) -> None:
        """Let analysts see a file and a page without the person, and remove the earlier ones.

        Also where she is in no table of theirs: they were copied with the free space of the working file.
        """
        data_dir, published = self.settings.data_dir, Versions(self.settings.data_dir).published
        known = begun or self.receipt.found
        if not (known or erasing.was_published(data_dir, self.person, self.customers)):
            return
        if published.exists():
            now = self.clock.utc_now()
            publication = finish(self.settings, self.clock).publication
            self.receipt.published = publication.version or ""
            if not publication.published:  # a check stands against the new rows: the old ones are cleaned
                self.receipt.published = erasing.clean_published(data_dir, self.person, self.customers, now)
                drawn = draw_beside(data_dir, timezone=self.settings.timezone, now=now)
                if isinstance(drawn, str):
                    (data_dir / PAGE).unlink(missing_ok=True)
                    self.receipt.problems.append(drawn)
        self.receipt.versions_removed = erasing.clear_versions(data_dir)

    def rest(self, runs: Path | None) -> None:
        """Logs, leftovers, and what lies where we may not write."""
        data_dir, receipt = self.settings.data_dir, self.receipt
        receipt.log_places = erasing.clean_logs(data_dir, self.person)
        receipt.leftovers_removed, being_written = erasing.clear_leftovers(data_dir)
        if being_written:
            receipt.problems.append(
                f"{being_written} landing files are being written; run the same again when no sync runs"
            )
        if files := erasing.files_with(runs, self.person) if runs else []:
            receipt.problems.append(
                f"the history of runs still tells of the person in {len(files)} files below DAGSTER_HOME, "
                f"such as {files[0]}; delete the runs in question in Dagster, or all with `dagster run wipe`"
            )
