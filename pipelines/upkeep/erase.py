"""Erasure of a person from landing and tables, then a publication that replaces all earlier ones."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from pipelines.clock import Clock, SystemClock
from pipelines.normalize.contents import column_name
from pipelines.normalize.document import InvalidJson, parse_exactly, to_json
from pipelines.sync.privacy import documented_tables
from pipelines.upkeep.export import FOLDER
from pipelines.upkeep.finish import finish
from pipelines.upkeep.replay import replay
from pipelines.upkeep.report_page import draw_pages, remove_pages
from warehouse.ledger.ledger import has_rows
from warehouse.load.landing import Landing
from warehouse.persons.erased_list import read_erased, record_begun, record_finished
from warehouse.persons.file_erasure import clean_logs, clear_leftovers, erase_landing
from warehouse.persons.person import MIN_ID_LENGTH, Person
from warehouse.persons.personal_data import PersonKind
from warehouse.persons.suppression import drop_marts, erase_texts, kinds_of_id, suppress_tables
from warehouse.publishing.lake import clean_lake
from warehouse.publishing.retention import compact, record_traces
from warehouse.store.database import Store
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from warehouse.protocols import Documented

NOT_SEARCHED = (
    "rows without the person's id, even if they name the person, and names of columns",
    "Dagster's history of runs, exports elsewhere, and backups",
)


@dataclass
class ErasureReceipt:
    """Counts of the changes that an erasure made. The receipt does not identify the person."""

    kind: str
    at_utc: str
    landing_files: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    log_places: int = 0
    leftovers_removed: int = 0
    published: str = ""
    versions_removed: list[str] = field(default_factory=list)
    not_searched: list[str] = field(default_factory=lambda: [*NOT_SEARCHED])
    problems: list[str] = field(default_factory=list)


def erase(settings: Settings, kind: PersonKind, id_: str, *, clock: Clock | None = None) -> ErasureReceipt:
    """Erase a person from all stored data, and from all data that is loaded later.

    The person's rows stay, with a random id and without personal values and free text. Call this again after
    a kill, or if the receipt has problems. Raises ValueError for an empty id, or the id of another kind.
    """
    if not id_.strip():
        raise ValueError("name the person's id; an empty id would match everyone")
    clock = clock or SystemClock()
    data_dir, tables = settings.data_dir, documented_tables()
    receipt = ErasureReceipt(kind, clock.utc_now().isoformat(timespec="seconds"))
    store = Store(data_dir)
    with store.reading() as connection:
        kinds = kinds_of_id(connection, id_, tables)
    if kinds and kind not in kinds and Person(kind, id_, "", column_name).is_unmistakable:
        raise ValueError(f"the id is that of a {kinds.pop()}; name the person with that option")
    is_unknown = not (kinds or read_erased(data_dir).aliases(kind, [id_]))
    erased = record_begun(data_dir, kind, id_, clock.utc_now())
    person = Person(kind, id_, erased.alias, column_name)
    if not person.is_unmistakable:
        receipt.not_searched.append(
            f"texts, keys and logs: an id of only digits, or of fewer than {MIN_ID_LENGTH} characters, may "
            "mean something else there"
        )
    personal_columns = {
        name: column
        for table in tables.values()
        for name, column in table.items()
        if column.personal or column.id_of
    }
    erase_from_body = partial(_erase_from_body, person, personal_columns)
    receipt.landing_files = len(erase_landing(store, Landing(data_dir / "landing"), person, erase_from_body))
    with store.writing() as connection:
        rows = suppress_tables(connection, read_erased(data_dir), tables)
        receipt.rows = dict(rows + erase_texts(connection, person))
        if is_unknown and not (receipt.landing_files or receipt.rows):
            receipt.problems.append("no stored data has this id; check it")
            record_finished(data_dir, erased)
            return receipt
        drop_marts(connection)
        record_traces(connection)
    receipt.problems += replay(settings, quarantine=True).failures  # erases the person from quarantine
    shutil.rmtree(data_dir / FOLDER, ignore_errors=True)
    remove_pages(data_dir)
    _publish(settings, clock, receipt)
    receipt.log_places = clean_logs(data_dir, person)
    receipt.leftovers_removed = clear_leftovers(data_dir)
    if problem := clean_lake(data_dir, settings.lake, settings.shard, clock.utc_now()):
        receipt.problems.append(problem)
    if not receipt.problems:
        record_finished(data_dir, erased)
        draw_pages(settings, settings.run_clock(clock), only_operators=True)  # they named the erasure
    return receipt


def _erase_from_body(person: Person, documented: Documented, body: bytes) -> bytes:
    try:
        document = parse_exactly(body)
        before, after = to_json(document), to_json(person.erase_document(document, documented))
    except (InvalidJson, RecursionError):  # unreadable: emptied if the id can mean only this person
        return b"" if person.is_unmistakable else body
    return body if after == before else after.encode()


def _publish(settings: Settings, clock: Clock, receipt: ErasureReceipt) -> None:
    with Store(settings.data_dir).reading() as connection:
        has_data = has_rows(connection, "months")
    if not has_data:
        compact(settings.data_dir)
        return
    publication = finish(settings, clock).publication
    if publication.has_new_file:
        receipt.published = publication.version or ""
        receipt.versions_removed = Versions(settings.data_dir).prune(keep=1)
    else:
        receipt.problems.append(
            f"the earlier file is still published ({publication.why}): "
            "correct the cause, then run the same command again"
        )
