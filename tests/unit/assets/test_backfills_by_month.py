"""Backfills of fewer months than customers, which Dagster cuts by month."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assets.partitions import partition_key
from pipelines.months import Month
from tests.unit.assets.daemon import daemon
from tests.unit.assets.harness import CUSTOMERS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Dagster warns of itself

REPORTS = ("sales", "commission_user")
MONTHS = (Month(2026, 10), Month(2026, 11))


def test_one_run_asks_for_the_months_of_all_where_a_request_covers_several(tmp_path: Path) -> None:
    with daemon(tmp_path, reports=",".join(REPORTS)) as made:
        keys = [partition_key(customer, month) for customer in CUSTOMERS for month in MONTHS]
        assert made.backfill(REPORTS, keys) == "COMPLETED_SUCCESS"
        asked = Counter(entry.path.split("/")[2] for entry in made.harness.service.log.entries)
        assert (len(made.runs()), asked) == (2, {"GetSalesReport": 3, "CommissionUserReport": 6})
        for report in REPORTS:
            assert made.harness.partitions(report) == {f"{customer} green": 2 for customer in CUSTOMERS}
