"""When does a run stop asking altogether?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from pipelines.connect.errors import ConnectError, Forbidden, HostDown, Unavailable, Unreachable
from pipelines.connect.host import Host
from pipelines.connect.pace import Pace
from pipelines.connect.refusals import Refusals
from pipelines.connect.retrying import Retrying
from tests.unit.connect.pretending import ROWS, SALES, Service, StillClock, client, read, reply

ONE_TRY = Retrying(tries=1)
DOWN = reply(500)


async def _ask(
    directory: Path, service: Service, pairs: list[tuple[str, str]], seconds_each: float = 0
) -> tuple[list[str], Host, Pace]:
    """The names of what asking for each pair of customer and report ended in."""
    clock = StillClock()
    pace = Pace(directory, 5, 1000, clock=clock)
    host = Host(pace)
    ended = []
    async with client(service, directory, clock, host=host, retrying=ONE_TRY) as asking:
        for customer, report in pairs:
            clock.seconds += seconds_each
            try:
                await asking.get(replace(SALES, customer=customer, report=report), read)
                ended.append("rows")
            except ConnectError as error:
                ended.append(type(error).__name__)
    return ended, host, pace


def _pairs(customers: int, reports: int) -> list[tuple[str, str]]:
    return [
        (f"M{customer}", f"report {report}") for report in range(reports) for customer in range(customers)
    ]


async def test_ten_requests_in_a_row_that_fail_for_three_pairs_end_the_run(tmp_path: Path) -> None:
    service = Service(DOWN)
    ended, _, pace = await _ask(tmp_path, service, _pairs(3, 4))
    assert (ended, len(service.asked)) == (["Unavailable"] * 10 + ["HostDown"] * 2, 10)
    assert pace.halvings == 1


async def test_one_report_of_one_customer_that_always_fails_ends_nothing(tmp_path: Path) -> None:
    ended, host, _ = await _ask(tmp_path, Service(DOWN), [("M1", "sales")] * 15)
    assert (set(ended), host.verdict) == ({"Unavailable"}, "")


async def test_any_answer_in_between_shows_that_the_host_is_alive(tmp_path: Path) -> None:
    service = Service(*[DOWN] * 9, reply(404), *[DOWN] * 9, ROWS)
    ended, host, _ = await _ask(tmp_path, service, _pairs(4, 5))
    assert (ended.count("Unavailable"), host.verdict) == (18, "")


async def test_an_address_where_nobody_is_ends_the_run_after_three_requests(tmp_path: Path) -> None:
    ended, _, _ = await _ask(tmp_path, Service(httpx.ConnectError("refused")), [("M1", "sales")] * 5)
    assert ended == ["Unreachable"] * 3 + ["HostDown"] * 2


async def test_when_half_of_the_latest_tries_fail_everybody_slows_down(tmp_path: Path) -> None:
    _, host, pace = await _ask(tmp_path, Service(*[DOWN, ROWS] * 10), [("M1", "sales")] * 20)
    assert (pace.halvings, host.verdict) == (1, "")


async def test_it_takes_twenty_more_tries_to_slow_down_further(tmp_path: Path) -> None:
    service = Service(*[DOWN, ROWS] * 20)
    _, _, pace = await _ask(tmp_path, service, [("M1", "sales")] * 39, seconds_each=1)
    assert pace.halvings == 1


async def test_a_quarter_of_failures_slows_nobody_down(tmp_path: Path) -> None:
    _, _, pace = await _ask(tmp_path, Service(*[DOWN, ROWS, ROWS, ROWS] * 10), [("M1", "sales")] * 40)
    assert pace.halvings == 0


async def test_customers_that_are_refused_everything_end_the_run(tmp_path: Path) -> None:
    service = Service(reply(403))
    ended, host, pace = await _ask(tmp_path, service, _pairs(3, 3))
    assert ended == ["Forbidden"] * 7 + ["HostDown"] * 2
    assert (host.refusals.is_mass_refusal(), len(service.asked), pace.halvings) == (True, 7, 1)


async def test_the_verdict_says_why_and_what_was_not_asked(tmp_path: Path) -> None:
    clock = StillClock()
    pace = Pace(tmp_path, 5, 1000, clock=clock)
    host = Host(pace, Refusals(reports=1), enough=1)
    async with client(Service(reply(403)), tmp_path, clock, host=host) as asking:
        for customer in ("M1", "M2", "M3", "M4", "M5", "M6"):
            with pytest.raises(Forbidden):
                await asking.get(replace(SALES, customer=customer), read)
        with pytest.raises(
            HostDown, match=r"refuses every report with 403.*Not asked: report sales of customer M1"
        ):
            await asking.get(SALES, read)


async def test_once_the_run_is_over_nobody_even_waits_for_a_turn(tmp_path: Path) -> None:
    pace = Pace(tmp_path, 1, 1000)
    host = Host(pace)
    host.verdict = "It is over."
    async with client(Service(ROWS), tmp_path, host=host, concurrency=1) as asking, pace.turn():
        with pytest.raises(HostDown, match="It is over"):
            await asyncio.wait_for(asking.get(SALES, read), timeout=5)


EVERYBODY = ("M1", "M2", "M3", "M4", "M5", "M6")


def _refused(refusals: Refusals, customers: Sequence[str], *reports: str) -> Refusals:
    for customer in customers:
        for report in reports:
            refusals.note(customer, report, refused=True)
    return refusals


def test_reports_refused_to_everybody_prove_nothing_while_others_have_not_been_asked() -> None:
    assert not _refused(Refusals(reports=3), EVERYBODY, "sales", "users").is_mass_refusal()


def test_the_only_report_refused_to_everybody_is_a_mass_refusal() -> None:
    assert _refused(Refusals(reports=1), EVERYBODY, "sales").is_mass_refusal()


def test_every_report_refused_to_three_customers_is_a_mass_refusal_also_after_answers() -> None:
    refusals = Refusals(reports=2)
    refusals.note("M1", "sales", refused=False)
    assert _refused(refusals, ("M1", "M2", "M3"), "sales", "users").is_mass_refusal()


def test_an_answer_among_many_refusals_shows_that_the_service_is_still_open() -> None:
    refusals = _refused(Refusals(reports=2), ("M1", "M2"), "sales", "users")
    refusals.note("M3", "users", refused=False)
    assert not _refused(refusals, ("M3", "M4"), "sales").is_mass_refusal()


def test_two_customers_are_no_mass() -> None:
    assert not _refused(Refusals(), ("M1", "M2"), "sales", "users", "tips").is_mass_refusal()


@pytest.mark.parametrize(("open_to_others", "is_shut"), [("sales", True), ("trademarks", False)])
def test_a_customer_is_shut_that_is_refused_what_others_get(open_to_others: str, is_shut: bool) -> None:
    refusals = _refused(Refusals(), ("M1",), "sales", "users", "tips")
    refusals.note("M2", open_to_others, refused=False)
    assert (refusals.is_shut("M1"), refusals.is_shut("M2")) == (is_shut, False)


def test_a_customer_with_one_answer_is_not_shut() -> None:
    refusals = _refused(Refusals(), ("M1",), "sales", "users", "tips")
    refusals.note("M2", "sales", refused=False)
    refusals.note("M1", "trademarks", refused=False)
    assert not refusals.is_shut("M1")


def test_the_family_of_errors_has_one_head() -> None:
    assert all(issubclass(kind, ConnectError) for kind in (HostDown, Unavailable, Unreachable))
