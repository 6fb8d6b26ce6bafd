"""How does a large answer become tables? Part by part, put to rest, where the parts make up the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from pipelines.catalogue.model import Report
from pipelines.months import Month
from pipelines.normalize.branches import stem_of
from pipelines.normalize.documents import Document, Part, read_at_once
from pipelines.normalize.flat import Flat, FlatTable, Found, Rejected, RestingTable
from pipelines.normalize.flatten import flatten
from pipelines.normalize.resting import Rest
from pipelines.normalize.shredding import MOST_COLUMNS, MOST_LISTS

AnyTable = FlatTable | RestingTable


class _Unlike(Exception):
    """Parts that, read together, would have made other tables."""


def flatten_all(
    report: Report,
    pages: Sequence[Document],
    *,
    months: Sequence[Month],
    timezone: str,
    asked: Sequence[str | None],
    directory: Path | None = None,
) -> Flat:
    """Every table of a report, as `flatten` makes them; the rows of large answers rest in a directory."""
    whole = partial(flatten, report, months=months, timezone=timezone)
    if not any(page.is_cut for page in pages):
        return whole(pages, asked=asked)
    parts = _Parts(report, len(pages), Rest(directory) if directory else None)
    try:
        for number, page in enumerate(pages):
            if stem := stem_of(page.parts):
                _refuse_rows(whole([read_at_once(stem.of(page.body), report)]))
            for part, cut in _parts_of(page, report):
                parts.add(whole([part], asked=[asked[number]]), number, cut)
        return parts.flat()
    except _Unlike:
        return whole([page.uncut() for page in pages], asked=asked)


def _parts_of(page: Document, report: Report) -> Iterator[tuple[Document, Part | None]]:
    """A page part by part, and which part of it each is."""
    for part in page.parts:
        yield read_at_once(part.of(page.body), report), part
    if not page.is_cut:
        yield page, None


def _refuse_rows(stem: Flat) -> None:
    if stem.rejected or any(table.height for table in stem.tables):
        raise _Unlike


class _Parts:
    """The parts so far; refuses what depends on more than one of them."""

    def __init__(self, report: Report, pages: int, rest: Rest | None) -> None:
        self._report = report
        self._pages = pages
        self._rest = rest
        self._tables: list[AnyTable] = []
        self._empty: dict[object, FlatTable] = {}
        self._rejected: list[Rejected] = []
        self._found: list[Found] = []
        self._rows: Counter[str] = Counter()
        self._columns: dict[tuple[str, str], tuple[str, str]] = {}  # table and source: name and type
        self._names: dict[tuple[str, str], str] = {}  # table and name: source

    def add(self, flat: Flat, page: int, part: Part | None) -> None:
        """Take the tables of the next part."""
        if flat.found.by_likeness or not flat.found.recognised or flat.found.year_and_month is not None:
            raise _Unlike
        tables = [table for table in flat.tables if isinstance(table, FlatTable)]
        for table in tables:
            self._agree(table)
            if not table.height:
                self._empty.setdefault((table.name, table.columns), table)
        self._tables += [self._numbered(table) for table in tables if table.height]
        for table in tables:
            self._rows[table.name] += table.height
        self._rejected += [self._placed(one, page, part) for one in flat.rejected]
        self._found.append(flat.found)

    def flat(self) -> Flat:
        """All of it, with what only rows had that were turned away."""
        columns = Counter(table for table, _ in self._columns)
        lists = set(columns) - {table.name for table in self._report.tables}
        if max(columns.values(), default=0) > MOST_COLUMNS or len(lists) > MOST_LISTS:
            raise _Unlike
        notes = dict.fromkeys(note for found in self._found for note in found.notes)
        found = Found(
            tuple(note for note in notes if all(note in found.notes for found in self._found)),
            repeated_ids=sum(found.repeated_ids for found in self._found),
            undated=any(found.undated for found in self._found),
        )
        return Flat((*self._tables, *self._empty.values()), tuple(self._rejected), found)

    def _agree(self, table: FlatTable) -> None:
        """Refuse a column that another part calls otherwise, or gives another type."""
        for column in table.columns:
            if column.source:
                said, name = (column.name, column.type), column.name.lower()
                is_same = self._columns.setdefault((table.name, column.source), said) == said
                if not is_same or self._names.setdefault((table.name, name), column.source) != column.source:
                    raise _Unlike

    def _numbered(self, table: FlatTable) -> AnyTable:
        """The table with its rows numbered on from those of the parts before, put to rest."""
        shifts = {"_row": self._rows[table.name], "_parent_row": self._rows[table.parent]}
        frame = table.frame.with_columns(
            pl.col(name) + shift for name, shift in shifts.items() if name in table.frame.columns
        )
        if self._rest is None:
            return replace(table, frame=frame)
        return RestingTable(
            table.name, table.columns, table.key, frame.height, self._rest, self._rest.put(frame)
        )

    def _placed(self, one: Rejected, page: int, part: Part | None) -> Rejected:
        """A place in a part as the place in the whole."""
        place = part.placed(one.place) if part else one.place
        return replace(one, place=f"page {page + 1}: {place}" if self._pages > 1 else place)
