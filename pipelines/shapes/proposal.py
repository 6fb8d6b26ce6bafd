"""Proposal for the shape of a report whose declared shape does not fit its answers.

A field whose values are mostly known ids is an office or user id, regardless of its name. Other fields are
matched by name. If several fields match an id or a needed column, the operator must decide, but fields with
equal ids count as one. A proposal shows no values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipelines.catalogue.model import Column, Report, Table
from pipelines.shapes.paths import NONE, simplified
from pipelines.shapes.places import FoundPlace, describe, places_of

NOT_FOUND = f'not found: remove # and write its path, or "{NONE}"'
MIN_KNOWN_SHARE = 0.5
"""A field has ids if more than this share of its values are known ids; ids of former users may be unknown."""
WHOLE_MONTH = r"^\s*((?:19|20|21)\d\d)-?(0[1-9]|1[0-2])(?:-\d\d(?:[T ].*)?)?\s*$"
"""A month with its year, or any day of it: `2026-03`, `202603`, `2026-03-01`, `2026-03-01T00:00:00`."""
NUMBER_OF_MONTH = r"^\s*(0?[1-9]|1[0-2])\s*$"
# Column -> the simplified names that its field may have.
NAMES: Mapping[str, Sequence[str]] = {
    "office_id": ("customerid", "officecustomerid"),
    "office_named": ("officeid", "officenumber", "officeno"),
    "user_id": ("userid", "agentid", "realtorid", "brokerid", "employeeid"),
    "month": ("month", "period", "yearmonth", "date", "monthdate", "perioddate", "startdate"),
    "user_name": ("username", "agentname", "realtorname"),
    "trademark_id": ("trademarkid", "brandid", "id"),
    "trademark": ("trademark", "trademarkname", "brand", "brandname", "name"),
    "commission": ("commission", "totalcommission", "commissionvalue", "commissionamount", "earned"),
    "sold_total_price": ("soldtotalprice", "totalprice", "totalsoldprice"),
    "meetings": ("meetings", "customermeetings", "salemeetings", "meetingstotal"),
    "sold_estate_parts": ("soldestateparts", "soldparts", "estateparts", "parts"),
}
# Example: a field with the measure `sold_budget` may be called `sold`, `goal`, `soldGoal` or `goalSold`.
PLANNED = ("budget", "budgets", "budgeted", "goal", "goals", "target", "targets", "plan", "planned")
MEASURES: Mapping[str, Sequence[str]] = {
    "commission_budget": ("commission", "amount", "value"),
    "sold_budget": ("sold", "soldestates", "estates", "sales", "homes"),
    "registered_budget": ("registered", "intake", "assignments"),
    "meetings_budget": ("total", "meetings", "salemeetings", "meetingstotal", "salemeetingstotal"),
    "own_booked_budget": ("ownbooked", "ownbookedmeetings", "ownmeetings"),
}

IdsByColumn = Mapping[str, set[str]]
"""The known ids that the columns `office_id` and `user_id` may contain."""


@dataclass
class TableProposal:
    """Where the rows of a table may be, the possible paths of each column, and the unused fields."""

    table: Table
    rows: str
    candidates: dict[str, list[str]] = field(default_factory=dict)
    other_fields: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        columns = self.table.columns if self.rows != NONE else ()
        return [column.name for column in columns if column.needed and column.name not in self.candidates]

    @property
    def is_complete(self) -> bool:
        return not self.missing and all(len(paths) == 1 for paths in self.candidates.values())

    def is_better_than(self, other: TableProposal) -> bool:
        """Whether this proposal lacks fewer needed columns than `other`.

        If both lack the same number, this one is better if it has more columns and its rows are not inside
        the rows of `other`.
        """
        fewer = len(other.missing) - len(self.missing)
        is_inside = bool(other.rows) and self.rows.startswith(f"{other.rows}.")
        return fewer > 0 or (fewer == 0 and not is_inside and len(self.candidates) > len(other.candidates))


@dataclass(frozen=True)
class Proposal:
    """The proposed shape of a report."""

    report: Report
    tables: tuple[TableProposal, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the proposal can be adopted without a decision of the operator."""
        return len(self.tables) == len(self.report.tables) and all(table.is_complete for table in self.tables)

    def as_toml(self) -> str:
        """The proposal as a part of `shapes.toml`; uncertain lines are commented out."""
        lines: list[str] = []
        for proposal in self.tables:
            name = proposal.table.name if len(self.report.tables) > 1 else ""
            part = f"{self.report.name}.{name}".rstrip(".")
            lines += [f"[{part}]", f'rows = "{proposal.rows}"', f"[{part}.columns]"]
            for column in proposal.table.columns if proposal.rows != NONE else ():
                path, *doubts = proposal.candidates.get(column.name) or [NONE]
                doubt = f"or {', '.join(doubts)}" if doubts else ""
                if column.name not in proposal.candidates:
                    doubt = NOT_FOUND
                line = f'{column.name} = "{path}"'
                lines.append(f"# {line}   # {doubt}" if doubt else line)
            others = [f"#   {field}" for field in proposal.other_fields]
            lines += [*(["# other fields:"] if others else []), *others, ""]
        return "\n".join(lines)


