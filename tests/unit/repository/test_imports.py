"""Imports: a library that is optional is only imported if its setting is used."""

from __future__ import annotations

import subprocess
import sys

from tests.unit.repository.files import ROOT

EXTRA = ("psycopg2", "deltalake", "dagster_postgres")
EVERYTHING = """
import importlib, pkgutil, sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # an import of it fails
import assets, pipelines.cli, pipelines.sync, pipelines.upkeep, warehouse
for room in (assets, pipelines.cli, pipelines.sync, pipelines.upkeep, warehouse):
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        importlib.import_module(module.name)
"""


def test_importing_the_product_imports_no_optional_library() -> None:
    command = [sys.executable, "-W", "ignore", "-c", EVERYTHING, ",".join(EXTRA)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
