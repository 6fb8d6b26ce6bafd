"""Are the squares those of the settings, whoever comes and goes?"""

from __future__ import annotations

from pathlib import Path

from assets.partitions import customer_months, customers_in_order, key_of, square_of
from pipelines.months import Month
from tests.unit.assets.rehearsal import settings

RESTING = '[{"id": "c01"}, {"id": "c02", "active": false}, {"id": "c03"}]'


def keys(directory: Path, *, former: tuple[str, ...] = (), **values: str) -> list[str]:
    made = settings(directory, **values)
    return list(customer_months(made, customers_in_order(made, former)).get_partition_keys())


def test_there_is_a_square_for_each_customer_and_month_up_to_today(tmp_path: Path) -> None:
    found = keys(tmp_path, customers="c01,c02", start="2025-12", today="2026-02-11")
    assert found == [
        f"{customer}|{month}" for customer in ("c01", "c02") for month in ("2025-12", "2026-01", "2026-02")
    ]


def test_a_rehearsal_may_be_ahead_of_the_calendar(tmp_path: Path) -> None:
    assert keys(tmp_path, customers="c01", start="2025-12", today="2071-03-01")[-1] == "c01|2071-03"


def test_a_new_customer_takes_nothing_from_the_others(tmp_path: Path) -> None:
    before = keys(tmp_path, customers="c02,c03", today="2026-11-21")
    after = keys(tmp_path, customers="c01,c02,c03", today="2026-11-21")
    assert set(after) > set(before)


def test_customers_switched_off_or_gone_keep_their_squares_behind_those_that_are_asked(
    tmp_path: Path,
) -> None:
    made = settings(tmp_path, customers=RESTING)
    assert customers_in_order(made, ["c09", "c01"]) == ["c01", "c03", "c02", "c09"]


def test_a_key_leads_back_to_customer_and_month() -> None:
    assert square_of(key_of("G2", Month(2026, 3))) == ("G2", Month(2026, 3))
