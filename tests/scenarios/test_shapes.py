"""Shapes of undocumented reports: adopted, corrected by the operator, and changed by the service later."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx
import pytest

from pipelines.diagnosis.samples import sample_reports
from pipelines.months import Month
from pipelines.planning.selection import Selection
from pipelines.shapes.shapes_file import ShapesError
from pipelines.sync.summary import Summary
from pipelines.sync.sync import sync
from pipelines.upkeep.shapes import add_to_file, prepare_shapes
from tests.scenarios.scenario import Scenario, scenario
from warehouse.ledger.ledger import Cap, ledger_of
from warehouse.ledger.window_result import WindowStatus
from warehouse.store.database import Store

REPORTS = (
    "users", "commission_office", "commission_user", "budget_commission", "live_activity", "trademarks",
    "commission_office_by_month",
)  # fmt: skip
FIGURES = """
    SELECT 'budget', user_id, month, amount FROM marts.budgets WHERE valid_to_utc IS NULL
    UNION ALL SELECT measure, user_id, month, amount FROM marts.activity
    UNION ALL SELECT brand, office_id, NULL, NULL FROM marts.offices
    UNION ALL SELECT 'by month', office_id, _month, commission FROM bi.commission_office_by_month
    ORDER BY ALL
"""
Reshape = Callable[[Any], Any]


def budgets(offices: list[dict[str, Any]]) -> Any:
    """Offices in an envelope under other names, users under their ids, months with their year."""
    return {
        "result": {
            "units": [
                {
                    "unit": office["customerId"],
                    "people": {
                        user["userId"]: {"periods": list(map(period, user["months"]))}
                        for user in office["users"]
                    },
                }
                for office in offices
            ]
        }
    }


def period(month: Mapping[str, Any]) -> dict[str, Any]:
    return {"period": f"{month['year']}-{month['month']:02d}", "target": month["commission"]}


def budgets_with_outcome(offices: list[dict[str, Any]]) -> Any:
    """Rows with two numbers: the budget, and the commission that was reached."""
    answer = budgets(offices)
    for unit in answer["result"]["units"]:
        for person in unit["people"].values():
            for month in person["periods"]:
                month["commission"] = 1
    return answer


def without_months(offices: list[dict[str, Any]]) -> Any:
    for user in (user for office in offices for user in office["users"]):
        user["months"] = [{"commission": month["commission"]} for month in user["months"]]
    return offices


def activity(answer: dict[str, Any]) -> Any:
    staff = [{"ref": user.pop("userId"), "unit": user.pop("customerId"), **user} for user in answer["users"]]
    return {"data": {"staff": staff}}


def trademarks(marks: list[dict[str, Any]]) -> Any:
    return [
        {"brand": mark["name"], "members": [{"office": office} for office in mark["customerIds"]]}
        for mark in marks
    ]


def by_month(answer: dict[str, Any]) -> Any:
    return [
        {
            "office": office["customerId"],
            "period": f"{year['year']}-{month.pop('month'):02d}-01",
            "amounts": {"totalCommission": month.pop("commission"), **month},
        }
        for office in answer["commissionOffices"]
        for year in office["years"]
        for month in year["months"]
    ]


def without_commission(answer: dict[str, Any]) -> Any:
    for month in (
        month for one in answer["commissionOffices"] for year in one["years"] for month in year["months"]
    ):
        month.pop("commission")
    return answer


DIALECT: dict[str, Reshape] = {
    "/Report/Budget/": budgets,
    "/LiveData/Report": activity,
    "/External/Trademarks": trademarks,
    "/CommissionOfficeReportByMonth": by_month,
}


@dataclass
class Dialect(httpx.AsyncBaseTransport):
    """The sandbox, with answers in another shape at some paths."""

    sandbox: httpx.AsyncBaseTransport
    reshapes: Mapping[str, Reshape]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self.sandbox.handle_async_request(request)
        reshape = next((reshape for path, reshape in self.reshapes.items() if path in request.url.path), None)
        if reshape is None or answer.status_code != 200:
            return answer
        return httpx.Response(200, json=reshape(json.loads(await answer.aread())))


def speaking(here: Scenario, reshapes: Mapping[str, Reshape]) -> Scenario:
    return replace(here, transport=Dialect(here.sandbox, reshapes))


def synced_in_shape(here: Scenario, **selection: Any) -> tuple[Summary, list[str]]:
    messages: list[str] = []
    context = prepare_shapes(here.settings, Selection(**selection), here.context, messages.append)
    return sync(here.settings, Selection(**selection), context=context), messages


def figures(here: Scenario) -> list[tuple[Any, ...]]:
    here.build("budgets", "activity", "offices")
    return here.rows(FIGURES)


def office(directory: Path) -> Scenario:
    return scenario(directory, REPORTS, offices=1, start="2026-09", whole=True)


@cache
def first_sync() -> Scenario:
    here = office(Path(mkdtemp()) / "data")
    synced_in_shape(here)
    return here


def loaded(directory: Path) -> Scenario:
    """An office after a first sync, whose answers have the declared shapes."""
    return first_sync().copied_to(directory / "data")


def test_a_first_sync_adopts_complete_shapes_and_loads_the_same_figures(tmp_path: Path) -> None:
    declared, dialect = loaded(tmp_path / "declared"), speaking(office(tmp_path / "dialect"), DIALECT)
    summary, messages = synced_in_shape(dialect, refresh=True)
    assert summary.is_well
    assert all(name in messages[0] for name in REPORTS[3:])
    assert figures(dialect) == figures(declared) != []


def test_a_report_with_a_budget_and_an_outcome_is_not_loaded_until_one_is_chosen(tmp_path: Path) -> None:
    declared = loaded(tmp_path / "declared")
    here = speaking(office(tmp_path / "dialect"), {**DIALECT, "/Report/Budget/": budgets_with_outcome})
    summary, [adopted] = synced_in_shape(here, refresh=True)
    failed = [result.report for result in summary.results if result.status is WindowStatus.FAILED]
    assert (failed, "budget_commission" in adopted) == (["budget_commission"], False)
    chosen = Selection(reports=("budget_commission",))
    with here.settings.shapes_file.open("a") as file:
        file.write("# [budget_commission] is no section here\n")
    reports = [here.catalogue["budget_commission"]]
    add_to_file(here.settings.shapes_file, sample_reports(here.settings, chosen, here.context, reports, ()))
    unsure = 'commission_budget = ".target"   # or .commission'
    written = here.settings.shapes_file.read_text()
    here.settings.shapes_file.write_text(written.replace(f"# {unsure}", unsure))
    summary, _ = synced_in_shape(here, refresh=True)
    assert summary.is_well
    assert figures(here) == figures(declared)


def test_a_report_that_no_shape_fits_is_sampled_once(tmp_path: Path) -> None:
    here = speaking(office(tmp_path), {"/Report/Budget/": budgets_with_outcome})
    messages: list[str] = []
    prepare_shapes(here.settings, Selection(), here.context, messages.append)
    assert "/Report/Budget/" in str(here.asked)
    here.sync()
    here.service.log.clear()
    prepare_shapes(here.settings, Selection(), here.context, messages.append)
    assert (here.asked, messages) == ([], [])


def test_rows_without_a_month_are_requested_month_by_month_and_that_is_remembered(tmp_path: Path) -> None:
    here = speaking(office(tmp_path), {"/Report/Budget/": without_months})
    here.sync(reports=("budget_commission",), refresh=True)
    months = here.value("SELECT count(*) FROM meta.months WHERE report = 'budget_commission'")
    assert len(here.asked) == 1 + months
    assert list(ledger_of(Store(here.data_dir)).caps.values()) == [Cap(months=1)]


def test_a_report_that_changes_its_shape_fails_in_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    here = loaded(tmp_path)
    before = here.rows("SELECT user_id, _month, commission_budget FROM bi.budget_commission ORDER BY ALL")
    changed = speaking(here, DIALECT)
    summary, _ = synced_in_shape(changed, reports=("budget_commission",), refresh=True)
    [failed] = [result for result in summary.results if result.status is WindowStatus.FAILED]
    assert failed.reason.startswith("expected [], found an object with result; rows may be at result.units")
    assert (
        here.rows("SELECT user_id, _month, commission_budget FROM bi.budget_commission ORDER BY ALL")
        == before
    )


def test_a_corrected_shape_reads_stored_answers_again_and_rewrites_no_history(tmp_path: Path) -> None:
    here = loaded(tmp_path)
    changed = speaking(here, DIALECT)
    synced_in_shape(changed, reports=("budget_commission",), refresh=True)
    here.settings.shapes_file.write_text(
        """
        [budget_commission]
        rows = "result.units[].people{}.periods[]"
        [budget_commission.columns]
        office_id = "result.units[].unit"
        user_id = "result.units[].people{}#"
        year = "-"
        month = ".period"
        commission_budget = ".target"
        """
    )
    summary, messages = synced_in_shape(changed, reports=("budget_commission",), refresh=True)
    assert summary.is_well
    [message] = messages
    assert message.startswith("the shape of budget_commission changed; loads that were read again: 0; ")
    here.build("budget_changes")
    assert here.value("SELECT count(*) FROM marts.budget_changes") == 0


def goals(answer: object) -> Any:
    return json.loads(json.dumps(answer).replace('"commission":', '"goal":'))


def few_with_brokers(answer: object) -> Any:
    renamed = json.loads(json.dumps(answer).replace('"agents":', '"brokers":'))
    for month in renamed["officeSaleReports"][0]["years"][0]["months"]:
        del month["estateSaleReports"][1:]
    return renamed


def test_a_field_that_the_service_renames_and_renames_back_changes_no_history(tmp_path: Path) -> None:
    here = loaded(tmp_path)
    renamed = speaking(here, {"/Commission": goals})
    here.settings.shapes_file.write_text('[budget_commission.columns]\ncommission_budget = ".goal"\n')
    synced_in_shape(renamed, reports=("budget_commission",), refresh=True)
    here.settings.shapes_file.unlink()
    _, [message] = synced_in_shape(here, reports=("budget_commission",), refresh=True)
    here.build("budget_changes")
    assert (here.value("SELECT count(*) FROM marts.budget_changes"), "again: 0;" in message) == (0, True)


def test_a_corrected_shape_is_used_even_if_a_stored_answer_is_damaged(tmp_path: Path) -> None:
    here = loaded(tmp_path)
    next(path for path in here.landing_files if "budget_commission" in path.parts).write_bytes(b"?")
    here.settings.shapes_file.write_text('[budget_commission.columns]\ncommission_budget = ".commission"\n')
    summary, messages = synced_in_shape(here, reports=("budget_commission",), refresh=True)
    assert summary.is_well
    assert ["could not be read again" in message for message in messages] == [False, True]
    assert synced_in_shape(here, reports=("budget_commission",))[1] == []


def test_a_field_that_is_renamed_in_the_file_keeps_the_values_of_earlier_answers(tmp_path: Path) -> None:
    here = loaded(tmp_path)
    stored = "SELECT user_id, _month, commission FROM bi.commission_user ORDER BY ALL"
    before = here.rows(stored)
    here.settings.shapes_file.write_text('[commission_user.columns]\ncommission = ".earned"\n')
    _, [message] = synced_in_shape(here, reports=("users",))
    assert message.startswith("the shape of commission_user changed; loads that were read again: 0; ")
    assert here.rows(stored) == before


def test_a_replay_compares_an_answer_with_its_own_rows_and_not_with_newer_ones(tmp_path: Path) -> None:
    here = office(tmp_path / "data")
    report, month = "commission_office_by_month", "SELECT min(_month) FROM bi.commission_office_by_month"
    speaking(here, {"/CommissionOfficeReportByMonth": without_commission}).sync(reports=(report,))
    here.sync(reports=(report,), refresh=True, first=Month.of(here.value(month)).plus(1))
    before = here.rows(f"SELECT _month, commission, _load_id FROM bi.{report} ORDER BY ALL")
    assert len({load_id for _, _, load_id in before}) == 2
    assert here.replay(reports=[report]).unfit == []
    assert here.rows(f"SELECT _month, commission, _load_id FROM bi.{report} ORDER BY ALL") == before


def test_a_failed_answer_that_is_read_again_may_not_remove_most_rows(tmp_path: Path) -> None:
    here, estates = office(tmp_path / "data"), "SELECT count(*) FROM bi.sales_estates"
    here.sync(reports=("sales",))
    before = here.value(estates)
    changed = speaking(here, {"/GetSalesReport": few_with_brokers})
    assert not changed.sync(reports=("sales",), refresh=True).is_well
    here.settings.shapes_file.write_text('[sales.sales_agents]\nrows = "@sales_estates.brokers[]"\n')
    assert "would be removed; the old rows stay" in str(here.replay(reports=["sales"]).unfit)
    assert here.value(estates) == before


def test_a_shapes_file_that_cannot_be_used_stops_a_sync_before_its_first_request(tmp_path: Path) -> None:
    here = office(tmp_path / "data")
    here.settings.shapes_file.write_text("[budget_comission]\n")
    with pytest.raises(ShapesError, match="did you mean budget_commission"):
        synced_in_shape(here)
    assert here.asked == []
