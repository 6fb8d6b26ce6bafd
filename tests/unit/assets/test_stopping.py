"""Is what was fetched told when a run is cancelled or breaks down, and the rest not?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
import httpx
import pytest
from dagster._core.errors import DagsterExecutionInterruptedError

from assets.assembling import definitions
from assets.project import Project
from assets.schedules import NIGHTLY
from pipelines.sandbox.transport import SandboxTransport
from tests.unit.assets.stage import RUNNING, Stage, failure_of, rectangle, stage


class Interrupting(httpx.AsyncBaseTransport):
    """A sandbox during whose requests, after so many of them, the run is cancelled."""

    def __init__(self, play: Stage, after: int) -> None:
        self._sandbox = SandboxTransport(play.service)
        self._left = after

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._left -= 1
        if self._left < 0:
            raise DagsterExecutionInterruptedError
        return await self._sandbox.handle_async_request(request)


def cancelled(play: Stage, *, after: int) -> None:
    project = play.project
    around = replace(project.surroundings, transport=Interrupting(play, after))
    job = definitions(Project(project.settings, around)).resolve_job_def(NIGHTLY)
    with pytest.raises(DagsterExecutionInterruptedError):
        job.execute_in_process(
            instance=play.instance,
            asset_selection=[dg.AssetKey(RUNNING)],
            tags=rectangle("G1|2026-01", "G1|2026-11"),
        )


def test_what_was_fetched_before_a_run_was_cancelled_is_green(tmp_path: Path) -> None:
    play = stage(tmp_path, concurrency="1")
    cancelled(play, after=4)
    assert play.squares()["G1 green"] in (2, 4, 6, 8)


def test_the_next_run_asks_only_for_what_a_cancelled_one_did_not_get(tmp_path: Path) -> None:
    play = stage(tmp_path, concurrency="1")
    cancelled(play, after=4)
    fetched = play.squares()["G1 green"]
    play.run(first="G1|2026-01", last="G1|2026-08", tags={"brokerbi/held": "skip"})
    assert len(play.asked()) == (8 - fetched + 1) // 2
    assert play.squares()["G1 green"] == 8


def test_a_warehouse_that_cannot_be_written_fails_the_run_in_a_sentence(tmp_path: Path) -> None:
    play = stage(tmp_path)
    play.run()
    (play.project.settings.data_dir / "work" / "warehouse.duckdb").write_text("this is no DuckDB file" * 1000)
    assert "is damaged" in failure_of(play.run())
