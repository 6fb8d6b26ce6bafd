"""What Dagster does not do, which this project works around: a test that fails says what can go.

| Work-around | It can go when this fails |
|---|---|
| `turn_red` in `results.py` | planned in one event |
| an event for each partition, then a failure, in `reports.py` | for some partitions of a range |
| `wipe_asset_cached_status` in `reports.py` and `publish.py` | `test_publish.py`: lost count of |
| `report_dep` in `marts.py` | staleness is worked out |
| `partitions_of_backfill` in `runs.py` | `test_backfills.py`: several |
| names of Dagster's own in `messages.py`, `reports.py` and `runs.py` | the names it uses |
"""

# No `from __future__ import annotations`: Dagster reads the annotations of an asset's function.
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.asset_graph_view.asset_graph_view import AssetGraphView
from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.definitions.events import AssetKeyPartitionKey
from dagster._core.definitions.temporal_context import TemporalContext
from dagster._core.storage import tags

from assets import messages, reports, runs
from tests.unit.assets.harness import range_tags

MONTHS = dg.StaticPartitionsDefinition(["1", "2", "3"])


@dg.asset(partitions_def=MONTHS, backfill_policy=dg.BackfillPolicy.single_run())
def fails(context: dg.AssetExecutionContext) -> None:
    context.log_event(dg.AssetMaterialization("fails", partition="1"))
    raise dg.Failure("It failed at 2 and 3.")


def test_partitions_that_are_planned_in_one_event_are_not_called_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        for together in ("0", "1"):
            monkeypatch.setenv("DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS", together)
            dg.materialize([fails], instance=instance, tags=range_tags("1", "3"), raise_on_error=False)
            states = instance.get_status_by_partition(fails.key, ["1", "2", "3"], MONTHS)
            found[together] = [state and state.value for state in (states or {}).values()]
            instance.wipe_assets([fails.key])
    assert found == {"0": ["MATERIALIZED", "FAILED", "FAILED"], "1": ["MATERIALIZED", None, None]}


def test_staleness_is_worked_out_over_every_partition_unless_a_dependency_names_none(tmp_path: Path) -> None:
    nothing = dg.SpecificPartitionsPartitionMapping([])
    deps = {"plain": dg.AssetDep("fails"), "ours": dg.AssetDep("fails", partition_mapping=nothing)}
    below = [dg.AssetSpec(name, deps=[one]) for name, one in deps.items()]
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        graph = dg.Definitions([fails, *below]).resolve_asset_graph()
        moment = TemporalContext(effective_dt=datetime(2026, 11, 21, tzinfo=UTC), last_event_id=None)
        view = AssetGraphView(temporal_context=moment, instance=instance, asset_graph=graph)
        resolver = CachingStaleStatusResolver(instance, graph, view)
        found = {
            name: len(resolver._get_partition_dependencies(key=AssetKeyPartitionKey(dg.AssetKey(name))))
            for name in deps
        }
    assert found == {"plain": 3, "ours": 0}


def test_a_result_cannot_be_given_for_some_partitions_of_a_range() -> None:
    assert not hasattr(dg.MaterializeResult(), "partition")


def test_dagsters_own_names_are_the_names_it_uses() -> None:
    ours = {
        messages.JOB_OF_SELECTED_ASSETS: IMPLICIT_ASSET_JOB_NAME,
        messages.WILL_RETRY: tags.WILL_RETRY_TAG,
        reports.RETRY_NUMBER: tags.RETRY_NUMBER_TAG,
        runs.BACKFILL: tags.BACKFILL_ID_TAG,
        runs.RANGE_START: tags.ASSET_PARTITION_RANGE_START_TAG,
        runs.RANGE_END: tags.ASSET_PARTITION_RANGE_END_TAG,
    }
    assert list(ours) == list(ours.values())
