"""Queries of the published file: each is a single statement that only reads, and reaches no other file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, StatementType

from warehouse.errors import PUBLISHED_FILE_REMEDY, WarehouseError, translate_errors
from warehouse.marts.checks import expanded_sql
from warehouse.marts.queries import SQL, Query, queries
from warehouse.publishing.table_export import NUMBERS, copy_as_csv
from warehouse.store.duckdb_file import literal
from warehouse.store.versions import Versions

FILE_FORMATS = {"json": "FORMAT json, ARRAY", "parquet": "FORMAT parquet"}
"""DuckDB's options for formats other than CSV."""
_READS = {StatementType.SELECT, StatementType.EXPLAIN, StatementType.MULTI}  # MULTI is how a PIVOT arrives
_NUMBER = re.compile(r"\d+")


class InvalidQuery(WarehouseError):
    """A query that the published file cannot answer; the message says why."""


@dataclass(frozen=True)
class Rows:
    """The first rows of an answer, and whether there are more."""

    columns: Sequence[str]
    is_number: Sequence[bool]
    rows: Sequence[Sequence[Any]]
    has_more: bool


def analyses() -> list[Query]:
    """The analyses, sorted by name."""
    return queries(SQL / "analysis", "analysis")


def statement_of(data_dir: Path, text: str, variables: Mapping[str, object]) -> str:
    """The SQL of the analysis or check that `text` names; a text of several words is returned unchanged.

    An analysis may also be named by its number. Raises InvalidQuery for an unknown name, and for a variable
    that the analysis or check does not take.
    """
    name = text.strip().removesuffix(".sql")
    if len(name.split()) != 1:
        return text
    matches = [
        *(
            analysis
            for analysis in analyses()
            if name in (analysis.name, analysis.name.partition("_")[2]) or _has_number(analysis, name)
        ),
        *(check for check in queries(SQL / "checks", "checks") if check.name == name),
    ]
    if not matches:
        raise InvalidQuery(
            f"There is no analysis or check {name!r}; `brokerbi query` lists the analyses. A single "
            "word is taken as a name."
        )
    [query] = matches
    if unknown := sorted(set(variables) - set(query.parameters)):
        options = ", ".join(f"--{parameter}" for parameter in query.parameters) or "no option"
        raise InvalidQuery(f"{query.name} has no parameter {', '.join(unknown)}; it takes {options}.")
    if not query.for_each:
        return query.sql
    with Versions(data_dir).reading() as connection:
        return expanded_sql(connection, query)


def _has_number(query: Query, name: str) -> bool:
    number = _NUMBER.match(query.name)
    return bool(number) and name.isdecimal() and int(name) == int(number[0] if number else 0)


def first_rows(data_dir: Path, statement: str, variables: Mapping[str, object], *, limit: int) -> Rows:
    """At most `limit` rows of the answer; raises InvalidQuery if `statement` fails or does more than read."""
    with _open_published(data_dir, variables) as connection:
        _check_statement(connection, statement)
        answer = connection.execute(statement)
        described = answer.description or ()
        rows = answer.fetchmany(limit + 1)
    is_number = [bool(NUMBERS.fullmatch(str(column[1]))) for column in described]
    return Rows([str(column[0]) for column in described], is_number, rows[:limit], len(rows) > limit)


def write_answer(
    data_dir: Path,
    statement: str,
    variables: Mapping[str, object],
    *,
    format_: str,
    path: Path,
    formula_chars: str,
) -> None:
    """Write the whole answer to a file, as CSV or in one of FILE_FORMATS; raises like `first_rows`.

    An existing file keeps its permissions.
    """
    with _open_published(data_dir, variables, writes=path) as connection:
        _check_statement(connection, statement)
        select = statement.strip().removesuffix(";")
        if format_ == "csv":
            copy_as_csv(connection, select, path, formula_chars)
            return
        # The line break ends a trailing comment of the statement.
        connection.execute(
            f"COPY ({select}\n) TO {literal(str(path))} ({FILE_FORMATS[format_]}, USE_TMP_FILE false)"
        )


def _check_office(connection: DuckDBPyConnection, office: object) -> None:
    office_ids = [
        office_id
        for (office_id,) in connection.execute("SELECT office_id FROM marts.offices ORDER BY 1").fetchall()
    ]
    if office not in office_ids:
        first = ", ".join(office_ids[:10]) + (", ..." if len(office_ids) > 10 else "")
        raise InvalidQuery(f"There is no office {office!r} in the file. Give an id: {first}.")


@contextmanager
def _open_published(
    data_dir: Path, variables: Mapping[str, object], *, writes: Path | None = None
) -> Iterator[DuckDBPyConnection]:
    """Open the published file with these variables set; no other file can be reached, except `writes`."""
    versions = Versions(data_dir)
    with versions.reading() as connection:
        for name, value in variables.items():
            connection.execute(f"SET VARIABLE {name} = $1", [value])
        if "office" in variables:
            _check_office(connection, variables["office"])
        if writes is not None:
            connection.execute(f"SET allowed_paths = [{literal(str(writes))}]")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            with translate_errors(versions.published, PUBLISHED_FILE_REMEDY):
                yield connection
        except duckdb.Error as error:
            raise InvalidQuery(f"The published file cannot answer: {error}") from error


def _check_statement(connection: DuckDBPyConnection, statement: str) -> None:
    kinds = [part.type for part in connection.extract_statements(statement)]
    if len(kinds) != 1 or kinds[0] not in _READS:
        raise InvalidQuery(
            "A query must be one statement that only reads, such as FROM marts.offices; nothing was run."
        )
