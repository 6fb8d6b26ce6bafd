"""Publishing: analysts always have a complete file without private rows, and it can be rolled back."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import duckdb
import pytest

from tests.unit.warehouse.given import JANUARY, NOON, Given, Rejected, sales, users
from tests.unit.warehouse.other_process import begun
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Kind
from warehouse.ledger.status import CHANGED, DAMAGED, GONE, UNRECORDED, overview
from warehouse.publishing.publish import Publication, publish, rollback
from warehouse.store.lock import work_lock
from warehouse.store.versions import Versions

SECRET = "Someone Nobody Should See"
COUNTED = 'SELECT report, customer, month, reason, "rows" FROM meta.quarantine'


def seen(path: Path, query: str = "SELECT id FROM bi.sales ORDER BY ALL") -> list[tuple[Any, ...]]:
    """The rows that an analyst sees in a file."""
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(query).fetchall()


def published(given: Given, number: int, **other: Any) -> Publication:
    """Load a sale with this number as its id, and publish."""
    given.load([sales(f"l{number}", (JANUARY, str(number), "1"))])
    return publish(given.data_dir, keep=3, now=NOON + timedelta(days=number), **other)


def test_analysts_see_what_is_loaded_and_which_publication_it_is(tmp_path: Path) -> None:
    made = published(Given(tmp_path), 1)
    assert (made.version, made.path, made.loads) == ("20240402T120000Z", tmp_path / "warehouse.duckdb", 1)
    assert seen(made.path) == [("1",)]
    assert seen(made.path, "SELECT name, status FROM meta.publications") == [
        ("20240402T120000Z", "published")
    ]


def test_a_reader_keeps_the_file_it_has_open(given: Given) -> None:
    path = published(given, 1).path
    with duckdb.connect(path, read_only=True) as connection:
        published(given, 2)
        assert connection.execute("SELECT id FROM bi.sales").fetchall() == [("1",)]
    assert seen(path) == [("2",)]


def test_a_file_that_an_analyst_has_open_for_writing_is_replaced_all_the_same(given: Given) -> None:
    path = published(given, 1).path
    with begun("write", path) as other:
        published(given, 2)
        assert (seen(path), overview(given.store).published_file) == ([("2",)], "")
        other.kill()
    assert seen(path) == [("2",)]


def test_a_log_left_by_an_analyst_is_never_replayed_into_a_new_file(given: Given) -> None:
    path = published(given, 1).path
    begun("scribble", path).communicate()
    assert path.with_name("warehouse.duckdb.wal").exists()
    published(given, 2)
    assert seen(path) == [("2",)]


def test_rows_only_in_the_log_of_the_working_file_are_published_too(given: Given, tmp_path: Path) -> None:
    begun("scribble", given.working).communicate()
    assert given.working.with_name("warehouse.duckdb.wal").exists()
    assert seen(publish(tmp_path, keep=3, now=NOON).path) == [("scribbled",)]


def test_analysts_see_number_and_reasons_of_rows_in_quarantine_but_no_value(given: Given) -> None:
    given.load([sales("a", rejected=[Rejected(SECRET, JANUARY), Rejected(token_hex(), JANUARY)])])
    leave_traces(given)
    assert SECRET.encode() in given.working.read_bytes()
    inodes = [given.working.stat().st_ino]
    for _ in range(2):
        made = publish(given.data_dir, keep=3, now=NOON)
        assert seen(made.path, COUNTED) == [("sales", "M1", JANUARY, "price is no number", 2)]
        assert [SECRET.encode() in path.read_bytes() for path in (made.path, given.working)] == [False] * 2
        assert given.rows("SELECT has_traces FROM meta.storage") == [(False,)]
        inodes.append(given.working.stat().st_ino)
    assert inodes[0] != inodes[1] == inodes[2]  # it is rewritten once, and copied from then on


def leave_traces(given: Given) -> None:
    """Delete a row whose bytes stay in the free space of the working file."""
    given.change(f"INSERT INTO meta.quarantine_rows BY NAME SELECT 'b' AS load_id, '{SECRET}' AS reason")
    given.change("DELETE FROM meta.quarantine_rows WHERE load_id = 'b'")
    given.change("UPDATE meta.storage SET has_traces = true")


def test_the_newest_versions_are_kept(given: Given, tmp_path: Path) -> None:
    for number in range(1, 6):
        published(given, number)
    kept = sorted(path.name[10:18] for path in (tmp_path / "published").glob("*.duckdb"))
    assert kept == ["20240404", "20240405", "20240406"]


def scribble(path: Path) -> None:
    begun("scribble", path).communicate()


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("harm", "found"),
    [(Path.unlink, GONE), (scribble, CHANGED), (cut_short, CHANGED)],
    ids=["gone", "written to by a process that died", "cut short"],
)
def test_a_published_file_that_is_not_as_it_was_published_is_a_condition(
    given: Given, harm: Callable[[Path], None], found: str
) -> None:
    path = published(given, 1).path
    assert overview(given.store).published_file == ""
    harm(path)
    assert overview(given.store).published_file == found
    assert seen(published(given, 2).path) == [("2",)]
    assert overview(given.store).published_file == ""
    given.change("DELETE FROM meta.publications")
    assert overview(given.store).published_file == UNRECORDED


@pytest.mark.parametrize(("is_working", "found"), [(True, ""), (False, CHANGED)])
def test_a_version_not_yet_recorded_is_no_issue_while_a_publication_is_under_way(
    given: Given, monkeypatch: pytest.MonkeyPatch, is_working: bool, found: str
) -> None:
    published(given, 1)
    looks: list[str] = []
    monkeypatch.setattr(Versions, "prune", lambda *_: looks.append(overview(given.store).published_file))
    with work_lock(given.data_dir, "publish", on_wait=print) if is_working else nullcontext():
        published(given, 2)
    assert [*looks, overview(given.store).published_file] == [found, ""]


def test_an_older_version_is_a_condition_until_the_latest_is_restored(given: Given, tmp_path: Path) -> None:
    first, second, told = published(given, 1), published(given, 2), []
    for number, version in enumerate((first.version, second.version, first.version)):
        rollback(tmp_path, to=version, now=NOON + timedelta(days=3 + number))
        view = overview(given.store)
        told += [one.cause for one in view.conditions if one.kind == Kind.ROLLED_BACK] + [view.published_file]
    published(given, 9)
    assert told == [first.version, "", "", first.version, ""]
    assert [one for one in overview(given.store).conditions if one.kind == Kind.ROLLED_BACK] == []


def test_rollback_restores_the_previous_versions_one_by_one(given: Given, tmp_path: Path) -> None:
    for number in range(1, 4):
        published(given, number)
    path = tmp_path / "warehouse.duckdb"
    assert [seen(rollback(tmp_path, now=NOON).path) for _ in range(2)] == [[("2",)], [("1",)]]
    with pytest.raises(WarehouseError, match=r"No earlier version is kept in \S+/published\. Other"):
        rollback(tmp_path, now=NOON)
    assert seen(path) == [("1",)]
    assert seen(publish(tmp_path, keep=3, now=NOON).path) == [("3",)]


def damage(path: Path) -> None:
    """Change one byte in the middle of a file, and nothing else."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def test_rollback_skips_a_damaged_version_and_offers_only_others(given: Given, tmp_path: Path) -> None:
    for number in range(1, 4):
        path = published(given, number).path
        if number == 2:
            damage(path)
    with pytest.raises(WarehouseError, match=r"version 19990101T000000Z .* there: 20240402T120000Z\."):
        rollback(tmp_path, to="19990101T000000Z", now=NOON)
    restored = rollback(tmp_path, now=NOON)
    assert seen(restored.path) == [("1",)]
    assert restored.reasons == ("version 20240403T120000Z is damaged, so it was skipped",)
    with pytest.raises(WarehouseError, match=r"except damaged ones: 20240403T120000Z\. "):
        rollback(tmp_path, to="20240403T120000Z", now=NOON)


