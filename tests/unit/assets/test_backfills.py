"""Backfills launched as the UI launches them: few runs, and the fewest legal windows, each once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import dagster as dg
import pytest

from assets.partitions import partition_key
from pipelines.months import Month, months_between
from pipelines.sandbox.faults import Fault
from tests.unit.assets.daemon import daemon
from tests.unit.assets.harness import M16, M17, RUNNING, look
from tests.unit.assets.request_months import asked_twice, subject_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Dagster warns of itself

TWO = ("M30011", "M30012")
MONTHS = tuple(months_between(Month(2025, 10), Month(2026, 11)))
REPORTS = ("sales", RUNNING)


def keys(customers: tuple[str, ...], months: tuple[Month, ...]) -> list[str]:
    return [partition_key(customer, month) for customer in customers for month in months]


def test_a_backfill_is_one_run_for_each_customer_and_one_publication_at_its_end(tmp_path: Path) -> None:
    settings = {"customers": ",".join(TWO), "start": "2025-10", "reports": ",".join(REPORTS)}
    with daemon(tmp_path, **settings) as made:
        launched: list[dg.RunRequest] = []
        status = made.backfill(REPORTS, keys(TWO, MONTHS), lambda: launched.extend(look(made.harness)))
        assert (status, launched, len(look(made.harness))) == ("COMPLETED_SUCCESS", [], 1)
        assert len(made.runs(dg.DagsterRunStatus.SUCCESS)) == len(made.runs()) == len(TWO)
        assert {entry.status for entry in made.harness.service.log.entries} == {200}
        assert asked_twice(made.requests()) == []
        of_one = [one for one in made.requests() if TWO[0] in subject_of(one)]
        assert len(of_one) == 2 + 9
        for report in REPORTS:
            assert made.harness.partitions(report) == {f"{customer} green": 14 for customer in TWO}


def test_a_customer_fails_alone_and_only_its_partitions_are_requested_again(tmp_path: Path) -> None:
    customers = (M16, M17)
    with daemon(tmp_path, customers=",".join(customers)) as made:
        made.harness.service.faults.switch([Fault("404", customer=M16, after=3)])
        assert made.backfill([RUNNING], keys(customers, MONTHS[-6:])) == "COMPLETED_FAILED"
        partitions = {"M30016 green": 3, "M30016 red": 3, "M30017 green": 6}
        assert made.harness.partitions() == partitions
        [failed] = made.runs(dg.DagsterRunStatus.FAILURE)
        asked = Counter(window.split()[0] for window in made.harness.asked())
        assert asked == {M16: 4, M17: 4}
        made.harness.service.faults.switch([])
        made.harness.service.log.clear()
        assert made.reexecute(failed).status is dg.DagsterRunStatus.SUCCESS
        assert [window.split()[0] for window in made.harness.asked()] == [M16, M16]
        assert made.harness.partitions() == {f"{customer} green": 6 for customer in customers}


def test_the_first_run_requests_all_months_if_a_request_covers_several(tmp_path: Path) -> None:
    reports = ("sales", "commission_user")
    with daemon(tmp_path, customers=",".join(TWO), reports=",".join(reports)) as made:
        assert made.backfill(reports, keys(TWO, MONTHS[-2:])) == "COMPLETED_SUCCESS"
        asked = Counter(entry.path.split("/")[2] for entry in made.harness.service.log.entries)
        assert (len(made.runs()), asked) == (2, {"GetSalesReport": 2, "CommissionUserReport": 4})
        for report in reports:
            assert made.harness.partitions(report) == {f"{customer} green": 2 for customer in TWO}


def test_a_denied_report_is_requested_once_in_a_backfill_of_several_runs(tmp_path: Path) -> None:
    with daemon(tmp_path, customers=",".join(TWO)) as made:
        made.harness.service.faults.switch([Fault("403", customer=TWO[0])])
        made.backfill([RUNNING], keys(TWO, MONTHS[-2:]))
        assert (len(made.runs()), made.harness.partitions()) == (2, {f"{TWO[1]} green": 2})
        assert Counter(window.split()[0] for window in made.harness.asked())[TWO[0]] == 1
