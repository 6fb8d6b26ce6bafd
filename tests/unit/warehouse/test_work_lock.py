"""The work lock: one command works at a time, and others learn which."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.diagnosis.health import directory_conditions
from tests.unit.warehouse.other_process import begun
from warehouse.errors import FileDamaged, WarehouseError
from warehouse.ledger.conditions import Kind
from warehouse.store.lock import COMPLETE, REBUILD, WAITING, WORK, holder_of, work_lock

FIVE = datetime(2026, 6, 1, 5, tzinfo=UTC)


def left(data_dir: Path, now: datetime = FIVE) -> list[str]:
    return [row.error or "" for row in directory_conditions(data_dir, now) if row.kind == Kind.SYNC_LEFT]


def ignore(_: str) -> None:
    """Listen to nothing."""


@contextmanager
def working(data_dir: Path, what: str = "brokerbi sync", by: tuple[str, ...] = COMPLETE) -> Iterator[None]:
    with work_lock(data_dir, what, on_wait=ignore, remedy="Repeat.", completed_by=by, now=lambda: FIVE):
        yield


@contextmanager
def another_process(data_dir: Path) -> Iterator[int]:
    """The id of another process that works until the body ends."""
    process = begun("work", data_dir)
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def test_a_second_command_waits_for_the_first_and_names_it(tmp_path: Path) -> None:
    told: list[str] = []
    is_told = threading.Event()

    def report(sentence: str) -> None:
        told.append(sentence)
        is_told.set()

    def second() -> str:
        with work_lock(tmp_path, "brokerbi publish", on_wait=report):
            return "done"

    with ThreadPoolExecutor(1) as other:
        with working(tmp_path):
            waiting = other.submit(second)
            assert is_told.wait(30)
        assert waiting.result(30) == "done"
    assert "waiting for brokerbi sync (process " in told[0]
    assert "since 2026-06-01 05:00 UTC" in told[0]


def test_the_record_of_a_killed_command_is_not_taken_for_that_of_the_running_one(tmp_path: Path) -> None:
    path, six = tmp_path / WORK, FIVE + timedelta(hours=1)
    path.parent.mkdir()
    stale, true = (json.dumps([{"what": "sync", "pid": 1, "begun": str(at)}]) for at in (FIVE, six))
    path.write_text(stale)
    with path.open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)

        def follow(sentence: str) -> None:
            if "06:00" in sentence:
                fcntl.flock(holder, fcntl.LOCK_UN)
            path.write_text(true)

        with work_lock(tmp_path, "brokerbi publish", on_wait=follow) as awaited:
            assert awaited == six


def test_a_command_that_may_not_wait_fails_with_the_name_of_the_running_one(tmp_path: Path) -> None:
    waits: list[str] = []
    with (
        working(tmp_path),
        pytest.raises(WarehouseError, match=r"Another command is running; .*: brokerbi sync"),
        work_lock(tmp_path, "brokerbi publish", on_wait=waits.append, wait=False),
    ):
        pass
    assert waits == []


def test_work_that_was_killed_or_gave_up_is_named_until_other_work_finishes_its_task(tmp_path: Path) -> None:
    narrow = "brokerbi sync --refresh"
    with pytest.raises(WarehouseError), working(tmp_path, narrow, ()):
        raise FileDamaged("the file is damaged")
    with another_process(tmp_path):
        assert len(left(tmp_path)) == 1
    with working(tmp_path, "brokerbi publish"):
        pass
    killed, gave_up = left(tmp_path)
    assert killed.endswith("was stopped before it ended.")
    assert gave_up == f"{narrow}, begun 2026-06-01 05:00 UTC, gave up: the file is damaged"
    for what, expected in ((REBUILD, [gave_up]), (narrow, [])):
        with working(tmp_path, what):
            assert left(tmp_path) == expected
        assert left(tmp_path) == expected
    (tmp_path / WORK).write_text('{"what": "brokerbi sync", "pid": 1}')  # by an earlier version
    assert left(tmp_path) == []


def test_a_wait_of_more_than_an_hour_is_a_condition(tmp_path: Path) -> None:
    def publish() -> None:
        with working(tmp_path, "brokerbi publish"):
            pass

    with ThreadPoolExecutor(1) as other, working(tmp_path):
        waiting = other.submit(publish)
        while (blocked := holder_of(tmp_path / WAITING)) is None or blocked.what != "brokerbi publish":
            pass
        assert left(tmp_path, FIVE + timedelta(minutes=59)) == []
        [sentence] = left(tmp_path, FIVE + timedelta(minutes=61))
        assert sentence.startswith("brokerbi publish has waited since 05:00 UTC for brokerbi sync (process ")
        assert not waiting.done()
