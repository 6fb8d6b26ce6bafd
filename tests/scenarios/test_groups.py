"""Is an office counted once when its group and the office itself are both configured?"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pipelines.months import Month
from tests.scenarios.rehearsal import TODAY, Rehearsal, rehearsal
from tests.truth import truth
from warehouse.database import Store
from warehouse.status import Overlap, overview

REPORTS = "commission_office,commission_user,sales,running_commissions,tips_and_leads,users"
START = Month(2026, 9)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """A group, and one of its offices beside it."""
    world = of(tmp_path_factory.mktemp("both"), "G1,M30011")
    assert world.sync().is_well
    assert world.publish().errors == []
    return world


def of(directory: Path, customers: str) -> Rehearsal:
    return rehearsal(directory, start=START, BROKERBI_CUSTOMERS=customers, BROKERBI_REPORTS=REPORTS)


def test_every_measure_of_every_office_is_what_the_group_alone_would_have_told(
    both: Rehearsal, tmp_path: Path
) -> None:
    alone = of(tmp_path, "G1")
    alone.sync()
    alone.publish()
    measures = "SELECT * EXCLUDE (_customer, _load_id) FROM marts.office_month ORDER BY month, office_id"
    assert both.rows(measures) == alone.rows(measures)
    users = "SELECT month, user_id, commission, sold_estate_parts FROM marts.user_month ORDER BY ALL"
    assert both.rows(users) == alone.rows(users)


def test_the_total_of_the_chain_is_the_true_one(both: Rehearsal) -> None:
    shares = truth(both.service.world, "G1", date(2026, 9, 1), TODAY)["shares"]
    earned = sum(row["commission"] for row in shares)
    assert both.value("SELECT sum(commission) FROM marts.office_month") == earned


def test_who_overlaps_with_whom_is_told(both: Rehearsal) -> None:
    found = overview(Store(both.settings.data_dir)).overlaps
    assert list(found) == [Overlap("G1", "M30011", "M30011", is_contained=True)]
    assert both.rows("SELECT customer FROM meta.problems WHERE kind = 'overlap'") == [("M30011",)]
