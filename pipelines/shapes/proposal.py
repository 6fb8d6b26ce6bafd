"""A proposal for the shape of a report whose declared one does not fit what arrives.

Ids decide most: a field whose values are those of known offices or users is the office or the user, whatever
it is called. Everything else goes by its name. Where two fields may be one column, nothing is decided: that
is for the operator to say. Nothing here shows a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.catalogue.model import Column, Report, Table
from pipelines.shapes.paths import NONE, simplified
from pipelines.shapes.places import FoundList, lists_of

NOT_FOUND = f'not found: remove # and write its path, or "{NONE}"'
MOST_ARE = 0.5
"""More than this share of a field's values have to be known ids: some offices and users are gone."""
DEEPEST = 3
"""Objects in a row in which a column is looked for."""
YEARS = range(1990, 2200)
MONTHS = {f"{month:02}" for month in range(1, 13)}
# The names that a column may have, simplified. Of a measure the first name means the budget; a bare word,
# which may be the outcome as well, is taken only if no other field fits.
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
    "sold_estate_parts": ("soldestateparts", "soldparts", "estateparts", "parts"),
}
PLANNED = ("budget", "goal", "target", "plan", "planned")
MEASURES: Mapping[str, Sequence[str]] = {
    "commission_budget": ("commission", "amount", "value"),
    "sold_budget": ("sold", "soldestates", "estates", "sales", "homes"),
    "registered_budget": ("registered", "intake", "assignments"),
    "meetings_budget": ("total", "meetings", "salemeetings", "meetingstotal", "salemeetingstotal"),
    "own_booked_budget": ("ownbooked", "ownbookedmeetings", "ownmeetings"),
}


@dataclass(frozen=True)
class KnownIds:
    """The ids of offices and users, as documented reports have stated them."""

    offices: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()

    def of(self, column: str) -> frozenset[str]:
        """The ids that a column may hold."""
        return {"office_id": self.offices, "user_id": self.users}.get(column, frozenset())


@dataclass
class TableProposal:
    """Where the rows of a table may be, and the paths that each of its columns may have."""

    table: Table
    rows: str
    candidates: dict[str, list[str]] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were found, with their paths."""
        return {name: paths[0] for name, paths in self.candidates.items() if len(paths) == 1}

    @property
    def unsure(self) -> list[str]:
        """The columns that several fields may be."""
        return [name for name, paths in self.candidates.items() if len(paths) > 1]

    @property
    def missing(self) -> list[str]:
        """The needed columns that nothing was found for."""
        return [
            column.name
            for column in self.table.columns
            if column.needed and column.name not in self.candidates
        ]

    @property
    def is_complete(self) -> bool:
        """Whether each needed column was found and none has two candidates."""
        return not self.missing and not self.unsure

    @property
    def score(self) -> tuple[int, int]:
        """How many needed columns were found, and how many columns at all."""
        needed = sum(column.needed for column in self.table.columns)
        return needed - len(self.missing), len(self.candidates)

    def is_better_than(self, other: TableProposal) -> bool:
        """Whether more of the wanted columns are here; in a list inside the other's rows, needed ones."""
        if self.rows.startswith(f"{other.rows}."):
            return self.score[0] > other.score[0]
        return self.score > other.score


