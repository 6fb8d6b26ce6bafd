"""Partitions, the windows that a run requests, and which partitions turn green or red."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

import dagster as dg
import httpx
import pytest

from assets.definitions import build_definitions
from assets.partitions import customer_months, customers_in_order, partition_key
from assets.project import Project
from assets.runs import BACKFILL, NIGHT_TAG, NIGHTLY
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from pipelines.sync.sync import sync
from tests.sandbox_transport import SandboxTransport
from tests.unit.assets.harness import (
    CUSTOMERS,
    G1,
    M16,
    M17,
    RUNNING,
    WORLD,
    Harness,
    failure_of,
    harness,
    range_tags,
    settings,
)


class Range(TypedDict):
    first: str
    last: str


SIX_MONTHS = Range(first="G1|2026-06", last="M30017|2026-11")
NIGHT = {NIGHT_TAG: "2026-11-21"}
Run = tuple[Harness, dict[str, dict[str, Any]]]
Failed = tuple[Harness, dg.ExecuteInProcessResult]


@pytest.fixture(scope="module")
def six_months(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run over six months of all customers, and the events of its partitions."""
    made = harness(tmp_path_factory.mktemp("six months"))
    return made, made.events(made.run(**SIX_MONTHS))


@pytest.fixture
def loaded(tmp_path: Path, six_months: Run) -> Harness:
    """A harness of its own in which all customers are loaded; Dagster knows only the last three months."""
    shutil.copytree(six_months[0].directory / "data", tmp_path / "data")
    made = harness(tmp_path)
    for key in (partition_key(customer, Month(2026, one)) for customer in CUSTOMERS for one in (9, 10, 11)):
        made.instance.report_runless_asset_event(dg.AssetMaterialization(RUNNING, partition=key))
    return made


def test_a_range_of_customers_and_months_is_one_run_with_the_fewest_requests(six_months: Run) -> None:
    made, _ = six_months
    assert made.asked() == [
        f"{customer} {window}"
        for customer in CUSTOMERS
        for window in (
            "2026-05-31..2026-07-30",
            "2026-07-31..2026-09-01",
            "2026-08-31..2026-10-30",
            "2026-10-31..2026-11-21",
        )
    ]
    assert made.partitions() == {f"{customer} green": 6 for customer in CUSTOMERS}


def test_every_partition_has_its_own_rows_and_its_window(six_months: Run) -> None:
    _, events = six_months
    values = [events["G1|2026-06"][name] for name in ("state", "window", "window_requests")]
    assert values == ["fetched", "2026-06..2026-08", 2]
    assert events["G1|2026-06"]["dagster/partition_row_count"] > 0


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Failed:
    """A run over six months of all customers in which the first request for M16 failed."""
    made = harness(tmp_path_factory.mktemp("failed"))
    made.service.faults.switch([Fault("404", customer=M16, count=1)])
    return made, made.run(**SIX_MONTHS)


def test_failed_partitions_of_a_customer_are_red_and_the_others_green(failed: Failed) -> None:
    made, result = failed
    assert not result.success
    assert made.partitions() == {"G1 green": 6, "M30016 green": 3, "M30016 red": 3, "M30017 green": 6}


def test_a_report_without_months_that_fails_for_a_customer_is_not_materialized(tmp_path: Path) -> None:
    made = harness(tmp_path, customers=f"{M16},{M17}")
    made.service.faults.switch([Fault("404", customer=M16)])
    assert not made.run("users", first=f"{M16}|2026-11", last=f"{M16}|2026-11").success
    assert made.instance.get_latest_materialization_event(dg.AssetKey("users")) is None


def test_a_run_is_not_to_be_repeated_for_an_answer_that_is_held_back(tmp_path: Path) -> None:
    made, month = harness(tmp_path, customers=M16), f"{M16}|2026-11"
    assert made.run("users", first=month, last=month).success
    made.service.faults.switch([Fault("empty_report")])
    assert failure_of(made.run("users", first=month, last=month)).endswith("brokerbi/accept_shrink=yes.")


