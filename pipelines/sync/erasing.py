"""How is a person forgotten, everywhere? Landing first, then tables, published files and traces."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.reports import REPORTS
from pipelines.catalogue.vocabulary import Report
from pipelines.connect.clock import Clock, SystemClock
from pipelines.sync.finishing import finish
from pipelines.sync.replaying import replay
from warehouse.compacting import compact
from warehouse.erasing import clear_versions, erase_landing, erase_rows, holds, rows_with, settle_ledger
from warehouse.marts import build_marts
from warehouse.persons import Kind, Person
from warehouse.store import Store
from warehouse.versions import Versions

if TYPE_CHECKING:
    from pipelines.settings import Settings


@dataclass
class Receipt:
    """What was touched, in numbers; nothing in it tells who the person was."""

    kind: str
    at_utc: str
    landing_files: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    rebuilt: list[str] = field(default_factory=list)
    versions_removed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def described(self) -> dict[str, object]:
        return asdict(self)


def erase(
    settings: Settings,
    kind: Kind,
    id_: str,
    *,
    clock: Clock | None = None,
    catalogue: Mapping[str, Report] = REPORTS,
) -> Receipt:
    """Take a person out of landing, tables, histories, quarantine and published files.

    Amounts and counts stay; the id becomes a random one. May be killed and run again at any moment.
    Refuses an empty id.
    """
    if not id_.strip():
        raise ValueError("name the person's id; an empty one would mean everybody")
    clock = clock or SystemClock()
    person = Person(kind, id_, f"erased-{secrets.token_hex(8)}")
    receipt = Receipt(kind.value, clock.utc_now().isoformat(timespec="seconds"))
    store = Store(settings.data_dir)
    with store.alone():
        rewritten = erase_landing(settings.data_dir / "landing", person)
        receipt.landing_files = len(rewritten.held)
        with store.writing() as connection:
            settle_ledger(connection, rewritten)
            pairs, receipt.rows = rows_with(connection, person)
        _rebuild(settings, pairs | rewritten.pairs, catalogue, receipt)
        with store.writing() as connection:
            for table, number in erase_rows(connection, person).items():
                receipt.rows.setdefault(table, number)
            build_marts(connection)  # the old ones would leave the person in the free space of the file
        compact(settings.data_dir)
        _publish(settings, clock, person, receipt)
    return receipt


def _rebuild(
    settings: Settings, pairs: set[tuple[str, str]], catalogue: Mapping[str, Report], receipt: Receipt
) -> None:
    """Load again, from the landing files without the person, what the person was in."""
    for report, customer in sorted(pairs):
        done = replay(settings, reports=[report], customers=[customer], catalogue=catalogue)
        receipt.rebuilt.append(f"{report} of {customer}")
        receipt.problems += done.failures


def _publish(settings: Settings, clock: Clock, person: Person, receipt: Receipt) -> None:
    """Let analysts see a file without the person, and remove the versions with it."""
    versions = Versions(settings.data_dir)
    if holds(versions.published, person):
        publication = finish(settings, clock).publication
        if not publication.published:
            reasons = "; ".join(publication.reasons)
            receipt.problems.append(f"the published file still holds the person: not published: {reasons}")
    receipt.versions_removed = clear_versions(settings.data_dir, person)
