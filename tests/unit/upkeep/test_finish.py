"""Building, checking and publishing: what blocks a publication, and which monitor is called."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from functools import cache
from html import unescape
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import httpx
import polars as pl
import pytest

from pipelines.diagnosis.health import DAEMON_SEEN, judge, observe, record_daemon
from pipelines.planning.plan import plan_full_sync
from pipelines.sandbox.faults import Fault
from pipelines.upkeep.finish import Finished, ping
from pipelines.upkeep.report_page import draw_pages
from tests.scenarios.scenario import Scenario, scenario, synced
from warehouse.ledger.status import overview
from warehouse.store.database import Store

ADDRESS = "https://monitor.test/a-secret-token"
DECLARED = {"commission_vat": "included", "vat_rate": Decimal("0.25")}


@cache
def published() -> Scenario:
    """A data directory that is only copied."""
    here = synced(Path(mkdtemp()) / "data", ("sales",), whole=True).with_settings(pages=True)
    finished = here.publish()
    assert (finished.publication.has_new_file, finished.failed_steps, finished.warnings) == (True, [], [])
    return here


@pytest.fixture
def here(tmp_path: Path) -> Scenario:
    return published().copied_to(tmp_path / "data")


def last_publication(here: Scenario) -> tuple[str, str]:
    """Status and reason as `status` shows them."""
    last = overview(Store(here.data_dir)).publications[0]
    [reason] = last.reasons
    return last.status, reason


def test_the_operators_page_names_the_check_that_blocks_a_publication(here: Scenario) -> None:
    here.execute("UPDATE bi.sales_estates SET final_price = -1")
    assert not here.publish().publication.has_new_file
    status, reason = last_publication(here)
    assert status == "refused"
    assert reason.endswith("? totals_are_not_negative, 1 row")
    html = (here.data_dir / "operators.html").read_text("utf-8")
    assert f"The latest file was not published: {reason}" in html
    assert "The earlier file stays until the check passes" in html


def test_a_mart_that_cannot_be_built_blocks_the_publication_and_the_old_file_stays(here: Scenario) -> None:
    before = (here.data_dir / "warehouse.duckdb").read_bytes()
    here.execute("ALTER TABLE bi.sales_estates DROP COLUMN final_price")
    assert not here.publish().publication.has_new_file
    status, reason = last_publication(here)
    assert (status, "final_price" in reason) == ("refused", True)
    assert (here.data_dir / "warehouse.duckdb").read_bytes() == before


def test_an_unexpected_error_is_recorded_as_a_failed_publication(here: Scenario) -> None:
    here.execute("DROP TABLE meta.tax_basis")
    with pytest.raises(duckdb.CatalogException):
        here.publish()
    status, reason = last_publication(here)
    assert (status, "CatalogException" in reason) == ("failed", True)


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scenario, Finished]:
    """A file from before a report was added and a column was documented, published with other settings."""
    folder = tmp_path_factory.mktemp("again")
    here = published().copied_to(folder / "data")
    here.execute("DROP VIEW bi.bids")
    here.execute("DROP TABLE bi.bids_history")
    here.execute("ALTER TABLE bi.sales_estates DROP COLUMN final_price")
    here.execute("DELETE FROM meta.tables WHERE table_name = 'bids'")
    here.execute(
        "DELETE FROM meta.columns WHERE table_name = 'bids' "
        "OR (table_name, column_name) = ('sales_estates', 'final_price')"
    )
    here = here.with_settings(pages=False, lake=str(folder / "lake"), **DECLARED)
    return here, here.publish()


def test_a_file_of_an_earlier_version_is_published_without_a_sync(again: tuple[Scenario, Finished]) -> None:
    here, finished = again
    assert finished.publication.has_new_file
    assert here.rows("SELECT count(final_price), (SELECT count(*) FROM bi.bids) FROM bi.sales_estates") == [
        (0, 0)
    ]


def test_a_publication_is_in_the_lake_that_the_settings_name(again: tuple[Scenario, Finished]) -> None:
    here, finished = again
    sales = pl.read_delta(f"{here.settings.lake}/marts/sales")
    assert (finished.warnings, len(sales)) == ([], here.rows("SELECT count(*) FROM marts.sales")[0][0])
    assert here.rows("SELECT sink, waiting_count FROM meta.sinks") == [("lake", 0)]


def test_the_published_file_has_the_declared_settings(again: tuple[Scenario, Finished]) -> None:
    here, _ = again
    assert here.rows("FROM meta.tax_basis") == [tuple(DECLARED.values())]
    assert here.rows("FROM meta.rereading") == [(here.settings.changed_months,)]


def test_earlier_pages_are_removed_if_pages_are_off(again: tuple[Scenario, Finished]) -> None:
    here, _ = again
    assert [*published().data_dir.rglob("*.html")] != []
    assert [*here.data_dir.rglob("*.html")] == []


def operators_page(here: Scenario) -> str:
    assert draw_pages(here.settings, here.clock, only_operators=True) == ""
    return (here.data_dir / "operators.html").read_text("utf-8")


def test_the_operators_page_shows_a_first_night_that_failed(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales",), offices=1, pages="true")
    here.sync(Fault("503"))
    html = operators_page(here)
    assert "Nothing is published yet." in html
    assert "the last answered 503" in html
    assert [path.name for path in tmp_path.glob("*.html")] == ["operators.html"]


def test_the_operators_page_shows_a_failed_night_with_the_published_figures(here: Scenario) -> None:
    before = {path: path.read_bytes() for path in here.data_dir.rglob("*.html")}
    here.sync(Fault("503"), refresh=True)
    here.execute("DROP SCHEMA marts CASCADE")
    html = operators_page(here)
    assert ["the last answered 503" in html, "The file lacks" in html] == [True, False]
    after = {path: path.read_bytes() for path in here.data_dir.rglob("*.html")}
    assert [path.name for path in before if before[path] != after[path]] == ["operators.html"]


def test_the_operators_page_has_the_verdict_of_the_status(here: Scenario) -> None:
    store, clock = Store(here.data_dir), here.clock
    silent = clock.utc_now().timestamp() - 5 * 3600
    record_daemon(here.data_dir)
    os.utime(here.data_dir / DAEMON_SEEN, (silent, silent))
    planned = plan_full_sync(here.settings, store, clock)
    view = observe(overview(store), here.settings, clock.utc_now(), planned=planned)
    verdict = judge(view)
    assert verdict.sentence.startswith("Action needed: daemon silent (1)")
    html = operators_page(here)
    shown = re.search(r'class="verdict (\w+)"><p><span[^>]*>.</span> ([^<]*)', html)
    assert shown
    assert (shown[1], unescape(shown[2])) == (verdict.severity, verdict.sentence)
    assert "docs/operators.md shows, first the code server" in html  # its remedy, in the table


def test_a_monitor_is_called_once_if_it_has_an_address() -> None:
    called: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        called.append(str(request.url))
        return httpx.Response(200)

    transport = httpx.MockTransport(answer)
    assert [ping(ADDRESS, transport), ping("", transport)] == ["", ""]
    assert called == [ADDRESS]


def test_a_monitor_that_does_not_answer_is_reported_without_its_address() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(404))
    assert ping(ADDRESS, transport) == "BROKERBI_PING_URL answered 404; check the address"
