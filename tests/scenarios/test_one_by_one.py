"""Reports that are asked one by one: which ids, when again, and what one of them costs the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import httpx
import pytest

from pipelines.catalogue.bidding import ASKED_ESTATE, ASKED_OFFICE, SOLD
from pipelines.catalogue.model import WEEKLY, Each, Endpoint, Report, Table, text
from pipelines.catalogue.reports import REPORTS
from pipelines.planning.plan import make_plan
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from tests.scenarios.scenario import TODAY, Scenario, scenario, whole_chain
from warehouse.ledger.window_result import WindowStatus
from warehouse.store.database import Store

EVERYTHING = ("sales", "tips_and_leads", *(name for name, one in REPORTS.items() if one.endpoint.each))


@pytest.fixture
def office(tmp_path: Path) -> Scenario:
    return scenario(tmp_path / "data", ("sales", "bids"), offices=1)


def ids(here: Scenario, path: str = "/Bids/") -> list[str]:
    """The estates that the last sync asked the bids of."""
    return [entry.query["criteria.estateid"] for entry in here.asked if path in entry.path]


def sold(here: Scenario) -> list[str]:
    return [id_ for (id_,) in here.rows("SELECT id FROM bi.sales_estates ORDER BY id")]


def test_ids_are_chosen_when_their_source_is_loaded_and_asked_once(office: Scenario) -> None:
    assert office.sync().is_well
    assert sorted(ids(office)) == sold(office)
    assert office.value("SELECT count(DISTINCT asked_estate_id) FROM bi.bids") == len(sold(office))
    office.sync()
    assert ids(office) == []


def test_an_id_is_asked_again_when_what_has_it_was_changed(office: Scenario) -> None:
    office.sync()
    office.execute("UPDATE bi.sales_estates SET changed_at = $1 WHERE id = $2", TODAY, sold(office)[0])
    tomorrow = office.on_calendar_day(TODAY + timedelta(days=1))
    plan, _ = make_plan(tomorrow.settings, Selection(), Store(office.data_dir), tomorrow.clock)
    asked = {
        id_ for one in plan.planned if one.report.name == "bids" for w in one.windows for id_ in w.ids or ()
    }
    assert f"{office.settings.customers[0].id}|{sold(office)[0]}" in asked
    assert len(asked) < len(sold(office))


def test_a_sale_that_the_service_says_it_changed_is_asked_for_again_that_night(tmp_path: Path) -> None:
    """Also one of a month that is read again only because the service named the sale."""
    whole = whole_chain(tmp_path, ("sales", "bids"), start="2025-11", customers="G1", as_of=date(2026, 6, 5))
    first = whole.with_settings(ids_a_night=1000)
    first.sync()
    held = "SELECT id, changed_at FROM bi.sales_estates WHERE _month < DATE '2026-04-01'"
    before = first.rows(held)
    later = first.on(date(2026, 6, 12))
    later.sync()
    changed = {id_ for id_, _ in {*later.rows(held)} - {*before}}
    assert (bool(changed), changed <= set(ids(later)), len(ids(later)) < len(before) / 2) == (
        True,
        True,
        True,
    )


def test_a_night_asks_for_so_many_and_the_next_for_the_others(office: Scenario) -> None:
    few = office.with_settings(ids_a_night=2)
    few.sync(reports=("sales",))
    [planned] = make_plan(few.settings, Selection(reports=("bids",)), Store(few.data_dir), few.clock)[
        0
    ].planned
    assert (planned.requests, planned.postponed) == (2, len(sold(few)) - 2)
    waiting = [one for one in few.sync().results if one.status is WindowStatus.WAITING]
    first = ids(few)
    few.sync()
    assert (len(first), len(waiting), set(first) & set(ids(few))) == (2, 1, set())


@pytest.fixture
def paid(sales_held: Scenario, tmp_path: Path) -> Scenario:
    """An office whose sales are held, and whose deposits nobody has asked for."""
    return sales_held.copied_to(tmp_path / "data")


def test_everything_that_is_asked_one_by_one_is_replayed_as_it_was_loaded(tmp_path: Path) -> None:
    here = scenario(tmp_path, EVERYTHING, offices=1)
    assert here.sync(Fault("500", path="OBJ", rate=0.1)).loaded
    before = here.cells()
    assert {name for name, one in REPORTS.items() if one.is_by_id and one.endpoint.each.ids_from} <= {  # type: ignore[union-attr]
        report for (report,) in here.rows("SELECT DISTINCT report FROM meta.loads WHERE status = 'loaded'")
    }
    assert here.replay().failures == []
    assert here.cells() == before


def test_the_other_shapes_are_landed_as_well(tmp_path: Path) -> None:
    here = scenario(tmp_path, EVERYTHING, offices=1)
    here.service.shapes = "b"
    assert here.sync().is_well
    assert {name for (name,) in here.rows("SELECT DISTINCT report FROM meta.months WHERE rows = 0")} == set()


def test_nothing_is_late_where_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users", "bids"), offices=1)
    assert here.sync().is_well
    assert here.rows("SELECT state FROM meta.freshness WHERE report = 'bids'") == []


ESTATES_AGAIN = Report(
    name="estates_again",
    subject="sales",
    description="Each sold estate as it is now.",
    endpoint=Endpoint(
        "/BusinessIntelligence/GetSalesReportForEstate",
        time_parameters="none",
        customer_parameter="customerId",
        each=Each(("customerId", "estateId"), (SOLD,), WEEKLY),
    ),
    stored_as="history",
    month_of_row="none",
    tables=(
        Table(
            "estates_again",
            rows="estates[]",
            description="One row per estate.",
            columns=(text("id", "id of the estate"),),
            key=("id",),
            inherited=(ASKED_OFFICE, ASKED_ESTATE),
        ),
    ),
)


def test_another_report_by_id_is_added_by_its_block_alone(office: Scenario) -> None:
    here = replace(office, catalogue={**REPORTS, "estates_again": ESTATES_AGAIN})
    assert here.sync(reports=("sales", "estates_again")).is_well
    assert here.rows("SELECT id FROM bi.estates_again ORDER BY id") == [(one,) for one in sold(here)]
    here.sync(reports=("sales", "estates_again"))
    assert [entry for entry in here.asked if "ForEstate" in entry.path] == []
    assert here.replay().failures == []


def test_a_bidder_has_a_pseudonym_where_contacts_have(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "bids"), offices=1, pseudonym_key="a secret")
    here.sync()
    assert {alias[:2] for (alias,) in here.rows("SELECT DISTINCT alias FROM bi.bids")} == {"p-"}


def answering(here: Scenario, estate: str, answer: httpx.Response) -> Scenario:
    """The scenario, but what is requested for one estate gets this answer."""

    async def handle(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("criteria.estateId") == estate:
            return answer
        return await here.sandbox.handle_async_request(request)

    return replace(here, transport=httpx.MockTransport(handle))


@pytest.mark.parametrize(
    "answer", [httpx.Response(400), httpx.Response(200, json={"errors": [{"message": "no"}]})]
)
def test_an_id_without_an_answer_costs_nobody_else_and_is_requested_again(
    office: Scenario, answer: httpx.Response
) -> None:
    office.sync(reports=("sales",))
    failing, *others = sold(office)
    [failed] = answering(office, failing, answer).sync(reports=("bids",)).trouble
    assert failed.asked == (f"{office.settings.customers[0].id}|{failing}",)
    assert office.rows("SELECT DISTINCT asked_estate_id FROM bi.bids ORDER BY 1") == [
        (id_,) for id_ in others
    ]
    assert office.sync(reports=("bids",)).is_well
    assert (ids(office), office.rows("FROM meta.open_failures")) == ([failing], [])
