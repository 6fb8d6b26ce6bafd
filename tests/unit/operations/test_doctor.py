"""What the doctor finds, which remedies it names, and what it does not ask or tell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import httpx
import pytest
from filelock import FileLock

from pipelines.operations.doctor import CHECKOUT, Access, examine
from pipelines.operations.installation import Finding, Severity, yaml_entries
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.sync.surroundings import Surroundings
from pipelines.sync.syncing import sync
from tests.scenarios.rehearsal import Rehearsal, rehearsal
from tests.unit.walls.files import ROOT
from warehouse.store import Store

REPORTS = "sales,commission_office,users,live_activity"


def found(world: Rehearsal, *, ask: bool = True, home: str = "", **more: object) -> dict[str, Finding]:
    """The findings by subject; of several on one subject the worst."""
    environment = {"DAGSTER_HOME": home} if home else {}
    findings = list(
        examine(world.settings, world.surroundings, environment=environment, ask=ask, **more)  # type: ignore[arg-type]
    )

    return {one.subject: one for one in sorted(findings, key=lambda one: one.severity)}


@pytest.fixture
def world(tmp_path: Path) -> Rehearsal:
    return rehearsal(tmp_path / "data", BROKERBI_REPORTS=REPORTS, BROKERBI_TRIES="1")


def test_a_good_installation_has_nothing_wrong(world: Rehearsal) -> None:
    world.sync()
    world.publish()
    wrong = [one for one in found(world).values() if one.severity is Severity.ERROR]
    assert wrong == []
    assert found(world)["published file"].found.startswith("its storage version is v1.0.0")


def test_every_report_of_every_customer_is_asked_once_for_one_day_at_most(world: Rehearsal) -> None:
    world.service.log.clear()
    access: list[Access] = []
    found(world, on_access=access.append)
    assert len(access) == len(world.asked) == 4 * len(world.settings.customers)
    assert {one.word for one in access} == {"yes"}
    assert {entry.query["datefrom"][:10] for entry in world.asked if "datefrom" in entry.query} == {
        "2026-11-01"
    }


def test_offline_nothing_is_asked(world: Rehearsal) -> None:
    world.service.log.clear()
    assert "clock" not in found(world, ask=False)
    assert world.asked == []


def test_a_login_for_one_report_only_is_told_which_setting_it_needs(world: Rehearsal) -> None:
    paths = ("Commission", "Users", "LiveData")
    world.service.faults.switch([Fault("403", path=path, customer="G1") for path in paths])
    finding = found(world)["rights of G1"]
    assert (finding.severity, finding.remedy.split(": ")[1]) == (Severity.WARNING, "BROKERBI_REPORTS=sales")


def test_a_refusal_is_not_repeated_by_another_examination_nor_by_a_sync(world: Rehearsal) -> None:
    world.service.faults.switch([Fault("403", path="GetSalesReport", customer="G1")])
    found(world)
    world.service.log.clear()
    found(world)
    asked = [entry.path for entry in world.asked if entry.customer == "G1"]
    sync(world.settings, Selection(), surroundings=world.surroundings)
    asked += [entry.path for entry in world.asked if entry.customer == "G1"]
    assert [path for path in asked if "GetSalesReport" in path] == []


def test_a_wrong_login_is_told_once_and_used_once(world: Rehearsal) -> None:
    world.service.faults.switch([Fault("401")])
    world.service.log.clear()
    names = ", ".join(customer.id for customer in world.settings.customers)
    assert found(world)[f"login of {names}"].severity is Severity.ERROR
    assert len(world.asked) == 1


@pytest.mark.parametrize(
    ("minutes", "severity"), [(2, Severity.OK), (20, Severity.WARNING), (-90, Severity.ERROR)]
)
def test_a_clock_that_is_wrong_is_noticed(world: Rehearsal, minutes: int, severity: Severity) -> None:
    told = datetime.fromtimestamp(world.surroundings.clock.utc_now().timestamp() - minutes * 60, UTC)
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, json=[], headers={"date": f"{told:%a, %d %b %Y %H:%M:%S} GMT"})
    )
    world.surroundings = Surroundings(transport=transport)
    assert found(world)["clock"].severity is severity


def test_who_holds_the_write_lock_is_named(world: Rehearsal) -> None:
    Store(world.settings.data_dir).ledger()
    with FileLock(world.settings.data_dir / "work" / "warehouse.lock"):
        (world.settings.data_dir / "work" / "warehouse.lock").write_text(str(os.getpid()))
        finding = next(one for one in examine(world.settings, world.surroundings, environment={}, ask=False)
                       if one.subject == "write lock")  # fmt: skip
    assert finding.found == f"process {os.getpid()} is writing"


def newer(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS newer (STORAGE_VERSION 'v1.4.0')")


def left_open(path: Path) -> None:
    newer(path)
    path.with_name("warehouse.duckdb.wal").touch()


@pytest.mark.parametrize(
    ("spoil", "words"), [(newer, "older clients cannot open it"), (left_open, "opened the file for writing")]
)
def test_a_published_file_that_is_not_as_it_should_be_is_told(
    world: Rehearsal, spoil: Callable[[Path], None], words: str
) -> None:
    Store(world.settings.data_dir).ledger()
    spoil(world.settings.data_dir / "warehouse.duckdb")
    findings = list(examine(world.settings, world.surroundings, environment={}, ask=False))
    assert [one.severity for one in findings if words in one.found] == [Severity.WARNING]


def test_dagster_without_a_home_or_its_settings_is_told(world: Rehearsal, tmp_path: Path) -> None:
    assert "would forget its runs" in found(world, ask=False)["dagster"].found
    assert found(world, ask=False, home="relative")["dagster"].severity is Severity.ERROR
    assert "there is no dagster.yaml" in found(world, ask=False, home=str(tmp_path))["dagster"].found


def test_dagsters_settings_are_compared_with_the_shipped_ones(world: Rehearsal, tmp_path: Path) -> None:
    shutil.copy(CHECKOUT / "dagster.yaml", tmp_path / "dagster.yaml")
    assert found(world, ask=False, home=str(tmp_path))["dagster"].severity is Severity.OK
    text = (
        (tmp_path / "dagster.yaml").read_text().replace("max_concurrent_runs: 3", "max_concurrent_runs: 30")
    )
    (tmp_path / "dagster.yaml").write_text(text.replace("  max_retries: 1\n", ""))
    findings = examine(
        world.settings, world.surroundings, environment={"DAGSTER_HOME": str(tmp_path)}, ask=False
    )
    told = " ".join(one.found for one in findings if one.subject == "dagster")
    assert "max_concurrent_runs: 30 instead of 3" in told
    assert "run_retries.max_retries: 1" in told


def test_the_shipped_dagster_yaml_is_read_entry_by_entry() -> None:
    read = yaml_entries((ROOT / "dagster.yaml").read_text("utf-8"))
    assert read["concurrency.runs.max_concurrent_runs"] == "3"
    assert read["concurrency.runs.tag_concurrency_limits.limit"] == "2"
    assert read["telemetry.enabled"] == "false"


def test_no_finding_tells_a_secret(tmp_path: Path) -> None:
    world = rehearsal(tmp_path, BROKERBI_PASSWORD="s3cret-word", BROKERBI_TRIES="1", BROKERBI_REPORTS="sales")
    world.surroundings = replace(
        world.surroundings, transport=httpx.MockTransport(lambda _: httpx.Response(401))
    )
    findings = list(examine(world.settings, world.surroundings, environment={}))
    assert "s3cret-word" not in repr(findings)
