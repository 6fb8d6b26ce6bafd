"""Reports that are asked one by one: which ids, when again, and what one of them costs the others."""

from __future__ import annotations

from collections import Counter
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
from pipelines.upkeep.erase import erase
from tests.scenarios.processes import Job, Step, is_killed
from tests.scenarios.scenario import TODAY, Scenario, files_with, scenario, whole_chain
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
    first = whole.with_settings(due_months_monthly=3, ids_a_night=1000)
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


def test_what_is_filled_is_asked_for_no_more(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "deposits"), offices=1)
    here.sync()
    paid = here.rows("SELECT asked_estate_id FROM bi.deposits WHERE paid_at IS NOT NULL")
    later = here.on_calendar_day(TODAY + timedelta(days=7))
    later.sync()
    asked = [entry.path.split("/")[6] for entry in later.asked if entry.path.endswith("/deposit")]
    assert sorted(asked) == sorted(set(sold(here)) - {id_ for (id_,) in paid})


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


def test_a_killed_sync_goes_on_with_the_ids_that_are_not_loaded(tmp_path: Path) -> None:
    here = scenario(tmp_path / "data", ("sales", "deposits"), offices=1, start="2025-06")
    here.sync(reports=("sales",))
    assert is_killed(Job.of("sync", here, refresh=False), Step("load_committed", 2))
    loaded = {one.split("|")[1] for (one,) in here.rows("SELECT asked FROM meta.history_scopes")}
    here.sync()
    asked = {entry.path.split("/")[6] for entry in here.asked if entry.path.endswith("/deposit")}
    wanted = {id_ for (id_,) in here.rows("SELECT asked_estate_id FROM bi.deposits")}
    assert (bool(loaded), loaded & asked, loaded | asked) == (True, set(), wanted)


@pytest.fixture(scope="module")
def sales_held(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    here = scenario(tmp_path_factory.mktemp("paid") / "data", ("sales", "deposits"), offices=1)
    here.sync(reports=("sales",))
    return here


@pytest.fixture
def paid(sales_held: Scenario, tmp_path: Path) -> Scenario:
    """An office whose sales are held, and whose deposits nobody has asked for."""
    return sales_held.copied_to(tmp_path / "data")


@pytest.mark.parametrize("kind", ["500", "400"])
def test_an_id_without_an_answer_costs_nobody_else_and_is_asked_again(paid: Scenario, kind: str) -> None:
    one, *others = sold(paid)
    summary = paid.sync(Fault(kind, path=f"/{one}/"), reports=("deposits",))
    assert len(summary.trouble) == 1
    assert paid.rows("SELECT asked_estate_id FROM bi.deposits ORDER BY 1") == [(id_,) for id_ in others]
    assert paid.rows("SELECT report, status FROM meta.open_failures") == [("deposits", "failed")]
    assert paid.sync(reports=("deposits",)).is_well
    assert {entry.path.split("/")[6] for entry in paid.asked} == {one}
    assert paid.rows("FROM meta.open_failures") == []


def test_an_answer_that_cannot_be_read_costs_nobody_else(paid: Scenario) -> None:
    one, *others = sold(paid)
    sandbox = paid.sandbox

    async def answer(request: httpx.Request) -> httpx.Response:
        if one in request.url.path:
            return httpx.Response(200, json={"errors": [{"message": "no"}], "message": "failed"})
        return await sandbox.handle_async_request(request)

    summary = replace(paid, transport=httpx.MockTransport(answer)).sync(reports=("deposits",))
    assert [result.asked for result in summary.trouble] == [(f"{paid.settings.customers[0].id}|{one}",)]
    assert paid.rows("SELECT asked_estate_id FROM bi.deposits ORDER BY 1") == [(id_,) for id_ in others]


def test_an_id_that_is_only_dots_costs_nobody_else(paid: Scenario) -> None:
    one, *others = sold(paid)
    paid.execute("UPDATE bi.sales_estates SET id = '..' WHERE id = $1", one)
    [failed] = paid.sync(reports=("deposits",)).trouble
    assert failed.asked == (f"{paid.settings.customers[0].id}|..",)
    assert paid.rows("SELECT asked_estate_id FROM bi.deposits ORDER BY 1") == [(id_,) for id_ in others]


def test_an_id_that_is_gone_is_answered(paid: Scenario) -> None:
    assert paid.sync(Fault("404", path=f"/{sold(paid)[1]}/"), reports=("deposits",)).is_well
    paid.sync(reports=("deposits",))
    assert paid.asked == []


def test_accounts_are_not_even_landed(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "bids", "buyer_economy"), offices=1)
    assert here.sync().is_well
    assert here.value("SELECT count(*) FROM bi.buyer_economy WHERE bank_name IS NOT NULL") > 0
    assert files_with(tmp_path, "accountNumber", "8327-9") == []


