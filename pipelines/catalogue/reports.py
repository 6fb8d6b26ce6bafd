"""The catalogue: all reports by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

from pipelines.catalogue import budgets, commissions, leads, people, sales
from pipelines.catalogue.model import Report

SUBJECTS = (commissions, sales, leads, people, budgets)

_ORDERED = sorted(
    (report for subject in SUBJECTS for report in subject.REPORTS),
    key=lambda report: not report.timing.enabled,
)
"""Reports that are off by default come last; adding one does not shift the due days of those that are on."""
REPORTS: Mapping[str, Report] = {
    report.name: replace(report, timing=replace(report.timing, position=position))
    for position, report in enumerate(_ORDERED)
}


def report(name: str, catalogue: Mapping[str, Report] = REPORTS) -> Report:
    """The report of this name; if there is none, raises ValueError with similar names."""
    if name in catalogue:
        return catalogue[name]
    near = difflib.get_close_matches(name, catalogue, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "`brokerbi reports` lists them all."
    raise ValueError(f"There is no report named {name!r}; {advice}")
