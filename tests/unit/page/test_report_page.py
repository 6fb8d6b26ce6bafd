"""The report page beside the published file: read from the marts, and no failure when it cannot be."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from pipelines.page.facts import QUERIES, facts_from_rows
from pipelines.settings.model import Settings
from pipelines.upkeep.report_page import refresh_report_page, remove_pages, write_report_page
from tests.marts.given import asked_for, build, earned, loaded, warehouse
from warehouse.errors import WarehouseError
from warehouse.marts.build import build_marts
from warehouse.marts.queries import SQL, published_rows
from warehouse.store.duckdb_file import literal, quoted

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
    [(ours,)] = connection.execute("SELECT current_database()").fetchall()
    connection.execute(f"COPY FROM DATABASE {quoted(ours)} TO published")


def test_the_marts_have_every_column_that_the_page_asks_for(published: Path) -> None:
    facts = facts_from_rows(published_rows(published, SQL / "page", QUERIES))
    assert facts.missing == ()
    found = [(one.office_id, one.commission, one.is_open) for one in facts.office_months]
    assert found == [("M1", Decimal(100), False)] * 2


def test_a_file_without_some_marts_is_drawn_without_them(tmp_path: Path) -> None:
    with warehouse() as connection:
        build(connection, "office_month")
        save(connection, tmp_path)
    assert "leads" in write_report_page(Settings(data_dir=tmp_path), NOW).missing
    assert "cannot answer for: office months" in (tmp_path / "operators.html").read_text("utf-8")
    assert "a later publication will" in (tmp_path / "report.html").read_text("utf-8")


def test_the_page_is_put_in_place_whole_and_for_the_same_readers_as_the_file(
    published: Path, tmp_path: Path
) -> None:
    page = write_report_page(Settings(data_dir=published), NOW, out=tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert page.bytes == page.path.stat().st_size
    assert stat.S_IMODE(page.path.stat().st_mode) == 0o640


def test_without_a_published_file_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="There is no published file"):
        write_report_page(Settings(data_dir=tmp_path), NOW)


def test_a_page_that_cannot_be_drawn_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "warehouse.duckdb").write_bytes(b"no database")
    why = refresh_report_page(Settings(data_dir=tmp_path), NOW)
    assert str(why).startswith("The page report.html could not be drawn, the one before stays: ")


def test_a_file_that_somebody_is_writing_in_is_no_failure_either(published: Path) -> None:
    with duckdb.connect(published / "warehouse.duckdb"):
        why = refresh_report_page(Settings(data_dir=published), NOW)
    assert "could not be drawn" in str(why)


def test_every_office_has_a_page_that_lasts_and_one_that_vanished_has_none(
    published: Path, tmp_path: Path
) -> None:
    (tmp_path / "warehouse.duckdb").symlink_to(published / "warehouse.duckdb")
    (tmp_path / "offices").mkdir()
    (tmp_path / "offices" / "M9.html").touch()
    write_report_page(Settings(data_dir=tmp_path), NOW)
    pages = sorted((tmp_path / "offices").iterdir())
    assert [path.name for path in pages] == ["M1.html"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in pages} == {0o640}
    remove_pages(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.html")) == []


def test_the_page_agrees_with_the_chain_s_mart_where_an_office_was_cut_short() -> None:
    autumn, winter = datetime(2026, 2, 20, 4), datetime(2026, 3, 5, 4)
    with warehouse() as connection:
        for office, at in (("M1", winter), ("M2", autumn)):
            row = earned({"office_customer_id": office}, 100)
            loaded(connection, "commission_office", office, "2026-02", [row], at_utc=at, is_open=at == autumn)
        asked_for(connection, "M1", M2="off")
        build_marts(connection)
        found = connection.execute((SQL / "page" / "office_months.sql").read_text("utf-8")).fetchall()
        [sums] = connection.execute(
            "SELECT commission, is_commission_complete FROM marts.chain_month"
        ).fetchall()
    assert (sum(row[3] for row in found), all(row[8] for row in found)) == sums == (200, False)
