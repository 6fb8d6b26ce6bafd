"""The dictionary, the comments and the example questions: every column has a meaning, every question runs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from pipelines.sync.declaration import declared_tables
from tests.marts.given import FIRST_MOMENT, Given, earned, loaded, sold
from warehouse.load.schema_evolution import declare
from warehouse.marts.build import build_marts
from warehouse.marts.queries import SQL, queries, rows_by_query
from warehouse.store.meta_schema import create_meta, write_configured

QUESTIONS = sorted((SQL / "analysis").glob("*.sql"))


@pytest.fixture(scope="module")
def file() -> Given:
    """A working file with its comments, a month of an office, declared VAT, and its marts."""
    connection = duckdb.connect()
    create_meta(connection)
    declare(connection, declared_tables(), FIRST_MOMENT)
    loaded(connection, "commission_office", "M1", "2026-01", [earned({"office_customer_id": "M1"}, 7)])
    sold(connection, "M1", "2026-01", "M1", "E1", final_price=2000)
    write_configured(connection, "tax_basis", [{"commission_vat": "included", "vat_rate": Decimal("0.25")}])
    connection.execute("ALTER TABLE bi.commission_office ADD COLUMN odd BIGINT")
    connection.execute(
        "INSERT INTO meta.columns BY NAME SELECT 'commission_office' AS table_name, 'odd' AS column_name, "
        "'BIGINT' AS type, false AS documented, $1 AS source",
        ["odd\x00\x1b\x9b\u202e"],
    )
    build_marts(connection)
    return connection


def test_every_query_of_the_pages_runs_on_a_complete_file_and_an_older_one_has_no_rows(file: Given) -> None:
    complete, older = (rows_by_query(one, SQL / "page").items() for one in (file, duckdb.connect()))
    assert [name for name, rows in complete if rows is None] == [name for name, rows in older if rows] == []


def test_every_table_view_macro_and_column_has_a_meaning(file: Given) -> None:
    assert file.execute("FROM meta.dictionary WHERE coalesce(description, '') = ''").fetchall() == []


def test_the_dictionary_holds_every_column_of_the_file(file: Given) -> None:
    names = "SELECT schema_name, table_name, column_name"
    ours = f"{names} FROM duckdb_columns() WHERE schema_name IN ('bi', 'marts', 'meta')"
    assert file.execute(f"{ours} EXCEPT {names} FROM meta.dictionary").fetchall() == []


def test_a_mart_is_made_of_the_tables_behind_its_staging(file: Given) -> None:
    found = file.execute(
        "SELECT from_schema_name || '.' || from_table_name FROM meta.mart_sources "
        "WHERE table_name = 'sale_shares' ORDER BY ALL"
    ).fetchall()
    assert {"bi.sales_agents", "marts.sales"} <= {name for (name,) in found}


def test_a_column_of_the_service_keeps_its_meaning_source_and_report(file: Given) -> None:
    found = file.execute(
        "SELECT is_documented, source, report FROM meta.dictionary "
        "WHERE table_name = 'sales_estates' AND column_name = 'type_text'"
    ).fetchall()
    assert found == [(True, "type.text", "sales")]


def test_a_key_with_control_characters_is_described_without_them(file: Given) -> None:
    found = file.execute(
        "SELECT source, description FROM meta.dictionary WHERE column_name = 'odd' AND schema_name = 'bi'"
    ).fetchall()
    assert found == [("odd����", "not documented; found in the answer at odd����")]


def test_marts_inherit_the_meanings_of_the_columns_that_they_read(file: Given) -> None:
    found = file.execute(
        "SELECT DISTINCT description FROM meta.dictionary "
        "WHERE schema_name = 'marts' AND column_name = 'writing_parts'"
    ).fetchall()
    assert found == [("writing assignments (contract only), in parts if shared",)]


def test_a_header_describes_only_existing_columns(file: Given) -> None:
    query = "SELECT schema_name || '.' || table_name, column_name FROM duckdb_columns()"
    standing = set(file.execute(query).fetchall())
    invented = [
        f"{query.table}.{column}"
        for schema in ("marts", "meta")
        for query in queries(SQL / schema, schema)
        for column in query.columns
        if (query.table, column) not in standing
    ]
    assert invented == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda path: path.stem)
def test_a_question_runs_unchanged(file: Given, question: Path) -> None:
    assert file.execute(question.read_text(encoding="utf-8")).fetchall() is not None


def test_every_mart_except_one_of_equal_rows_names_its_key() -> None:
    marts = [query for query in queries(SQL / "marts", "marts") if not query.parameters]
    assert [query.name for query in marts if not query.key] == ["running_commissions"]


def test_a_key_names_columns_that_are_there(file: Given) -> None:
    pairs = "SELECT schema_name, table_name, unnest(columns) FROM meta.keys"
    standing = "SELECT schema_name, table_name, column_name FROM duckdb_columns()"
    assert file.execute(f"{pairs} EXCEPT {standing}").fetchall() == []


def test_relations_lead_from_known_columns_to_known_columns(file: Given) -> None:
    standing = "SELECT schema_name, table_name, column_name FROM duckdb_columns()"
    ends = (
        "SELECT schema_name, table_name, unnest(columns) FROM meta.relations "
        "UNION SELECT to_schema_name, to_table_name, unnest(to_columns) FROM meta.relations"
    )
    assert file.execute(f"FROM ({ends}) EXCEPT {standing}").fetchall() == []
    [(kinds,)] = file.execute("SELECT list_sort(list(DISTINCT kind)) FROM meta.relations").fetchall()
    assert kinds == ["id", "load", "parent"]


def test_the_comment_of_a_commission_says_how_its_vat_is_declared(file: Given) -> None:
    where = "WHERE schema_name = 'marts' AND table_name = 'office_month' AND column_name = 'commission'"
    [(said,)] = file.execute(f"SELECT comment FROM duckdb_columns() {where}").fetchall()
    assert said.endswith("tax basis as declared in marts.tax_basis: with VAT of 25 %")


def test_every_metric_is_computed_from_its_mart_by_its_grain(file: Given) -> None:
    metrics = file.execute("SELECT mart, expression, grain FROM meta.metrics").fetchall()
    for mart, expression, grain in metrics:
        file.execute(f"SELECT {grain}, {expression} FROM marts.{mart} GROUP BY {grain}")
    doubts = file.execute("SELECT doubt FROM meta.metrics EXCEPT SELECT subject FROM meta.subjects")
    assert doubts.fetchall() == []
