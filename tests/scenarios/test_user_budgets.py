"""Are budgets of single users asked only when somebody wants them, and then one request for each user?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pipelines.months import Month
from pipelines.planning.selection import Selection
from tests.scenarios.rehearsal import TODAY, Rehearsal, rehearsal

NAME = "user_budget_commission"
NOVEMBER = Month(2026, 11)
ONE_MONTH = Selection(first=NOVEMBER, last=NOVEMBER, reports=(NAME,))


@pytest.fixture
def world(tmp_path: Path) -> Rehearsal:
    settings = {"BROKERBI_CUSTOMERS": "M30016", "BROKERBI_REPORTS": "users"}
    return rehearsal(tmp_path, start=NOVEMBER, as_of=TODAY, service=None, **settings)


def test_without_known_users_nobody_is_asked_for_and_the_reason_is_told(world: Rehearsal) -> None:
    summary = world.sync(ONE_MONTH)
    assert [one.reason for one in summary.results] == [
        "no user of this customer is known yet; sync the report users first"
    ]
    assert world.asked == []


def test_naming_the_report_asks_once_for_every_known_user_and_keeps_whose_answer_it_was(
    world: Rehearsal,
) -> None:
    assert world.sync().is_well
    users = {user for (user,) in world.rows("SELECT id FROM bi.users")}
    assert world.sync(ONE_MONTH).is_well
    asked = Counter(entry.path.rsplit("/", 3)[1] for entry in world.asked)
    assert asked == Counter(users)
    assert {user for (user,) in world.rows(f"SELECT asked_user_id FROM bi.{NAME}")} <= users


def test_a_usual_night_does_not_ask_for_them(world: Rehearsal) -> None:
    world.sync()
    world.sync(ONE_MONTH)
    world.sync()
    assert [entry.path for entry in world.asked if "/Budget/" in entry.path] == []