def test_everything_that_is_asked_one_by_one_is_replayed_as_it_was_loaded(tmp_path: Path) -> None:
    here = scenario(tmp_path, EVERYTHING, offices=1)
    assert here.sync(Fault("500", path="OBJ", rate=0.1)).loaded
    before = here.cells()
    assert {name for name, one in REPORTS.items() if one.is_by_id and one.endpoint.each.ids_from} <= {  # type: ignore[union-attr]
        report for (report,) in here.rows("SELECT DISTINCT report FROM meta.loads WHERE status = 'loaded'")
    }
    assert here.replay().failures == []
    assert here.cells() == before


def test_of_a_group_each_estate_is_asked_for_as_its_offices(tmp_path: Path) -> None:
    here = whole_chain(tmp_path, ("sales", "bids", "areas"), start="2026-11", customers="G1")
    assert here.sync().is_well
    offices = {office for (office,) in here.rows("SELECT DISTINCT office_customer_id FROM bi.sales_estates")}
    assert {entry.customer for entry in here.asked if "/Bids/" in entry.path} == offices
    assert here.rows("SELECT DISTINCT asked_customer_id FROM bi.areas ORDER BY 1") == [
        (one,) for one in sorted(offices)
    ]


def test_the_other_shapes_are_landed_as_well(tmp_path: Path) -> None:
    here = scenario(tmp_path, EVERYTHING, offices=1)
    here.service.shapes = "b"
    assert here.sync().is_well
    assert {name for (name,) in here.rows("SELECT DISTINCT report FROM meta.months WHERE rows = 0")} == set()


def test_nothing_is_late_where_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users", "bids"), offices=1)
    assert here.sync().is_well
    assert here.rows("SELECT state FROM meta.freshness WHERE report = 'bids'") == []


def test_a_contact_that_was_asked_for_is_erased_from_everything(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("tips_and_leads", "search_profiles"), offices=1, whole=True)
    here.sync()
    contact = here.value("SELECT min(asked_contact_id) FROM bi.search_profiles")
    erase(here.settings, "contact", contact, clock=here.clock)
    assert files_with(here.data_dir, contact) == []
    found = here.value("SELECT count(*) FROM bi.search_profiles WHERE asked_contact_id LIKE 'erased%'")
    asked = here.value("SELECT count(*) FROM meta.history_scopes WHERE asked LIKE '%|erased%'")
    assert (found > 0, asked) == (True, 1)


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


def test_a_login_without_the_right_to_bids_loses_nothing_else(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "bids", "hidden_bids", "deposits"), offices=3)
    summary = here.sync(Fault("403", path="Bids"))
    states = {(one.report, one.status) for one in summary.results}
    assert states == {
        ("sales", WindowStatus.LOADED),
        ("deposits", WindowStatus.LOADED),
        ("bids", WindowStatus.NO_ACCESS),
        ("hidden_bids", WindowStatus.NO_ACCESS),
    }
    assert Counter(entry.path.split("/")[2] for entry in here.asked)["Bids"] == 3


def test_a_bidder_has_a_pseudonym_where_contacts_have(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales", "bids"), offices=1, pseudonym_key="a secret")
    here.sync()
    assert {alias[:2] for (alias,) in here.rows("SELECT DISTINCT alias FROM bi.bids")} == {"p-"}
