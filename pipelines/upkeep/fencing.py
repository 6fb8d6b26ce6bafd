"""Fencing: what all can see is written by the owner of a shard alone, and carries the owner's epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.coordination import CoordinationError
from pipelines.sync.run_context import owner_of
from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


@dataclass(frozen=True)
class Fence:
    """The epoch of the shard's owner, and what raises WarehouseError once that is somebody else.

    Both are empty where nobody coordinates shards: then everything may be written.
    """

    epoch: int | None = None
    still_owner: Callable[[], None] | None = None


def fence_of(settings: Settings, *, strict: bool = False) -> Fence:
    """The fence of a data directory. Raises NotOwner with `strict`, where another owns its shard."""
    owner = owner_of(settings, strict=strict)
    if owner is None:
        return Fence()

    def still_owner() -> None:
        try:
            owner.check()
        except CoordinationError as error:
            raise WarehouseError(str(error)) from None

    return Fence(owner.epoch, still_owner)
