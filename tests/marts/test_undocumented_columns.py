"""Undocumented columns, of any name and type: no query of staging reads them."""

from __future__ import annotations

import re
from collections.abc import Collection
from zlib import crc32

from pipelines.normalize.tables import OUR_COLUMNS
from tests.marts.given import Given, build
from warehouse.marts.queries import SQL, by_dependency, queries
from warehouse.store.duckdb_file import quoted

STAGING = by_dependency(queries(SQL / "staging", "staging"))
WORDS = """
    id type name value date month year status count total amount sum office user key index order group from to
    select table rowid clock asked now row_number version state code number kind label email phone city unit
    price rank share currency level customer users offices months years own_booked registered
    estates_registered tax office_id
""".split()
VALUES = ("7::BIGINT", "'seven'::VARCHAR", """'{"id": "7", "month": 7}'::JSON""", "NULL::VARCHAR")
EVERY_NUMBER = "live_activity"
"""The one table of which every number is read, as each counts something."""
BY_NAME = {"running_commissions": {"user_name"}}
"""What staging/user_names.sql reads if it arrives."""


def names_of_ours() -> set[str]:
    """Every name in the SQL that reads tables of the service, and usual words, in lower case."""
    files = "\n".join([(SQL / "macros.sql").read_text("utf-8"), *(query.sql for query in STAGING)])
    found = set(re.findall(r"[a-z][a-z0-9_]*", re.sub(r"--.*|'[^']*'", " ", files).lower()))
    return (found | {*WORDS}) - {*OUR_COLUMNS} | {"rowid"}


def add_columns(given: Given, names: Collection[str]) -> None:
    """A column of every name in every table that staging reads, of these types by turns."""
    read = {table for query in STAGING for schema, table in query.reads if schema == "bi"} - {EVERY_NUMBER}
    read |= {f"{table}_history" for table in read}
    tables = given.execute(
        "SELECT table_name, list(lower(column_name)) FROM duckdb_columns() WHERE schema_name = 'bi' "
        "AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = 'bi') GROUP BY ALL"
    ).fetchall()
    for at, (table, known) in enumerate(sorted(row for row in tables if row[0] in read)):
        new = sorted({*names} - {*known} - BY_NAME.get(table, set()))
        turns = ((VALUES[(crc32(one.encode()) + at) % len(VALUES)], quoted(one)) for one in new)
        more = "".join(f", {value} AS {name}" for value, name in turns)
        given.execute(f"CREATE OR REPLACE TABLE bi.{quoted(table)} AS SELECT *{more} FROM bi.{quoted(table)}")
        if table.endswith("_history"):
            current = quoted(table.removesuffix("_history"))
            given.execute(
                f"CREATE OR REPLACE VIEW bi.{current} AS SELECT * EXCLUDE (valid_from_utc, valid_to_utc) "
                f"FROM bi.{quoted(table)} WHERE valid_to_utc IS NULL"
            )


def plans(given: Given) -> dict[str, str]:
    """For each query of staging, the columns that it reads, and the type of each expression."""
    found = {}
    given.execute("CREATE SCHEMA staging")
    for query in STAGING:
        given.execute(f"CREATE VIEW {query.table} AS {query.sql}")
        [(_, found[query.name])] = given.execute(f"EXPLAIN (FORMAT json) FROM {query.table}").fetchall()
    given.execute("DROP SCHEMA staging CASCADE")
    return found


def test_no_column_of_the_service_changes_a_query_by_its_name(given: Given) -> None:
    build(
        given, *(f"marts.{table}" for query in STAGING for schema, table in query.reads if schema == "marts")
    )
    before = plans(given)
    add_columns(given, names_of_ours())
    after = plans(given)
    assert [name for name in after if after[name] != before[name]] == []
