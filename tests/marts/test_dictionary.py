"""The dictionary and the comments: every table and column says what it means."""

from __future__ import annotations

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from pipelines.sync.declaration import declared_tables
from tests.marts.given import FIRST_MOMENT, build, warehouse
from warehouse.marts import build_marts
from warehouse.meta_schema import statements
from warehouse.queries import SQL, queries
from warehouse.schema_evolution import declare


@pytest.fixture(scope="module")
def file() -> DuckDBPyConnection:
    """A working file as the store makes it, with its comments, and its marts."""
    connection = duckdb.connect()
    for statement in statements():
        connection.execute(statement)
    declare(connection, declared_tables(), FIRST_MOMENT)
    build_marts(connection)
    return connection


def test_every_table_view_macro_and_column_has_a_meaning(file: DuckDBPyConnection) -> None:
    found = file.execute(
        "SELECT schema_name, table_name, column_name FROM meta.dictionary "
        "WHERE coalesce(description, '') = ''"
    ).fetchall()
    assert found == []


def test_the_dictionary_holds_every_column_of_the_file(file: DuckDBPyConnection) -> None:
    missing = file.execute(
        "SELECT schema_name, table_name, column_name FROM duckdb_columns() "
        "WHERE schema_name IN ('bi', 'marts', 'meta') "
        "EXCEPT SELECT schema_name, table_name, column_name FROM meta.dictionary"
    ).fetchall()
    assert missing == []


def test_a_column_of_the_service_keeps_its_meaning_source_and_report(file: DuckDBPyConnection) -> None:
    found = file.execute(
        "SELECT is_documented, source, report FROM meta.dictionary "
        "WHERE table_name = 'commission_office' AND column_name = 'office_customer_id'"
    ).fetchall()
    assert found == [(True, "office.customerId", "commission_office")]


def test_a_mart_carries_its_question_and_its_columns_as_comments(file: DuckDBPyConnection) -> None:
    [(table,)] = file.execute(
        "SELECT comment FROM duckdb_tables() WHERE table_name = 'office_month'"
    ).fetchall()
    assert table.startswith("What did each office earn and do, month by month? One row per office and month")


def test_a_meaning_is_handed_on_to_the_marts_that_read_it(file: DuckDBPyConnection) -> None:
    found = file.execute(
        "SELECT DISTINCT description FROM meta.dictionary "
        "WHERE schema_name = 'marts' AND column_name = 'writing_parts'"
    ).fetchall()
    assert found == [("writing assignments, in parts where shared",)]


def test_a_header_describes_no_column_that_is_not_there(file: DuckDBPyConnection) -> None:
    standing = set(
        file.execute("SELECT schema_name || '.' || table_name, column_name FROM duckdb_columns()").fetchall()
    )
    invented = [
        f"{query.table}.{column}"
        for schema in ("marts", "meta")
        for query in queries(file, SQL / schema, schema)
        for column in query.columns
        if (query.table, column) not in standing
    ]
    assert invented == []


def test_comments_are_written_anew_with_every_build() -> None:
    given = warehouse()
    build(given, "offices")
    build(given, "offices")
    assert given.execute("SELECT count(*) FROM meta.dictionary WHERE table_name = 'offices'").fetchall() == [
        (4,)
    ]
