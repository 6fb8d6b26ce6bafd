"""What an operator or developer adds: customers with odd ids, budgets of single users, another report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.catalogue.model import Endpoint, Report, Table, text
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import Scenario, synced, whole_chain

NAME = "user_budget_commission"
HOSTILE = ("x'; DROP SCHEMA bi CASCADE; --", "../../outside", "<script>alert(1)</script>", 'a"b', "ö/ä?#%")


def test_a_hostile_customer_id_stays_a_value(tmp_path: Path) -> None:
    here = synced(tmp_path / "data", ("sales",))
    before = here.cells()
    customers = tuple(here.settings.customers[0].model_copy(update={"id": name}) for name in HOSTILE)
    summary = here.with_settings(customers=customers).sync()
    assert {one.customer for one in summary.results} == {*HOSTILE}
    assert here.cells() == before
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def new_office(data_dir: Path) -> Scenario:
    return whole_chain(data_dir, ("users",), start="2026-11", customers="M30016", whole=True)


@cache
def known_office() -> Scenario:
    here = new_office(Path(mkdtemp()) / "data")
    here.sync()
    return here


@pytest.fixture
def office(tmp_path: Path) -> Scenario:
    """An office whose users are loaded."""
    return known_office().copied_to(tmp_path / "data")


def sync_budgets(here: Scenario) -> list[str]:
    """One month of the budgets of single users; the reasons why some were not requested."""
    month = Month(2026, 11)
    return [one.reason for one in here.sync(first=month, last=month, reports=(NAME,)).results]


def test_without_known_users_nobody_is_asked_for_and_the_reason_is_given(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    reason = "no userId in bi.users or bi.commission_user yet; the report is requested once they are loaded"
    assert (sync_budgets(office), office.asked) == ([reason], [])


def test_a_report_that_is_named_is_asked_once_for_every_user_and_on_no_usual_night(office: Scenario) -> None:
    users = {user for (user,) in office.rows("SELECT id FROM bi.users")}
    sync_budgets(office)
    assert Counter(entry.path.rsplit("/", 3)[1] for entry in office.asked) == Counter(users)
    assert {user for (user,) in office.rows(f"SELECT asked_user_id FROM bi.{NAME}")} <= users
    office.sync()
    assert [entry.path for entry in office.asked if "/Budget/" in entry.path] == []


def budgeted(here: Scenario) -> set[str]:
    return {user for (user,) in here.rows(f"SELECT asked_user_id FROM bi.{NAME}")}


def test_a_user_who_is_gone_is_noted_and_the_budgets_of_the_others_are_loaded(office: Scenario) -> None:
    [one, *others] = sorted(user for (user,) in office.rows("SELECT id FROM bi.users"))
    assert office.sync(Fault("404", path=f"/{one}/"), reports=(NAME,)).is_well
    assert budgeted(office) == set(others)
    gone = f"1 of {1 + len(others)} ids not found (404)"
    assert {note for (note,) in office.rows("SELECT note FROM meta.loads WHERE report = $1", NAME)} == {gone}


def test_when_everybody_is_gone_the_window_fails_and_what_was_held_stays(office: Scenario) -> None:
    office.sync(reports=(NAME,))
    before = office.cells()
    summary = office.sync(Fault("404", path="/Budget/Commission/"), reports=(NAME,), refresh=True)
    assert {one.failure.error for one in summary.failing} == {"NotFound"}
    assert office.cells() == before


COLLEAGUE = (text("id", "id of the user"), text("name", "name of the user"))
COLLEAGUES = Report(
    name="colleagues",
    subject="people",
    description="The users once more, under another name.",
    stored_as="history",
    month_of_row="none",
    tables=(Table(name="colleagues", rows="[]", description="A user.", columns=COLLEAGUE, key=("id",)),),
    endpoint=Endpoint(path="/BusinessIntelligence/External/Users", time_parameters="none"),
)


def test_a_report_is_added_by_its_block_alone(office: Scenario) -> None:
    here = replace(office, catalogue={**REPORTS, "colleagues": COLLEAGUES})
    assert here.sync(reports=("users", "colleagues")).is_well
    both = "SELECT count(*), count(DISTINCT id), count(name) FROM bi.{}"
    assert here.rows(both.format("colleagues")) == here.rows(both.format("users"))
    assert here.value("SELECT max(description) FROM meta.columns WHERE table_name = 'colleagues'")
    assert here.replay().failures == []
