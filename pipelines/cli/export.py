"""Command `export`: the published file as Parquet, CSV or an Excel workbook."""

from __future__ import annotations

import argparse
import os

from pipelines.cli.output import complain, duration, size
from pipelines.clock import SystemClock
from pipelines.operations.export import Export, export
from pipelines.settings.model import load_settings


def run_export(arguments: argparse.Namespace) -> int:
    """Write the files that the arguments name, or else the settings."""
    settings = load_settings(os.environ, reading=True)
    made = export(
        settings.data_dir,
        formats=list(dict.fromkeys(arguments.format or settings.export_formats or ("parquet",))),
        to=arguments.to or settings.export_to,
        tables=arguments.table,
        now=SystemClock().utc_now(),
    )
    print_export(made)
    return 0


def print_export(made: Export) -> None:
    """Where it is, how large, and what it lacks."""
    print(f"exported to {made.place} ({made.files} files, {size(made.bytes)}, {duration(made.seconds)})")
    for table in made.too_long:
        complain(f"brokerbi: {table} is longer than a sheet of Excel; it is not in the workbook")
