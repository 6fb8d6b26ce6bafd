"""Exports: other readers get equal sums and types, complete or not at all; older exports are removed."""

from __future__ import annotations

import csv
import json
import os
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import duckdb
import openpyxl
import polars as pl
import pytest

from pipelines.settings.model import Settings
from pipelines.upkeep.export import export

MEANING = "commission, currency not documented"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "warehouse.duckdb") as connection:
        connection.execute("""
            CREATE SCHEMA marts;
            CREATE SCHEMA bi;
            CREATE TABLE marts.sums AS SELECT
                'M' || i AS office_id, DATE '2026-01-31' + i::INTEGER AS day,
                (i / 8)::DECIMAL(18, 4) AS commission, i AS count, i > 1 AS is_open,
                TIMESTAMP '2026-01-01 12:30:00' AS at_utc, '=1+1' AS formula,
                NULL::DECIMAL(18, 4) AS unknown
            FROM range(3) rows(i);
            COMMENT ON COLUMN marts.sums.commission IS 'commission, currency not documented';
            CREATE TABLE bi.estates AS SELECT 'a,"b"' AS "name of it";
        """)
    return tmp_path


def exported(here: Path, *formats: str, language: Literal["en", "sv"] = "en", **more: Any) -> Path:
    return export(Settings(data_dir=here, language=language), formats=formats, **more)


def test_parquet_files_have_times_doubles_and_meanings(here: Path) -> None:
    exported(here, "parquet")
    path = here / "export" / "latest" / "parquet" / "marts.sums.parquet"
    frame = pl.read_parquet(path)
    assert frame["commission"].to_list() == [0, 0.125, 0.25]
    assert [frame.schema[name] for name in ("day", "commission", "count", "is_open")] == [
        pl.Datetime("us"),
        pl.Float64,
        pl.Int64,
        pl.Boolean,
    ]
    assert json.loads(pl.read_parquet_metadata(path)["columns"])["commission"] == MEANING


