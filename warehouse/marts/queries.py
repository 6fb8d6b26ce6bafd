"""SQL files as data: the question of each, the meaning of its columns, and the tables that it reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.store.duckdb_file import mappings
from warehouse.store.meta_schema import entries, read_header

SQL = Path(__file__).resolve().parents[2] / "sql"
"""The folder of all queries."""
COMMENT_OR_TEXT = re.compile(r"--.*|'(?:[^']|'')*'")
TABLE = re.compile(r"\b(bi|staging|marts|meta)\.(\w+)")


class QueryError(Exception):
    """A SQL file cannot be used; the message names the file and the error."""


@dataclass(frozen=True)
class Query:
    """A SQL file: a single SELECT under a header of comments.

    The header's first line is the question. The next lines state the grain and pitfalls. Sections follow:
    - `Columns:` the meaning of each column
    - `Parameters:` the parameters of a mart, which make it a table macro, or the variables of an analysis
    - `Kind:` view or table; by default a mart is a table, and a staging query is a view
    - `Key:` the columns that identify a row
    - `Severity:` the severity of a check
    - `Blocks:` `nothing`, if the file is published although a check of severity error finds rows
    - `Concerns:` the figures of the pages that a check makes doubtful
    - `For each:` a second query. A check is repeated for each of its rows (see `checks.expanded_sql`). A mart
      is built in parts, one for each such row, with the row's values as variables
    """

    path: Path
    schema: str
    name: str
    table: str
    question: str
    notes: str
    columns: Mapping[str, str]
    severity: str
    blocks: bool
    concerns: str
    for_each: str
    parameters: tuple[str, ...]
    key: tuple[str, ...]
    kind: str
    sql: str
    reads: frozenset[tuple[str, str]]


def queries(folder: Path, schema: str) -> list[Query]:
    """The queries of a folder, sorted by name; raises QueryError if a file has no header.

    If a header has `Columns: as other`, the meanings of the columns are those in the header of `other.sql`.
    """
    by_name: dict[str, Query] = {}
    copied_from: dict[str, str] = {}
    for path in sorted(folder.glob("*.sql")):
        select = path.read_text(encoding="utf-8").rstrip().removesuffix(";")
        prose, sections = read_header(select)
        if not any(prose):
            raise QueryError(f"{path} has no header; its first line should be a comment with its question")
        described, severity = entries(sections["Columns"]), " ".join(sections["Severity"]).strip()
        if sections["Columns"][:1] and (first := sections["Columns"][0].strip()).startswith("as "):
            copied_from[path.stem] = first.removeprefix("as ")
        by_name[path.stem] = Query(
            path=path,
            schema=schema,
            name=path.stem,
            table=f"{schema}.{path.stem}",
            question=prose[0],
            notes=" ".join(filter(None, prose[1:])),
            columns={entry.partition(" ")[0]: words for entry, words in described.items()},
            severity=severity,
            blocks=severity == "error" and " ".join(sections["Blocks"]).strip() != "nothing",
            concerns=" ".join(sections["Concerns"]).strip(),
            for_each=" ".join(sections["For each"]).strip(),
            parameters=_names(sections["Parameters"]),
            key=_names(sections["Key"]),
            kind=" ".join(sections["Kind"]).strip() or ("table" if schema == "marts" else "view"),
            sql=select,
            reads=tables_read(select),
        )
    for name, other in copied_from.items():
        by_name[name] = replace(by_name[name], columns=by_name[other].columns)
    return [*by_name.values()]


def by_dependency(unordered: Iterable[Query]) -> list[Query]:
    """The queries, each after those that it reads; raises CycleError if they form a cycle."""
    by_table = {query.table: query for query in unordered}
    needs = {
        table: sorted(name for name in map(".".join, query.reads) if name in by_table and name != table)
        for table, query in by_table.items()
    }
    return [by_table[table] for table in TopologicalSorter(needs).static_order()]


def tables_read(sql: str) -> frozenset[tuple[str, str]]:
    """Schema and name of everything in bi, staging, marts and meta that a query reads."""
    return frozenset(TABLE.findall(COMMENT_OR_TEXT.sub(" ", sql)))


def rows_by_query(
    connection: DuckDBPyConnection,
    folder: Path,
    names: Iterable[str] = (),
    variables: Mapping[str, object] | None = None,
) -> dict[str, list[dict[str, Any]] | None]:
    """The rows of the named queries of a folder, or of all its queries, by name.

    A query may use the macros of sql/macros.sql and, by getvariable(), these `variables`. A query has
    None instead of rows if it reads a table or column that an older or partly built database lacks.
    """
    rows: dict[str, list[dict[str, Any]] | None] = {}
    with suppress(duckdb.CatalogException):  # an old file has no time zone; the macros come before it
        connection.execute((SQL / "macros.sql").read_text("utf-8"))
    for name, value in (variables or {}).items():
        connection.execute(f"SET VARIABLE {name} = $1", [value])
    for name in names or sorted(path.stem for path in folder.glob("*.sql")):
        try:
            answer = connection.execute((folder / f"{name}.sql").read_text("utf-8"))
        except (duckdb.CatalogException, duckdb.BinderException):
            rows[name] = None
        else:
            rows[name] = mappings(answer)
    return rows


def _names(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(" ".join(lines).replace(",", " ").split())
