"""The report page beside the published file: read from the marts, and no failure when it cannot be."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from pipelines.operations.report_page import refresh_report_page, write_report_page
from pipelines.page.facts import QUERIES, facts_from_rows
from tests.marts.given import build, earned, loaded, warehouse
from warehouse.duckdb_file import literal
from warehouse.errors import WarehouseError
from warehouse.marts import build_marts
from warehouse.queries import SQL, published_rows

NOW = datetime(2026, 3, 20, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a published file: one office, two months, every mart."""
    room = tmp_path_factory.mktemp("published")
    with warehouse() as connection:
        for of_month in ("2026-01", "2026-02"):
            rows = [earned({"office_customer_id": "M1"}, 100)]
            loaded(connection, "commission_office", "M1", of_month, rows)
        build_marts(connection)
        save(connection, room)
    return room


def save(connection: DuckDBPyConnection, room: Path) -> None:
    connection.execute(f"ATTACH {literal(str(room / 'warehouse.duckdb'))} AS published")
    connection.execute("COPY FROM DATABASE memory TO published")


def test_the_marts_have_every_column_that_the_page_asks_for(published: Path) -> None:
    facts = facts_from_rows(published_rows(published, SQL / "page", QUERIES))
    assert facts.missing == ()
    found = [(one.office_id, one.commission, one.is_open) for one in facts.office_months]
    assert found == [("M1", Decimal(100), False)] * 2


def test_a_file_without_some_marts_is_drawn_without_them(tmp_path: Path) -> None:
    with warehouse() as connection:
        build(connection, "office_month")
        save(connection, tmp_path)
    assert "leads" in write_report_page(tmp_path, timezone="Europe/Stockholm", now=NOW).missing
    assert "cannot answer for: budgets" in (tmp_path / "report.html").read_text("utf-8")


def test_the_page_is_put_in_place_whole_and_for_the_same_readers_as_the_file(
    published: Path, tmp_path: Path
) -> None:
    page = write_report_page(published, timezone="Europe/Stockholm", now=NOW, out=tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert page.bytes == page.path.stat().st_size
    assert stat.S_IMODE(page.path.stat().st_mode) == 0o640


def test_without_a_published_file_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="There is no published file"):
        write_report_page(tmp_path, timezone="Europe/Stockholm", now=NOW)


def test_a_page_that_cannot_be_drawn_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "warehouse.duckdb").write_bytes(b"no database")
    why = refresh_report_page(tmp_path, timezone="Europe/Stockholm", now=NOW)
    assert str(why).startswith("The page report.html could not be drawn, the one before stays: ")


def test_a_file_that_somebody_is_writing_in_is_no_failure_either(published: Path) -> None:
    with duckdb.connect(published / "warehouse.duckdb"):
        why = refresh_report_page(published, timezone="Europe/Nowhere", now=NOW)
    assert "could not be drawn" in str(why)