def test_a_report_is_planned_in_one_event_and_each_failed_partition_in_one_more(failed: Failed) -> None:
    made, result = failed
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
    records = made.instance.get_records_for_run(result.run_id, of_type=kind).records
    planned = [event.partition for one in records if (event := one.event_log_entry.dagster_event)]
    assert planned == [None, *(f"{M16}|2026-{month:02}" for month in (9, 10, 11))]


def test_a_failure_names_customers_and_months_and_what_to_do(failed: Failed) -> None:
    assert failure_of(failed[1]).splitlines() == [
        "3 of 18 partitions failed (M30016).",
        (
            "running_commissions of M30016, 2026-09..2026-11: The service answered 404: it has no such "
            'report or customer. The answer says: {"message":"There is nothing here."}. '
            "Check BROKERBI_BASE_URL and the customer id (like M30011). If other months of the report are "
            "answered, both are right; then ask the service's support whether it has the requested months."
        ),
        "Re-execute this run from failure: it requests only what is still missing.",
    ]


def test_a_run_retries_once_if_the_service_is_down(tmp_path: Path) -> None:
    made = harness(tmp_path, customers=f"{G1},{M16}")
    made.service.faults.switch([Fault("503", customer=M16, count=1)])
    assert made.run(last=f"{M16}|2026-11").success
    assert made.partitions() == {"G1 green": 3, "M30016 green": 3}
    assert sorted(window.split()[0] for window in made.asked()).count(G1) == 2


def test_selected_partitions_are_requested_even_if_they_are_loaded(loaded: Harness) -> None:
    again = loaded.run(first="G1|2026-06", last="G1|2026-07")
    assert loaded.asked() == ["G1 2026-05-31..2026-07-30", "G1 2026-07-31..2026-08-01"]
    assert {event["state"] for event in loaded.events(again).values()} == {"fetched"}


DENIED = Fault("403", path="RunningCommissions", customer=M16)


def test_lost_access_fails_the_run_and_materializes_nothing(loaded: Harness) -> None:
    loaded.service.faults.switch([DENIED])
    result = loaded.run()
    assert not result.success
    denied = dg.AssetRecordsFilter(dg.AssetKey(RUNNING), asset_partitions=["M30016|2026-09"])
    assert len(loaded.instance.fetch_materializations(denied, limit=5).records) == 1
    assert loaded.partitions() == {"G1 green": 3, "M30016 red": 3, "M30017 green": 3}
    assert failure_of(result).splitlines()[-1].endswith(" --from 2026-11` requests it before tomorrow.")


def test_a_report_that_was_always_denied_is_neither_green_nor_red_and_is_requested_when_selected(
    tmp_path: Path,
) -> None:
    made = harness(tmp_path, customers=f"{G1},{M16}")
    made.service.faults.switch([DENIED])
    assert made.run(last=f"{M16}|2026-11").success
    assert made.partitions() == {"G1 green": 3}
    made.run(last=f"{M16}|2026-11", tags=NIGHT)
    assert made.customers_asked() == {G1}
    made.service.faults.switch([])
    made.run(first=f"{M16}|2026-09", last=f"{M16}|2026-11")
    assert made.partitions()["M30016 green"] == 3


def with_changed_sales(directory: Path) -> Harness:
    """A harness that was loaded on 5 November and whose sandbox and calendar are now at 14 November."""
    before, after = date(2026, 11, 5), date(2026, 11, 14)
    customers, start = f"{G1},{M16}", "2026-04"
    made = harness(directory, customers=customers, reports="sales", start=start, today=before.isoformat())
    made.service = Service(WORLD.at(before))
    assert made.run("sales", first="G1|2026-04", last=f"{M16}|2026-11").success
    made.service.set_as_of(after)
    made.change_settings(today=after.isoformat())
    return made


def asked_before_september(made: Harness) -> list[str]:
    return [window for window in made.asked() if window.split()[1] < "2026-08-31"]


