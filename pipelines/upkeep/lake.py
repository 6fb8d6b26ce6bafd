"""The lake, as the settings want it: written after each publication, and cleaned by an erasure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from pipelines.catalogue.model import declared_columns
from pipelines.catalogue.reports import REPORTS
from pipelines.upkeep.fencing import Fence, fence_of
from warehouse.errors import WarehouseError
from warehouse.ledger.sinks import LAKE, note_sink, was_used
from warehouse.persons.personal_data import is_personal
from warehouse.publishing.lake import Lake, LakePublication
from warehouse.store.database import Store

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.settings.model import Settings
    from warehouse.persons.person import Person

LAKE_NOT_NAMED = (
    "there are publications in a lake, and BROKERBI_LAKE does not say where: name it, and run the same again"
)


LONGEST_ERROR = 300
_COLOURS = re.compile(r"\x1b\[\d*m")


def refresh_lake(
    settings: Settings, now: datetime, *, fence: Fence | None = None
) -> LakePublication | str | None:
    """The publication in the lake, if the settings name one, or why it is not there; noted either way."""
    if not settings.lake:
        return None
    error, made = "", None
    try:
        fence = fence or fence_of(settings)
        lake = Lake(settings.lake, settings.shard, epoch=fence.epoch, still_owner=fence.still_owner)
        made = lake.publish(settings.data_dir, now=now, is_personal=personal_columns())
    except Exception as caught:  # noqa: BLE001 whatever is wrong with the lake, the numbers are published
        error = described(caught)
    with Store(settings.data_dir).writing() as connection:
        note_sink(connection, LAKE, now, waiting=bool(error), error=error)
    return f"The lake could not be written, it stays behind: {error}" if error else made


def clean_lake(settings: Settings, person: Person, now: datetime) -> str:
    """Leave nothing in the lake, nor in its logs, that is not published now; or why something may be left."""
    with Store(settings.data_dir).reading() as connection:
        if not was_used(connection, LAKE):
            return ""
    if not settings.lake:
        return LAKE_NOT_NAMED
    behind = refresh_lake(settings, now)
    if isinstance(behind, str):
        return behind
    try:
        Lake(settings.lake, settings.shard).forget(
            settings.data_dir, lambda name: person.erase_name(name) != name
        )
    except Exception as caught:  # noqa: BLE001 the erasure goes on, and says what it left
        return f"The lake could not be cleaned: {described(caught)}"
    return ""


def described(error: Exception) -> str:
    """An error as part of a sentence; the library's go on for many coloured lines."""
    if isinstance(error, WarehouseError):
        return str(error)
    words = " ".join(_COLOURS.sub("", str(error)).split())
    return f"{type(error).__name__}: {words[:LONGEST_ERROR]}"


def personal_columns() -> Callable[[str, str], bool]:
    """Whether a column of a table may be about a person: by the catalogue, or else by its name."""
    documented = {
        table.name: {column.name: bool(column.personal or column.id_of) for column in declared_columns(table)}
        for report in REPORTS.values()
        for table in report.tables
    }

    def is_about_a_person(table: str, column: str) -> bool:
        known = documented.get(table.removesuffix("_history"), {})
        return known.get(column, is_personal(column))

    return is_about_a_person
