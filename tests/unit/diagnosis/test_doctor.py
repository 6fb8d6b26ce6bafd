"""What the doctor finds, which remedies it names, and what it does not ask or tell."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import httpx
import pytest

from pipelines.connect.errors import RUN_AGAIN
from pipelines.diagnosis.doctor import CHECKOUT, Access, examine, rights
from pipelines.diagnosis.installation import Finding, daemon_findings
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from pipelines.settings.messages import SettingsError
from pipelines.sync.sync import sync
from tests.scenarios.scenario import Scenario, whole_chain
from tests.unit.warehouse.other_process import begun
from warehouse.ledger.conditions import Severity
from warehouse.publishing.publish import publish
from warehouse.store.database import Store

REPORTS = ("sales", "commission_office", "users", "live_activity")


@pytest.fixture
def world(tmp_path: Path) -> Scenario:
    return whole_chain(tmp_path / "data", REPORTS, retry_seconds="0", customers="G1,M30016")


@cache
def first_sync() -> Scenario:
    here = whole_chain(Path(mkdtemp()) / "data", REPORTS, retry_seconds="0", customers="G1,M30016")
    here.sync()
    return here


@pytest.fixture
def read(tmp_path: Path) -> Scenario:
    """The same world after a first sync, which is made once and copied."""
    here = first_sync().copied_to(tmp_path / "data")
    return replace(here, service=Service(here.service.world))


def findings(world: Scenario, *, ask: bool = False, home: Path | str = "") -> list[Finding]:
    environment = {"DAGSTER_HOME": str(home)} if home else {}
    return list(examine(world.settings, world.context, environment=environment, ask=ask))


def worst(world: Scenario, subject: str, *, ask: bool = False, home: Path | str = "") -> Finding:
    """Of the findings on a subject the worst."""
    about = {one.severity: one for one in findings(world, ask=ask, home=home) if one.subject == subject}
    return about[Severity.worst(about)]


def test_a_good_installation_has_nothing_wrong(read: Scenario) -> None:
    publish(read.data_dir, keep=1, now=read.clock.utc_now())
    wrong = [one for one in findings(read, ask=True) if one.severity is Severity.ERROR]
    assert wrong == []
    assert worst(read, "published file").found.startswith("its storage version is v1.0.0")


def test_every_report_of_every_customer_is_asked_once_for_one_day_at_most(world: Scenario) -> None:
    world.service.log.clear()
    findings(world, ask=True)
    assert len(world.asked) == 4 * len(world.settings.customers)
    days = {entry.query["datefrom"][:10] for entry in world.asked if "datefrom" in entry.query}
    assert days == {"2026-11-01"}


def test_a_report_that_nobody_knows_is_refused_before_anything_is_found_well(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="did you mean sales"):
        findings(whole_chain(tmp_path, ["salse"], whole=True))


@pytest.mark.parametrize(
    ("words", "severity", "remedy"),
    [
        (
            {"G1": "yes 403 403", "M1": "yes 403 403"},
            "warning",
            ", or leave the reports out: BROKERBI_REPORTS=a",
        ),
        ({"G1": "yes 403 403", "M1": "yes yes yes"}, "warning", ""),
        ({"G1": "403 403 Unavailable", "M1": "yes yes yes"}, "warning", ""),
    ],
    ids=["all customers lack it", "one customer lacks it", "a report failed in another way"],
)
def test_only_what_nobody_may_read_is_left_out(words: dict[str, str], severity: str, remedy: str) -> None:
    access = [
        Access(report, customer, word)
        for customer, row in words.items()
        for report, word in zip("abc", row.split(), strict=True)
    ]
    finding = next(rights(access))
    said = f"ask the service's support for access{remedy}"
    assert (finding.subject, finding.severity, finding.remedy) == ("access of G1", severity, said)


def test_a_service_that_answers_nothing_to_the_first_customer_is_asked_no_more(tmp_path: Path) -> None:
    world = whole_chain(tmp_path / "data", REPORTS, customers="G1,M30016")
    world.service.faults.switch([Fault("503")])
    finding = worst(world, "service", ask=True)
    assert "4 requests in a row" in finding.found
    assert finding.remedy == RUN_AGAIN
    assert [one.customer for one in world.asked] == ["G1"] * 8


def test_a_damaged_working_file_is_told_once_and_what_is_known_besides(read: Scenario) -> None:
    os.truncate(Store(read.data_dir).path, 100_000)
    found = findings(read, ask=True)
    assert [one.subject for one in found if "is damaged" in one.found] == ["working file"]
    assert "4 of 4 reports answer" in {one.found for one in found}


def statuses_of_sales(world: Scenario) -> list[int]:
    return [one.status for one in world.asked if one.customer == "G1" and "GetSalesReport" in one.path]


def test_a_denied_report_rests_for_the_day_for_sync_and_doctor_alike(world: Scenario) -> None:
    world.service.faults.switch([Fault("403", path="GetSalesReport", customer="G1")])
    findings(world, ask=True)
    sync(world.settings, Selection(), context=world.context)
    assert worst(world, "access of G1", ask=True).found.endswith("denied: sales")
    assert statuses_of_sales(world) == [403]


def test_a_wrong_login_is_told_once_and_used_once(world: Scenario) -> None:
    world.service.faults.switch([Fault("401")])
    world.service.log.clear()
    names = ", ".join(customer.id for customer in world.settings.customers)
    finding = worst(world, f"login of {names}", ask=True)
    assert (finding.severity, len(world.asked)) == (Severity.ERROR, 1)
    assert finding.remedy.startswith("Correct BROKERBI_USERNAME or the password that goes with it; ")
    assert not {"Correct", "doctor"} & set(re.findall(r"\w+", finding.found))


@pytest.mark.parametrize(
    ("minutes", "severity"), [(2, Severity.WELL), (20, Severity.WARNING), (-90, Severity.ERROR)]
)
def test_a_clock_that_is_wrong_is_noticed(world: Scenario, minutes: int, severity: Severity) -> None:
    sent = datetime.fromtimestamp(world.context.clock.utc_now().timestamp() - minutes * 60, UTC)
    headers = {"date": f"{sent:%a, %d %b %Y %H:%M:%S} GMT"}
    world.transport = httpx.MockTransport(lambda _: httpx.Response(200, json=[], headers=headers))
    assert worst(world, "clock", ask=True).severity is severity


def test_a_command_that_works_meanwhile_is_named(world: Scenario) -> None:
    process = begun("work", world.settings.data_dir)
    try:
        found = worst(world, "work").found
    finally:
        process.kill()
        process.communicate()
    assert found.startswith(f"brokerbi sync (process {process.pid}, since ")


def newer(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS newer (STORAGE_VERSION 'v1.4.0')")


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 2_000)


@pytest.mark.parametrize(
    ("spoil", "words", "severity"),
    [(newer, "older clients cannot open it", Severity.WARNING), (garbage, "is damaged", Severity.ERROR)],
)
def test_a_published_file_that_is_not_as_it_should_be_is_told(
    world: Scenario, spoil: Callable[[Path], None], words: str, severity: Severity
) -> None:
    spoil(world.settings.data_dir / "warehouse.duckdb")
    assert [one.severity for one in findings(world) if words in one.found] == [severity]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no dagster.yaml"),
        ("concurrency: [", "is not YAML"),
        (
            "concurrency:\n  runs:\n    max_concurrent_runs: 30\n",
            "differs from the shipped one in telemetry, nux, con",
        ),
    ],
)
def test_dagsters_settings_are_compared_with_the_shipped_ones(
    world: Scenario, tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "dagster.yaml").write_text(text)
    found = [one for one in findings(world, home=tmp_path) if one.subject == "dagster"]
    assert any(words in one.found and one.severity is not Severity.WELL for one in found)


def test_the_shipped_settings_of_dagster_are_as_they_should_be(world: Scenario, tmp_path: Path) -> None:
    shutil.copy(CHECKOUT / "dagster.yaml", tmp_path)
    assert worst(world, "dagster", home=tmp_path).severity is Severity.WELL


def test_a_daemon_that_was_never_started_is_named_where_dagster_is_used(tmp_path: Path) -> None:
    found = [list(daemon_findings(tmp_path, {"DAGSTER_HOME": home})) for home in ("", "/home")]
    assert [[one.severity for one in several] for several in found] == [[], [Severity.ERROR]]
