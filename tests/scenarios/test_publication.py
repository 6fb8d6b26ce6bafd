"""Publications that are refused: the reason is kept, and analysts keep their file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.scenario import Scenario, scenario
from warehouse.database import Store
from warehouse.marts import MartError
from warehouse.status import overview


@pytest.fixture
def here(tmp_path: Path) -> Scenario:
    here = scenario(tmp_path, ("sales",), offices=1)
    assert here.sync().is_well
    assert here.publish().publication.published
    return here


def last_publication(here: Scenario) -> tuple[str, str]:
    """Status and reason as `status` shows them."""
    last = overview(Store(here.data_dir)).publications[0]
    [reason] = last.reasons
    return last.status, reason


def test_an_error_that_a_check_found_is_the_reason(here: Scenario) -> None:
    here.execute("UPDATE bi.sales_estates SET final_price = -1")
    assert not here.publish().publication.published
    status, reason = last_publication(here)
    assert (status, reason.partition(":")[0]) == ("refused", "totals_are_not_negative")


def test_a_mart_that_cannot_be_built_is_the_reason_and_the_old_file_stays(here: Scenario) -> None:
    before = (here.data_dir / "warehouse.duckdb").read_bytes()
    here.execute("ALTER TABLE bi.sales_estates DROP COLUMN final_price")
    with pytest.raises(MartError):
        here.publish()
    status, reason = last_publication(here)
    assert (status, "final_price" in reason) == ("refused", True)
    assert (here.data_dir / "warehouse.duckdb").read_bytes() == before
