"""The working file: groups of loads, the file lock, and files of older formats."""

from __future__ import annotations

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import duckdb
import pytest

from tests.unit.warehouse.given import JANUARY, MARCH, Given, column_load, sales
from warehouse.errors import ReplayNeeded, WarehouseError
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.window_result import WindowResult
from warehouse.store.database import Store
from warehouse.store.files import header_sha256, wal
from warehouse.store.lock import file_lock, is_locked
from warehouse.store.meta_schema import FORMAT, SQL, write_configured

LOADED = "SELECT load_id FROM meta.loads ORDER BY load_number"


def of_customer(load_id: str, customer: str) -> WindowResult:
    return sales(load_id, (JANUARY, load_id, "1"), customer=customer)


def out_of_place(load_id: str) -> WindowResult:
    """A load with an unknown column and a row of another month, which the store refuses."""
    bad = column_load(load_id, "VARCHAR", "text", name="news")
    return replace(bad, months=(MARCH,))


def test_customers_and_reports_are_written_only_when_they_differ(given: Given) -> None:
    given.load([sales("a", customer="M9")])
    versions = []
    for name in ("North", "North", "South"):
        given.write(write_configured, "customers", [{"customer": "M1", "name": name, "is_active": True}])
        given.write(write_configured, "reports", [{"report": "leads", "subject": name, "is_on": True}])
        versions.append(header_sha256(given.working))
    assert versions[0] == versions[1] != versions[2]
    assert given.rows("SELECT customer, name, is_active FROM meta.customers ORDER BY ALL") == [
        ("M1", "South", True),
        ("M9", None, False),
    ]


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_a_log_cut_off_within_a_group_still_has_the_groups_before_it(tmp_path: Path, part: float) -> None:
    given, left, lengths = Given(tmp_path / "data"), Given(tmp_path / "left"), []
    with given.store.opened() as connection:
        for number in range(3):
            connection.begin()
            connection.execute("INSERT INTO bi.sales (id) VALUES ($1)", [str(number)])
            connection.commit()
            lengths.append(wal(given.working).stat().st_size)
        shutil.copytree(given.data_dir, left.data_dir, dirs_exist_ok=True)
    _, before, after = lengths
    os.truncate(wal(left.working), before + int(part * (after - before)))
    left.load([of_customer("next", "M9")])
    assert (
        left.rows("SELECT id FROM bi.sales WHERE _load_id IS NULL ORDER BY 1")
        == [("0",), ("1",), ("2",)][: 2 + int(part)]
    )
    assert left.rows(LOADED) == [("next",)]


def test_a_failed_group_adds_no_column_and_does_not_affect_other_groups(given: Given) -> None:
    given.load([of_customer("before", "M1")])
    with pytest.raises(ValueError, match="which is not its month"):
        given.load([out_of_place("bad")])
    given.load([column_load("after", "VARCHAR", "text", name="news", customer="M2")])
    assert given.rows(LOADED) == [("before",), ("after",)]
    assert given.rows("SELECT news FROM bi.sales ORDER BY 1") == [("text",), (None,)]


def test_a_file_of_another_program_is_reported(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    duckdb.connect(tmp_path / "work" / "warehouse.duckdb").close()
    with pytest.raises(WarehouseError, match="not a working file of this project"):
        ledger_of(Store(tmp_path))


def test_a_ledger_of_a_newer_format_is_rejected_in_a_sentence(given: Given) -> None:
    given.change("UPDATE meta.storage SET format = 99")
    with pytest.raises(WarehouseError, match="has format 99"):
        given.ledger()


def test_a_ledger_of_an_older_format_must_be_replayed(given: Given) -> None:
    given.change("UPDATE meta.storage SET format = 1")
    with pytest.raises(ReplayNeeded, match=r"has format 1, .*; run `brokerbi replay`"):
        given.ledger()


def test_a_lost_working_file_must_be_replayed(tmp_path: Path) -> None:
    (tmp_path / "landing" / "sales").mkdir(parents=True)
    with pytest.raises(ReplayNeeded, match=r"is gone; `brokerbi replay`"), Store(tmp_path).opened():
        pass


def test_the_format_is_raised_with_the_tables_and_views_of_meta() -> None:
    files = [path for folder in ("tables", "views") for path in sorted((SQL / folder).glob("*.sql"))]
    code = "\n".join(re.sub(r"(?m)^ *--.*\n", "", path.read_text("utf-8")) for path in files)
    known = (35, "491b83fb22a51f70")
    assert (FORMAT, sha256(code.encode()).hexdigest()[:16]) == known, (
        "raise FORMAT: a file that has it already would lack what changed"
    )


def test_a_waiting_command_gets_the_lock_before_one_that_had_it(tmp_path: Path) -> None:
    path, order = tmp_path / "lock", []

    def take(who: str) -> None:
        with file_lock(path, 5):
            order.append(who)

    with ThreadPoolExecutor(1) as other:
        with file_lock(path, 5):
            waiting = other.submit(take, "the other")
            while not is_locked(path.with_suffix(".next")):
                pass
        take("the same")
        waiting.result()
    assert order == ["the other", "the same"]
