"""`dbt build` of the exported dbt project on a published file, wherever dbt-duckdb is installed."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.upkeep.export import export


def main() -> int:
    """Export the project and build it, which tests the keys; dbt's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path(".demo"), help="where warehouse.duckdb is")
    parser.add_argument("--dbt", default=shutil.which("dbt"), help="the program of an environment with dbt")
    arguments = parser.parse_args()
    if not arguments.dbt:
        parser.error("dbt is not installed here: name one with --dbt (pip install dbt-core dbt-duckdb)")
    data_dir = arguments.data_dir.absolute()
    with TemporaryDirectory() as folder:
        place = export(data_dir, formats=["dbt"], to=folder, now=datetime.now(UTC)).place
        environment = {
            **os.environ,
            "BROKERBI_DATA_DIR": str(data_dir),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        }
        command = [arguments.dbt, "build", "--profiles-dir", "."]
        return subprocess.run(command, cwd=Path(place) / "dbt", env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
