"""Names of Dagster that our modules spell out, as no private module of it is imported there."""

from __future__ import annotations

from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME
from dagster._core.storage import tags

from assets import messages, reports, runs


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
