"""Does a rectangle of squares become the fewest legal requests, and each square green or red on its own?"""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from pipelines.sandbox.access import Denial
from pipelines.sandbox.faults import Fault
from tests.unit.assets.stage import G1, M16, M17, RUNNING, failure_of, lasting_stage, stage


class Squares(TypedDict):
    first: str
    last: str


SIX_MONTHS = Squares(first="G1|2026-06", last="M30017|2026-11")


def test_a_rectangle_is_one_run_of_the_fewest_legal_requests(tmp_path: Path) -> None:
    play = stage(tmp_path)
    assert play.run(first="G1|2026-06", last="M30016|2026-11").success
    assert play.asked() == [
        f"{customer} {window}"
        for customer in (G1, M16)
        for window in ("2026-06-01..2026-07-31", "2026-08-01..2026-09-30", "2026-10-01..2026-11-21")
    ]
    assert play.squares() == {"G1 green": 6, "M30016 green": 6}


def test_every_square_tells_its_own_rows_and_the_window_it_came_with(tmp_path: Path) -> None:
    play = stage(tmp_path)
    event = play.events(play.run(**SIX_MONTHS))["G1|2026-06"]
    held = play.project.customers_held()
    assert set(held) == {G1, M16, M17}
    assert event["state"] == "fetched"
    assert event["window"] == "2026-06..2026-07"
    assert event["window_requests"] == 1
    assert event["dagster/partition_row_count"] > 0


def test_a_customer_that_fails_is_red_and_the_others_are_green(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.service.faults.switch([Fault("404", customer=M16)])
    result = play.run(RUNNING, "users", **SIX_MONTHS)
    assert not result.success
    assert play.squares() == {"G1 green": 6, "M30016 red": 6, "M30017 green": 6}
    assert failure_of(result).startswith("1 of 3 squares failed, of M30016.\nusers of M30016: ")


def test_a_failure_names_customers_and_months_and_what_to_do(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.service.faults.switch([Fault("404", customer=M16, count=1)])
    headline, *sentences, remedy = failure_of(play.run(**SIX_MONTHS)).splitlines()
    assert headline == "2 of 18 squares failed, of M30016."
    assert [one.partition(": ")[0] for one in sentences] == [f"{RUNNING} of M30016 (2026-06..2026-07)"]
    assert remedy == "Re-execute this run from failure: it asks only for what is missing."


def test_re_execution_from_failure_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    with lasting_stage(tmp_path) as play:
        play.service.faults.switch([Fault("404", customer=M16, after=1)])
        failed = play.run_again(**SIX_MONTHS)
        play.service.faults.switch([])
        assert play.run_again(failed, **SIX_MONTHS).success
        assert [window.split()[0] for window in play.asked()] == [M16, M16]
        assert play.squares() == {"G1 green": 6, "M30016 green": 6, "M30017 green": 6}


def test_re_execution_that_fails_again_leaves_green_what_is_green(tmp_path: Path) -> None:
    with lasting_stage(tmp_path) as play:
        play.service.faults.switch([Fault("404", customer=M16)])
        failed = play.run_again(**SIX_MONTHS)
        assert not play.run_again(failed, **SIX_MONTHS).success
        assert play.squares() == {"G1 green": 6, "M30016 red": 6, "M30017 green": 6}


def test_selected_squares_are_asked_for_though_they_are_held(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run(first="G1|2026-01", last="G1|2026-02")
    again = play.run(first="G1|2026-01", last="G1|2026-02")
    assert play.asked() == ["G1 2026-01-01..2026-02-28"]
    assert {event["rows_changed"] for event in play.events(again).values()} == {0}


def test_squares_that_are_held_can_be_left_alone_by_a_tag(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run(first="G1|2026-01", last="G1|2026-02")
    again = play.run(first="G1|2026-01", last="G1|2026-03", tags={"brokerbi/held": "skip"})
    assert play.asked() == ["G1 2026-03-01..2026-03-31"]
    assert [event["state"] for event in play.events(again).values()] == ["held", "held", "fetched"]


def test_a_customer_without_rights_is_neither_green_nor_a_failure(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.service.deny([Denial("RunningCommissions", M16)])
    assert play.run().success
    assert play.squares() == {"G1 green": 3, "M30017 green": 3}


def test_a_customer_refused_by_every_report_fails_the_run(tmp_path: Path) -> None:
    play = stage(tmp_path, reports="running_commissions,sold_estates")
    play.service.deny([Denial(customer=M16)])
    result = play.run(RUNNING, "sold_estates")
    assert "M30016 was refused every report (403)" in failure_of(result)


def test_months_the_service_no_longer_calculates_are_done_without_a_request(tmp_path: Path) -> None:
    play = stage(tmp_path, reports="live_commissions")
    result = play.run("live_commissions", first="G1|2026-01", last="G1|2026-11")
    states = [event["state"] for event in play.events(result, "live_commissions").values()]
    assert states == ["nothing to ask"] * 8 + ["fetched"] * 3
    assert len(play.asked()) == 3


def test_the_current_month_of_a_budget_asks_for_the_months_ahead_as_well(tmp_path: Path) -> None:
    play = stage(tmp_path, reports="office_budget_estate", budget_months_ahead="4")
    result = play.run("office_budget_estate", first="M30016|2026-10", last="M30016|2026-11")
    assert len(play.service.log.entries) == 2 + 4
    assert "rows_of_months_ahead" in play.events(result, "office_budget_estate")["M30016|2026-11"]