def test_damage_is_found_once_the_latest_check_is_too_old(given: Given) -> None:
    damage(published(given, 1).path)
    now = datetime.now(UTC)
    moments = (None, now - timedelta(days=1), now + timedelta(seconds=1))
    found = [overview(given.store, unless_checked_since=moment).published_file for moment in moments]
    assert found == ["", "", DAMAGED]


def test_a_version_is_later_than_the_one_before_even_if_the_clock_was_ahead(given: Given) -> None:
    moments = [NOON, NOON, NOON - timedelta(days=1)]
    versions = [publish(given.data_dir, keep=3, now=now).version for now in moments]
    assert versions == ["20240401T120000Z", "20240401T120001Z", "20240401T120002Z"]
    assert overview(given.store).published_file == ""


def test_the_published_file_is_for_owner_and_group_and_the_rest_for_the_owner(tmp_path: Path) -> None:
    path = published(Given(tmp_path), 1).path
    modes = [stat.filemode(one.stat().st_mode) for one in (path, tmp_path / "published", tmp_path / "work")]
    assert modes == ["-rw-r-----", "drwxr-x---", "drwx------"]


def test_files_have_a_storage_version_that_every_1_x_tool_can_read(given: Given) -> None:
    given.load([users("a", {"1": "Ann"})])
    path = published(given, 1).path
    assert seen(path, "SELECT name FROM bi.users_as_of(TIMESTAMP '2030-01-01')") == [("Ann",)]
    query = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()"
    assert seen(path, query) == given.rows(query) == [("v1.0.0+",)]


def test_a_checkpoint_writes_metadata_again_as_older_clients_need_it(given: Given) -> None:
    assert given.rows("SELECT current_setting('experimental_metadata_reuse')") == [(False,)]


def test_the_leftovers_of_a_killed_process_are_removed(given: Given) -> None:
    published(given, 1)
    (given.data_dir / "work/warehouse.duckdb.tmp").mkdir()
    for left in (
        "published/.unfinished.duckdb",
        ".warehouse.duckdb.new",
        "work/.rewritten.duckdb",
        "work/warehouse.duckdb.tmp/spilled.tmp",
    ):
        (given.data_dir / left).write_bytes(b"half")
    published(given, 2)
    found = {path.name for path in given.data_dir.rglob("*")}
    assert not {name for name in found if name.startswith(".") or name == "spilled.tmp"}
