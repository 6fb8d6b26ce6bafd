"""What the processes of a data directory share is right whoever dies, sleeps, or writes rubbish."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import pytest

from pipelines.connect.file_pace import FilePace, State
from pipelines.connect.rate_limit import RateLimit
from tests.unit.connect.fake_service import StillClock, limit_of
from tests.unit.connect.stopped import locking, stopped

ROOT = Path(__file__).resolve().parents[3]
PROCESS = """
import asyncio, json, sys, time
from pathlib import Path
from pipelines.connect.file_pace import FilePace
from pipelines.connect.rate_limit import RateLimit

async def main(directory, concurrency, rate, turns, hold, lease):
    limit = RateLimit(FilePace(Path(directory), concurrency, rate, lease=lease), concurrency)
    held = []
    async def one():
        async with limit.turn():
            began = time.monotonic()
            print("began", flush=True) if hold > 5 else None
            await asyncio.sleep(hold)
            held.append((began, time.monotonic()))
    await asyncio.gather(*(one() for _ in range(turns)))
    print(json.dumps(held))

directory, concurrency, *numbers = sys.argv[1:]
rate, turns, hold, lease = map(float, numbers)
asyncio.run(main(directory, int(concurrency), rate, int(turns), hold, lease))
"""


def _process(
    directory: Path, concurrency: int, rate: float, turns: int, hold: float, lease: float = 60
) -> subprocess.Popen[str]:
    arguments = map(str, (directory, concurrency, rate, turns, hold, lease))
    command = [sys.executable, "-c", PROCESS, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _together(directory: Path, concurrency: int, rate: float, turns: int, hold: float) -> list[list[float]]:
    """When the turns of two processes began and ended."""
    processes = [_process(directory, concurrency, rate, turns, hold) for _ in range(2)]
    return [turn for process in processes for turn in json.loads(process.communicate(timeout=60)[0])]


def _most_at_once(held: list[list[float]]) -> int:
    return max(sum(began <= moment < ended for began, ended in held) for moment, _ in held)


async def _begin(limit: RateLimit, clock: StillClock, times: int) -> list[float]:
    began = []
    for _ in range(times):
        async with limit.turn():
            began.append(clock.seconds)
    return began


def _gaps(moments: list[float]) -> list[float]:
    return [round(later - earlier, 3) for earlier, later in pairwise(moments)]


def _open_below(directory: Path) -> int:
    """How many files of a directory this process has open."""
    return sum(link.is_relative_to(directory) for link in map(_target, Path("/proc/self/fd").iterdir()))


def _target(link: Path) -> Path:
    try:
        return link.readlink()
    except OSError:  # the one that listed them
        return Path()


async def test_requests_are_as_far_apart_as_their_rate_says(tmp_path: Path) -> None:
    clock = StillClock()
    assert _gaps(await _begin(limit_of(tmp_path, 5, 10, clock), clock, 4)) == [0.102] * 3


async def test_a_rate_slower_than_one_a_second_is_kept(tmp_path: Path) -> None:
    clock = StillClock()
    assert _gaps(await _begin(limit_of(tmp_path, 5, 0.1, clock), clock, 3)) == [10.2, 10.2]


async def test_the_rate_is_halved_three_times_at_most_and_recovers_by_the_minute(tmp_path: Path) -> None:
    clock = StillClock()
    pace = FilePace(tmp_path, 5, 10, clock=clock)
    seen = []
    for wait in (6, 6, 6, 6, 60, 60, 60):
        if wait == 6:
            pace.slow_down()
            pace.slow_down()  # at once with the first, so it counts as one
        clock.seconds += wait
        seen.append(pace.halvings)
    assert seen == [1, 2, 3, 3, 2, 1, 0]


async def test_a_moment_from_before_a_restart_of_the_machine_holds_nobody_up(tmp_path: Path) -> None:
    before = limit_of(tmp_path, 5, 0.1, StillClock(1e9))
    await _begin(before, StillClock(), 1)
    before.slow_down()
    clock = StillClock(5.0)
    assert (_gaps(await _begin(limit_of(tmp_path, 5, 10, clock), clock, 2)), clock.seconds < 6) == (
        [0.102],
        True,
    )


def _written(**values: object) -> str:
    return json.dumps({**{one.name: getattr(State(), one.name) for one in fields(State)}, **values})


@pytest.mark.parametrize(
    "written",
    [
        "rubbish",
        "",
        "[]",
        _written(granted_at=1000.0, free_at=1e18),
        _written(granted_at=float("nan"), free_at=float("nan"), slowed_at=float("nan")),
        _written(granted_at=float("inf"), free_at=float("inf"), halvings=float("inf")),
        _written(slowed_at=999.0, halvings=1e300),
        _written(head="somebody", head_seen_at=1e9),
        _written(slots={str(slot): ["gone.1", 1e300] for slot in range(5)}),
        _written(slots={str(slot): ["gone.1", 1010.0] for slot in range(5)}),
        _written(slots=[1, 2]),
    ],
)
async def test_a_damaged_record_holds_nobody_up(tmp_path: Path, written: str) -> None:
    clock = StillClock()
    limit = limit_of(tmp_path, 5, 10, clock)
    (tmp_path / "work" / "pace" / "state-0").write_text(written)
    await _begin(limit, clock, 3)
    assert clock.seconds < 1002


def test_a_process_that_was_stopped_before_it_wrote_takes_nothing_back(tmp_path: Path) -> None:
    quick, slow = (FilePace(tmp_path, 50, 1e6) for _ in range(2))

    def stopped_meanwhile(state: State, _: float) -> tuple[State, str]:
        if not state.head:
            quick._change(lambda state, _: (replace(state, head="quick"), None))
        return replace(state, halvings=9.0), state.head

    assert slow._change(stopped_meanwhile) == "quick"  # made anew, of what the quick one wrote
    assert quick._change(lambda state, _: (state, (state.head, state.halvings))) == ("quick", 9.0)


async def test_a_process_that_is_stopped_while_it_writes_holds_nobody_up(tmp_path: Path) -> None:
    limits = [limit_of(tmp_path, 1) for _ in range(2)]
    with stopped(locking(tmp_path / "work" / "pace" / "state-0")):
        for limit in limits * 2:
            async with asyncio.timeout(30), limit.turn():
                pass
    assert {file.name for file in (tmp_path / "work" / "pace").glob("state-*")} == {"state-0", "state-1"}


async def test_a_stopped_process_that_holds_every_slot_costs_its_lease(tmp_path: Path) -> None:
    began = time.monotonic()
    with stopped(_process(tmp_path, 1, 1000, 1, 60, lease=1.0)):
        async with asyncio.timeout(30), limit_of(tmp_path, 1).turn():
            assert time.monotonic() - began >= 1.0


async def test_a_stopped_process_that_has_some_of_the_slots_holds_nobody_up(tmp_path: Path) -> None:
    limit = limit_of(tmp_path, 2)
    with stopped(_process(tmp_path, 1, 1000, 1, 60)):
        for _ in range(3):
            async with asyncio.timeout(30), limit.turn():
                pass


async def test_a_process_that_is_killed_gives_its_slots_back_at_once(tmp_path: Path) -> None:
    process = _process(tmp_path, 1, 1000, 1, 60)
    assert process.stdout is not None
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    async with asyncio.timeout(30), limit_of(tmp_path, 1).turn():
        pass


async def test_a_task_cancelled_while_others_hold_the_slots_leaves_no_trace(tmp_path: Path) -> None:
    mine, other = limit_of(tmp_path, 1, 1e6), limit_of(tmp_path, 1, 1e6)
    open_before = _open_below(tmp_path)
    async with other.turn():
        waiting = asyncio.create_task(_begin(mine, StillClock(), 1))
        for _ in range(5):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5), mine.turn():
        pass
    assert _open_below(tmp_path) == open_before


def test_two_processes_together_have_no_more_under_way_than_one_may(tmp_path: Path) -> None:
    held = _together(tmp_path, 2, 100_000, 15, 0.02)
    assert (len(held), _most_at_once(held)) == (30, 2)


def test_two_processes_together_are_no_faster_than_one_may_be(tmp_path: Path) -> None:
    began = sorted(turn[0] for turn in _together(tmp_path, 20, 100, 10, 0))
    assert began[-1] - began[0] >= 0.15  # nineteen intervals are 0.194; the first may be noticed late


@pytest.mark.parametrize(("concurrency", "rate"), [(0, 10.0), (5, 0.0), (5, float("nan"))])
def test_a_limit_that_never_lets_anybody_go_is_refused(tmp_path: Path, concurrency: int, rate: float) -> None:
    with pytest.raises(ValueError, match="at least one slot"):
        FilePace(tmp_path, concurrency, rate)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_what_it_keeps_is_private_and_the_data_directory_open_to_the_group(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        FilePace(tmp_path / "data", 1, 1)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_dir()}
    assert modes == {"data": 0o750, "work": 0o700, "pace": 0o700}
