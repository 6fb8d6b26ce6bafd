"""What every report asks, against the facts of the interface, which are written here a second time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
    asked = set(report.endpoint.query)
    asked |= {report.endpoint.choices.parameter} if report.endpoint.choices else set()
    asked |= {report.endpoint.customer_parameter} if report.endpoint.customer_parameter else set()
    asked |= {"dates": DATES, "month bounds": MONTHS}.get(report.endpoint.time_parameters, set())
    asked |= {"pageIndex", "pageSize"} if report.endpoint.paged else set()
    if report.endpoint.each and f"{{{report.endpoint.each}}}" not in report.endpoint.path:
        asked.add(report.endpoint.each)
    return asked


def test_every_get_operation_of_the_interface_is_asked_by_some_report() -> None:
    paths = {report.endpoint.path for report in REPORTS.values()}
    unpaged = {report.endpoint.unpaged_path for report in REPORTS.values() if report.endpoint.unpaged_path}
    assert paths | unpaged == set(OPERATIONS)


@every_report
def test_a_report_asks_all_that_is_required_and_nothing_that_is_unknown(report: Report) -> None:
    required, optional = OPERATIONS[report.endpoint.path]
    assert required <= asked_of(report) <= required | optional


@every_report
def test_a_fixed_parameter_has_a_value_of_its_enumeration(report: Report) -> None:
    chosen = (
        [(report.endpoint.choices.parameter, value) for value in report.endpoint.choices.values]
        if report.endpoint.choices
        else []
    )
    assert all(value in ENUMERATIONS[name] for name, value in [*report.endpoint.query.items(), *chosen])


@every_report
def test_no_request_spans_more_months_than_the_limit(report: Report) -> None:
    limits = [
        limit for operation, limit in LIMITS.items() if re.search(rf"/{operation}(/|$)", report.endpoint.path)
    ]
    assert all((report.endpoint.limit or report.endpoint.max_months) <= limit for limit in limits)


COMMISSIONS = REPORTS["commission_office"]
WRONG_ENDPOINTS: Mapping[str, Mapping[str, Any]] = {
    "names ['officeId']": {"path": "/x/{customerId}/{officeId}"},
    "its path and its query name the customer": {"customer_parameter": "customerId"},
    "nothing names the customer": {"path": "/x"},
    "disagree": {"path": "/x/{customerId}/{year}/{month}"},
    "a twin without pages": {"unpaged_path": "/x"},
    "asked for by nothing": {"path": "/x/{customerId}/{userId}"},
    "span more than it may": {"limit": 2},
    "spans several": {
        "path": "/x/{customerId}/{year}/{month}",
        "time_parameters": "month in path",
        "max_months": 2,
    },
}
WRONG_REPORTS: Mapping[str, Mapping[str, Any]] = {
    "needs windows of one": {"endpoint": replace(COMMISSIONS.endpoint, max_months=2)},
    "which column dates its rows": {"month_of_row": "documented date"},
    "disagree about months": {"month_of_row": "none"},
    "without months is kept": {
        "month_of_row": "none",
        "endpoint": replace(COMMISSIONS.endpoint, time_parameters="none"),
    },
    "a table has no key": {
        "endpoint": replace(COMMISSIONS.endpoint, paged=True),
        "tables": (replace(COMMISSIONS.tables[0], key=()),),
    },
    "one that is not there": {"tables": (replace(COMMISSIONS.tables[0], parent="nobody"),)},
    "two tables have one name": {"tables": COMMISSIONS.tables * 2},
}


@pytest.mark.parametrize("wrong", WRONG_ENDPOINTS)
def test_an_endpoint_that_contradicts_itself_is_not_built(wrong: str) -> None:
    with pytest.raises(ValueError, match=re.escape(wrong)):
        replace(COMMISSIONS.endpoint, **WRONG_ENDPOINTS[wrong])


@pytest.mark.parametrize("wrong", WRONG_REPORTS)
def test_a_report_that_contradicts_itself_is_not_built(wrong: str) -> None:
    with pytest.raises(ValueError, match=re.escape(wrong)):
        replace(COMMISSIONS, **WRONG_REPORTS[wrong])


def test_what_is_asked_unless_settings_say_otherwise() -> None:
    off = {name for name, report in REPORTS.items() if not report.timing.enabled}
    kinds = {
        f"{name}_{kind}"
        for name in ("commission_office", "commission_user", "commission_office_by_month")
        for kind in ("sale", "valuation", "writing")
    }
    users = {"user_budget_estate", "user_budget_commission", "user_budget_crm"}
    assert off == kinds | users | {"sales_for_estate", "estates_report_prod"}


def test_special_cases_are_these() -> None:
    fixed = {
        name: dict(report.endpoint.query)
        for name, report in REPORTS.items()
        if report.timing.enabled and report.endpoint.query
    }
    agreement = {"selectionType": "Agreement"}  # a sale belongs to one month
    assert fixed == {
        **dict.fromkeys(("sales", "estates_report"), agreement),
    }
    chosen = {
        one.name: (one.endpoint.choices.parameter, one.endpoint.questions)
        for one in REPORTS.values()
        if one.endpoint.choices
    }
    assert chosen == {"tips_and_leads": ("activeStatusTipLead", ("Active", "Removed"))}  # history is whole
    latest = {
        name: report.timing.latest_months for name, report in REPORTS.items() if report.timing.latest_months
    }
    assert latest == {"live_commissions": 3}
    paged = {name: report.endpoint.unpaged_path for name, report in REPORTS.items() if report.endpoint.paged}
    assert paged == {"tips_and_leads": "/BusinessIntelligence/TipsAndLeads/Report"}
