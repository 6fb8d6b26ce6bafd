"""Do fetched windows reach the tables together, and does a bad one cost nobody but itself?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl

from pipelines.catalogue.model import Column
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.normalize.document import read_document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.tables import Findings, Normalized, NormalizedTable
from pipelines.planning.windows import windows
from pipelines.sync.declaring import declared_tables
from pipelines.sync.fetched import Fetched
from pipelines.sync.loading import BYTES_IN_A_GROUP, LOADS_IN_A_GROUP, Loader
from warehouse.loads import ROW_GROUP
from warehouse.opening import wal
from warehouse.status import lock_state
from warehouse.store import Store
from warehouse.window_result import WindowResult
from warehouse.working import WorkingFile

REPORT = REPORTS["commission_office"]
MONTHS = [Month(2000, 1).plus(number) for number in range(LOADS_IN_A_GROUP + 1)]
BODY = b'[{"office": {"customerId": "M1"}, "commission": 5}]'
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FOR_EVER = 3600.0


def fetched(month: Month, flat: Normalized | None = None) -> Fetched:
    """A window of one month with one row, unless other rows are given."""
    [window] = windows([month], 1, NOON.date())
    flat = flat or normalize(REPORT, [read_document(BODY)], months=[month], timezone="Europe/Stockholm")
    return Fetched(REPORT, "M1", window, f"load-{month}", "run", flat, "", "", 1, len(BODY), 0.1, NOON)


def out_of_place(month: Month) -> Fetched:
    """A window whose row says that it is of another month, which the store refuses."""
    strange = pl.DataFrame({"_row": [0], "_month": [date(1999, 1, 1)]})
    return fetched(month, Normalized((NormalizedTable(REPORT.name, (), strange, ()),), (), Findings()))


def wide(month: Month) -> Fetched:
    """A window of a third of a row group, which takes a quarter of what a group may hold."""
    rows = ROW_GROUP // 3
    text = "x" * (BYTES_IN_A_GROUP // rows // 4)
    frame = pl.DataFrame({"_row": range(rows), "news": text}).with_columns(_month=month.first_day)
    column = Column("news", "VARCHAR", documented=False, source="news", description="")
    return fetched(month, Normalized((NormalizedTable(REPORT.name, (column,), frame, ()),), (), Findings()))


async def load_all(
    store: Store,
    what: Sequence[Fetched],
    patience: float = FOR_EVER,
    tell: Callable[[WindowResult], object] = str,
) -> list[WindowResult]:
    outcomes: list[WindowResult] = []

    def report(outcome: WindowResult) -> None:
        outcomes.append(outcome)
        tell(outcome)

    loader = Loader(store, "Europe/Stockholm", report, patience)
    running = asyncio.create_task(loader.run())
    for one in what:
        await loader.put(one)
    await loader.finish(running)
    return outcomes


def loaded(
    data_dir: Path, what: Sequence[Fetched], patience: float = FOR_EVER
) -> tuple[list[str], list[int]]:
    """What became of the windows, and how many loads each transaction held."""
    store = Store(data_dir)
    store.declare(declared_tables([REPORT]))
    outcomes = asyncio.run(load_all(store, what, patience))
    with store.reading() as file:
        sizes = file.execute("SELECT count(*) FROM meta.loads GROUP BY loaded_at_utc ORDER BY 1").fetchall()
    return [str(one.status) for one in outcomes], [size for (size,) in sizes]


def test_windows_fetched_at_the_same_time_share_a_transaction(tmp_path: Path) -> None:
    few = [fetched(month) for month in MONTHS[:5]]
    assert loaded(tmp_path, few) == (["loaded"] * 5, [5])


def test_a_full_group_is_loaded_without_waiting_for_more(tmp_path: Path) -> None:
    many = [fetched(month) for month in MONTHS]
    assert loaded(tmp_path, many) == (["loaded"] * len(many), [1, LOADS_IN_A_GROUP])


def test_a_window_does_not_wait_for_ever_for_company(tmp_path: Path) -> None:
    async def one_by_one(store: Store) -> None:
        done = asyncio.Event()
        loader = Loader(store, "Europe/Stockholm", lambda _: done.set(), patience=0.01)
        running = asyncio.create_task(loader.run())
        await loader.put(fetched(MONTHS[0]))
        await done.wait()
        await loader.finish(running)

    store = Store(tmp_path)
    store.declare(declared_tables([REPORT]))
    asyncio.run(one_by_one(store))
    assert [key[2] for key in store.ledger().months] == [MONTHS[0].first_day]


def test_a_window_that_the_store_refuses_costs_only_itself(tmp_path: Path) -> None:
    group = [fetched(month) for month in MONTHS[:7]]
    group.insert(3, out_of_place(MONTHS[7]))
    assert loaded(tmp_path, group) == (["loaded"] * 3 + ["failed"] + ["loaded"] * 4, [1, 2, 4])


def test_the_file_stays_open_while_one_group_follows_another(tmp_path: Path) -> None:
    store, log, seen = Store(tmp_path), wal(WorkingFile(tmp_path).path), []
    store.declare(declared_tables([REPORT]))
    many = [fetched(month) for month in MONTHS]
    asyncio.run(load_all(store, many, tell=lambda _: seen.append(log.exists())))
    assert (set(seen), log.exists()) == ({True}, False)


def test_who_waits_for_the_file_gets_it_even_if_the_loader_waits_for_him(tmp_path: Path) -> None:
    store, held = Store(tmp_path, lock_seconds=20), []
    store.declare(declared_tables([REPORT]))
    few = [fetched(month) for month in MONTHS[:3]]
    asyncio.run(load_all(store, few, tell=lambda _: held.append(len(store.ledger().months))))
    assert held == [3, 3, 3]


def test_nobody_holds_the_file_while_the_service_is_slow(tmp_path: Path) -> None:
    done: list[WindowResult] = []

    def wait_until_loaded_and_free(month: Month) -> None:
        latest = time.monotonic() + 20
        while month.first_day not in {one.months[0] for one in done} or lock_state(tmp_path).is_held:
            assert time.monotonic() < latest

    async def one_after_the_other(store: Store) -> None:
        loader = Loader(store, "Europe/Stockholm", done.append, patience=0.01)
        running = asyncio.create_task(loader.run())
        for month in MONTHS[:2]:
            await loader.put(fetched(month))
            await asyncio.to_thread(wait_until_loaded_and_free, month)
        await loader.finish(running)

    store = Store(tmp_path)
    store.declare(declared_tables([REPORT]))
    asyncio.run(one_after_the_other(store))
    assert len(store.ledger().months) == 2


def test_a_group_may_grow_until_its_rows_fill_what_they_are_written_in(tmp_path: Path) -> None:
    assert loaded(tmp_path, [wide(month) for month in MONTHS[:6]]) == (["loaded"] * 6, [1, 5])
