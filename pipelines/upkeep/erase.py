"""Erasure of a person: landing first, then tables, published files, logs and what was left behind."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report, declared_columns
from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.normalize.columns.tables import name_of
from pipelines.sync.declaration import declared_tables
from pipelines.upkeep.export import remove_exports
from pipelines.upkeep.finish import finish
from pipelines.upkeep.replay import replay
from pipelines.upkeep.report_page import refresh_report_page, remove_pages
from warehouse.load.landing import Landing
from warehouse.load.schema_evolution import declare_missing
from warehouse.marts.build import build_marts
from warehouse.persons import erasure
from warehouse.persons.erasure import DocumentedTables, Pair
from warehouse.persons.erasure_record import remembered
from warehouse.persons.landing_erasure import erase_landing, find_in_landing, update_ledger
from warehouse.persons.person import SHORTEST, Person
from warehouse.persons.personal_data import PersonKind
from warehouse.publishing.lake import clean_lake
from warehouse.publishing.retention import compact
from warehouse.store.database import Store
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


@dataclass
class ErasureReceipt:
    """What was touched, in numbers; nothing in it says who the person was."""

    kind: str
    at_utc: str
    values: int = 0
    landing_files: int = 0
    leftovers_removed: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    names: int = 0
    rebuilt: list[str] = field(default_factory=list)
    log_places: int = 0
    published: str = ""
    versions_removed: list[str] = field(default_factory=list)
    exports_removed: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether anything of the person was kept anywhere."""
        return bool(self.values or self.landing_files or self.rows or self.names)

    def described(self) -> dict[str, object]:
        return asdict(self)


def documented_tables(catalogue: Mapping[str, Report]) -> DocumentedTables:
    """What the catalogue says of personal data, as the warehouse takes it."""
    return DocumentedTables(
        {
            table.name: {column.name: column for column in declared_columns(table)}
            for report in catalogue.values()
            for table in report.tables
        }
    )


def erase(
    settings: Settings,
    kind: PersonKind,
    id_: str,
    *,
    clock: Clock | None = None,
    runs: Path | None = None,
) -> ErasureReceipt:
    """Take a person out of landing, tables, histories, quarantine, logs and published files.

    What is beside the id goes, and what that gives away (a full name, an address) wherever it is without
    an id, in the rows of the same customers. Amounts and counts stay; the id becomes a random one. `runs` is
    where Dagster keeps its history: it is searched, not changed. May be killed and run again at any moment.
    Refuses an empty id.
    """
    if not id_.strip():
        raise ValueError("name the person's id; an empty one would mean everybody")
    clock = clock or SystemClock()
    data_dir, tables = settings.data_dir, documented_tables(REPORTS)
    store, landing = Store(data_dir), Landing(data_dir / "landing")
    person = Person(kind, id_, f"erased-{secrets.token_hex(8)}", name_of)
    receipt = ErasureReceipt(kind, clock.utc_now().isoformat(timespec="seconds"))
    if person.is_short:
        receipt.problems.append(
            f"the id has fewer than {SHORTEST} signs: it is gone where it is a whole value, but messages, "
            "keys, logs and bodies nobody can read were not searched for it"
        )
    with store.locked():
        with store.reading() as connection:
            person, pairs, receipt.rows = erasure.find_in_tables(connection, person, tables)
        person = find_in_landing(landing, person, tables.personal)
        with remembered(data_dir, person, receipt.at_utc, receipt.problems) as (person, begun):
            receipt.values = len(person.values)
            rewritten = erase_landing(landing, person, tables.personal)
            receipt.landing_files = len(rewritten.held)
            with store.writing() as connection:
                update_ledger(connection, rewritten)
                erasure.leave_traces(connection)
                receipt.names = erasure.erase_names(connection, person, tables)
            for customers, reports in _together(pairs | rewritten.pairs).items():
                done = replay(settings, reports=reports, customers=customers)
                receipt.rebuilt += [f"{report} of {customer}" for report in reports for customer in customers]
                receipt.problems += done.failures
            with store.writing() as connection:  # of what no landing file can be read any more
                erasure.drop_marts(connection)
                for table, count in erasure.erase_tables(connection, person, tables).items():
                    receipt.rows.setdefault(table, count)
                erasure.leave_traces(connection)
            compact(data_dir)
            if begun or receipt.found or erasure.was_published(data_dir, person, tables):
                _publish(settings, clock, person, tables, receipt)
            if left := clean_lake(data_dir, settings.lake, settings.shard, clock.utc_now()):
                receipt.problems.append(left)
            if not receipt.published:
                with store.writing() as connection:
                    declare_missing(connection, declared_tables(), clock.utc_now().replace(tzinfo=None))
                    build_marts(connection)
            _clean_up(data_dir, person, runs, receipt)
    return receipt


def _together(pairs: Collection[Pair]) -> dict[tuple[str, ...], list[str]]:
    """The reports that are rebuilt of the same customers, as each replay opens the file several times."""
    found: dict[tuple[str, ...], list[str]] = {}
    for report, of_report in groupby(sorted(pairs), key=itemgetter(0)):
        found.setdefault(tuple(customer for _, customer in of_report), []).append(report)
    return found


def _publish(
    settings: Settings, clock: Clock, person: Person, tables: DocumentedTables, receipt: ErasureReceipt
) -> None:
    """Let analysts see a file and a page without the person, and remove the earlier files.

    Also where the person is in none of their tables: the free space of the working file was copied too.
    """
    data_dir, now = settings.data_dir, clock.utc_now()
    receipt.exports_removed = remove_exports(data_dir)
    if Versions(data_dir).published.exists():
        publication = finish(settings, clock).publication
        receipt.published = publication.version or ""
        if not publication.published:  # a check failed on the new rows: the old ones are cleaned
            receipt.published = erasure.clean_published(data_dir, person, tables, now)
            page = refresh_report_page(settings, clock)
            if isinstance(page, str):
                remove_pages(data_dir)
                receipt.problems.append(page)
    else:  # a page may be there all the same: of a night that published nothing
        remove_pages(data_dir)
    receipt.versions_removed = erasure.clear_versions(data_dir)


def _clean_up(data_dir: Path, person: Person, runs: Path | None, receipt: ErasureReceipt) -> None:
    """Clean logs and leftovers, and name what is where we may not write."""
    receipt.log_places = erasure.clean_logs(data_dir, person)
    receipt.leftovers_removed, being_written = erasure.clear_leftovers(data_dir)
    if being_written:
        receipt.problems.append(
            f"{being_written} landing files are being written; run the same again when no sync runs"
        )
    if files := erasure.run_files_with(runs, person) if runs else []:
        receipt.problems.append(
            f"the history of runs still tells of the person in {len(files)} files below DAGSTER_HOME, "
            f"such as {files[0]}; delete the runs in question in Dagster, or all with `dagster run wipe`"
        )
