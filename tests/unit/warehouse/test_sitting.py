"""What do groups of loads share that come one after the other? One opening of the file, and nothing else."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import polars as pl
import pytest

from tests.unit.warehouse.given import ID, JANUARY, MARCH, Given, Table, column_load, load, sales
from tests.unit.warehouse.other_process import begun
from warehouse.loads import ROW_GROUP, leaves_small_rest
from warehouse.lock import is_wanted
from warehouse.opening import wal
from warehouse.sitting import LONG_LOG
from warehouse.store import Store
from warehouse.window_result import WindowResult
from warehouse.working import WorkingFile

LOADED = "SELECT load_id FROM meta.loads ORDER BY load_number"


def of_customer(load_id: str, customer: str) -> WindowResult:
    return sales(load_id, (JANUARY, load_id, "1"), customer=customer)


def out_of_place(load_id: str) -> WindowResult:
    """A load with an unknown column, and a row of a month that is not its own: the store refuses it."""
    bad = column_load(load_id, "VARCHAR", "text", name="news")
    return replace(bad, months=(MARCH,))


def test_what_a_group_committed_stands_beside_the_file_until_the_sitting_is_over(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.session() as sitting:
        for number in range(3):
            sitting.load([of_customer(f"l{number}", f"M{number}")])
            assert wal(given.working).exists()
    assert not wal(given.working).exists()
    assert given.rows(LOADED) == [("l0",), ("l1",), ("l2",)]


def test_a_process_killed_between_two_groups_has_lost_neither_what_it_said_nor_the_file(
    tmp_path: Path,
) -> None:
    given = Given(tmp_path)
    with begun("sit", tmp_path) as process:
        said = [process.stdout.readline().strip() for _ in range(3)] if process.stdout else []
        process.kill()
    found = [load_id for (load_id,) in given.rows(LOADED)]
    assert said == ["l1", "l2", "l3"] == found[:3]
    assert given.rows("SELECT DISTINCT _load_id FROM bi.sales ORDER BY 1") == [(one,) for one in found]


def left_torn(tmp_path: Path, part: float) -> Given:
    """What a process leaves that died in its third group, with so much of that in the log."""
    given, left, lengths = Given(tmp_path / "data"), tmp_path / "left", []
    with given.store.session() as sitting:
        for number in range(3):
            sitting.load([of_customer(f"l{number}", f"M{number}")])
            lengths.append(wal(given.working).stat().st_size)
        shutil.copytree(given.data_dir, left)
    _, before, after = lengths
    os.truncate(wal(Given(left).working), before + int(part * (after - before)))
    return Given(left)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_a_log_cut_off_within_a_group_still_has_the_groups_before_it(tmp_path: Path, part: float) -> None:
    left = left_torn(tmp_path, part)
    found = left.rows("SELECT _load_id FROM bi.sales ORDER BY 1")
    assert found == left.rows(LOADED) == [("l0",), ("l1",), ("l2",)][: 2 + int(part)]


def test_what_is_committed_after_a_torn_log_is_found_as_well(tmp_path: Path) -> None:
    left, again = left_torn(tmp_path, 0.5), tmp_path / "again"
    with left.store.session() as sitting:
        sitting.load([of_customer("next", "M9")])
        shutil.copytree(left.data_dir, again)
    assert Given(again).rows(LOADED) == [("l0",), ("l1",), ("next",)]


def test_a_group_that_fails_leaves_those_before_and_after_it(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.session() as sitting:
        sitting.load([of_customer("before", "M1")])
        with pytest.raises(ValueError, match="not one of its own"):
            sitting.load([out_of_place("bad")])
        sitting.load([of_customer("after", "M2")])
    assert given.rows(LOADED) == [("before",), ("after",)]


def test_a_column_that_came_with_a_group_that_failed_is_made_again(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.session() as sitting:
        with pytest.raises(ValueError, match="not one of its own"):
            sitting.load([out_of_place("bad")])
        sitting.load([column_load("good", "VARCHAR", "text", name="news")])
    assert given.rows("SELECT news FROM bi.sales") == [("text",)]


def test_a_column_of_an_earlier_group_is_known_to_the_next(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.session() as sitting:
        sitting.load([column_load("one", "BIGINT", 5, name="news")])
        sitting.load([column_load("two", "VARCHAR", "text", name="news", customer="M2")])
    assert given.rows("SELECT news FROM bi.sales ORDER BY 1") == [("5",), ("text",)]


def test_who_waits_gets_the_file_when_the_sitting_makes_way(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with ThreadPoolExecutor(1) as other, given.store.session() as sitting:
        sitting.load([of_customer("l1", "M1")])
        ledger = other.submit(Store(tmp_path, lock_seconds=10).ledger)
        while not ledger.done():
            sitting.make_way()
        sitting.load([of_customer("l2", "M2")])
    assert [customer for _, customer, _ in ledger.result().months] == ["M1"]
    assert given.rows(LOADED) == [("l1",), ("l2",)]


def test_who_waits_gets_the_file_although_group_comes_after_group(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with ThreadPoolExecutor(1) as other, given.store.session() as sitting:
        sitting.load([of_customer("l0", "M0")])
        ledger = other.submit(Store(tmp_path, lock_seconds=10).ledger)
        number = 0
        while not ledger.done():
            number += 1
            sitting.load([of_customer(f"l{number}", f"M{number}")])
    assert 1 <= len(ledger.result().months) <= number + 1


def test_nobody_is_made_way_for_who_does_not_wait(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.session() as sitting:
        sitting.load([of_customer("l1", "M1")])
        sitting.make_way()
        assert wal(given.working).exists()


def test_a_long_log_is_brought_into_the_file_at_once(tmp_path: Path) -> None:
    given, text = Given(tmp_path), token_hex(600)
    with given.store.session() as sitting:
        sitting.load([many("long", LONG_LOG // len(text), text)])
        assert not wal(given.working).exists()
        sitting.load([of_customer("short", "M2")])
    assert given.rows(LOADED) == [("long",), ("short",)]


def many(customer: str, rows: int, text: str = "") -> WindowResult:
    """A load of so many rows, with this text in each."""
    columns = {"_row": range(rows), "id": [f"{number} {text}" for number in range(rows)]}
    frame = pl.DataFrame(columns).with_columns(_month=JANUARY)
    return load(customer, [Table("sales", (ID,), frame)], customer=customer)


@pytest.mark.parametrize("rest", [ROW_GROUP // 4, ROW_GROUP // 2 + 1])
def test_a_small_rest_is_merged_with_its_neighbours_later_and_a_large_one_is_not(
    tmp_path: Path, rest: int
) -> None:
    given = Given(tmp_path)
    for number in range(2):
        given.load([many(f"M{number}", ROW_GROUP + rest)])
    found = given.rows("SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('bi.sales')")
    assert (found == [(3,)]) == leaves_small_rest(ROW_GROUP + rest)
    assert (found == [(4,)]) != leaves_small_rest(ROW_GROUP + rest)


@pytest.mark.parametrize("rows", [0, 5, ROW_GROUP, 2 * ROW_GROUP])
def test_what_is_gathered_in_the_log_or_fills_its_row_groups_leaves_no_rest(rows: int) -> None:
    assert not leaves_small_rest(rows)


def test_a_sitting_that_never_loaded_takes_no_lock(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.session() as sitting:
        sitting.load([])
        assert not is_wanted(WorkingFile(tmp_path).lock_path)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(Store(tmp_path, lock_seconds=0.1).ledger).result().months == {}
