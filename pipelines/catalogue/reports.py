"""All reports by name, from every subject."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipelines.catalogue import bidding, budgets, commissions, leads, people, sales
from pipelines.catalogue.model import Report

SUBJECTS = (commissions, sales, leads, people, budgets, bidding)


def _placed(reports: Sequence[Report]) -> Iterator[Report]:
    """The reports with their places: those that are off come last, so one more of them moves no other."""
    by_place = sorted(reports, key=lambda entry: not entry.timing.enabled)
    places = {entry.name: place for place, entry in enumerate(by_place)}
    for entry in reports:
        yield replace(entry, timing=replace(entry.timing, place=places[entry.name]))


REPORTS: Mapping[str, Report] = {
    entry.name: entry for entry in _placed([entry for subject in SUBJECTS for entry in subject.REPORTS])
}


def report(name: str, catalogue: Mapping[str, Report] = REPORTS) -> Report:
    """The report of that name; raises ValueError, which names the nearest ones, when there is none."""
    if name in catalogue:
        return catalogue[name]
    near = difflib.get_close_matches(name, catalogue, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "`brokerbi reports` lists them all."
    raise ValueError(f"There is no report named {name!r}; {advice}")
