"""The working file: sessions that load group after group, the write lock, and files of older formats."""

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
from filelock import FileLock, Timeout

from tests.unit.warehouse.given import JANUARY, MARCH, NOON, Given, column_load, sales
from warehouse.errors import OlderFormat, WarehouseError
from warehouse.ledger.ledger import ledger_of
from warehouse.ledger.window_result import WindowResult
from warehouse.load.write_session import WriteSession
from warehouse.publishing.publish import publish
from warehouse.store.database import Store
from warehouse.store.files import header_sha256, wal
from warehouse.store.lock import locked_file
from warehouse.store.meta_schema import FORMAT, SQL, write_configured

LOADED = "SELECT load_id FROM meta.loads ORDER BY load_number"


def of_customer(load_id: str, customer: str) -> WindowResult:
    return sales(load_id, (JANUARY, load_id, "1"), customer=customer)


def out_of_place(load_id: str) -> WindowResult:
    """A load with an unknown column, and a row of a month that is not its own: the store refuses it."""
    bad = column_load(load_id, "VARCHAR", "text", name="news")
    return replace(bad, months=(MARCH,))


def test_what_a_group_committed_stands_beside_the_file_until_the_session_is_over(given: Given) -> None:
    with WriteSession(given.store) as session:
        for number in range(3):
            session.load([of_customer(f"l{number}", f"M{number}")])
            assert wal(given.working).exists()
    assert not wal(given.working).exists()
    assert given.rows(LOADED) == [("l0",), ("l1",), ("l2",)]


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


def left_torn(tmp_path: Path, part: float) -> Given:
    """What a process leaves that died in its third group, with so much of that in the log."""
    given, left, lengths = Given(tmp_path / "data"), tmp_path / "left", []
    with WriteSession(given.store) as session:
        for number in range(3):
            session.load([of_customer(f"l{number}", f"M{number}")])
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
    with WriteSession(left.store) as session:
        session.load([of_customer("next", "M9")])
        shutil.copytree(left.data_dir, again)
    assert Given(again).rows(LOADED) == [("l0",), ("l1",), ("next",)]


def test_a_group_that_fails_leaves_those_before_and_after_it_and_no_column(given: Given) -> None:
    with WriteSession(given.store) as session:
        session.load([of_customer("before", "M1")])
        with pytest.raises(ValueError, match="not one of its own"):
            session.load([out_of_place("bad")])
        session.load([column_load("after", "VARCHAR", "text", name="news", customer="M2")])
    assert given.rows(LOADED) == [("before",), ("after",)]
    assert given.rows("SELECT news FROM bi.sales ORDER BY 1") == [("text",), (None,)]


def test_who_waits_gets_the_file_although_group_comes_after_group(given: Given, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as other, WriteSession(given.store) as session:
        session.load([of_customer("l0", "M0")])
        ledger = other.submit(ledger_of, Store(tmp_path, lock_seconds=10))
        number = 0
        while not ledger.done():
            number += 1
            session.load([of_customer(f"l{number}", f"M{number}")])
    assert 1 <= len(ledger.result().held) <= number + 1


def test_several_steps_can_be_taken_while_nobody_else_writes(given: Given, tmp_path: Path) -> None:
    with given.store.locked():
        given.load([sales("a", (JANUARY, "1", "1"))])
        publish(tmp_path, keep=1, now=NOON)
        with pytest.raises(WarehouseError, match="of waiting"), ThreadPoolExecutor(1) as other:
            other.submit(ledger_of, Store(tmp_path, lock_seconds=0.1)).result()


def test_a_file_that_is_not_ours_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    duckdb.connect(tmp_path / "work" / "warehouse.duckdb").close()
    with pytest.raises(WarehouseError, match="not a working file of this project"):
        ledger_of(Store(tmp_path))


def test_a_ledger_of_a_newer_format_is_refused_in_a_sentence(given: Given) -> None:
    given.change("UPDATE meta.storage SET format = 99")
    with pytest.raises(WarehouseError, match="in format 99"):
        given.ledger()


def test_a_ledger_of_an_older_format_is_to_be_replayed(given: Given) -> None:
    given.change("UPDATE meta.storage SET format = 1")
    with pytest.raises(OlderFormat, match=r"in format 1, .*; run `brokerbi replay`"):
        given.ledger()


def test_the_format_is_raised_with_the_tables_and_views_of_meta() -> None:
    files = [path for folder in ("tables", "views") for path in sorted((SQL / folder).glob("*.sql"))]
    code = "\n".join(re.sub(r"(?m)^ *--.*\n", "", path.read_text("utf-8")) for path in files)
    known = (28, "20b5d795db68a520")
    assert (FORMAT, sha256(code.encode()).hexdigest()[:16]) == known, (
        "raise FORMAT: a file that has it already would lack what changed"
    )


def test_who_waits_comes_before_who_had_the_lock_and_wants_it_again(tmp_path: Path) -> None:
    path, order = tmp_path / "lock", []

    def take(who: str) -> None:
        with locked_file(path, 5):
            order.append(who)

    with ThreadPoolExecutor(1) as other:
        with locked_file(path, 5):
            waiting = other.submit(take, "the other")
            while not is_taken(path.with_suffix(".next")):
                pass
        take("the same")
        waiting.result()
    assert order == ["the other", "the same"]


def is_taken(path: Path) -> bool:
    """Whether somebody holds a lock file at this moment."""
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
