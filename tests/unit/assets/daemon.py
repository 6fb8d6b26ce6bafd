"""What happens behind the UI: its GraphQL calls, and the work of the daemon, in this process."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.remote_origin import CodeLocationOrigin, InProcessCodeLocationOrigin
from dagster._core.test_utils import create_test_daemon_workspace_context
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceLoadTarget
from dagster._daemon.auto_run_reexecution.auto_run_reexecution import retry_run
from dagster._daemon.backfill import execute_backfill_iteration
from dagster._daemon.run_coordinator.queued_run_coordinator_daemon import QueuedRunCoordinatorDaemon
from dagster_graphql.test.utils import execute_dagster_graphql
from dagster_shared.yaml_utils import load_yaml_from_path

from assets.definitions import build_definitions
from tests.tools.night.graphql import BACKFILL, REEXECUTE
from tests.unit.assets.harness import Harness, harness
from tests.unit.repository.files import ROOT

MODULE = "dagster._core.launcher.sync_in_memory_run_launcher"
LAUNCHER = {"module": MODULE, "class": "SyncInMemoryRunLauncher"}
_current: list[Harness] = []
"""Dagster builds definitions anew for every run, by the name of a function; that finds the project here."""


@dg.definitions
def current_definitions() -> dg.Definitions:
    return build_definitions(_current[-1].project)


class _ThisProcess(WorkspaceLoadTarget):
    def create_origins(self) -> list[CodeLocationOrigin]:
        found = LoadableTargetOrigin(
            executable_path=sys.executable, module_name=__name__, attribute="current_definitions"
        )
        return [InProcessCodeLocationOrigin(found, location_name="brokerbi")]


@dataclass(frozen=True)
class Daemon:
    """A harness, and the workspace in which Dagster knows of it."""

    harness: Harness
    workspace: WorkspaceProcessContext

    def backfill(
        self, reports: Iterable[str], keys: Iterable[str], watch: Callable[[], object] = lambda: None
    ) -> str:
        """Launch a backfill as the UI does and work until it is over; its final status.

        `watch` is called before each round, so also when its runs have ended and it has not.
        """
        given = {
            "assetSelection": [{"path": [report]} for report in reports],
            "partitionNames": list(keys),
            "tags": [],
        }
        name = self._ask(BACKFILL, given)["launchPartitionBackfill"]["backfillId"]
        while (found := self.harness.instance.get_backfill(name)) and found.status.name == "REQUESTED":
            watch()
            list(execute_backfill_iteration(self.workspace, logging.getLogger("tests.daemon")))
            self._work_off_queue()
            for run in self.runs(dg.DagsterRunStatus.FAILURE):
                if run.is_complete_and_waiting_to_retry:
                    retry_run(run, self.workspace)
        assert found
        return found.status.name

    def reexecute(self, run: dg.DagsterRun) -> dg.DagsterRun:
        """Re-execute a run from its failure, as the UI does."""
        given = {"parentRunId": run.run_id, "strategy": "FROM_FAILURE"}
        run_id = self._ask(REEXECUTE, given)["launchRunReexecution"]["run"]["runId"]
        self._work_off_queue()
        found = self.harness.instance.get_run_by_id(run_id)
        assert found
        return found

    def runs(self, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
        """The runs so far, newest first."""
        return list(self.harness.instance.get_runs(dg.RunsFilter(statuses=list(statuses))))

    def requests(self) -> list[tuple[str, Mapping[str, str]]]:
        """The requests to the service, path and query."""
        return [(entry.path, entry.query) for entry in self.harness.service.log.entries]

    def _work_off_queue(self) -> None:
        """Run the queued runs, under the limits of dagster.yaml."""
        with QueuedRunCoordinatorDaemon(interval_seconds=0) as queue:
            while self.runs(dg.DagsterRunStatus.QUEUED):
                list(queue.run_iteration(self.workspace))

    def _ask(self, query: str, given: Mapping[str, object]) -> Mapping[str, Any]:
        found = execute_dagster_graphql(self.workspace.create_request_context(), query, {"given": given})
        assert not found.errors, found.errors
        return found.data


@contextmanager
def daemon(directory: Path, **values: str) -> Iterator[Daemon]:
    """A harness with a daemon, under the Dagster settings of this project."""
    ours = load_yaml_from_path(str(ROOT / "dagster.yaml"))
    assert isinstance(ours, dict)
    ReconstructableJob.get_definition.cache_clear()  # Dagster keeps the latest job, of another harness
    ReconstructableJob.get_repository_definition.cache_clear()
    with dg.instance_for_test(overrides={**ours, "run_launcher": LAUNCHER}) as instance:
        _current.append(harness(directory, instance, **values))
        _current[-1].give_working_file()
        with create_test_daemon_workspace_context(_ThisProcess(), instance) as workspace:
            yield Daemon(_current[-1], workspace)
