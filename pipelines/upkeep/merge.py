"""Merging: one published file, with its page, from the published files of shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.clock import Clock, SystemClock
from pipelines.upkeep.finish import Finished, finish
from warehouse.errors import WarehouseError
from warehouse.publishing.merge import FILE, MergeSource, merge
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

OF_A_SHARD = {
    "shard": "",
    "lake": "",
    "landing_archive": "",
    "landing_days": None,
    "landing_local_days": None,
}
"""What is one shard's own and not the merged file's: its rows in a lake, its stored answers."""


@dataclass(frozen=True)
class Merged:
    """The shards that were to be merged, and what came of building, checking and publishing their union."""

    shards: Sequence[MergeSource]
    finished: Finished


def merge_shards(settings: Settings, sources: Mapping[str, Path], *, clock: Clock | None = None) -> Merged:
    """Merge the published files of shards into the data directory of the settings, and publish them there.

    The file of before stays until a new one is whole and no check refuses it. Raises what
    `warehouse.publishing.merge.merge` and `finish` do.
    """
    clock = settings.clock_of_day(clock or SystemClock())
    settings = settings.model_copy(update=OF_A_SHARD)
    with Store(settings.data_dir).locked():
        shards = merge(settings.data_dir, sources, now=clock.utc_now())
        return Merged(shards, finish(settings, clock))


def sources_by_name(words: Sequence[str]) -> dict[str, Path]:
    """Files or data directories by the name of their shard: NAME=PATH, or the name of the data directory.

    Raises WarehouseError for a name that is given twice.
    """
    found: dict[str, Path] = {}
    for word in words:
        name, separator, rest = word.partition("=")
        path = Path(rest if separator else word).resolve()
        if not separator:
            name = path.parent.name if path.name == FILE else path.name
        if name in found:
            raise WarehouseError(f"Two shards are called {name}; write NAME=PATH for each.")
        found[name] = path
    return found


def data_dir_of(word: str) -> Path:
    """The data directory that a merged file goes to; raises WarehouseError for a file of another name."""
    path = Path(word)
    if path.suffix and path.name != FILE:
        raise WarehouseError(f"The merged file is called {FILE}; name its directory, such as {path.parent}.")
    return path.parent if path.name == FILE else path
