"""Run coordinator for several shards in one Dagster: a queue that tags every run with its shard.

A job's own tags would not do: the runs of a backfill have only the backfill's tags. Dagster's webserver and
daemon import this module, so it imports nothing of the project.
"""

from __future__ import annotations

import dagster as dg

SHARD = "brokerbi/shard"


class ShardRunCoordinator(dg.QueuedRunCoordinator):
    """Dagster's own run queue, which also tags each run with its shard: the name of its code location."""

    def submit_run(self, context: dg.SubmitRunContext) -> dg.DagsterRun:
        run = context.dagster_run
        if run.remote_job_origin:
            self._instance.add_run_tags(run.run_id, {SHARD: run.remote_job_origin.location_name})
        return super().submit_run(context)
