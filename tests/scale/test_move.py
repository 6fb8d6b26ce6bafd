"""Moving a customer between shards: the merge stays the same, whatever is killed on the way."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import pytest

from pipelines.shards.move import Moved, move
from tests.scenarios.scenario import NOON, Scenario, content, scenario
from warehouse.errors import WarehouseError
from warehouse.load.customer_move import KNOWN, MARTS_REMEMBER, REPLAYED
from warehouse.publishing.merge import ALL_ROWS, REMEMBERED, merge
from warehouse.store.database import Store

REPORTS = ("users", "commission_user", "sales", "tips_and_leads")
STEPS = ("customer_ledger_copied", "version_shown", "customer_removed", "version_shown")
"""In this order: what is said again goes on from there, so the second version shown is the old shard's."""


@cache
def published() -> tuple[Scenario, Scenario]:
    """Two shards of one world: two offices, of which one will move, and one."""
    folder = Path(mkdtemp())
    whole = scenario(folder / "none", REPORTS, offices=3)
    ids = [one.id for one in whole.settings.customers]
    made = []
    for name, mine in (("north", ids[:2]), ("south", ids[2:])):
        chosen = tuple(one for one in whole.settings.customers if one.id in mine)
        here = whole.with_settings(data_dir=folder / name, customers=chosen)
        assert here.sync().complaints() == []
        assert here.publish().publication.published
        made.append(here)
    return made[0], made[1]


@pytest.fixture
def shards(tmp_path: Path) -> tuple[Scenario, Scenario]:
    """The two, and the settings they are to have: the last customer of north is in south."""
    north, south = published()
    moving = north.settings.customers[-1]
    return (
        north.copied_to(tmp_path / "north").with_settings(customers=north.settings.customers[:-1]),
        south.copied_to(tmp_path / "south").with_settings(customers=(*south.settings.customers, moving)),
    )


def moving() -> str:
    return published()[0].settings.customers[-1].id


def moved(shards: tuple[Scenario, Scenario]) -> Moved:
    north, south = shards
    return move(north.settings, south.settings, moving(), clock=north.clock)


def merged(shards: tuple[Scenario, Scenario], folder: Path) -> dict[str, object]:
    """What a merge of both holds of bi, and what it remembers."""
    north, south = shards
    merge(folder, {"north": north.data_dir, "south": south.data_dir}, now=NOON)
    with Store(folder).reading() as file:
        remembered: dict[str, object] = {
            table: sorted(file.execute(f"SELECT {columns} FROM meta.{table}").fetchall(), key=str)
            for table, columns in (
                ("month_totals", "report, office_id, month, version, row_count, commission, noted_at_utc"),
                ("sale_versions", "* EXCLUDE (load_id)"),
                ("user_month_versions", "*"),
                ("lead_states", "*"),
                ("loads", "load_id, status, fetched_at_utc, rows"),
            )
        }
        return {str(one): cell for one, cell in content(file).items()} | remembered


def merged_or_refused(shards: tuple[Scenario, Scenario], folder: Path) -> object:
    try:
        return merged(shards, folder)
    except WarehouseError as error:
        return str(error)


@cache
def before() -> dict[str, object]:
    return merged(published(), Path(mkdtemp()) / "all")


def test_after_a_move_a_merge_is_as_before_and_nothing_of_the_customer_is_left_in_its_old_shard(
    tmp_path: Path, shards: tuple[Scenario, Scenario]
) -> None:
    assert moved(shards).rows > 0
    assert merged(shards, tmp_path / "all") == before()
    north, south = shards
    assert [path for path in north.landing_files if moving() in path.parts] == []
    assert {customer for _, customer, _ in north.cells()} == {north.settings.customers[0].id}
    assert moving() in {customer for _, customer, _ in south.cells()}
    with duckdb.connect(north.data_dir / "warehouse.duckdb", read_only=True) as file:
        assert file.execute("SELECT count(*) FROM marts.restatements").fetchall() == [(0,)]


class Killed(BaseException):
    """What no code catches."""


@pytest.fixture(scope="module")
def deadly() -> set[str]:
    """Events at which the process is as good as killed."""
    events: set[str] = set()

    def listen(event: str, arguments: object) -> None:
        del arguments
        if event in events:
            raise Killed(event)

    sys.addaudithook(listen)
    return events


def test_killed_anywhere_and_said_again_it_is_done_and_no_merge_has_the_customer_twice(
    tmp_path: Path, shards: tuple[Scenario, Scenario], deadly: set[str]
) -> None:
    for number, step in enumerate(STEPS):
        deadly.add(f"brokerbi.{step}")
        try:
            with pytest.raises(Killed):
                moved(shards)
        finally:
            deadly.clear()
        found = merged_or_refused(shards, tmp_path / str(number))
        assert found == before() or f"{moving()} is in north and in south" in str(found)
    moved(shards)
    assert merged(shards, tmp_path / "all") == before()


def test_a_stored_answer_that_cannot_be_read_keeps_the_customer_where_it_is(
    shards: tuple[Scenario, Scenario],
) -> None:
    north, _ = shards
    cells = north.cells()
    next(path for path in north.landing_files if moving() in path.parts).write_bytes(b"spoiled")
    with pytest.raises(WarehouseError, match=f"{moving()} stays where it is"):
        moved(shards)
    assert north.cells() == cells


def test_rows_that_are_not_what_was_answered_keep_the_customer_where_it_is(
    shards: tuple[Scenario, Scenario],
) -> None:
    north, _ = shards
    north.execute("UPDATE bi.sales_estates SET final_price = final_price + 1 WHERE _customer = $1", moving())
    with pytest.raises(WarehouseError, match="other rows than before are in sales_estates"):
        moved(shards)


def test_a_shard_that_its_last_customer_left_is_not_published_and_no_part_of_the_merge(
    tmp_path: Path, shards: tuple[Scenario, Scenario]
) -> None:
    north, south = shards
    moved(shards)
    [last] = north.settings.customers
    everybody = south.with_settings(customers=(*south.settings.customers, last))
    for again in (False, True):
        done = move(north.settings, everybody.settings, last.id, clock=north.clock)
        assert (done.has_emptied, done.rows > 0) == (True, not again)
    merge(tmp_path / "all", {"south": south.data_dir}, now=NOON)
    with Store(tmp_path / "all").reading() as file:
        assert {str(one): cell for one, cell in content(file).items()}.items() <= before().items()


def test_every_table_about_a_customer_is_moved() -> None:
    about_a_customer = {*ALL_ROWS, *REMEMBERED} - {"column_changes"}
    assert {*REPLAYED, *KNOWN, *MARTS_REMEMBER} == about_a_customer


def test_a_customer_that_neither_holds_is_a_sentence(shards: tuple[Scenario, Scenario]) -> None:
    north, south = shards
    with pytest.raises(WarehouseError, match="holds anything of M0"):
        move(north.settings, south.settings, "M0", clock=north.clock)
