"""What every report asks, against the facts of the interface, which are written here a second time."""

from __future__ import annotations

import re

import pytest

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS

# Interface, Business intelligence and Budget reports: path, required and optional query parameters.
DATES = {"dateFrom", "dateTo"}
MONTHS = {"fromYear", "fromMonth", "toYear", "toMonth"}
TREE = ({"customerId", "selectionType"}, DATES)
LEADS = {"customerId", *DATES}
OPERATIONS: dict[str, tuple[set[str], set[str]]] = {
    "/BusinessIntelligence/CommissionOfficeReport/{customerId}": (DATES, {"assignment"}),
    "/BusinessIntelligence/CommissionOfficeReportByMonth/{customerId}": (DATES, {"assignment"}),
    "/BusinessIntelligence/CommissionUserReport/{customerId}": (DATES, {"assignment"}),
    "/BusinessIntelligence/GetSalesReportForEstate": ({"customerId"}, {"estateId", "estateNumber"}),
    "/BusinessIntelligence/GetSalesReport": TREE,
    "/BusinessIntelligence/GetEstateReportProdDb": TREE,
    "/BusinessIntelligence/GetEstatesReport": TREE,
    "/BusinessIntelligence/Estates": ({"customerId"}, DATES),
    "/BusinessIntelligence/TipsAndLeads/Report": (LEADS, {"activeStatusTipLead"}),
    "/BusinessIntelligence/TipsAndLeads/Report/Paged": (
        {*LEADS, "pageIndex", "pageSize"},
        {"activeStatusTipLead"},
    ),
    "/BusinessIntelligence/RunningCommissions": ({"customerId", *DATES}, set()),
    "/BusinessIntelligence/External/Trademarks": ({"customerId"}, set()),
    "/BusinessIntelligence/External/Users": ({"customerId"}, set()),
    "/BusinessIntelligence/LiveData/Report": ({"customerId", *DATES}, set()),
    "/BusinessIntelligence/LiveData/CommissionReport": ({"customerId", *DATES}, set()),
    "/BusinessIntelligence/Budget/Estate/{customerId}/{userId}/{year}/{month}": (set(), set()),
    "/BusinessIntelligence/Budget/Commission/{customerId}/{userId}/{year}/{month}": (set(), set()),
    "/BusinessIntelligence/Budget/Crm/{customerId}/{userId}/{year}/{month}": (set(), set()),
    "/BusinessIntelligence/Budget/Estate/{customerId}/{year}/{month}": (set(), set()),
    "/BusinessIntelligence/Budget/Commission/{customerId}/{year}/{month}": (set(), set()),
    "/BusinessIntelligence/Budget/Crm/{customerId}/{year}/{month}": (set(), set()),
    "/Report/Budget/{customerId}/SoldEstates": (set(), MONTHS),
    "/Report/Budget/{customerId}/Commission": (set(), MONTHS),
    "/Report/Budget/{customerId}/Crm": (set(), MONTHS),
}
ENUMERATIONS = {
    "assignment": {"Writing", "Valuation", "Sale"},
    "selectionType": {"Create", "Access", "Agreement", "Changed", "LatestPropertyChangeDate"},
    "activeStatusTipLead": {"Active", "ActiveAndRemoved", "Removed"},
}
# Interface, Limits: whole calendar months one request may span.
LIMITS = {
    "CommissionOfficeReport": 12,
    "CommissionOfficeReportByMonth": 12,
    "CommissionUserReport": 12,
    "TipsAndLeads/Report": 2,
    "RunningCommissions": 2,
    "LiveData/Report": 2,
    "LiveData/CommissionReport": 2,
}

every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)


def asked_of(report: Report) -> set[str]:
    """Every query parameter that a request for the report carries."""
    asked = set(report.query)
    asked |= {report.choices.parameter} if report.choices else set()
    asked |= {report.customer_parameter} if report.customer_parameter else set()
    asked |= {"dates": DATES, "month bounds": MONTHS}.get(report.time_parameters, set())
    asked |= {"pageIndex", "pageSize"} if report.paged else set()
    if report.each and f"{{{report.each}}}" not in report.path:
        asked.add(report.each)
    return asked


def test_every_get_operation_of_the_interface_is_asked_by_some_report() -> None:
    paths = {report.path for report in REPORTS.values()}
    unpaged = {report.unpaged_path for report in REPORTS.values() if report.unpaged_path}
    assert paths | unpaged == set(OPERATIONS)


@every_report
def test_a_report_asks_all_that_is_required_and_nothing_that_is_unknown(report: Report) -> None:
    required, optional = OPERATIONS[report.path]
    assert required <= asked_of(report) <= required | optional


@every_report
def test_a_fixed_parameter_has_a_value_of_its_enumeration(report: Report) -> None:
    chosen = [(report.choices.parameter, value) for value in report.choices.values] if report.choices else []
    assert all(value in ENUMERATIONS[name] for name, value in [*report.query.items(), *chosen])


@every_report
def test_no_request_spans_more_months_than_the_limit(report: Report) -> None:
    limits = [limit for operation, limit in LIMITS.items() if re.search(rf"/{operation}(/|$)", report.path)]
    assert all((report.limit or report.max_months) <= limit for limit in limits)


@every_report
def test_path_parameters_are_known_and_the_customer_is_named_once(report: Report) -> None:
    segments = set(re.findall(r"{(\w+)}", report.path))
    assert segments <= {"customerId", "userId", "year", "month"}
    assert ("customerId" in segments) is (report.customer_parameter is None)
    assert ({"year", "month"} <= segments) is (report.time_parameters == "month in path")


@every_report
def test_months_and_time_parameters_of_a_report_agree(report: Report) -> None:
    if report.month_of_row == "window":
        assert report.max_months == 1
    if report.month_of_row == "documented date":
        assert all(table.dated_by for table in report.tables if table.parent is None)
    has_no_time = report.time_parameters == "none"
    assert has_no_time is (report.month_of_row == "none")
    assert not has_no_time or report.stored_as == "history"


def test_what_is_asked_unless_settings_say_otherwise() -> None:
    off = {name for name, report in REPORTS.items() if not report.enabled}
    kinds = {
        f"{name}_{kind}"
        for name in ("commission_office", "commission_user", "commission_office_by_month")
        for kind in ("sale", "valuation", "writing")
    }
    users = {"user_budget_estate", "user_budget_commission", "user_budget_crm"}
    assert off == kinds | users | {"sales_for_estate", "estates_report_prod"}


def test_special_cases_are_these() -> None:
    fixed = {name: dict(report.query) for name, report in REPORTS.items() if report.enabled and report.query}
    agreement = {"selectionType": "Agreement"}  # a sale belongs to one month
    assert fixed == {
        **dict.fromkeys(("sales", "estates_report"), agreement),
    }
    chosen = {one.name: (one.choices.parameter, one.questions) for one in REPORTS.values() if one.choices}
    assert chosen == {"tips_and_leads": ("activeStatusTipLead", ("Active", "Removed"))}  # history is whole
    latest = {name: report.latest_months for name, report in REPORTS.items() if report.latest_months}
    assert latest == {"live_commissions": 3}
    paged = {name: report.unpaged_path for name, report in REPORTS.items() if report.paged}
    assert paged == {"tips_and_leads": "/BusinessIntelligence/TipsAndLeads/Report"}