def propose(report: Report, documents: Sequence[Any], known_ids: IdsByColumn) -> Proposal:
    """The best proposal for a report, from the documents of its answers."""
    places = places_of(documents)
    proposals: dict[str, TableProposal] = {}
    for table in report.tables:
        parent = proposals.get(table.parent or "")
        best: TableProposal | None = None
        for place in places:
            if parent is None or place.path.startswith(f"{parent.rows}."):
                candidate = _proposal(table, place, places, known_ids, parent)
                best = candidate if best is None or candidate.is_better_than(best) else best
        if best and best.candidates:
            proposals[table.name] = best
        elif parent:
            proposals[table.name] = TableProposal(table, NONE)
    return Proposal(report, tuple(proposals.values()))


def _proposal(
    table: Table,
    place: FoundPlace,
    places: Sequence[FoundPlace],
    known_ids: IdsByColumn,
    parent: TableProposal | None,
) -> TableProposal:
    """The proposal for a table, assuming that its rows are at this place."""
    fields = _fields(place, () if parent else places)
    rows = f"@{parent.table.name}.{place.path.removeprefix(f'{parent.rows}.')}" if parent else place.path
    proposal = TableProposal(table, rows)
    taken: set[str] = set()
    for column in table.columns:
        if paths := [path for path in _candidates(column, fields, known_ids) if path not in taken]:
            proposal.candidates[column.name] = paths
        if len(paths) == 1:
            taken.update(paths)
    month = proposal.candidates.get("month", [])
    if len(month) == 1 and _all_match(WHOLE_MONTH, fields[month[0]]):
        proposal.candidates["year"] = [NONE]
    used = {path for paths in proposal.candidates.values() for path in paths}
    unused = (f"{path}: {describe(values[0])}" for path, values in fields.items() if path not in used)
    return replace(proposal, other_fields=tuple(unused))


def _fields(place: FoundPlace, places: Sequence[FoundPlace]) -> dict[str, list[Any]]:
    """The values of every field that may be a column, by path: fields of the rows, then of places above."""
    fields = {f".{path}": values for path, values in place.fields.items()}
    for ancestor in (place, *reversed(places)):
        if ancestor is not place and place.path.startswith(ancestor.path):
            prefix = f"{ancestor.path}." if ancestor.path else ""
            fields |= {f"{prefix}{path}": values for path, values in ancestor.fields.items()}
        if ancestor.keys and place.path.startswith(ancestor.path):
            fields[f"{ancestor.path}#"] = ancestor.keys
    return fields


def _candidates(column: Column, fields: Mapping[str, list[Any]], known_ids: IdsByColumn) -> list[str]:
    """The paths of the fields that may be a column; more than one if the operator must decide."""
    if ids := known_ids.get(column.name):
        paths = [path for path in fields if _are_mostly_in(fields[path], ids)]
        are_equal = len({tuple(map(str, fields[path])) for path in paths}) == 1
        return paths[:1] if are_equal else paths
    if column.name in MEASURES:
        amounts = [path for path in fields if path.startswith(".") and bool not in map(type, fields[path])]
        return measure_fields(column.name, amounts)
    if column.source in fields:
        return [column.source]
    names = NAMES.get(column.name, (simplified(column.name),))
    matches = dict.fromkeys(path for name in names for path in fields if name in _end_names(path))
    named = [path for path in matches if path.startswith(".")] or list(matches)
    if column.name == "month":
        for pattern in (WHOLE_MONTH, NUMBER_OF_MONTH):
            if fitting := [path for path in named if _all_match(pattern, fields[path])]:
                return fitting
        return []
    if column.name == "office_named":
        return [path for path in named if not _are_mostly_in(fields[path], known_ids["office_id"])][:1]
    return named if column.needed else named[:1]


def measure_fields(column: str, paths: Iterable[str]) -> list[str]:
    """The paths that end in a name of this budget measure; none if `column` is not a budget measure."""
    if (words := MEASURES.get(column)) is None:
        return []
    planned = {name for word in words for plan in PLANNED for name in (f"{word}{plan}", f"{plan}{word}")}
    return [path for path in paths if {*planned, *words, *PLANNED} & _end_names(path)]


def _are_mostly_in(values: Sequence[Any], ids: Collection[str]) -> bool:
    texts = [str(value).strip() for value in values if value != ""]
    return bool(texts) and sum(text in ids for text in texts) > MIN_KNOWN_SHARE * len(texts)


def _all_match(pattern: str, values: Sequence[Any]) -> bool:
    return all(re.match(pattern, str(value)) for value in values)


def _end_names(path: str) -> set[str]:
    """The last name of a path, and the last two joined."""
    names = path.split(".")
    return {simplified(names[-1]), simplified("".join(names[-2:]))}
