"""A customer moved between two shards: replayed in the new one, compared, then removed from the old."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.clock import Clock
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import Settings, load_settings
from pipelines.shards.render import environment
from pipelines.shards.shards import Shard, ShardCustomer, Shards
from pipelines.upkeep.archive import landing_of
from pipelines.upkeep.finish import finish
from pipelines.upkeep.replay import replay
from warehouse.errors import WarehouseError
from warehouse.load.customer_move import (
    copy_landing,
    copy_ledger,
    customers_held,
    differences,
    holds_customer,
    remove_customer,
    remove_landing,
)
from warehouse.load.landing import Landing
from warehouse.store.database import Store


@dataclass(frozen=True)
class Moved:
    """What was carried over; nothing where only the end of an earlier move was left."""

    answers: int = 0
    loads: int = 0
    rows: int = 0
    has_emptied: bool = False  # whether the old shard holds nobody any more


def shards_of_move(shards: Shards, customer: str, source: str, target: str) -> tuple[Shard, Shard]:
    """The two shards; raises SettingsError unless the file has the customer in the target already."""
    old, new = shards.named(source), shards.named(target)
    if customer not in [one.id for one in new.customers]:
        raise SettingsError(
            [f"{customer} is not in {target} in the file; write it there, then say this again."]
        )
    return old, new


def settings_of(shard: Shard, shards: Shards, *, without: str = "") -> Settings:
    """The settings of a shard for work that asks the service nothing.

    Where the file says that nobody is left in it, its customers are those that it holds `without` one.
    """
    if not shard.customers:
        left = [one for one in customers_held(Store(shard.data_dir)) if one != without] or [without]
        shard = shard.model_copy(update={"customers": tuple(ShardCustomer(id=one) for one in left)})
    given = environment(shard, shards, secrets=None, data_dir=shard.data_dir)
    return load_settings({**os.environ, **given}, offline=True)


def move(old: Settings, new: Settings, customer: str, *, clock: Clock | None = None) -> Moved:
    """Move a customer from the data directory of one shard to that of another; killed, it is said again.

    The new shard publishes before the old one lets go; one that holds nobody any more is not published.
    Between the two `brokerbi merge` refuses the customer by name, so that no merged file has it twice or not
    at all. Raises WarehouseError, and takes nothing out of the old shard, where a stored answer cannot be
    read, rows differ, or a check refuses the new file.
    """
    source, target = Store(old.data_dir), Store(new.data_dir)
    landing = landing_of(old)
    with ExitStack() as locks:
        for store in sorted((source, target), key=lambda one: str(one.data_dir.resolve())):
            locks.enter_context(store.locked())
        moved = Moved()
        if holds_customer(source, customer):
            moved = _carry(source, target, landing, new, customer, clock)
            remove_customer(source, customer)
        elif not holds_customer(target, customer):
            raise WarehouseError(f"Neither {old.data_dir} nor {new.data_dir} holds anything of {customer}.")
        remove_landing(landing, customer)
        if not customers_held(source):
            return replace(moved, has_emptied=True)
        _publish(old, clock)
        return moved


def _carry(
    source: Store,
    target: Store,
    landing: Landing,
    new: Settings,
    customer: str,
    clock: Clock | None,
) -> Moved:
    answers = copy_landing(landing, target, customer)
    copy_ledger(source, target, customer)
    done = replay(new, customers=[customer], clock=clock)
    if done.failures:
        raise WarehouseError(f"{customer} stays where it is: " + "; ".join(done.failures))
    if found := differences(source, target, customer):
        raise WarehouseError(
            f"{customer} stays where it is; other rows than before are in {', '.join(found)}."
        )
    _publish(new, clock)
    return Moved(answers, done.loads, done.rows)


def _publish(settings: Settings, clock: Clock | None) -> None:
    publication = finish(settings, clock).publication
    if not publication.published:
        raise WarehouseError(
            f"{settings.data_dir} is not published: {publication.why}. Mend that, and say this again."
        )


def data_dirs(shards: Shards) -> dict[str, Path]:
    """The data directories of all shards by name, as `brokerbi merge` takes them."""
    return {one.name: one.data_dir for one in shards.shard}
