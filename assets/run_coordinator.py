"""Run coordinator of several shards in one Dagster: the queue, in which every run has the tag of its shard.

Jobs could carry the tag themselves; runs of backfills have the tags of the backfill alone. Dagster's web page
and daemon import this module, so it imports nothing of the project.
"""

from __future__ import annotations

import dagster as dg

SHARD = "brokerbi/shard"


class ShardRunCoordinator(dg.QueuedRunCoordinator):
    """Dagster's own queue of runs, to which each comes with the name of its code location as its shard."""

    def submit_run(self, context: dg.SubmitRunContext) -> dg.DagsterRun:
        """Tag a run and put it into the queue."""
        run = context.dagster_run
        if run.remote_job_origin:
            self._instance.add_run_tags(run.run_id, {SHARD: run.remote_job_origin.location_name})
        return super().submit_run(context)
