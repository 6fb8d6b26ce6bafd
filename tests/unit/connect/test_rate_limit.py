"""The service sees one client, however many tasks, runs and processes ask."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from filelock import FileLock

from pipelines.connect.rate_limit import RECORD, RateLimit
from pipelines.connect.standstill import HeldUp
from tests.unit.connect.fake_service import StillClock
from tests.unit.connect.stopped import locking, stopped

ROOT = Path(__file__).resolve().parents[3]
PROCESS = """
import asyncio, json, sys, time
from pathlib import Path
from pipelines.connect.rate_limit import RateLimit

async def main(directory, concurrency, rate, turns, hold):
    limit = RateLimit(Path(directory), concurrency, rate)
    held = []
    async def one():
        async with limit.turn():
            began = time.monotonic()
            print("began", flush=True) if hold > 5 else None
            await asyncio.sleep(hold)
            held.append((began, time.monotonic()))
    await asyncio.gather(*(one() for _ in range(turns)))
    print(json.dumps(held))

asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])))
"""


def _process(
    directory: Path, concurrency: int, rate: float, turns: int, hold: float
) -> subprocess.Popen[str]:
    arguments = [str(directory), str(concurrency), str(rate), str(turns), str(hold)]
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


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


async def test_after_a_request_everybody_waits_for_the_interval_of_its_maker(tmp_path: Path) -> None:
    clock = StillClock()
    slow, fast = RateLimit(tmp_path, 5, 1, clock=clock), RateLimit(tmp_path, 5, 10, clock=clock)
    began = [moment for limit in (slow, fast, fast) for moment in await _begin(limit, clock, 1)]
    assert _gaps(began) == [1.02, 0.102]


async def test_struggling_halves_the_rate_of_everybody_and_many_at_once_count_once(tmp_path: Path) -> None:
    clock = StillClock()
    one, other = (RateLimit(tmp_path, 5, 10, clock=clock) for _ in range(2))
    for _ in range(4):
        one.slow_down()
    assert (other.halvings, _gaps(await _begin(other, clock, 3))) == (1, [0.204, 0.204])


async def test_the_rate_is_halved_three_times_at_most_and_recovers_by_the_minute(tmp_path: Path) -> None:
    clock = StillClock()
    limit = RateLimit(tmp_path, 5, 10, clock=clock)
    seen = []
    for wait in (6, 6, 6, 6, 60, 60, 60):
        if wait == 6:
            limit.slow_down()
        clock.seconds += wait
        seen.append(limit.halvings)
    assert seen == [1, 2, 3, 3, 2, 1, 0]


async def test_a_moment_from_before_a_restart_of_the_machine_holds_nobody_up(tmp_path: Path) -> None:
    await _begin(RateLimit(tmp_path, 5, 0.1, clock=StillClock(1e9)), StillClock(), 1)
    clock = StillClock(5.0)
    limit = RateLimit(tmp_path, 5, 10, clock=clock)
    limit.slow_down()
    assert (_gaps(await _begin(limit, clock, 2)), clock.seconds < 6) == ([0.204], True)


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"rubbish",
        RECORD.pack(1000.0, 1e18, 0.0, 0.0),
        RECORD.pack(*[float("nan")] * 4),
        RECORD.pack(*[float("inf")] * 4),
        RECORD.pack(0.0, 0.0, 999.0, 1e300),
    ],
)
async def test_a_damaged_record_holds_nobody_up(tmp_path: Path, written: bytes) -> None:
    clock = StillClock()
    limit = RateLimit(tmp_path, 5, 10, clock=clock)
    (tmp_path / "work" / "pace" / "tempo").write_bytes(written)
    await _begin(limit, clock, 3)
    assert clock.seconds < 1002


async def test_a_stopped_process_that_holds_every_slot_is_named_after_a_while(tmp_path: Path) -> None:
    limit = RateLimit(tmp_path, 1, 1000, patience=0.3)
    with stopped(_process(tmp_path, 1, 1000, 1, 60)) as pid:
        with pytest.raises(HeldUp, match=rf"Process {pid} .* `kill -CONT {pid}`.* `kill -KILL {pid}`"):
            async with asyncio.timeout(30), limit.turn():
                pass
        with pytest.raises(HeldUp):  # it gave back what it had taken within the process
            async with asyncio.timeout(30), limit.turn():
                pass


async def test_a_stopped_process_that_writes_the_rate_is_named_and_blocks_nobody_who_slows_down(
    tmp_path: Path,
) -> None:
    limit = RateLimit(tmp_path, 1, 1000, patience=0.3)
    with stopped(locking(tmp_path / "work" / "pace" / "tempo")) as pid:
        began = time.monotonic()
        limit.slow_down()
        assert (limit.halvings, time.monotonic() - began < 5) == (0, True)
        with pytest.raises(HeldUp, match=f"`kill -CONT {pid}`"):
            async with asyncio.timeout(30), limit.turn():
                pass


async def test_a_stopped_process_that_has_some_of_the_slots_holds_nobody_up(tmp_path: Path) -> None:
    limit = RateLimit(tmp_path, 2, 1000, patience=0.3)
    with stopped(_process(tmp_path, 1, 1000, 1, 60)):
        for _ in range(3):
            async with asyncio.timeout(30), limit.turn():
                pass


async def test_slots_that_go_from_hand_to_hand_are_waited_for_with_patience(tmp_path: Path) -> None:
    busy, patient = RateLimit(tmp_path, 1, 1000), RateLimit(tmp_path, 1, 1000, patience=0.2)

    async def hold() -> None:
        for _ in range(10):
            async with busy.turn():
                await asyncio.sleep(0.05)

    holding = asyncio.create_task(hold())
    async with asyncio.timeout(30), patient.turn():
        pass
    await holding


@pytest.mark.parametrize("written", [b"", b"rubbish", b"999999999           "])
async def test_a_holder_that_cannot_be_told_is_waited_for_no_longer(tmp_path: Path, written: bytes) -> None:
    limit = RateLimit(tmp_path, 1, 1000, patience=0.2)
    slot = tmp_path / "work" / "pace" / "slot-00"
    with stopped(locking(slot)) as pid:
        slot.write_bytes(written)
        with pytest.raises(HeldUp, match=rf"`kill -CONT( {pid})?`"):
            async with asyncio.timeout(30), limit.turn():
                pass


async def test_a_task_that_is_cancelled_gives_everything_back(tmp_path: Path) -> None:
    limit = RateLimit(tmp_path, 1, 1e6)
    inside = asyncio.Event()

    async def hold() -> None:
        async with limit.turn():
            inside.set()
            await asyncio.Event().wait()

    holder, waiter = asyncio.create_task(hold()), asyncio.create_task(hold())
    await inside.wait()
    waiter.cancel()
    holder.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    async with asyncio.timeout(5), limit.turn():
        pass


async def test_a_task_cancelled_while_others_hold_the_slots_leaves_no_trace(tmp_path: Path) -> None:
    mine, other = RateLimit(tmp_path, 1, 1e6), RateLimit(tmp_path, 1, 1e6)
    open_before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - the names are all that is there
    async with other.turn():
        waiting = asyncio.create_task(_begin(mine, StillClock(), 1))
        for _ in range(5):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5), mine.turn():
        pass
    assert len(os.listdir("/dev/fd")) == open_before  # noqa: PTH208


async def test_who_has_just_had_a_slot_lets_the_others_look_first(tmp_path: Path) -> None:
    greedy, patient = (RateLimit(tmp_path, 1, 1e6) for _ in range(2))
    order: list[str] = []

    async def take(name: str, limit: RateLimit, times: int) -> None:
        for _ in range(times):
            async with limit.turn():
                order.append(name)
                await asyncio.sleep(0)

    await asyncio.gather(take("greedy", greedy, 30), take("patient", patient, 3))
    assert order.index("patient") < 30 - 1


async def test_a_record_that_another_process_is_writing_is_waited_for(tmp_path: Path) -> None:
    clock = StillClock()
    limit = RateLimit(tmp_path, 1, 1e6, clock=clock)
    with FileLock(tmp_path / "work" / "pace" / "tempo"):
        waiting = asyncio.create_task(_begin(limit, clock, 1))
        for _ in range(10):
            await asyncio.sleep(0)
    assert len(await waiting) == 1
    assert 0.001 in clock.waited


def test_two_processes_together_have_no_more_under_way_than_one_may(tmp_path: Path) -> None:
    held = _together(tmp_path, 2, 100_000, 15, 0.02)
    assert (len(held), _most_at_once(held)) == (30, 2)


def test_two_processes_together_are_no_faster_than_one_may_be(tmp_path: Path) -> None:
    began = sorted(turn[0] for turn in _together(tmp_path, 20, 100, 10, 0))
    assert began[-1] - began[0] >= 0.15  # nineteen intervals are 0.194; the first may be noticed late


async def test_a_process_that_is_killed_gives_its_slots_back(tmp_path: Path) -> None:
    process = _process(tmp_path, 1, 1000, 1, 60)
    assert process.stdout is not None
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    async with asyncio.timeout(5), RateLimit(tmp_path, 1, 1000).turn():
        pass


@pytest.mark.parametrize(("concurrency", "rate"), [(0, 10.0), (5, 0.0), (5, float("nan"))])
def test_a_limit_that_never_lets_anybody_go_is_refused(tmp_path: Path, concurrency: int, rate: float) -> None:
    with pytest.raises(ValueError, match="at least one slot"):
        RateLimit(tmp_path, concurrency, rate)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_what_it_keeps_is_private_and_the_data_directory_open_to_the_group(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        RateLimit(tmp_path / "data", 1, 1)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_dir()}
    assert modes == {"data": 0o750, "work": 0o700, "pace": 0o700}
