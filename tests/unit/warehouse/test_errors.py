"""Is every trouble with files told in one sentence that says what to do next?"""

from __future__ import annotations

import errno
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from tests.unit.warehouse.given import JANUARY, NOON, Given, Rejected, sales
from tests.unit.warehouse.other_process import begun
from warehouse.errors import Damaged, DiskFull, LockTimeout, NotWritable, OpenedElsewhere, WrongStorage
from warehouse.explaining import explained
from warehouse.lock import held, is_wanted
from warehouse.meta_tables import QUARANTINE_ROWS
from warehouse.publish import publish
from warehouse.store import Store


def test_a_lock_that_is_never_let_go_names_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with begun("hold", path) as other:
        with (
            pytest.raises(LockTimeout, match=f"written by process {other.pid}, and 0.1 seconds"),
            held(path, 0.1),
        ):
            pass
        other.kill()
        other.wait()
    with held(path, 5):
        pass


def test_threads_of_one_process_wait_for_each_other(tmp_path: Path) -> None:
    path, order = tmp_path / "lock", []

    def take() -> None:
        with held(path, 5):
            order.append("second")

    with held(path, 5), held(path, 5):
        thread = threading.Thread(target=take)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_who_waits_comes_before_who_had_the_lock_and_wants_it_again(tmp_path: Path) -> None:
    path, order = tmp_path / "lock", []

    def take(who: str) -> None:
        with held(path, 5):
            order.append(who)

    with ThreadPoolExecutor(1) as other:
        with held(path, 5):
            waiting = other.submit(take, "the other")
            while not is_wanted(path):
                pass
        take("the same")
        waiting.result()
    assert order == ["the other", "the same"]
    assert not is_wanted(path)


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "1"), customer="M0")])
    told, trouble = begun("fill", tmp_path, given.working.stat().st_size).communicate()
    assert "There is no room left on the disk" in told, trouble
    counts = "SELECT (SELECT count(*) FROM bi.sales AS one WHERE one._load_id = held.load_id) = rows"
    assert given.rows("SELECT id FROM bi.sales WHERE _customer = 'M0'") == [("1",)]
    assert set(given.rows(f"{counts} FROM meta.months AS held")) == {(True,)}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_no_room_is_told_whoever_says_it(code: int) -> None:
    with pytest.raises(DiskFull, match="what was there before is unharmed"), explained(Path("x")):
        raise OSError(code, "no room")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_what_cannot_be_written_is_named(code: int) -> None:
    with pytest.raises(NotWritable, match="/data/work cannot be written by this user"), explained(Path("x")):
        raise OSError(code, "no", "/data/work")


def test_an_unwritable_data_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a directory")
    with pytest.raises(NotWritable, match="BROKERBI_DATA_DIR"):
        Store(tmp_path / "data").ledger()


def test_a_file_of_a_newer_duckdb_is_told(tmp_path: Path) -> None:
    words = "Trying to read a database file with version number 99, but we can only read versions"
    with (
        pytest.raises(WrongStorage, match="written by a newer DuckDB"),
        explained(tmp_path / "warehouse.duckdb"),
    ):
        raise duckdb.IOException(words)


@pytest.mark.parametrize("length", [100, 5_000, 300_000])
def test_a_damaged_working_file_is_told(tmp_path: Path, length: int) -> None:
    given = Given(tmp_path)
    given.working.write_bytes(given.working.read_bytes()[:length])
    with pytest.raises(Damaged, match="brokerbi replay"):
        given.load([sales("a")])


def test_a_file_that_is_not_ours_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    duckdb.connect(tmp_path / "work" / "warehouse.duckdb").close()
    with pytest.raises(WrongStorage, match="not a working file of this project"):
        Store(tmp_path).ledger()


def test_a_ledger_of_another_format_is_told(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.change("UPDATE meta.storage SET format = 99")
    with pytest.raises(WrongStorage, match="in format 99"):
        given.store.ledger()


def test_a_working_file_of_an_older_format_gets_what_it_lacks_and_keeps_what_it_holds(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a")])
    held_before = given.store.ledger()
    given.change("DROP TABLE meta.changes; ALTER TABLE meta.access DROP COLUMN denied_at_utc")
    given.change("UPDATE meta.storage SET format = 1")
    assert given.store.ledger() == held_before
    assert given.rows("SELECT count(denied_at_utc) FROM meta.access") == [(0,)]


def test_rows_in_quarantine_of_an_older_format_are_known_by_what_came(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", rejected=[Rejected("{}", JANUARY)])])
    known = given.rows("FROM meta.quarantine_rows")
    given.change("ALTER TABLE meta.quarantine_rows RENAME COLUMN fingerprint TO raw")
    given.change("UPDATE meta.quarantine_rows SET raw = '{}'; UPDATE meta.storage SET format = 2")
    columns = ", ".join(QUARANTINE_ROWS.columns)
    assert given.rows(f"SELECT {columns} FROM meta.quarantine_rows") == known


def test_a_working_file_that_somebody_else_has_open_names_the_process(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with begun("read", given.working) as other:
        with pytest.raises(OpenedElsewhere, match=f"open in process {other.pid}"):
            given.load([sales("a")])
        other.kill()


def test_a_place_that_cannot_be_published_to_leaves_the_old_file(tmp_path: Path) -> None:
    given = Given(tmp_path)
    (tmp_path / "published").write_text("in the way")
    with pytest.raises(NotWritable):
        publish(given.data_dir, keep=1, now=NOON)
    assert not (tmp_path / "warehouse.duckdb").exists()


def test_an_error_that_is_not_about_files_is_left_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(duckdb.CatalogException), Given(tmp_path).store.reading() as connection:
        connection.execute("FROM nowhere")


def test_several_steps_can_be_taken_while_nobody_else_writes(tmp_path: Path) -> None:
    given = Given(tmp_path)
    with given.store.alone():
        given.load([sales("a", (JANUARY, "1", "1"))])
        publish(tmp_path, keep=1, now=NOON)
        with pytest.raises(LockTimeout), ThreadPoolExecutor(1) as other:
            other.submit(Store(tmp_path, lock_seconds=0.1).ledger).result()


def test_a_lock_whose_holder_left_no_name_is_told_too(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, 1):
        path.write_text("")
        with pytest.raises(LockTimeout, match="an unknown process"), ThreadPoolExecutor(1) as other:
            other.submit(held(path, 0.1).__enter__).result()
