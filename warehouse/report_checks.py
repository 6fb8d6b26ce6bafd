"""Checks of one report each: the same questions about all reports, answered together and told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.database import Store
from warehouse.duckdb_file import mappings
from warehouse.queries import SQL, Query, queries

FOLDER = "report_checks"
KEYS = "documented_keys_are_unique"
SAMPLE_ROWS = 5


@dataclass(frozen=True)
class Offence:
    """How many rows of one report offend a check, and some of them."""

    rows: int
    sample: Sequence[Mapping[str, object]]


def report_checks(sql: Path = SQL) -> list[Query]:
    """Every check of a single report; that of keys is one of the whole file as well."""
    whole = [one for one in queries(sql / "checks", "checks") if one.name == KEYS]
    return [*queries(sql / FOLDER, FOLDER), *whole]


def find_offences(store: Store) -> dict[tuple[str, str], Offence]:
    """What offends, by name of check and report."""
    found: dict[tuple[str, str], list[Mapping[str, object]]] = {}
    with store.reading() as connection:
        for check in report_checks():
            sql = check.sql
            if check.name == KEYS:
                sql = (
                    f"SELECT report, found.* FROM ({sql}) AS found INNER JOIN meta.tables USING (table_name)"
                )
            for cells in mappings(connection.execute(sql)):
                found.setdefault((check.name, str(cells.pop("report"))), []).append(cells)
    return {key: Offence(len(rows), rows[:SAMPLE_ROWS]) for key, rows in found.items()}
