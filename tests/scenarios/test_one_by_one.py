"""Reports that are requested id by id: which ids, when again, and what one of them costs the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import TODAY, Scenario, scenario, whole_chain
from warehouse.ledger.window_result import WindowStatus

BY_ID = [name for name, report in REPORTS.items() if report.endpoint.by_id and not report.timing.on_demand]


@pytest.fixture(scope="module")
def sales_loaded(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    here = scenario(tmp_path_factory.mktemp("office") / "data", ("sales", "bids"), offices=1)
    here.sync()
    return here


@pytest.fixture
def office(sales_loaded: Scenario, tmp_path: Path) -> Scenario:
    """An office whose sales are loaded, and no bids yet: their ids were not known."""
    return sales_loaded.copied_to(tmp_path / "data")


def requested(here: Scenario) -> list[str]:
    """The estates whose bids the last sync requested."""
    return [entry.query["criteria.estateid"] for entry in here.asked if "/Bids/" in entry.path]


def sold_lately(here: Scenario) -> list[str]:
    query = "SELECT id FROM bi.sales_estates WHERE contract_day >= $1::DATE - 60 ORDER BY id"
    return [id_ for (id_,) in here.rows(query, TODAY)]


def test_ids_are_those_of_estates_sold_lately_and_known_before_the_sync(office: Scenario) -> None:
    assert office.value("SELECT count(*) FROM bi.bids") == 0
    assert office.sync().is_well
    assert sorted(requested(office)) == sold_lately(office)
    bids = office.rows("SELECT DISTINCT asked_estate_id FROM bi.bids ORDER BY 1")
    assert bids == [(id_,) for id_ in sold_lately(office)]


def test_an_answered_id_is_requested_again_after_a_week(office: Scenario) -> None:
    first = office.on_calendar_day(TODAY)
    first.sync()
    later = [office.on_calendar_day(TODAY + timedelta(days=days)) for days in (6, 7)]
    asked = []
    for day in later:
        day.sync(reports=("bids",))
        asked.append(len(requested(day)) > 0)
    assert asked == [False, True]


def test_a_night_requests_so_many_ids_and_the_next_night_the_others(office: Scenario) -> None:
    few = office.with_settings(ids_a_night=2)
    postponed = [window for window in few.sync().results if window.status is WindowStatus.SKIPPED]
    first = requested(few)
    few.sync()
    assert (len(first), len(postponed), set(first) & set(requested(few))) == (2, 1, set())


def answering(here: Scenario, estate: str, answer: httpx.Response) -> Scenario:
    """The scenario, but what is requested for one estate gets this answer."""

    async def handle(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("criteria.estateId") == estate:
            return answer
        return await here.sandbox.handle_async_request(request)

    return replace(here, transport=httpx.MockTransport(handle))


@pytest.mark.parametrize(
    "answer", [httpx.Response(404), httpx.Response(200, json={"errors": [{"message": "no"}]})]
)
def test_an_id_without_an_answer_is_requested_again(office: Scenario, answer: httpx.Response) -> None:
    failing, *others = sold_lately(office)
    [failed] = answering(office, failing, answer).sync(reports=("bids",)).failing
    assert failed.asked == (f"{office.settings.customers[0].id}|{failing}",)
    assert office.rows("SELECT DISTINCT asked_estate_id FROM bi.bids ORDER BY 1") == [
        (id_,) for id_ in others
    ]
    assert office.sync(reports=("bids",)).is_well
    assert (requested(office), office.rows("FROM meta.open_failures")) == ([failing], [])


def test_an_estate_of_a_group_is_requested_as_its_offices(tmp_path: Path) -> None:
    here = whole_chain(tmp_path, ("sales", "bids"), start="2026-11", customers="G1")
    here.sync()
    assert here.sync().is_well
    offices = {office for (office,) in here.rows("SELECT DISTINCT office_customer_id FROM bi.sales_estates")}
    assert {entry.customer for entry in here.asked if "/Bids/" in entry.path} == offices


def test_what_is_requested_by_id_is_replayed_as_it_was_loaded(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "users", *BY_ID), offices=1, start="2026-11")
    here.sync()
    assert here.sync(Fault("500", path="CRM", rate=0.1)).loaded
    before = here.cells()
    loaded = here.rows("SELECT DISTINCT report FROM meta.loads WHERE status = 'loaded'")
    assert {*BY_ID} <= {report for (report,) in loaded}
    assert here.replay().failures == []
    assert here.cells() == before


def test_a_bidder_has_a_pseudonym_if_contacts_have(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "bids"), offices=1, pseudonym_key="a secret")
    here.sync()
    here.sync()
    assert {alias[:2] for (alias,) in here.rows("SELECT DISTINCT alias FROM bi.bids")} == {"p-"}
