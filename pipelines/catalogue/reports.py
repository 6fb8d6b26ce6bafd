"""All reports by name, from every subject."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

from pipelines.catalogue import budgets, commissions, leads, live, people, sales
from pipelines.catalogue.model import Report

REPORTS: Mapping[str, Report] = MappingProxyType(
    {
        report.name: replace(
            report,
            timing=replace(report.timing, place=place),
        )
        for place, report in enumerate(
            chain.from_iterable(
                subject.REPORTS for subject in (commissions, sales, leads, live, people, budgets)
            )
        )
    }
)


def report(name: str, catalogue: Mapping[str, Report] = REPORTS) -> Report:
    """The report of that name; raises ValueError, which names the nearest ones, when there is none."""
    if name in catalogue:
        return catalogue[name]
    near = difflib.get_close_matches(name, catalogue, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "`brokerbi reports` lists them all."
    raise ValueError(f"There is no report named {name!r}; {advice}")