@dataclass(frozen=True)
class Proposal:
    """The proposed shape of a report; complete ones can be adopted."""

    report: Report
    tables: tuple[TableProposal, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether it can be adopted without asking the operator."""
        return bool(self.tables) and all(table.is_complete for table in self.tables)

    def as_toml(self) -> str:
        """The proposal as a part of `shapes.toml`, with a comment for each line that is unsure."""
        lines: list[str] = []
        several = len(self.report.tables) > 1
        for proposal in self.tables:
            name = f"{self.report.name}.{proposal.table.name}" if several else self.report.name
            lines += [f"[{name}]", f'rows = "{proposal.rows}"', f"[{name}.columns]"]
            for column in proposal.table.columns:
                path, *others = proposal.candidates.get(column.name) or [""]
                line = f'{column.name} = "{path or NONE}"'
                is_lost = column.needed and not path
                doubt = f"or {', '.join(others)}" if others else NOT_FOUND if is_lost else ""
                lines.append(f"# {line}   # {doubt}" if doubt else line)
            lines.append("")
        return "\n".join(lines)


def propose(report: Report, documents: Sequence[Any], known: KnownIds) -> Proposal:
    """The best proposal for a report from answers of one kind."""
    places = lists_of(documents, with_scalars=True)
    head = _scalars_of(documents)
    proposals: list[TableProposal] = []
    for table in report.tables:
        parent = next((done for done in proposals if done.table.name == table.parent), None)
        best: TableProposal | None = None
        for place in places:
            if parent is None or place.path.startswith(f"{parent.rows}."):
                candidate = _proposal(table, place, places, head, known, parent)
                best = candidate if best is None or candidate.is_better_than(best) else best
        if best and best.score[1]:
            proposals.append(best)
        elif table.parent:
            needed = [column.name for column in table.columns if column.needed]
            proposals.append(TableProposal(table, NONE, {name: [NONE] for name in needed}))
    return Proposal(report, tuple(proposals))


def _proposal(
    table: Table,
    place: FoundList,
    places: Sequence[FoundList],
    head: Mapping[str, list[Any]],
    known: KnownIds,
    parent: TableProposal | None,
) -> TableProposal:
    """What each column may be, if the rows are at this place."""
    fields = _fields(place, places, head, parent)
    rows = f"@{parent.table.name}.{place.path.removeprefix(f'{parent.rows}.')}" if parent else place.path
    proposal = TableProposal(table, rows)
    taken: set[str] = set()
    for column in table.columns:
        if paths := [path for path in _candidates(column, fields, known) if path not in taken]:
            proposal.candidates[column.name] = paths
        if len(paths) == 1:
            taken.update(paths)
    if (month := proposal.columns.get("month")) and _names_year(fields[month]):
        proposal.candidates.pop("year", None)
    return proposal


def _fields(
    place: FoundList,
    places: Sequence[FoundList],
    head: Mapping[str, list[Any]],
    parent: TableProposal | None,
) -> dict[str, list[Any]]:
    """The values of every field that a column may be, by its path: of the rows, then of objects around."""
    if place.scalars and not place.objects:
        return {".": place.scalars}
    fields = {f".{path}": values for path, values in _scalars_of(place.objects).items()}
    for around in reversed(places):
        if around.path != place.path and place.path.startswith(around.path) and parent is None:
            fields |= {
                f"{around.path}.{path}": values for path, values in _scalars_of(around.objects).items()
            }
            if around.keys:
                fields[f"{around.path}#"] = list(around.keys)
    if place.keys:
        fields[f"{place.path}#"] = list(place.keys)
    return fields if parent else {**fields, **head}


def _scalars_of(objects: Iterable[Any], above: str = "", depth: int = 0) -> dict[str, list[Any]]:
    """The plain values in objects, by the path that leads to them through objects only."""
    found: dict[str, list[Any]] = {}
    for element in objects:
        for name, value in element.items() if isinstance(element, dict) else ():
            path = f"{above}.{name}" if above else name
            if isinstance(value, dict) and depth < DEEPEST:
                for inner, values in _scalars_of([value], path, depth + 1).items():
                    found.setdefault(inner, []).extend(values)
            elif value is not None and not isinstance(value, list | dict):
                found.setdefault(path, []).append(value)
    return found


def _candidates(column: Column, fields: Mapping[str, list[Any]], known: KnownIds) -> list[str]:
    """The fields that a column may be, the nearest to the row first."""
    if ids := known.of(column.name):
        return _nearest_of_equals([path for path in fields if _are_among(fields[path], ids)], fields)
    if column.name in MEASURES:
        own = [
            path for path, values in fields.items() if path.startswith(".") and all(map(_is_amount, values))
        ]
        return measure_fields(column.name, own)
    if column.source in fields:
        return [column.source]
    names = NAMES.get(column.name, (simplified(column.name),))
    named = dict.fromkeys(path for name in names for path in fields if name in _ends(path))
    fitting = [path for path in named if _may_be(column.name, fields[path], known)]
    if column.name == "month":
        return [path for path in fitting if _names_year(fields[path])] or fitting
    return fitting[:1]


def _may_be(column: str, values: Sequence[Any], known: KnownIds) -> bool:
    """Whether the values of a field that has the name of a column may be that column."""
    if column == "year":
        return all(str(value).strip().isdigit() and int(value) in YEARS for value in values)
    if column == "month":
        return _names_year(values) or {str(value).strip().zfill(2) for value in values} <= MONTHS
    return column != "office_named" or not _are_among(values, known.offices)


def measure_fields(column: str, paths: Iterable[str]) -> list[str]:
    """The fields that may be a measure of a budget: the planned amount, or its outcome."""
    if (words := MEASURES.get(column)) is None:
        return []
    planned = {name for word in words for plan in PLANNED for name in (f"{word}{plan}", f"{plan}{word}")}
    return [path for path in paths if {*planned, *words, *PLANNED} & _ends(path)]


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _nearest_of_equals(paths: list[str], fields: Mapping[str, list[Any]]) -> list[str]:
    """The nearest of fields whose values are the same; all of them if they differ."""
    different = {tuple(map(str, fields[path])) for path in paths}
    return paths[:1] if len(different) == 1 else paths


def _are_among(values: Sequence[Any], ids: frozenset[str]) -> bool:
    texts = [str(value).strip() for value in values if value not in ("", None)]
    return bool(texts) and sum(text in ids for text in texts) > MOST_ARE * len(texts)


def _names_year(values: Sequence[Any]) -> bool:
    """Whether months are written with their years: 2026-03, 202603, or a day of theirs."""
    texts = [str(value).strip().replace("-", "") for value in values]
    return bool(texts) and all(
        text[:6].isdigit() and int(text[:4]) in YEARS and 1 <= int(text[4:6]) <= 12 for text in texts
    )


def _ends(path: str) -> set[str]:
    """The last name of a path, and the last two as one."""
    names = path.split(".")
    return {simplified(names[-1]), simplified("".join(names[-2:]))}
