"""Which reports are there? `brokerbi reports` lists them with their limits and tables."""

from __future__ import annotations

import argparse
import json
import sys

from pipelines.catalogue.model import Report, StoredAs
from pipelines.catalogue.reports import REPORTS


def run(arguments: argparse.Namespace) -> int:
    """Print every report of the catalogue, as a table or as JSON."""
    if arguments.json:
        json.dump(
            [_described(report) for report in REPORTS.values()], sys.stdout, indent=2, ensure_ascii=False
        )
        sys.stdout.write("\n")
        return 0
    from pipelines.cli.printing import print_table

    print_table(
        ["report", "subject", "asked", "window", "kept as", "tables"],
        [
            [
                report.name,
                report.subject,
                "on demand" if report.on_demand else "yes" if report.enabled else "off",
                f"{report.max_months} mo" if report.has_months else "-",
                "history" if report.stored_as is StoredAs.HISTORY else "months",
                ", ".join(f"bi.{table.name}" for table in report.tables),
            ]
            for report in REPORTS.values()
        ],
    )
    return 0


def _described(report: Report) -> dict[str, object]:
    return {
        "name": report.name,
        "subject": report.subject,
        "description": report.description,
        "path": report.path,
        "query": dict(report.query),
        "longest_window_months": report.max_months if report.has_months else None,
        "kept_as": report.stored_as.value,
        "paged": report.paged,
        "on": report.enabled,
        "on_demand": report.on_demand,
        "tables": [f"bi.{table.name}" for table in report.tables],
    }
