"""Are Dagster's files in order while and after they are kept open?"""

from __future__ import annotations

from pathlib import Path

import dagster as dg
from dagster._core.events import StepMaterializationData

from assets.telling import kept_open


def tell(instance: dg.DagsterInstance, run_id: str, *keys: str) -> None:
    for key in keys:
        instance.report_dagster_event(
            dg.DagsterEvent(
                event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
                job_name="nightly",
                event_specific_data=StepMaterializationData(dg.AssetMaterialization("sales", partition=key)),
            ),
            run_id,
        )


def test_what_is_told_meanwhile_is_kept_and_the_files_are_tidied_up_afterwards() -> None:
    with dg.instance_for_test() as instance:
        tell(instance, "a run", "c01|2026-01")
        with kept_open(instance, "a run"):
            tell(instance, "a run", "c01|2026-02", "c01|2026-03")
            assert list(Path(instance.root_directory).rglob("*.db-wal")) != []
        tell(instance, "a run", "c01|2026-04")
        assert list(Path(instance.root_directory).rglob("*.db-wal")) == []
        assert instance.get_materialized_partitions(dg.AssetKey("sales")) == {
            f"c01|2026-{month:02}" for month in range(1, 5)
        }


def test_a_run_that_has_told_nothing_yet_has_no_file_to_keep_open() -> None:
    with dg.instance_for_test() as instance, kept_open(instance, "a run"):
        tell(instance, "a run", "c01|2026-01")
        assert instance.get_materialized_partitions(dg.AssetKey("sales")) == {"c01|2026-01"}
