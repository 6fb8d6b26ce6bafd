"""Loading: windows share a transaction, and one that fails affects no other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from pipelines.catalogue.model import Column
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.sync.declaration import declared_tables
from pipelines.sync.loader import BYTES_IN_A_GROUP, LOADS_IN_A_GROUP, Loader
from pipelines.sync.summary import Summary
from pipelines.sync.window.memory_budget import MemoryBudget
from tests.working_file import declare_tables
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.window_result import WindowResult
from warehouse.store.database import Store
from warehouse.store.lock import is_locked

REPORT = REPORTS["commission_office"]
MONTHS = [Month(2000, 1).plus(number).first_day for number in range(LOADS_IN_A_GROUP)]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FOR_EVER = 3600.0
NEWS = Column("news", "VARCHAR", documented=False, source="news", description="")


@dataclass(frozen=True)
class News:
    """A table of one column."""

    frame: pl.DataFrame
    name: str = REPORT.name
    columns: tuple[Column, ...] = (NEWS,)
    key: tuple[str, ...] = ()


def fetched(month: date, *, of_month: date | None = None, rows: int = 1, text: str = "x") -> WindowResult:
    """A window of one month; the store refuses rows of another."""
    frame = pl.DataFrame({"_row": range(rows), "news": text}).with_columns(_month=of_month or month)
    window = WindowResult(REPORT.name, "M1", (month,), month, month, "run", f"load-{month}")
    return replace(window, fetched_at_utc=NOON, tables=[News(frame)])


async def load_all(store: Store, what: Sequence[WindowResult]) -> list[WindowResult]:
    results: list[WindowResult] = []
    loader = Loader(store, Summary("run", NOON, results.append), gathering_seconds=FOR_EVER)
    running = asyncio.create_task(loader.run())
    for one in what:
        await loader.put(one)
    await loader.finish(running)
    return results


def store_at(data_dir: Path) -> Store:
    store = Store(data_dir, lock_seconds=20)
    declare_tables(store, declared_tables([REPORT]))
    return store


def loaded(data_dir: Path, what: Sequence[WindowResult]) -> tuple[list[str], list[int]]:
    """What became of the windows, and how many loads each transaction held."""
    store = store_at(data_dir)
    results = asyncio.run(load_all(store, what))
    with store.reading() as file:
        sizes = file.execute("SELECT count(*) FROM meta.loads GROUP BY loaded_at_utc ORDER BY 1").fetchall()
    return [str(one.status) for one in results], [size for (size,) in sizes]


def stored_months(store: Store) -> int:
    return sum(map(len, ledger_of(store).stored.values()))


@pytest.mark.parametrize(
    "group",
    [
        pytest.param([fetched(month) for month in MONTHS], id="of many windows"),
        pytest.param([replace(fetched(MONTHS[0]), bytes=BYTES_IN_A_GROUP)], id="of much memory"),
    ],
)
def test_a_full_group_is_loaded_without_waiting_for_more(tmp_path: Path, group: list[WindowResult]) -> None:
    async def put_all(store: Store) -> None:
        done = asyncio.Event()
        loader = Loader(store, Summary("run", NOON, lambda _: done.set()), gathering_seconds=FOR_EVER)
        running = asyncio.create_task(loader.run())
        for one in group:
            await loader.put(one)
        await done.wait()
        await loader.finish(running)

    store = store_at(tmp_path)
    asyncio.run(put_all(store))
    assert stored_months(store) == len(group)


def test_loaded_windows_make_room_for_others(tmp_path: Path) -> None:
    async def ask_two(store: Store) -> int:
        memory = MemoryBudget(1)
        loader = Loader(store, Summary("run", NOON), memory, FOR_EVER)
        running = asyncio.create_task(loader.run())
        await memory.enter(REPORT.name)
        await loader.put(fetched(MONTHS[0]))
        await loader.finish(running)
        async with asyncio.timeout(5):
            await memory.enter(REPORT.name)
        return len(loader.summary.results)

    assert asyncio.run(ask_two(store_at(tmp_path))) == 1


def test_windows_share_a_transaction_and_one_that_the_store_rejects_fails_alone(tmp_path: Path) -> None:
    group = [fetched(month) for month in MONTHS[:7]]
    group.insert(3, fetched(MONTHS[7], of_month=date(1999, 1, 1)))
    assert loaded(tmp_path, group) == (["loaded"] * 3 + ["failed"] + ["loaded"] * 4, [1, 2, 4])


def test_the_rows_of_a_window_are_released_once_it_is_loaded(tmp_path: Path) -> None:
    [result] = asyncio.run(load_all(store_at(tmp_path), [fetched(MONTHS[0], rows=3)]))
    assert (result.loaded_rows, result.tables, result.rejected) == (3, (), ())


def test_a_window_waits_for_others_only_briefly_and_the_file_stays_closed_meanwhile(tmp_path: Path) -> None:
    done: list[WindowResult] = []

    def wait_until_loaded_and_free(month: date) -> None:
        latest = time.monotonic() + 60
        while month not in {one.months[0] for one in done} or is_locked(store_at(tmp_path).lock_path):
            assert time.monotonic() < latest

    async def one_after_the_other(store: Store) -> None:
        loader = Loader(store, Summary("run", NOON, done.append), gathering_seconds=0.01)
        running = asyncio.create_task(loader.run())
        for month in MONTHS[:2]:
            await loader.put(fetched(month))
            await asyncio.to_thread(wait_until_loaded_and_free, month)
        await loader.finish(running)

    store = store_at(tmp_path)
    asyncio.run(one_after_the_other(store))
    assert stored_months(store) == 2
