"""Queries of the published file: by name or in SQL, and reading only."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from tests.unit.warehouse.other_process import begun
from warehouse.errors import WarehouseError
from warehouse.publishing.published import InvalidQuery, analyses, first_rows, statement_of, write_answer


@pytest.fixture
def here(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "warehouse.duckdb") as connection:
        connection.execute("CREATE SCHEMA marts")
        connection.execute(
            "CREATE TABLE marts.sums AS "
            "SELECT 'M' || i AS id, (i * 1.5)::DECIMAL(18, 4) AS sum FROM range(9) rows(i)"
        )
        connection.execute("CREATE TABLE marts.offices AS SELECT id AS office_id FROM marts.sums")
    return tmp_path


@pytest.mark.parametrize("name", ["01_best_offices_this_year", "best_offices_this_year", "1", "01"])
def test_an_analysis_is_found_by_its_name_or_number(here: Path, name: str) -> None:
    assert statement_of(here, name, {"year": 2026}).startswith("-- Which offices have earned most")


def test_a_check_is_found_by_its_name(here: Path) -> None:
    assert statement_of(here, "reports_reconcile", {}).startswith("-- Do two reports disagree?")


@pytest.mark.parametrize("name", ["beast", "are_not_negative"])
def test_an_unknown_name_is_rejected_and_so_is_the_end_of_a_name(here: Path, name: str) -> None:
    with pytest.raises(InvalidQuery, match=f"There is no analysis or check '{name}'"):
        statement_of(here, name, {})


def test_a_parameter_that_an_analysis_does_not_take_is_rejected(here: Path) -> None:
    with pytest.raises(InvalidQuery, match="has no parameter office; it takes --year"):
        statement_of(here, "15", {"office": "M1"})


def test_every_analysis_names_the_variables_that_it_reads() -> None:
    read = {one.name: set(re.findall(r"getvariable\('(\w+)'\)", one.sql)) for one in analyses()}
    assert read == {one.name: set(one.parameters) for one in analyses()}


def test_the_first_rows_state_which_columns_are_numbers(here: Path) -> None:
    answer = first_rows(here, "SELECT * FROM marts.sums ORDER BY id", {}, limit=2)
    assert (answer.columns, answer.is_number, answer.has_more) == (["id", "sum"], [False, True], True)
    assert [row[0] for row in answer.rows] == ["M0", "M1"]


def test_a_variable_reaches_the_statement(here: Path) -> None:
    statement = "SELECT count(*) FROM marts.sums WHERE id = coalesce(getvariable('office'), id)"
    counts = [first_rows(here, statement, some, limit=1).rows[0][0] for some in ({}, {"office": "M3"})]
    assert counts == [9, 1]


def test_the_error_for_an_unknown_office_lists_offices(here: Path) -> None:
    with pytest.raises(InvalidQuery, match=r"There is no office 'M9' .*: M0, M1, M2"):
        first_rows(here, "SELECT getvariable('office')", {"office": "M9"}, limit=1)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM marts.sums",
        "SELECT 1; SELECT 2",
        "COPY marts.sums TO 'stolen.csv'",
        "ATTACH 'other.duckdb'",
        "SET enable_external_access = true",
        "",
    ],
)
def test_only_a_single_statement_that_reads_is_run(here: Path, statement: str) -> None:
    with pytest.raises(InvalidQuery, match="one statement that only reads"):
        first_rows(here, statement, {}, limit=1)


def test_no_other_file_can_be_read(here: Path) -> None:
    (here / "secret").write_text("hush", encoding="utf-8")
    with pytest.raises(InvalidQuery, match="cannot answer: Permission Error"):
        first_rows(here, f"FROM read_text('{here / 'secret'}')", {}, limit=1)


@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_a_complete_answer_is_written_to_the_existing_private_file(here: Path, format_: str) -> None:
    path = here / f"answer.{format_}"
    path.touch(mode=0o600)
    write_answer(here, "SELECT sum FROM marts.sums -- all", {}, format_=format_, path=path, formula_chars="=")
    assert path.stat().st_mode & 0o777 == 0o600
    assert duckdb.execute(f"SELECT count(*), sum(sum) FROM '{path}'").fetchall() == [(9, 54)]


def test_a_csv_file_has_an_apostrophe_before_formulas_and_its_numbers_unchanged(here: Path) -> None:
    path = here / "answer.csv"
    question = """
        SELECT text, '-' AS "=head", -1.5 AS amount, -2 AS "count", DATE '2026-01-31' AS day,
               TIMESTAMP '2026-01-01 12:30:00.5' AS moment, ['b', 'c'] AS list, true AS flag
        FROM (VALUES ('=1+1'), ('@a'), (''), (NULL), ('a=1')) AS texts(text) -- last
    """
    write_answer(here, question, {}, format_="csv", path=path, formula_chars="=-@")
    same = '\'-,-1.5,-2,2026-01-31,2026-01-01 12:30:00.5,"[b, c]",true'
    assert path.read_text("utf-8").splitlines() == [
        "text,'=head,amount,count,day,moment,list,flag",
        *(f"{text},{same}" for text in ("'=1+1", "'@a", '""', "", "a=1")),
    ]


def test_a_damaged_file_must_be_published_again(here: Path) -> None:
    (here / "warehouse.duckdb").write_bytes(b"garbage" * 2_000)
    with pytest.raises(WarehouseError, match=r"is damaged .*; run `brokerbi publish`"):
        first_rows(here, "SELECT 1", {}, limit=1)


def test_the_error_for_a_file_open_for_writing_says_to_open_it_read_only(here: Path) -> None:
    with begun("write", here / "warehouse.duckdb") as other:
        with pytest.raises(WarehouseError, match=f"open in process {other.pid}, .* open it read-only"):
            first_rows(here, "SELECT 1", {}, limit=1)
        other.kill()


def test_without_a_published_file_the_next_step_is_named(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match=r"There is no published file .* makes one"):
        first_rows(tmp_path, "SELECT 1", {}, limit=1)
