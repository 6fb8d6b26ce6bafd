"""Issues with files, each in one sentence that says what to do next."""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path

import duckdb
import pytest

from tests.unit.warehouse.given import NOON, Given, sales
from tests.unit.warehouse.other_process import begun
from warehouse.errors import WarehouseError, translate_errors
from warehouse.ledger.status import unwritable_paths
from warehouse.publishing.publish import publish
from warehouse.store.database import Store
from warehouse.store.lock import file_lock


def test_a_wait_for_the_file_ends_with_the_name_of_its_holder(tmp_path: Path) -> None:
    with begun("hold", tmp_path / "lock") as other:
        told = rf"\(process {other.pid}, since "
        with pytest.raises(WarehouseError, match=told), file_lock(tmp_path / "lock", 0.1):
            pass
        other.kill()
        other.wait()


def test_an_unwritable_data_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a directory")
    with pytest.raises(WarehouseError, match="BROKERBI_DATA_DIR"), Store(tmp_path / "data").writing():
        pass
    assert unwritable_paths(tmp_path / "data") == [tmp_path / "data"]


NEWER = "Trying to read a database file with version number 99, but we can only read versions"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "no room"), "earlier data is unharmed"),
        (OSError(errno.EACCES, "no", "docs"), "^docs is not writable"),
        (OSError(errno.EROFS, "Read-only file system", "x"), "^. is not writable; mount it for writing"),
        (OSError(errno.EACCES, "no", "docs/closed/file"), "^docs is not writable"),
        (duckdb.IOException(NEWER), "written by a newer DuckDB"),
        (duckdb.SerializationException("Serialization Error: Invalid value"), "damaged .*brokerbi replay"),
    ],
    ids=["full disk", "not ours", "read-only", "folder", "newer DuckDB", "damaged"],
)
def test_an_issue_of_a_file_is_reported_in_a_sentence(error: Exception, words: str) -> None:
    with pytest.raises(WarehouseError, match=words), translate_errors(Path("x")):
        raise error


def test_a_signal_during_a_statement_interrupts() -> None:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), translate_errors(Path("x")):
        duckdb.execute("SELECT sum(a * b) FROM range(300000) AS a (a), range(300000) AS b (b)").fetchall()


@pytest.mark.parametrize("length", [100, 300_000])
def test_a_damaged_working_file_is_reported(given: Given, length: int) -> None:
    given.working.write_bytes(given.working.read_bytes()[:length])
    with pytest.raises(WarehouseError, match="brokerbi replay"):
        given.load([sales("a")])


def test_a_working_file_open_elsewhere_is_reported_with_the_process(given: Given) -> None:
    with begun("read", given.working) as other:
        with pytest.raises(WarehouseError, match=f"open in process {other.pid}"):
            given.load([sales("a")])
        other.kill()


def test_a_folder_that_cannot_be_written_to_leaves_the_old_file(given: Given, tmp_path: Path) -> None:
    (tmp_path / "published").write_text("in the way")
    assert not publish(given.data_dir, keep=1, now=NOON).has_new_file
    assert not (tmp_path / "warehouse.duckdb").exists()
    [(status, reason)] = given.rows("SELECT status, reasons[1] FROM meta.publications")
    assert (status, "is not writable" in reason) == ("failed", True)
