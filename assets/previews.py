"""What do the newest rows look like? A few of them, with numbers and dates but without texts about people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from assets.judging import Look, State, Verdict
from assets.squares import Square
from warehouse.opening import literal, quoted
from warehouse.store import Store

ROWS = 5
MOST_COLUMNS = 7
NO_WORDS = ("VARCHAR", "JSON", "BLOB")
PLACES = frozenset({"_customer", "office_id", "office_name", "office_customer_id"})
"""Texts that say nothing about a person. Dagster keeps what it is told for good, so the others stay out."""
OF_OURS = frozenset({"_row", "_parent_row", "_load_id", "_fetched_at_utc"})


class Rows(Protocol):
    """A table or a part of it, as the warehouse's connection gives it."""

    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def types(self) -> Sequence[object]: ...
    def filter(self, condition: Any, /) -> Rows: ...
    def project(self, columns: Any, /) -> Rows: ...
    def limit(self, rows: int, /) -> Rows: ...
    def __len__(self) -> int: ...
    def fetchall(self) -> Sequence[Sequence[object]]: ...


class Tables(Protocol):
    """Where tables are found by name."""

    def table(self, name: str, /) -> Rows: ...


def preview(rows: Rows) -> str:
    """Some rows as a markdown table; empty when there are none."""
    shown = [name for name, kind in zip(rows.columns, rows.types, strict=True) if _is_shown(name, str(kind))]
    shown = shown[:MOST_COLUMNS]
    found = rows.limit(ROWS).project(", ".join(map(quoted, shown))).fetchall() if shown else []
    if not found:
        return ""
    lines = [f"| {' | '.join(shown)} |", f"|{'---|' * len(shown)}"]
    lines += [f"| {' | '.join('' if one is None else str(one) for one in row)} |" for row in found]
    return "\n".join(lines)


def look(rows: Rows) -> Look:
    """What there is to see of a table or a part of it."""
    columns = {name: str(kind) for name, kind in zip(rows.columns, rows.types, strict=True)}
    return Look(columns, preview(rows))


def with_looks(verdicts: Sequence[Verdict], store: Store) -> list[Verdict]:
    """The same verdicts; the newest square of each report that was fetched shows what its table holds."""
    newest = {one.square.report.name: one for one in verdicts if one.state is State.FETCHED}
    with store.reading() as connection:
        looks = {id(one): _look_at(one.square, connection) for one in newest.values()}
    return [replace(one, look=looks.get(id(one))) for one in verdicts]


def _look_at(square: Square, tables: Tables) -> Look:
    rows = tables.table(f"bi.{quoted(square.report.tables[0].name)}")
    if square.month is None:
        return look(rows)
    of_square = f"_customer = {literal(square.customer)} AND _month = DATE '{square.month.first_day}'"
    return look(rows.filter(of_square))


def _is_shown(name: str, kind: str) -> bool:
    return name not in OF_OURS and (name in PLACES or not kind.startswith(NO_WORDS))
