"""Tests of the partitions of the monthly reports."""

from __future__ import annotations

from pathlib import Path

from assets.partitions import customer_months, customers_in_order, parse_partition_key, partition_key
from pipelines.months import Month
from tests.unit.assets.harness import settings


def keys(directory: Path, **values: str) -> list[str]:
    made = settings(directory, **values)
    return list(customer_months(made, customers_in_order(made)).get_partition_keys())


def test_there_is_a_partition_for_each_customer_and_month_up_to_today(tmp_path: Path) -> None:
    found = keys(tmp_path, customers="c01,c02", start="2025-12", today="2026-02-11")
    assert found == [
        f"{customer}|{month}" for customer in ("c01", "c02") for month in ("2025-12", "2026-01", "2026-02")
    ]


def test_a_rehearsed_day_may_be_ahead_of_the_calendar(tmp_path: Path) -> None:
    assert keys(tmp_path, customers="c01", start="2025-12", today="2071-03-01")[-1] == "c01|2071-03"


def test_customers_that_are_inactive_or_gone_come_after_those_that_are_asked(tmp_path: Path) -> None:
    made = settings(tmp_path, customers='[{"id": "c01"}, {"id": "c02", "active": false}, {"id": "c03"}]')
    assert customers_in_order(made, ["c09", "c01"]) == ["c01", "c03", "c02", "c09"]


def test_a_key_leads_back_to_customer_and_month() -> None:
    assert parse_partition_key(partition_key("G2", Month(2026, 3))) == ("G2", Month(2026, 3))
