"""Conditions that only a running process can find, and the verdict on all conditions."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.diagnosis import health
from pipelines.diagnosis.health import DAEMON_SEEN, Verdict, directory_conditions, judge, observe
from pipelines.months import Month
from pipelines.planning.due import PlannedMonths
from pipelines.planning.plan import PlannedReport
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import Acknowledgement
from tests.unit.assets.harness import settings
from warehouse.ledger.conditions import ERROR, WARNING, Condition, Kind, Severity
from warehouse.ledger.status import CHANGED, GONE, UNRECORDED, Overview, PastPublication, ReportStatus
from warehouse.persons.erased_list import record_begun, record_finished
from warehouse.store.lock import WORK, work_lock

NOW = datetime(2026, 11, 21, 4, tzinfo=UTC)
FRESH = ReportStatus("sales", "M1", 3, None, NOW, None, "fresh")
FAILED = Condition(Kind.FAILED, report="sales", customer="M1")
NO_ACCESS = Condition(Kind.NO_ACCESS, WARNING, report="users", customer="M1")


def kinds(view: Overview, directory: Path, customers: str = "M1", **more: object) -> list[str]:
    """The conditions of an overview as the settings of some customers have it."""
    made = settings(directory, customers=customers)
    return [one.kind for one in observe(view, made, NOW, **more).conditions]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("conditions", "verdict"),
    [
        ([], Verdict("All is well: 1 report fresh.", Severity.WELL)),
        ([NO_ACCESS], Verdict("All is well except for no access (1 report): 1 report fresh.", WARNING)),
        (
            [FAILED, replace(FAILED, report="tips", customer="M2"), NO_ACCESS],
            Verdict("Action needed: failed (2 reports of 2 customers); also no access (1 report).", ERROR),
        ),
        (
            [FAILED, Condition(Kind.UNPUBLISHED, error="The latest file was not published: x.duckdb.")],
            Verdict("Action needed: failed (1 report), unpublished (1).", ERROR),
        ),
        (
            [Condition(Kind.QUARANTINE, report="users", row_count=17)] * 2,
            Verdict("All is well except for quarantine (34 rows): 1 report fresh.", WARNING),
        ),
    ],
    ids=["nothing", "a warning", "errors", "an error that concerns no customer", "rows"],
)
def test_the_verdict_counts_conditions_and_only_errors_are_alarms(
    conditions: list[Condition], verdict: Verdict
) -> None:
    assert judge(Overview([FRESH], conditions)) == verdict


def test_an_acknowledged_condition_is_no_alarm_up_to_its_day(tmp_path: Path) -> None:
    entry = Acknowledgement(kind="failed", customer="M1", reason="ticket 7", until=NOW.date())
    acknowledging = settings(tmp_path, customers="M1").model_copy(update={"acknowledge": (entry,)})
    view = Overview([FRESH], [FAILED])
    [now], [later] = (observe(view, acknowledging, NOW + timedelta(days=day)).conditions for day in (0, 1))
    assert (now.severity, now.remedy) == ("acknowledged", "Acknowledged until 2026-11-21: ticket 7")
    assert (later.severity, later.remedy) == ("error", "")
    sentence = judge(observe(view, acknowledging, NOW)).sentence
    assert sentence == "All is well: 0 reports fresh, 1 issue acknowledged."
    mistyped = acknowledging.model_copy(update={"acknowledge": (entry.model_copy(update={"kind": "fail"}),)})
    assert "kind 'fail', not one of access denied, " in observe(view, mistyped, NOW).conditions[0].error


def test_a_directory_has_not_begun_until_the_first_publication() -> None:
    assert not judge(Overview([])).has_data
    killed = judge(Overview([FRESH], [NO_ACCESS], is_published=False))
    assert (killed.sentence[:31], killed.is_well) == ("Nothing has been published yet;", False)
    rebuilt = judge(Overview([FRESH], is_published=False, published_file=UNRECORDED))
    assert (rebuilt.sentence[-28:], rebuilt.is_well) == ("yet; run `brokerbi publish`.", False)
    lost = judge(Overview([], [FAILED], is_lost=True))
    assert (lost.sentence[:24], lost.is_well) == ("The working file is gone", False)
    failed = Overview([FRESH], [FAILED], is_published=False)
    assert judge(failed) == judge(replace(failed, is_published=True))


def test_a_customer_just_added_and_one_removed_from_the_settings_are_warnings(tmp_path: Path) -> None:
    view = Overview([FRESH])
    assert kinds(view, tmp_path, "M1,G21") == [Kind.MONTHS_MISSING]
    assert kinds(view, tmp_path, "G21") == [Kind.MONTHS_MISSING, Kind.NOT_IN_SETTINGS]


def test_a_customer_removed_from_the_settings_is_shown_only_if_it_has_data(tmp_path: Path) -> None:
    left = replace(FRESH, customer="M2")
    mistyped = replace(FRESH, customer="M3", last_success_utc=None, held_months=0)
    trouble = [replace(FAILED, customer=name) for name in ("M1", "M2", "M3")]
    view = observe(Overview([FRESH, left, mistyped], trouble), settings(tmp_path, customers="M1"), NOW)
    assert view.standings == [replace(FRESH, state="failed"), replace(left, state="switched off")]
    assert [one.customer for one in view.conditions if one.kind == Kind.FAILED] == ["M1"]


def test_settings_that_do_not_load_are_an_error(tmp_path: Path) -> None:
    refusal = SettingsError(["consurrency is no setting; did you mean concurrency?", "another"])
    view = observe(Overview([]), settings(tmp_path), NOW, settings_error=refusal)
    assert judge(view).sentence == "Action needed: settings (2)."
    said = "the settings do not load: consurrency is no setting; did you mean concurrency?"
    assert [row.error for row in view.conditions] == [said, "the settings do not load: another"]
    (file := settings(tmp_path).shapes_file).parent.mkdir(exist_ok=True)
    file.write_text("[salez]\n")
    [found] = observe(Overview([]), settings(tmp_path), NOW).conditions
    assert found.error == "shapes.toml: [salez] is not a report; did you mean sales?"


def test_past_months_that_were_never_loaded_are_a_warning(tmp_path: Path) -> None:
    [customer] = settings(tmp_path, customers="M1").customers
    months = PlannedMonths((Month(2026, 9), Month(2026, 10), Month(2026, 11)))
    planned = [PlannedReport(REPORTS[name], customer, months=months) for name in ("sales", "users")]
    unread = Overview([replace(FRESH, customer="M2")])
    new = observe(unread, settings(tmp_path, customers="M1,M2"), NOW, planned=planned).conditions
    assert [one.error for one in new] == [health.NOT_READ]
    view = observe(Overview([FRESH], [NO_ACCESS]), settings(tmp_path, customers="M1"), NOW, planned=planned)
    assert (view.conditions[0].severity, view.conditions[0].error) == (WARNING, "3 report months missing")
    off = Overview([replace(FRESH, state="switched off")])
    resumed = observe(off, settings(tmp_path, customers="M1"), NOW, planned=planned).standings
    assert [row.state for row in resumed] == ["due"]
    failing = Overview([FRESH, replace(FRESH, report="users")], [FAILED])
    ended, open_ = (replace(FAILED, month=date(2026, number, 1)) for number in (1, 10))
    rows = Overview([], [ended, open_, replace(ended, kind=Kind.HELD_BACK, severity=ERROR)])
    kept = observe(rows, settings(tmp_path, customers="M1"), NOW, planned=planned)
    assert [row.kind for row in kept.conditions] == [Kind.FAILED, Kind.HELD_BACK]  # the first has ended
    stopped = observe(failing, settings(tmp_path, customers="M1"), NOW, planned=planned[1:])
    assert [row.state for row in stopped.standings] == ["switched off", "fresh"]
    assert [row.kind for row in stopped.conditions] == [Kind.MONTHS_MISSING]


def test_little_disk_space_for_a_future_directory_is_a_warning_and_very_little_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[tuple[str, str]]:
        return [(one.kind, one.severity) for one in directory_conditions(tmp_path / "to be made", NOW)]

    monkeypatch.setattr(health, "ENOUGH_FREE_BYTES", 10**18)
    assert found() == [(Kind.DISK_NEARLY_FULL, "warning")]
    monkeypatch.setattr(health, "TOO_FEW_FREE_BYTES", 10**17)
    assert found() == [(Kind.DISK_NEARLY_FULL, "error")]
    unpublished = Condition(Kind.UNPUBLISHED, cause="failed")
    view = Overview([FRESH], [unpublished])
    assert kinds(view, tmp_path) == [Kind.DISK_NEARLY_FULL]
    known = Acknowledgement(kind="disk nearly full", reason="being enlarged", until=NOW.date())
    acknowledging = settings(tmp_path, customers="M1").model_copy(update={"acknowledge": (known,)})
    assert "unpublished" in judge(observe(view, acknowledging, NOW)).sentence


@pytest.mark.parametrize(("minutes", "severity"), [(1, []), (2, ["warning"]), (6, ["error"])])
def test_a_silent_daemon_is_a_warning_and_after_five_minutes_an_error(
    tmp_path: Path, minutes: int, severity: list[str]
) -> None:
    assert list(directory_conditions(tmp_path, NOW)) == []
    (tmp_path / "work").mkdir()
    health.record_daemon(tmp_path)
    moment = (NOW - timedelta(minutes=minutes)).timestamp()
    os.utime(tmp_path / DAEMON_SEEN, (moment, moment))
    assert [one.severity for one in directory_conditions(tmp_path, NOW)] == severity


def test_an_unfinished_erasure_is_a_condition_that_names_no_person(tmp_path: Path) -> None:
    person = record_begun(tmp_path, "user", "4711-secret", NOW)
    [told] = directory_conditions(tmp_path, NOW)
    assert f"erasure of a user, begun {NOW:%Y-%m-%d %H:%M} UTC, is not finished" in told.error
    assert "brokerbi erase --user" in told.remedy
    record_finished(tmp_path, person)
    assert list(directory_conditions(tmp_path, NOW)) == []


@pytest.mark.parametrize(("found", "expected"), [("", []), (GONE, [ERROR]), (CHANGED, [ERROR])])
def test_a_missing_or_changed_file_is_an_error(tmp_path: Path, found: str, expected: list[Severity]) -> None:
    view = observe(Overview([FRESH], published_file=found), settings(tmp_path, customers="M1"), NOW)
    assert [one.severity for one in view.conditions if one.kind == Kind.UNPUBLISHED] == expected


def test_loads_that_nothing_will_publish_are_a_warning(tmp_path: Path) -> None:
    view, data_dir = Overview([FRESH], [Condition(Kind.UNPUBLISHED, WARNING)]), settings(tmp_path).data_dir
    assert kinds(view, tmp_path) == [Kind.UNPUBLISHED]
    with suppress(KeyError), work_lock(data_dir, "brokerbi sync", on_wait=print, remedy="Again."):
        assert kinds(view, tmp_path) == []
        raise KeyError("killed")
    assert kinds(view, tmp_path) == [Kind.SYNC_LEFT]
    (data_dir / WORK).unlink()
    health.record_daemon(data_dir)
    assert kinds(view, tmp_path) == []


def test_pages_older_than_the_published_file_are_a_warning_with_their_day(tmp_path: Path) -> None:
    made = settings(tmp_path, customers="M1")
    made.data_dir.mkdir()
    for day, name in enumerate(("report.html", "warehouse.duckdb") * 2, start=2):
        (made.data_dir / name).touch()
        os.utime(made.data_dir / name, (day * 86_400, day * 86_400))
        shown = PastPublication("v", datetime(1970, 1, 4), "rolled back", None, ())
        found = observe(Overview([FRESH], (), [shown]), made, NOW).conditions
        told = [(row.severity, row.error[:35], row.remedy[-22:]) for row in found]
        expected = (WARNING, "The pages are of 1970-01-03 00:00 U", "brokerbi rollback --to v`."[-22:])
        assert told == ([expected] if day == 3 else [])
