"""Conditions of every test: no environment of ours, and examples that can be repeated."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.optimizers import optimizers_to_leave_out
from warehouse.store import duckdb_file

# Whatever the developer's shell says about a real service must not reach a test.
for name in [name for name in os.environ if name.startswith(("BROKERBI_", "DAGSTER_"))]:
    if not name.startswith("BROKERBI_TEST_"):
        del os.environ[name]
os.environ["DAGSTER_DISABLE_TELEMETRY"] = "yes"
os.environ["DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS"] = "yes"

# What tests write is in memory, where there is room, until they have ended; with TMPDIR set it is there.
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="brokerbi-", dir=MEMORY)
    Path(tempfile.tempdir).chmod(0o711)  # a PostgreSQL of the tests is another user
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)

# `make test` tries the same examples every time; `--hypothesis-profile=thorough` tries many new ones.
# A shared machine is slow now and then, and a slow example is no wrong example.
settings.register_profile(
    "quick", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("quick"), derandomize=False, max_examples=2_000)
settings.load_profile("quick")

DEAREST = ("scenarios", "assets", "marts")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests wait for processes of their own now and then."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """What is imported by now stays, so no collection of garbage need look at it again.

    The product's own files are opened with few of DuckDB's optimizers in this process, which takes a seventh
    of its time; demo, servers and processes that are killed have all of them.
    """
    duckdb_file._CONFIG["disabled_optimizers"] = optimizers_to_leave_out()
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Or DuckDB would call it leaked."""
    gc.unfreeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The dearest files first, in random order otherwise: no process is left alone with one in the end."""
    items.sort(key=lambda one: [folder not in one.path.parts for folder in DEAREST])
