"""Is it written down why a file was not published?"""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.planning.selection import Selection
from tests.scenarios.rehearsal import Rehearsal, rehearsal
from warehouse.database import Store
from warehouse.marts import MartError
from warehouse.status import overview

SALES = Selection(reports=("sales",), customers=("M30016",))


@pytest.fixture
def world(tmp_path: Path) -> Rehearsal:
    world = rehearsal(tmp_path)
    assert world.sync(SALES).is_well
    assert world.publish().publication.published
    return world


def change(world: Rehearsal, statement: str) -> None:
    with Store(world.settings.data_dir).writing() as connection:
        connection.execute(statement)


def standing(world: Rehearsal) -> tuple[str, tuple[str, ...]]:
    """The last publication, as `status` tells it."""
    last = overview(Store(world.settings.data_dir)).publications[0]
    return last.status, last.reasons


def test_an_error_that_a_check_found_is_the_reason(world: Rehearsal) -> None:
    change(world, "UPDATE bi.sales_estates SET final_price = -1")
    assert not world.publish().publication.published
    status, [reason] = standing(world)
    assert (status, reason.partition(":")[0]) == ("refused", "totals_are_not_negative")


def test_a_mart_that_cannot_be_built_is_the_reason_and_the_old_file_stays(world: Rehearsal) -> None:
    before = (world.settings.data_dir / "warehouse.duckdb").read_bytes()
    change(world, "ALTER TABLE bi.sales_estates DROP COLUMN final_price")
    with pytest.raises(MartError):
        world.publish()
    status, [reason] = standing(world)
    assert status == "refused"
    assert "final_price" in reason
    assert (world.settings.data_dir / "warehouse.duckdb").read_bytes() == before
