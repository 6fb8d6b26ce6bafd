"""Of which stretch does a snapshot speak, and is it news? Scopes of history, oldest answer first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from duckdb import DuckDBPyConnection

from warehouse.entering import Entry, naive_utc
from warehouse.meta_tables import SCOPES
from warehouse.writing import write

ScopeKey = tuple[str, str, date | None, str | None]
Newest = dict[ScopeKey, datetime]


@dataclass(frozen=True)
class Scope:
    """One month, or one asked id, or all of a report and customer: what a snapshot says is all there is."""

    entry: Entry
    month: date | None
    asked: str | None

    @property
    def key(self) -> ScopeKey:
        return *self.entry.scope, self.month, self.asked


@dataclass(frozen=True)
class Wave:
    """Snapshots that speak of different stretches, and so can be merged at once."""

    entries: tuple[Entry, ...]
    scopes: tuple[Scope, ...]

    def of_report(self, report: str) -> Wave:
        """The part of the wave that is about one report."""
        return Wave(
            tuple(entry for entry in self.entries if entry.load.report == report),
            tuple(scope for scope in self.scopes if scope.entry.load.report == report),
        )


def waves(entries: Sequence[Entry], newest: Newest) -> tuple[list[Wave], list[Entry]]:
    """Sort snapshots into waves, oldest first, and leave out what is older than something merged.

    Answers the waves, and all entries again with the months that were left out.
    """
    newest = dict(newest)
    last_wave: dict[ScopeKey, int] = {}
    sorted_in: dict[int, list[tuple[Entry, list[Scope]]]] = {}
    decided: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda one: naive_utc(one.load.fetched)):
        fetched = naive_utc(entry.load.fetched)
        news = [scope for scope in _scopes(entry) if fetched >= newest.get(scope.key, fetched)]
        months = tuple(month for month in entry.months if any(scope.month == month for scope in news))
        lost = tuple(month for month in entry.load.months if month not in months)
        entry = replace(entry, months=months, superseded=lost)
        decided[entry.load.load_id] = entry
        if news:
            wave = max(last_wave.get(scope.key, -1) for scope in news) + 1
            newest.update({scope.key: fetched for scope in news})
            last_wave.update({scope.key: wave for scope in news})
            sorted_in.setdefault(wave, []).append((entry, [replace(scope, entry=entry) for scope in news]))
    made = [
        Wave(tuple(entry for entry, _ in pairs), tuple(scope for _, scopes in pairs for scope in scopes))
        for _, pairs in sorted(sorted_in.items())
    ]
    return made, [decided[entry.load.load_id] for entry in entries]


def newest_scopes(connection: DuckDBPyConnection, entries: Sequence[Entry]) -> Newest:
    """When the newest snapshot merged so far was fetched, for each scope of these reports and customers."""
    found = connection.execute(
        """
        SELECT report, customer, month, asked, fetched_at_utc FROM meta.history_scopes
        WHERE list_contains($1, report) AND list_contains($2, customer)
        """,
        [list({entry.load.report for entry in entries}), list({entry.load.customer for entry in entries})],
    )
    return {(report, customer, month, asked): at for report, customer, month, asked, at in found.fetchall()}


def remember_scopes(connection: DuckDBPyConnection, made: Sequence[Wave]) -> None:
    """Write down what has been merged, the newest of each scope."""
    newest = {scope.key: scope.entry.load for wave in made for scope in wave.scopes}
    if newest:
        told = [(*key, load.load_id, naive_utc(load.fetched)) for key, load in newest.items()]
        rows = [dict(zip(SCOPES.columns, row, strict=True)) for row in told]
        write(connection, SCOPES, rows, instead_of=["report", "customer", "month", "asked"])


def _scopes(entry: Entry) -> list[Scope]:
    asked: tuple[str | None, ...] = (None,) if entry.load.asked is None else entry.load.asked
    return [Scope(entry, month, one) for month in entry.months for one in asked]
