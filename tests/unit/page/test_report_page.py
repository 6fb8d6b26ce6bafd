"""The report page next to the published file: read from the marts, and no failure when it cannot be."""

from __future__ import annotations

import stat
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from duckdb import DuckDBPyConnection

from pipelines.clock import RehearsalClock, SystemClock
from pipelines.settings.model import Settings
from pipelines.upkeep.report_page import remove_pages, write_report_page
from tests.marts.given import build, earned, loaded, warehouse
from tests.unit.page.given import columns_of
from tests.unit.page.test_dictionary import ROWS
from warehouse.marts.build import build_marts
from warehouse.store.duckdb_file import literal, quoted

CLOCK = RehearsalClock(SystemClock(), date(2026, 3, 20), ZoneInfo("UTC"))


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
    [(ours,)] = connection.execute("SELECT current_database()").fetchall()
    connection.execute(f"COPY FROM DATABASE {quoted(ours)} TO published")


@pytest.mark.parametrize("query", ROWS)
def test_a_query_has_the_columns_that_the_dictionary_is_tested_with(query: str) -> None:
    assert columns_of(query) == [*ROWS[query][0]]


def test_pages_are_made_from_a_file_that_lacks_some_marts(tmp_path: Path) -> None:
    with warehouse() as connection:
        build(connection, "office_month")
        save(connection, tmp_path)
    write_report_page(Settings(data_dir=tmp_path), CLOCK)
    assert "The file lacks: " in (tmp_path / "operators.html").read_text("utf-8")
    assert "the next publication may have them" in (tmp_path / "report.html").read_text("utf-8")


def test_every_office_has_a_whole_page_and_a_vanished_one_has_none(published: Path, tmp_path: Path) -> None:
    (tmp_path / "warehouse.duckdb").symlink_to(published / "warehouse.duckdb")
    (tmp_path / "offices").mkdir()
    (tmp_path / "offices" / "M9.html").touch()
    (tmp_path / "own.html").touch()
    page = write_report_page(Settings(data_dir=tmp_path), CLOCK)
    assert "The file lacks" not in (tmp_path / "operators.html").read_text("utf-8")
    assert [path.name for path in tmp_path.glob(".*")] == []
    pages = sorted((tmp_path / "offices").iterdir())
    assert [path.name for path in pages] == ["M1.html"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in [page, *pages]} == {0o640}
    remove_pages(tmp_path)
    assert [path.name for path in tmp_path.rglob("*.html")] == ["own.html"]
