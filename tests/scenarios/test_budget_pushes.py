"""Budgets pushed to a service that is late, forgetful, cut off, strict, or changed by others meanwhile."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.budgets.budget import BudgetError, BudgetPlan, month_of
from pipelines.budgets.plan import make_plan, read_known_names
from pipelines.clock import SystemClock
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.server import serving
from pipelines.settings.messages import SettingsError
from tests.scenarios.budgets import (
    DECEMBER,
    NEVER_BUDGETED,
    OFFICE,
    OWN_ID,
    SETTING,
    BudgetScenario,
    budget_scenario,
    statuses,
)
from tests.scenarios.processes import Job, Step, is_killed, run
from tests.scenarios.scenario import synced

NEW = {"commission": 90_000, "sold": 3}


@pytest.fixture
def here(tmp_path: Path) -> BudgetScenario:
    return budget_scenario(tmp_path)


def test_a_plan_says_first_how_many_requests_it_makes_and_sends_nothing(here: BudgetScenario) -> None:
    said: list[int] = []
    plan = make_plan(here.settings, here.file(NEW), here.context, on_requests=said.append)
    assert (said, len(here.service.log.entries), here.sent) == ([3], 3, {})
    [change] = plan.changes
    known = here.shown(here.users[0])
    assert (change.before["commission"], change.after["commission"]) == (known.commission, 90_000)
    assert (change.after["sold"], change.after["meetings"]) == (3, known.meetings)


def test_a_push_sets_confirms_and_writes_down_who_and_what(here: BudgetScenario) -> None:
    user, before = here.users[0], here.shown(here.users[0])
    pushed = here.push(here.plan(NEW))
    assert (pushed.is_confirmed, here.sent) == (True, {user: 1})
    assert here.shown(user) == replace(before, commission=90_000, sold=3)
    assert here.ledger("measure, before, after, found, status, sent_count") == [
        ("commission", before.commission, 90_000, 90_000, "confirmed", 1),
        ("meetings", before.meetings, before.meetings, before.meetings, "confirmed", 1),
        ("own_booked", before.own_booked, before.own_booked, before.own_booked, "confirmed", 1),
        ("registered", before.registered, before.registered, before.registered, "confirmed", 1),
        ("sold", before.sold, 3, 3, "confirmed", 1),
    ]
    [(who, customer, office)] = here.ledger("os_user, customer, office_id")
    assert (bool(who), customer, office) == (True, OFFICE, OFFICE)


def test_a_service_that_zeroes_what_is_left_out_loses_nothing(tmp_path: Path) -> None:
    here = budget_scenario(tmp_path, omitted="zeroed")
    before = here.shown(here.users[0])
    assert here.push(here.plan({"commission": 1})).is_confirmed
    assert here.shown(here.users[0]) == replace(before, commission=1)


def test_what_never_was_a_budget_is_left_out_and_may_become_zero(here: BudgetScenario) -> None:
    plan = here.plan({"month": NEVER_BUDGETED, "commission": 5})
    assert (plan.changes[0].before["sold"], json.loads(plan.changes[0].body)) == (None, {"commission": 5})
    assert here.push(plan).is_confirmed


def test_nothing_is_asked_or_sent_unless_it_is_allowed(here: BudgetScenario) -> None:
    plan = here.plan(NEW)
    here.settings = here.settings.model_copy(update={"allow_budget_writes": False})
    with pytest.raises(SettingsError, match="BROKERBI_ALLOW_BUDGET_WRITES is not true"):
        here.push(plan)
    assert here.service.log.entries == []


def test_what_is_shown_late_is_waited_for_and_sent_once(tmp_path: Path) -> None:
    here = budget_scenario(tmp_path, visible_after=45)
    assert here.push(here.plan_for_all()).is_confirmed
    assert set(here.sent.values()) == {1}


def test_what_is_shown_too_late_is_unconfirmed_and_a_later_push_sends_nothing(tmp_path: Path) -> None:
    here = budget_scenario(tmp_path, visible_after=300)
    plan = here.plan(NEW)
    pushed = here.push(plan, patience=60)
    assert (statuses(pushed), here.sent) == ({"unconfirmed": 1}, {here.users[0]: 1})
    assert here.ledger("found", "measure = 'sold'") == [(here.shown(here.users[0]).sold,)]
    here.clock.seconds += 300
    assert (here.push(plan).is_confirmed, here.sent) == (True, {})


@pytest.mark.parametrize(("kind", "visible_after"), [("slow_start", 45), ("half", 0)])
def test_after_a_lost_answer_it_only_looks(tmp_path: Path, kind: str, visible_after: float) -> None:
    here = budget_scenario(tmp_path, visible_after=visible_after)
    pushed = here.push(here.plan(NEW), Fault(kind, path=SETTING, seconds=1000))
    assert (pushed.is_confirmed, here.sent) == (True, {here.users[0]: 1})


def test_what_the_service_lost_is_unconfirmed_and_sent_by_the_next_push(here: BudgetScenario) -> None:
    plan = here.plan(NEW)
    pushed = here.push(plan, Fault("503", path=SETTING))
    assert (statuses(pushed), here.sent) == ({"unconfirmed": 1}, {here.users[0]: 1})
    assert [row.reason.split("; ")[-1] for row in pushed.statuses.values()] == ["the last answered 503."]
    assert (here.push(plan).is_confirmed, here.sent) == (True, {here.users[0]: 1})
    assert here.ledger("status, sent_count") == [("confirmed", 2)]


@pytest.mark.parametrize("kind", ["401", "403"])
def test_a_refused_login_or_right_stops_everything(here: BudgetScenario, kind: str) -> None:
    plan = here.plan_for_all()
    pushed = here.push(plan, Fault(kind, path=SETTING, after=1))
    assert statuses(pushed) == {"confirmed": 1, "refused": 1, "planned": 1}
    assert (here.sent.total(), kind in pushed.stopped) == (2, True)
    later = here.push(plan)
    assert (later.is_confirmed, here.sent.total()) == ((False, 0) if kind == "401" else (True, 2))


def test_a_budget_that_is_refused_is_named_and_the_others_go_on(here: BudgetScenario) -> None:
    plan = here.plan_for_all()
    pushed = here.push(plan, Fault("400", path=SETTING, count=1))
    assert statuses(pushed) == {"refused": 1, "confirmed": len(here.users) - 1}
    [(reason,)] = here.ledger("reason", "status = 'refused'")
    assert "The service answered 400" in str(reason)
    assert (here.push(plan).is_confirmed, here.sent.total()) == (True, 1)


def test_what_was_changed_since_the_plan_is_left_alone_and_named(here: BudgetScenario) -> None:
    plan, (first, *others) = here.plan_for_all(), here.users
    here.change(first, meetings=77)
    pushed = here.push(plan)
    assert (here.sent, here.shown(first).meetings) == (dict.fromkeys(others, 1), 77)
    [(reason,)] = here.ledger("reason", "status = 'changed meanwhile'")
    before = plan.changes[0].before["meetings"]
    assert f"meetings was {before} when the plan was made, and is now 77" in str(reason)
    assert not pushed.is_confirmed


def test_after_a_push_neither_the_same_plan_nor_a_new_one_has_anything_to_send(here: BudgetScenario) -> None:
    plan = here.plan(NEW)
    here.push(plan)
    assert (here.push(plan).is_confirmed, here.sent, here.plan(NEW).changes) == (True, {}, ())


def test_a_present_budget_that_cannot_be_read_is_never_replaced(here: BudgetScenario) -> None:
    plan = here.plan(NEW)
    pushed = here.push(plan, Fault("text", path="Budget/Crm"))
    assert (statuses(pushed), here.sent) == ({"refused": 1}, {})
    with pytest.raises(BudgetError, match=r"The current budget of .* cannot be read"):
        here.plan(NEW)


def test_an_unknown_office_or_user_is_named_with_the_nearest(here: BudgetScenario) -> None:
    user = here.users[0]
    with pytest.raises(BudgetError) as caught:
        here.plan({"office_id": "M30099", "sold": 1}, {"user_id": f"{user[:-1]}x", "sold": 1})
    assert [line.partition("; ")[2] for line in str(caught.value).splitlines()] == [
        f"did you mean {OFFICE} ({here.service.world.history.chain.offices[OFFICE].name})?",
        f"did you mean {user} ({here.service.world.history.users(OFFICE)[0].cards[-1].name})?",
    ]


def test_the_two_ids_of_an_office_are_one_office(here: BudgetScenario) -> None:
    with pytest.raises(BudgetError, match=r"Row 3: sold of .* is given twice"):
        here.plan({"sold": 1}, {"office_id": OFFICE, "sold": 2})


def test_an_office_that_is_not_found_is_refused_with_a_question_for_its_own_id(here: BudgetScenario) -> None:
    pushed = here.push(here.plan({**NEW, "office_id": OFFICE}))
    assert (statuses(pushed), here.sent) == ({"refused": 1}, {here.users[0]: 1})
    assert "give the office's own id" in next(iter(pushed.statuses.values())).reason


def test_a_plan_is_private_and_refused_when_somebody_changed_it(here: BudgetScenario, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    here.plan(NEW).write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert BudgetPlan.read(path).changes[0].month == str(DECEMBER)
    path.write_text(path.read_text("utf-8").replace("90000", "90001"), "utf-8")
    with pytest.raises(BudgetError, match="was edited"):
        BudgetPlan.read(path)
    path.write_text("[]", "utf-8")
    with pytest.raises(BudgetError, match="is not a budget plan"):
        BudgetPlan.read(path)


def test_a_plan_of_another_service_or_customer_is_refused(here: BudgetScenario) -> None:
    plan = here.plan(NEW)
    with pytest.raises(BudgetError, match="was made for https://qa"):
        here.push(replace(plan, base_url="https://qa.example"))
    with pytest.raises(BudgetError, match="no active M7"):
        here.push(replace(plan, changes=(replace(plan.changes[0], customer="M7"),)))


STEPS = (Step("budget_intended"), Step("budget_sent"), Step("budget_noted"))


def test_a_push_killed_at_every_step_is_pushed_again_until_all_is_shown(tmp_path: Path) -> None:
    here = budget_scenario(tmp_path, visible_after=0.2)
    here.service.budgets.clock = SystemClock().utc_now
    plan_file = tmp_path / "plan.json"
    with serving(here.service) as server:
        here.settings = here.settings.model_copy(update={"base_url": server.base_url})
        months = [DECEMBER.plus(at) for at in range(3)]
        plan = here.plan(
            *({"user_id": user, "month": month, **NEW} for user in here.users for month in months)
        )
        plan.write(plan_file)
        job = Job("push", here.settings.data_dir, (OFFICE,), base_url=server.base_url, plan=plan_file)
        for step in STEPS:
            assert is_killed(job, step), step
        assert run(job) == 0
    assert (len(here.sent), here.sent.total()) == (len(here.users), len(plan.changes))
    assert here.ledger("status") == [("confirmed",)]
    assert {here.shown(change.user_id, month_of(change)).commission for change in plan.changes} == {90_000}


def test_offices_and_users_are_those_of_the_marts(tmp_path: Path) -> None:
    held = synced(tmp_path / "data", whole=True)
    with pytest.raises(BudgetError, match="No office is loaded yet; run `brokerbi sync` first"):
        read_known_names(held.settings)
    held.build("office_sources", "users")
    known = read_known_names(held.settings)
    assert (known.customers, known.office(OWN_ID)) == ({OFFICE: OFFICE}, OFFICE)
    assert {user for (user,) in held.rows("SELECT user_id FROM marts.users")} == known.users.keys()
