"""Does what an operator launches in the UI become few runs that ask the fewest legal windows, each once?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import dagster as dg
import pytest

from assets.partitions import key_of
from pipelines.months import Month, months_between
from pipelines.sandbox.faults import Fault
from tests.unit.assets.asked import asked_twice, longest, what_of
from tests.unit.assets.backstage import backstage
from tests.unit.assets.stage import CUSTOMERS, G1, M16, M17, RUNNING

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Dagster warns of itself

SEVEN = tuple(f"M300{number}" for number in range(11, 18))
MONTHS = tuple(months_between(Month(2025, 10), Month(2026, 11)))
WIDTHS = {"sales": 12, RUNNING: 2, "commission_office": 1, "office_budget_estate": 1}
FAILURE = dg.DagsterRunStatus.FAILURE


def keys(customers: tuple[str, ...], months: tuple[Month, ...]) -> list[str]:
    return [key_of(customer, month) for customer in customers for month in months]


def test_a_backfill_is_a_run_for_each_customer_and_asks_every_month_once(tmp_path: Path) -> None:
    settings = {"customers": ",".join(SEVEN), "start": "2025-10", "reports": ",".join(WIDTHS)}
    with backstage(tmp_path, **settings) as behind:
        assert behind.backfill(WIDTHS, keys(SEVEN, MONTHS)) == "COMPLETED_SUCCESS"
        assert len(behind.runs(dg.DagsterRunStatus.SUCCESS)) == len(behind.runs()) == len(SEVEN)
        assert {entry.status for entry in behind.play.service.log.entries} == {200}
        assert asked_twice(behind.requests()) == []
        assert sorted(longest(behind.requests()).values()) == sorted(WIDTHS.values())
        of_one = [one for one in behind.requests() if SEVEN[0] in what_of(one)]
        assert len(of_one) == 2 + 7 + 14 + 14 + 12  # the current month of a budget asks for those ahead
        for report in WIDTHS:
            assert behind.play.squares(report) == {f"{customer} green": 14 for customer in SEVEN}


def test_more_customers_than_months_are_a_run_for_each_month(tmp_path: Path) -> None:
    with backstage(tmp_path) as behind:
        assert behind.backfill([RUNNING], keys(CUSTOMERS, MONTHS[-2:])) == "COMPLETED_SUCCESS"
        assert len(behind.runs()) == 2


def test_one_customer_fails_alone_and_is_all_that_is_asked_again(tmp_path: Path) -> None:
    with backstage(tmp_path) as behind:
        behind.play.service.faults.switch([Fault("404", customer=M16, after=1)])
        assert behind.backfill([RUNNING], keys(CUSTOMERS, MONTHS[-6:])) == "COMPLETED_FAILED"
        assert behind.play.squares() == {"G1 green": 6, "M30016 green": 2, "M30016 red": 4, "M30017 green": 6}
        by_itself, first = behind.runs(FAILURE)
        assert by_itself.parent_run_id == first.run_id
        assert Counter(window.split()[0] for window in behind.play.asked()) == {G1: 3, M16: 3 + 2, M17: 3}
        behind.play.service.faults.switch([])
        behind.play.service.log.clear()
        assert behind.repeat(by_itself).status is dg.DagsterRunStatus.SUCCESS
        assert [window.split()[0] for window in behind.play.asked()] == [M16, M16]
        assert behind.play.squares() == {f"{customer} green": 6 for customer in CUSTOMERS}


def test_months_that_are_held_are_left_alone_when_the_backfill_is_tagged_so(tmp_path: Path) -> None:
    with backstage(tmp_path) as behind:
        behind.backfill([RUNNING], keys((G1,), MONTHS[-6:-4]))
        behind.play.service.log.clear()
        behind.backfill([RUNNING], keys((G1,), MONTHS[-8:-4]), **{"brokerbi/held": "skip"})
        assert behind.play.asked() == ["G1 2026-04-01..2026-05-31"]