def test_the_nightly_run_reads_older_months_that_changed_and_logs_their_partitions(tmp_path: Path) -> None:
    made = with_changed_sales(tmp_path)
    result = made.run("sales", last=f"{M16}|2026-11", tags={NIGHT_TAG: "2026-11-14"})
    assert result.success
    beyond = [key for key in made.events(result, "sales") if key[-7:] < "2026-09" and "M3" in key]
    assert {"M30016|2026-07", "M30016|2026-08"} <= {*beyond}
    assert any(window.startswith(M16) for window in asked_before_september(made))
    assert made.partitions("sales") == {"G1 green": 8, "M30016 green": 8}


def test_the_nightly_run_turns_partitions_green_that_a_command_has_repaired(tmp_path: Path) -> None:
    made = harness(tmp_path, customers=M16)
    made.service.faults.switch([Fault("404", customer=M16)])
    made.run(first=f"{M16}|2026-05", last=f"{M16}|2026-06")
    before = made.partitions()
    made.service.faults.switch([])
    project = made.project
    sync(project.settings, Selection(Month(2026, 5), Month(2026, 6)), context=project.run_context)
    made.run(first=f"{M16}|2026-10", last=f"{M16}|2026-11", tags=NIGHT)
    assert (before, made.partitions()) == ({"M30016 red": 2}, {"M30016 green": 11})
    made.service.faults.switch([Fault("404", customer=M16)])
    made.run(first=f"{M16}|2026-01", last=f"{M16}|2026-11", tags={NIGHT_TAG: "the next"})
    not_due = dg.AssetRecordsFilter(dg.AssetKey(RUNNING), asset_partitions=[f"{M16}|2026-01"])
    assert len(made.instance.fetch_materializations(not_due, limit=5).records) == 1  # not fresh again


class Interrupting(httpx.AsyncBaseTransport):
    """A sandbox that cancels the run after this many requests."""

    def __init__(self, service: Service, after: int) -> None:
        self._sandbox = SandboxTransport(service)
        self._left = after

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._left -= 1
        if self._left < 0:
            raise dg.DagsterExecutionInterruptedError
        return await self._sandbox.handle_async_request(request)


def test_a_cancelled_run_keeps_its_finished_customers_and_the_next_requests_the_rest(tmp_path: Path) -> None:
    made = harness(tmp_path, concurrency="1")
    made.give_working_file()
    interrupted = replace(made.project.run_context, transport=Interrupting(made.service, after=3))
    job = build_definitions(Project(made.project.settings, interrupted)).resolve_job_def(NIGHTLY)
    tags = range_tags("G1|2026-09", f"{M16}|2026-11")
    with pytest.raises(dg.DagsterExecutionInterruptedError):
        job.execute_in_process(instance=made.instance, asset_selection=[dg.AssetKey(RUNNING)], tags=tags)
    assert made.partitions() == {"G1 green": 3}
    made.run(tags=NIGHT)
    # all months would take eight requests
    assert len([window for window in made.asked() if window.startswith(M16)]) == 7
    assert made.partitions()[f"{M16} green"] == 11


class Meanwhile(httpx.AsyncBaseTransport):
    """A sandbox that calls a function before it answers the first request."""

    def __init__(self, service: Service, action: Callable[[], object]) -> None:
        self._sandbox, self._actions = SandboxTransport(service), [action]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        while self._actions:
            self._actions.pop()()
        return await self._sandbox.handle_async_request(request)


def test_a_backfill_requests_nothing_that_a_nightly_run_fetched_since_it_began(loaded: Harness) -> None:
    project = loaded.project

    def fetch_the_last_customer() -> None:
        with project.store.writing() as connection:
            now = project.clock.utc_now().replace(tzinfo=None)
            connection.execute("UPDATE meta.months SET fetched_at_utc = $1 WHERE customer = $2", [now, M17])

    transport = Meanwhile(loaded.service, fetch_the_last_customer)
    context = replace(project.run_context, transport=transport)
    job = build_definitions(replace(project, run_context=context)).resolve_job_def(NIGHTLY)
    tags = range_tags("G1|2026-09", f"{M17}|2026-11") | {BACKFILL: "a backfill"}
    job.execute_in_process(instance=loaded.instance, asset_selection=[dg.AssetKey(RUNNING)], tags=tags)
    assert loaded.customers_asked() == {G1, M16}