def test_a_csv_file_has_numbers_and_no_formula(here: Path) -> None:
    with duckdb.connect(here / "warehouse.duckdb") as connection:
        connection.execute(
            "CREATE TABLE marts.signs AS SELECT -0.25 AS lost, unnest(['-1', '=1', '＝1']) AS text"
        )
    exported(here, "csv")
    with (here / "export/latest/csv/marts.signs.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [["-0.25", "'-1"], ["-0.25", "'=1"], ["-0.25", "'＝1"]]


def workbook(here: Path, basis: str = "'unknown', NULL, ''", **more: Any) -> openpyxl.Workbook:
    """The workbook of a file that was published with this tax basis."""
    with duckdb.connect(here / "warehouse.duckdb") as connection:
        connection.execute(f"""
            CREATE TABLE marts.tax_basis (commission_vat TEXT, vat_rate DECIMAL(4, 2), commission_basis TEXT);
            INSERT INTO marts.tax_basis VALUES ({basis});
            CREATE SCHEMA meta;
            CREATE TABLE meta.publications AS
                SELECT TIMESTAMP '2026-11-21 05:00:00' AS at_utc, 'published' AS status;
        """)
    exported(here, "xlsx", **more)
    return openpyxl.load_workbook(here / "export/latest/brokerbi.xlsx")


def test_a_workbook_has_numbers_days_and_words_for_true_but_no_formula(here: Path) -> None:
    with duckdb.connect(here / "warehouse.duckdb") as connection:
        connection.execute("""
            CREATE TABLE marts.cancelled_sales AS SELECT DATE '2026-02-02' AS noted_on, '=1+1' AS office_name,
                0.25::DECIMAL(18, 4) AS commission, 'L1' AS _load_id;
            CREATE TABLE marts.chain_month AS
                SELECT DATE '2026-10-01' AS month, true AS is_open, 5 AS commission;
            COMMENT ON COLUMN marts.cancelled_sales.commission IS 'commission, currency not documented';
        """)
    book = workbook(here)
    assert book.sheetnames == ["Cover", "Chain", "Cancelled"]
    assert [cell.value for cell in book["Chain"][2]] == [datetime(2026, 10, 1), "yes", 5]
    sheet = book["Cancelled"]
    assert [cell.value for cell in sheet[2]] == [datetime(2026, 2, 2), "=1+1", 0.25]
    assert [cell.data_type for cell in sheet[2]] == ["d", "s", "n"]
    assert (sheet["A2"].number_format, sheet.freeze_panes) == ("yyyy-mm-dd", "A2")
    assert (sheet.page_setup.orientation, sheet.page_setup.fitToHeight) == ("landscape", 0)
    meaning = ("Cancelled", "Commission", "commission", MEANING)
    assert meaning in book["Cover"].iter_rows(values_only=True)


def test_a_workbook_is_in_the_language_of_the_settings(here: Path) -> None:
    with duckdb.connect(here / "warehouse.duckdb") as connection:
        connection.execute("""
            CREATE TABLE marts.headcount_month AS SELECT
                DATE '2026-10-01' AS month, 'office' AS level, 'Kalmar' AS member_name,
                7 AS left_count, 'L1' AS _load_id;
            CREATE TABLE marts.region_month AS SELECT DATE '2026-10-01' AS month, NULL AS region;
            CREATE TABLE marts.office_month AS SELECT 'Kalmar' AS office_name, 125 AS commission,
                DATE '2026-10-01' AS month;
            COMMENT ON COLUMN marts.office_month.commission IS
                'earned, as declared in marts.tax_basis: with VAT';
        """)
    book = workbook(here, "'included', 0.25, 'with VAT'", language="sv")
    assert book.sheetnames == ["Försättsblad", "Kontor", "Bemanning"]
    basis = "utan moms, liksom budgeten: 25 % är avdragen; ej inbetalt är med moms"
    assert [cell.value for cell in book["Försättsblad"]["B"][:2]] == ["2026-11-21", basis]
    english = "excluding VAT, like budgets: 25 % is deducted; commission not yet received includes VAT"
    meaning = ("Kontor", "Provision", "commission", f"earned, {english}")
    assert meaning in book["Försättsblad"].iter_rows(values_only=True)
    assert [cell.value for cell in book["Kontor"][2]] == [datetime(2026, 10, 1), "Kalmar", 100]
    assert list(book["Bemanning"].iter_rows(values_only=True)) == [
        ("Månad", "Nivå", "Avser", "Slutat"),
        (datetime(2026, 10, 1), "kontor", "Kalmar", 7),
    ]


def test_each_table_with_a_long_name_has_its_own_file(here: Path) -> None:
    with duckdb.connect(here / "warehouse.duckdb") as connection:
        for ending in "ab":
            connection.execute(f'CREATE TABLE bi."estates__{"字" * 120}{ending}" AS SELECT 1 AS id')
    exported(here, "csv", "parquet")
    assert [len(names(here / "export" / "latest" / format_)) for format_ in ("csv", "parquet")] == [4, 4]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_earlier_and_unfinished_exports_are_removed(here: Path) -> None:
    (here / "export" / ".unfinished" / "csv").mkdir(parents=True)
    exported(here, "csv")
    exported(here, "parquet")
    assert (names(here / "export"), names(here / "export" / "latest")) == (["latest"], ["parquet"])


@pytest.fixture
def careless() -> Iterator[None]:
    """A process whose umask takes no right away."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("careless")
def test_the_readers_of_the_published_file_may_read_an_export(here: Path) -> None:
    place = here / "far" / "there"
    exported(here, "csv", folder=str(place))
    found = [path for path in (place.parent, place, *place.rglob("*")) if not path.is_symlink()]
    assert {stat.filemode(path.stat().st_mode) for path in found} == {
        "drwxr-x---",
        "-rw-r-----",
        "-rw-------",
    }
    assert (place / "latest" / "csv" / "bi.estates.csv").exists()
