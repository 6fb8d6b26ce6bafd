"""The example questions of sql/analysis: each runs unchanged on a file with its marts built."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import earned, loaded, sold, warehouse
from warehouse.marts import build_marts
from warehouse.queries import SQL, queries

QUESTIONS = sorted((SQL / "analysis").glob("*.sql"))


@pytest.fixture(scope="module")
def file() -> DuckDBPyConnection:
    connection = warehouse()
    office = earned({"office_customer_id": "M1"}, 7)
    loaded(connection, "commission_office", "M1", "2026-01", [office])
    sold(connection, "M1", "2026-01", "M1", "E1", final_price=2000)
    build_marts(connection)
    return connection


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda path: path.stem)
def test_a_question_runs_unchanged(file: DuckDBPyConnection, question: Path) -> None:
    assert file.execute(question.read_text(encoding="utf-8")).fetchall() is not None


def test_there_are_at_least_a_dozen_questions() -> None:
    assert len(QUESTIONS) >= 12


def test_questions_read_only_what_is_published() -> None:
    with duckdb.connect() as connection:
        asked = queries(connection, SQL / "analysis", "analysis")
    read = {schema for query in asked for schema, _ in query.reads}
    assert read == {"marts", "meta"}


def test_a_number_is_led_back_to_its_load(file: DuckDBPyConnection) -> None:
    [question] = [path for path in QUESTIONS if path.stem.endswith("where_a_number_comes_from")]
    found = file.execute(question.read_text(encoding="utf-8")).fetchall()
    sources = [(office, report, customer) for office, _, report, customer, *_ in found]
    assert sources == [("M1", "commission_office", "M1"), ("M1", "sales", "M1")]
