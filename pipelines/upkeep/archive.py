"""Archive of landing, as the settings want it: filled after each publication and by `brokerbi archive`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pipelines.upkeep.fencing import Fence, fence_of
from warehouse.errors import WarehouseError
from warehouse.load.archive import Archive, open_archive
from warehouse.load.archiving import Drained, clear_archive, drain, let_go, note_waiting
from warehouse.load.landing import Landing
from warehouse.store.database import Store

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.settings.model import Settings

DRAIN_SECONDS = 120.0
"""How long a publication goes on putting files there; what is left waits for the next."""


def landing_of(settings: Settings) -> Landing:
    """Landing, with the archive behind it where there is one."""
    return Landing(settings.data_dir / "landing", archive_of(settings))


def archive_of(settings: Settings) -> Archive | None:
    """The archive that the settings name; raises WarehouseError where its library or its address is wrong."""
    return open_archive(settings.landing_archive, settings.shard)


def refresh_archive(
    settings: Settings,
    now: Callable[[], datetime],
    *,
    seconds: float | None = DRAIN_SECONDS,
    fence: Fence | None = None,
) -> Drained | None:
    """Put what waits into the archive, for so long at most, and clear what may go; None without an archive.

    Whatever is wrong with the archive, nothing else suffers: what waits is noted, with the reason.
    """
    store = Store(settings.data_dir, now=now)
    try:
        archive = archive_of(settings)
        if archive is None:
            return None
        fence = fence or fence_of(settings)
        drained = drain(store, archive, seconds=seconds, epoch=fence.epoch, still_owner=fence.still_owner)
        if not drained.error:
            if settings.landing_local_days is not None:
                let_go(store, archive, days=settings.landing_local_days)
            if settings.landing_days is not None:
                clear_archive(store, archive, days=settings.landing_days)
    except WarehouseError as error:
        return note_waiting(store, str(error))
    return drained