def test_a_nightly_run_requests_nothing_that_a_backfill_under_way_has_fetched(tmp_path: Path) -> None:
    made, backfill = harness(tmp_path, start="2026-09"), {BACKFILL: "a backfill"}
    made.run(last="G1|2026-11", tags=backfill)
    waiting = dg.DagsterRun("nightly", status=dg.DagsterRunStatus.STARTED, tags=backfill)
    made.instance.add_run(waiting)
    assert made.run(tags=NIGHT).success
    assert made.customers_asked() == {M16, M17}
    assert made.partitions() == {f"{customer} green": 3 for customer in CUSTOMERS}


def test_a_run_of_a_backfill_requests_only_the_months_ahead_that_none_has_fetched(tmp_path: Path) -> None:
    made, report = harness(tmp_path, reports="office_budget_crm"), "office_budget_crm"
    month, tags = Range(first="G1|2026-11", last="G1|2026-11"), {BACKFILL: "a backfill"}
    made.run(report, **month, tags=tags)
    with made.project.store.writing() as connection:
        connection.execute("DELETE FROM meta.months WHERE month = '2027-01-01'")
    made.run(report, **month, tags=tags)
    assert [entry.path.split("/")[-2:] for entry in made.service.log.entries] == [["2027", "1"]]


def test_a_warehouse_that_cannot_be_written_fails_the_run_in_a_sentence(loaded: Harness) -> None:
    data_dir = loaded.project.settings.data_dir
    (data_dir / "work" / "warehouse.duckdb").write_text("this is no DuckDB file" * 1000)
    assert "is damaged" in failure_of(loaded.run())


def test_a_run_of_customers_that_are_switched_off_requests_nothing_and_is_green(loaded: Harness) -> None:
    loaded.change_settings(customer__m30016__active="false")
    before = len(loaded.service.log.entries)
    assert loaded.run(first=f"{M16}|2026-09", last=f"{M16}|2026-11").success
    assert len(loaded.service.log.entries) == before
    assert loaded.partitions() == {"G1 green": 3, "M30016 green": 3, "M30017 green": 3}


def test_a_nightly_run_launched_without_partitions_explains_how_to_launch_it(tmp_path: Path) -> None:
    made = harness(tmp_path)
    result = made.job.execute_in_process(
        instance=made.instance, asset_selection=[dg.AssetKey(RUNNING)], raise_on_error=False
    )
    assert failure_of(result).startswith("Nothing was requested: the run names no customers or months.")


def test_there_is_a_partition_for_each_customer_and_month_up_to_today(tmp_path: Path) -> None:
    for months in (("2025-12", "2026-01", "2026-02"), ("2071-02", "2071-03")):  # the past, and a rehearsal
        made = settings(tmp_path, customers="c01,c02", start=months[0], today=f"{months[-1]}-11")
        found = customer_months(made, customers_in_order(made)).get_partition_keys()
        assert [*found] == [f"{customer}|{month}" for customer in ("c01", "c02") for month in months]


def test_inactive_customers_come_after_active_ones(tmp_path: Path) -> None:
    made = settings(tmp_path, customer__c02__active="false")
    assert customers_in_order(made) == ["c01", "c03", "c02"]


def test_reports_by_id_are_fetched_after_the_reports_with_their_ids(tmp_path: Path) -> None:
    made = harness(tmp_path, customers=M16, reports="sales,users,bids", ids_a_night="2")
    result = made.run("sales", "users", "bids", first="M30016|2026-11", last="M30016|2026-11")
    assert result.success
    [of_bids] = made.events(result, "bids").values()
    kinds = list(dict.fromkeys(entry.path.split("/")[2] for entry in made.service.log.entries))
    assert (kinds, of_bids["dagster/row_count"] > 0) == (["External", "GetSalesReport", "Bids"], True)
