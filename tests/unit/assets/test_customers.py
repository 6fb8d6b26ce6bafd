"""Do customers come and go without losing anything, and without a red night for those who are gone?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import dagster as dg

from pipelines.sandbox.faults import Fault
from tests.unit.assets.stage import G1, M16, M17, Stage, lasting_stage, stage
from tests.unit.assets.test_schedules import END, START, STOCKHOLM, schedule_of

NIGHT = datetime(2026, 11, 21, 5, tzinfo=STOCKHOLM)

ONE_SWITCHED_OFF = '[{"id": "G1"}, {"id": "M30016", "active": false}, {"id": "M30017"}]'


def tonight(play: Stage, name: str) -> list[dg.RunRequest]:
    """The runs that a schedule asks for in the night."""
    context = dg.build_schedule_context(play.instance, scheduled_execution_time=NIGHT)
    return list(schedule_of(play.project, name).evaluate_tick(context).run_requests or [])


def test_a_new_customer_has_squares_of_its_own_and_takes_nobody_elses(tmp_path: Path) -> None:
    play = stage(tmp_path, customers="G1,M30017")
    play.run(last="M30017|2026-11")
    play.set(customers="M30016,G1,M30017")
    assert play.squares() == {"G1 green": 3, "M30017 green": 3}


def test_a_new_customer_is_fetched_from_the_start_by_the_next_night(tmp_path: Path) -> None:
    with lasting_stage(tmp_path, customers="G1,M30017") as play:
        play.run(first="G1|2026-01", last="M30017|2026-11")
        play.set(customers="M30016,G1,M30017")
        for one in [*tonight(play, "catch_up"), *tonight(play, "nightly")]:
            assert play.run(first=one.tags[START], last=one.tags[END], tags=one.tags).success
        assert play.squares() == {"G1 green": 11, "M30016 green": 11, "M30017 green": 11}


def test_a_customer_switched_off_is_not_asked_and_keeps_its_data(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    play.set(customers=ONE_SWITCHED_OFF)
    result = play.run(last="M30016|2026-11")
    assert result.success
    assert {window.split()[0] for window in play.asked()} == {G1, M17}
    assert play.events(result)["M30016|2026-11"]["state"] == "held"


def test_a_customer_switched_off_is_not_red_when_others_fail(tmp_path: Path) -> None:
    play = stage(tmp_path, customers=ONE_SWITCHED_OFF)
    play.service.faults.switch([Fault("404", customer=M17)])
    assert not play.run(last="M30016|2026-11").success
    assert play.squares() == {"G1 green": 3, "M30017 red": 3, "M30016 green": 3}


def test_a_customer_taken_out_of_the_settings_keeps_its_squares_and_is_not_asked(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    play.set(customers="G1,M30017")
    assert play.run(last="M30016|2026-11").success
    assert {window.split()[0] for window in play.asked()} == {G1, M17}
    assert play.squares() == {"G1 green": 3, "M30017 green": 3, "M30016 green": 3}


def test_a_customer_that_comes_back_is_asked_again(tmp_path: Path) -> None:
    play = stage(tmp_path, customers=ONE_SWITCHED_OFF)
    play.run(last="M30016|2026-11")
    play.set(customers="G1,M30016,M30017")
    play.run(first=f"{M16}|2026-09", last=f"{M16}|2026-11", tags={"brokerbi/held": "skip"})
    assert {window.split()[0] for window in play.asked()} == {M16}
