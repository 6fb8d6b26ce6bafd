"""Imports: what only more than one machine needs is imported by nobody else."""

from __future__ import annotations

import subprocess
import sys

from tests.unit.repository.files import ROOT

EXTRA = ("psycopg", "psycopg2", "obstore", "deltalake", "dagster_postgres")
EVERYTHING = """
import importlib, pkgutil, sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # an import of it fails
import assets, pipelines.cli, pipelines.shards, pipelines.sync, pipelines.upkeep
for room in (assets, pipelines.cli, pipelines.shards, pipelines.sync, pipelines.upkeep):
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        importlib.import_module(module.name)
"""


def test_importing_the_product_imports_nothing_that_only_more_than_one_machine_needs() -> None:
    command = [sys.executable, "-W", "ignore", "-c", EVERYTHING, ",".join(EXTRA)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
