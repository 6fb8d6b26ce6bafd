"""What did months add up to before? Every load that was ever landed, lived through again in order.

The tables can be rebuilt from the loads in force; what the service restated shows only beside those that
they replaced. After the working file was lost, all of them are loaded once more, run by run, into a file of
its own, and the totals after each run are remembered as on that day. What cannot be known: what landing does
not hold any more, and whether marts were truly built after each run; where they were not, two changes that
were one row of marts.restatements become two.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from warehouse.database import LOCK_SECONDS, Store
from warehouse.files import private_folder
from warehouse.lock import held
from warehouse.reliving import landed_loads, remember, take_over
from warehouse.window_result import WindowResult

LOADS_AT_ONCE = 50


def relive(
    store: Store,
    data_dir: Path,
    prepare: Callable[[Store], object],
    again: Callable[[WindowResult], WindowResult | None],
    on_load: Callable[[int, int], None],
) -> str:
    """Rebuild the memory of totals from all landed loads; answers why it was left as it is, if it was.

    `prepare` declares the tables of a store and tells it of the landing files, `again` flattens a load,
    `on_load` is told how many of how many are done.
    Nothing changes before the end, so one that was killed is simply begun again.
    """
    folder = data_dir / "work" / "reliving"
    private_folder(folder.parent)
    with held(folder.with_suffix(".lock"), LOCK_SECONDS):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            private_folder(folder)
            lived = Store(folder)
            prepare(lived)
            landed = landed_loads(lived)
            done = 0
            for run in runs(landed):
                for start in range(0, len(run), LOADS_AT_ONCE):
                    group = run[start : start + LOADS_AT_ONCE]
                    lived.load([load for load in map(again, group) if load is not None])
                    done += len(group)
                    on_load(done, len(landed))
                remember(lived)
            return take_over(store, lived, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def runs(landed: Sequence[WindowResult]) -> Iterator[list[WindowResult]]:
    """The loads of each run, oldest first; the run whose last answer is oldest comes first."""
    by_run: dict[str, list[WindowResult]] = {}
    for one in sorted(landed, key=lambda load: load.fetched):
        by_run.setdefault(one.run_id, []).append(one)
    yield from sorted(by_run.values(), key=lambda run: run[-1].fetched)
