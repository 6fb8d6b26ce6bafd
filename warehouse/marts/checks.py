"""Checks of the data: each is a query for rows that should not exist."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import DAMAGED_WORDS
from warehouse.marts.queries import SQL, Query, queries
from warehouse.store.duckdb_file import insert_rows, literal, mappings, quoted

SAMPLE_ROWS = 5
AFFECTED_COLUMNS = (
    *("customer_id", "yielding_customer_id", "office_id", "earner_id", "report", "month", "measure"),
    *("shared_offices", "is_contained", "source_state", "offices", "reports", "last_read_utc"),
)
"""Columns that say where a violation is. Each distinct combination of values is a subject of the result."""


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: how many rows violate it, a sample of them, and all subjects (AFFECTED_COLUMNS).

    `blocks` is whether the result prevents publication. If a check could not run, `message` says why, and
    `rows` is 1. A check that may block then does so, because the data was not checked.
    """

    name: str
    severity: str
    rows: int
    sample: Sequence[Mapping[str, object]]
    question: str
    message: str = ""
    concerns: str = ""
    subjects: Sequence[Mapping[str, object]] = ()
    blocks: bool = False

    @property
    def passed(self) -> bool:
        return self.rows == 0

    @property
    def finding(self) -> str:
        """The result in one line, as in meta.conditions."""
        if self.message:
            return f"The check {self.name} could not run: {' '.join(self.message.split())}"
        return f"{self.question} {self.name}, {self.rows} {'row' if self.rows == 1 else 'rows'}"


def run_checks(connection: DuckDBPyConnection, folder: Path = SQL / "checks") -> list[CheckResult]:
    """Run every check. Not for use in a transaction, because a check that cannot run would abort it."""
    return [_run(connection, check) for check in queries(folder, "checks")]


def run_and_store_checks(connection: DuckDBPyConnection, at_utc: datetime) -> list[CheckResult]:
    """Commit the transaction, run every check, and begin a new transaction that stores the results."""
    connection.commit()
    results = run_checks(connection)
    connection.begin()
    store_results(connection, results, at_utc)
    return results


def store_results(connection: DuckDBPyConnection, results: Sequence[CheckResult], at_utc: datetime) -> None:
    """Replace the stored results. A check that still finds rows keeps its `since_utc`."""
    failing = "SELECT name, since_utc FROM meta.check_results WHERE row_count > 0"
    earlier = dict(connection.execute(failing).fetchall())
    connection.execute("DELETE FROM meta.check_results")
    now = at_utc.replace(tzinfo=None)
    rows = [
        {
            "name": result.name,
            "severity": result.severity,
            "question": result.question,
            "row_count": result.rows,
            "sample": _json(result.sample),
            "subjects": _json(result.subjects),
            "message": result.message,
            "concerns": result.concerns,
            "finding": result.finding,
            "since_utc": earlier.get(result.name, now) if result.rows else now,
        }
        for result in results
    ]
    insert_rows(connection, "meta.check_results", rows)


def expanded_sql(connection: DuckDBPyConnection, check: Query) -> str:
    """The SQL of a check, repeated for each row of the `For each:` query, if its header has one.

    In each copy, the row's values replace placeholders such as "{table_name}".
    """
    if not check.for_each:
        return check.sql
    parts = []
    for row in mappings(connection.execute(check.for_each)):
        sql = check.sql
        for name, value in row.items():
            sql = sql.replace(f'"{{{name}}}"', quoted(str(value))).replace(
                f"'{{{name}}}'", literal(str(value))
            )
        parts.append(f"({sql}\n)")
    return " UNION ALL ".join(parts) or "SELECT NULL WHERE false"


def _run(connection: DuckDBPyConnection, check: Query) -> CheckResult:
    try:
        rows, sample, subjects = _violations(connection, expanded_sql(connection, check))
        why = ""
    except duckdb.Error as error:
        if DAMAGED_WORDS.search(str(error)):
            raise
        rows, sample, subjects, why = 1, [{"message": str(error)}], [], str(error)
    blocks = check.blocks and rows > 0
    return CheckResult(
        check.name, check.severity, rows, sample, check.question, why, check.concerns, subjects, blocks
    )


def _violations(
    connection: DuckDBPyConnection, sql: str
) -> tuple[int, list[dict[str, object]], list[dict[str, object]]]:
    """The number of a query's rows, the first few of them, and the subjects of all."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE violations AS {sql}")
    sample = mappings(connection.execute(f"FROM violations ORDER BY rowid LIMIT {SAMPLE_ROWS}"))
    if not sample:
        return 0, [], []
    [(rows,)] = connection.execute("SELECT count(*) FROM violations").fetchall()
    names = ", ".join(name for name in AFFECTED_COLUMNS if name in sample[0])
    if not names:
        return rows, sample, [{}]
    distinct = f"SELECT {names} FROM violations GROUP BY ALL ORDER BY min(rowid)"
    return rows, sample, mappings(connection.execute(distinct))


def _json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
