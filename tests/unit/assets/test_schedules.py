"""Tests of the nightly schedule: once a night, of all active customers, named after the day it runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg

from assets.project import Project
from assets.runs import NIGHT_TAG, RANGE_END, RANGE_START
from tests.unit.assets.harness import TODAY, run_requests, settings

STOCKHOLM = ZoneInfo("Europe/Stockholm")
LONG_AGO = datetime(2026, 11, 19, 5, tzinfo=STOCKHOLM)


def test_a_nightly_run_is_named_after_the_clock_and_goes_before_others(tmp_path: Path) -> None:
    project = Project(settings(tmp_path, today=str(TODAY)))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        [request] = run_requests(project, "nightly", LONG_AGO, instance)
    assert request.run_key == "night 2026-11-19 05:00"
    assert (request.tags[NIGHT_TAG], request.tags["dagster/priority"]) == (str(TODAY), "10")


def test_the_night_covers_the_latest_months_of_the_customers_that_are_switched_on(tmp_path: Path) -> None:
    project = Project(settings(tmp_path, today=str(TODAY), customer__c01__active="false"))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        [request] = run_requests(project, "nightly", LONG_AGO, instance)
    assert (request.tags[RANGE_START], request.tags[RANGE_END]) == ("c02|2026-09", "c03|2026-11")
