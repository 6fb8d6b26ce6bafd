"""The doctor: its findings and remedies, and what it does not request or reveal."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import httpx
import pytest

from pipelines.diagnosis.doctor import SHIPPED_FILE, Finding, examine
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.service import Service
from pipelines.settings.messages import SettingsError
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
from tests.scenarios.scenario import Scenario, whole_chain
from tests.unit.assets.harness import settings
from warehouse.errors import FileDamaged
from warehouse.ledger.conditions import Severity
from warehouse.publishing.publish import publish
from warehouse.store.database import Store
from warehouse.store.lock import work_lock

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
    return list(examine(world.settings, world.context, environment=environment, may_request=ask))


def worst(world: Scenario, subject: str, *, ask: bool = False, home: Path | str = "") -> Finding:
    """Of the findings on a subject the worst."""
    about = {one.severity: one for one in findings(world, ask=ask, home=home) if one.subject == subject}
    return about[Severity.worst(about)]


def test_a_good_installation_has_no_errors(read: Scenario) -> None:
    publish(read.data_dir, keep=1, now=read.clock.utc_now())
    assert [one for one in findings(read, ask=True) if one.severity is Severity.ERROR] == []


def test_every_report_of_every_customer_is_requested_once_for_the_latest_past_month(world: Scenario) -> None:
    findings(world, ask=True)
    assert len(world.asked) == 4 * len(world.settings.customers)
    days = {entry.query["datefrom"][:10] for entry in world.asked if "datefrom" in entry.query}
    assert days == {"2026-10-01"}


def test_a_future_start_is_rejected(tmp_path: Path) -> None:
    world = whole_chain(tmp_path, ["sales"])
    settings = world.settings.model_copy(update={"start": Month(2030, 1)})
    with pytest.raises(SettingsError, match="2030-01, which is in the future"):
        findings(replace(world, settings=settings))


def test_an_outage_ends_the_requests_and_records_no_denial(tmp_path: Path) -> None:
    for kind, words, requests in (("503", "4 requests in a row", 8), ("403", "denies access to every", 9)):
        world = whole_chain(tmp_path / kind, REPORTS, customers="G1,M30016,M30017")
        world.service.faults.switch([Fault(kind)])
        assert words in worst(world, "service", ask=True).result
        assert (len(world.asked), world.rows("FROM meta.access")) == (requests, [])


def test_an_error_message_with_status_200_is_no_answer(world: Scenario) -> None:
    message = httpx.MockTransport(lambda _: httpx.Response(200, json={"message": "Internal error"}))
    found = findings(replace(world, transport=message), ask=True)
    assert "sales of G1, M30016" in [one.subject for one in found if one.severity is Severity.ERROR]
    assert not any("answered: " in one.result for one in found)


def test_a_damaged_working_file_is_reported_once_and_nothing_is_requested(read: Scenario) -> None:
    os.truncate(Store(read.data_dir).path, 100_000)
    with pytest.raises(FileDamaged), work_lock(read.data_dir, "sync", on_wait=print, remedy="Repeat."):
        read.sync()
    found = findings(read, ask=True)
    assert [one.subject for one in found if "is damaged" in one.result] == ["working file"]
    assert read.asked == []


def test_a_sync_after_the_doctor_fails_for_a_customer_without_access(world: Scenario) -> None:
    world.service.faults.switch([Fault("403", customer="M30016")])
    assert worst(world, "access of M30016", ask=True).severity is Severity.ERROR
    [line] = sync(world.settings, Selection(), context=world.context).failure_lines()
    assert line.startswith("M30016: Access to all or most reports is denied (403).")


def statuses_of_sales(world: Scenario) -> list[int]:
    return [one.status for one in world.asked if one.customer == "G1" and "GetSalesReport" in one.path]


def test_sync_and_doctor_request_a_denied_report_only_once_a_day(world: Scenario) -> None:
    world.service.faults.switch([Fault("403", path="GetSalesReport", customer="G1")])
    assert worst(world, "access of G1", ask=True).result.endswith("today, so not requested again: sales")
    sync(world.settings, Selection(), context=world.context)
    world.publish()
    found = findings(world, ask=True)
    assert [one.subject for one in found if "sales" in one.result] == ["no access"]
    assert statuses_of_sales(world) == [403]


def test_a_wrong_login_is_reported_once_and_used_once(world: Scenario) -> None:
    world.service.faults.switch([Fault("401")])
    world.service.log.clear()
    names = ", ".join(customer.id for customer in world.settings.customers)
    sync(world.settings, Selection(), context=world.context)
    found = [one for one in findings(world, ask=True) if one.subject not in ("settings", "alerts", "dagster")]
    [finding] = found
    assert (finding.subject, len(world.asked)) == (f"login of {names}", 1)
    assert finding.remedy.startswith("Correct BROKERBI_USERNAME or the password that goes with it; ")
    assert not {"Correct", "doctor"} & set(re.findall(r"\w+", finding.result))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SHIPPED_FILE.read_text("utf-8"), "is as shipped"),
        (None, "cannot be read"),
        ("concurrency: [", "cannot be read"),
        ("concurrency: {}", "differs from the shipped one in telemetry, nux, con"),
    ],
)
def test_dagsters_settings_are_compared_with_the_shipped_ones(
    world: Scenario, tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "dagster.yaml").write_text(text)
    finding = worst(world, "dagster", home=tmp_path)
    assert (words in finding.result, finding.severity is Severity.WELL) == (True, "as shipped" in words)


def test_a_daemon_never_started_is_reported_if_dagster_is_used(world: Scenario, tmp_path: Path) -> None:
    found = [
        [one for one in findings(world, home=home) if one.subject == "daemon silent"]
        for home in ("", tmp_path)
    ]
    assert [[one.severity for one in several] for several in found] == [[], [Severity.ERROR]]


def test_the_settings_of_a_channel_are_named_unless_there_is_one(tmp_path: Path) -> None:
    mail = {"alert_email_to": "a@test", "alert_email_from": "b@test", "alert_smtp_host": "mail"}
    remedy = "set BROKERBI_ALERT_WEBHOOK, or BROKERBI_ALERT_EMAIL_TO with a mail server"
    for more, remedies in (({}, [remedy]), (mail, []), ({"alert_webhook": "https://chat.test"}, [])):
        home = {"DAGSTER_HOME": str(tmp_path)}
        found = examine(settings(tmp_path, **more), RunContext(), environment=home, may_request=False)
        assert [one.remedy for one in found if one.subject == "alerts"] == remedies
