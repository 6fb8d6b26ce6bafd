"""The sales and estates reports: estates by month, with their agents, shares and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pipelines.catalogue.model import (
    LABEL,
    ById,
    Column,
    Endpoint,
    Report,
    Table,
    Timing,
    Unsettled,
    boolean,
    day,
    degrees,
    local_time,
    money,
    nested,
    percent,
    rate,
    requested,
    text,
)

NOT_RECEIVED = Unsettled("sales_estates", "commission_received_at IS NULL AND commission <> 0", max_months=12)
PATH = "/BusinessIntelligence"
ONE_YEAR = 12  # the interface states no limit, but requests for more months may time out
ESTATE_ROWS = "officeSaleReports[].years[].months[].estateSaleReports[]"
PROBE_REPORTS = ("sales", "estates_report", "estates_report_prod")
"""Reports that can select sales by change time, preferred ones first (interface, Business intelligence)."""
CHANGED_SALES = "changed_sales"
BY_CHANGE_TIME = {"selectionType": "Changed"}
DAYS_PER_REQUEST = 62
"""Days in a request for changed sales.

The interface states no limit for such a request. Its shortest limit for another report is two months.
"""

ADDRESS = (
    text("streetAddress", "street address"),
    text("zipCode", "postal code"),
    text("countryCode", "country code"),
)
# A WGS84 position; the service spells both names without their last e.
COORDINATE = (
    degrees("longitud", "longitude in decimal degrees"),
    degrees("latitud", "latitude in decimal degrees"),
)
AGENT_OFFICE = (
    text("customerId", "customer id of the agent's own office, which may differ from the reporting office"),
    text("name", "name of the agent's own office"),
    text("city", "town of the agent's own office"),
)
AGENT_SHARE = (
    money("value", "the agent's share in SEK; tax basis not documented", needed=True),
    percent("percentageOfTotal", "the agent's share in percent of the whole commission"),
    money("valueForeign", "the agent's share in the foreign currency; foreign properties only"),
)
AGENT = (
    text("id", "user id of the agent", id_of="user"),
    text("name", "name of the agent", personal=True),
    text("initials", "initials of the agent"),
    text("employeeId", "employee number, as text", personal=True),
    boolean("responsible", "whether this agent is responsible for the estate"),
    *nested("primaryOffice", AGENT_OFFICE),
    *nested("commission", AGENT_SHARE),
)
ESTATE = (
    text("id", "id of the estate"),
    text("estateNumber", "the office's own estate number"),
    *nested("status", LABEL),
    *nested("type", LABEL),
    *nested("assignment", LABEL),
    *nested("address", ADDRESS),
    day("contractDay", "day of the sale contract"),
    day("accessDay", "day of possession"),
    local_time("depositReportedAt", "when the deposit was accounted for"),
    money("commission", "whole commission; currency and tax basis not documented", needed=True),
    text("commissionText", "the agreed fee as free text, if it is a fixed fee"),
    local_time("commissionReceivedAt", "when the commission was received"),
    boolean("isNewHome", "whether the home is newly built"),
    *nested("wgs84Coordinate", COORDINATE),
    local_time("changedAt", "when the estate was last changed"),
    money("startingPrice", "asking price; currency not documented"),
    money("finalPrice", "sale price; currency not documented", needed=True),
    *nested("intakeSource", LABEL),
    money("commissionForeign", "whole commission in the foreign currency; foreign properties only"),
    money("startingPriceForeign", "asking price in the foreign currency; foreign properties only"),
    money("finalPriceForeign", "sale price in the foreign currency; foreign properties only"),
    text("currencyCode", "code of the foreign currency; foreign properties only"),
    rate("currencyExchangeRate", "exchange rate of the foreign currency; foreign properties only"),
)
NOT_IN_PRODUCTION = {  # fields of estates and agents that GetEstateReportProdDb does not send
    "address.countryCode",
    "intakeSource.id",
    "intakeSource.text",
    "commissionForeign",
    "startingPriceForeign",
    "finalPriceForeign",
    "currencyCode",
    "currencyExchangeRate",
    "commission.valueForeign",
}
THIN_ESTATE = tuple(column for column in ESTATE if column.source not in NOT_IN_PRODUCTION)
THIN_AGENT = tuple(column for column in AGENT if column.source not in NOT_IN_PRODUCTION)

ESTATE_CHANGE = (
    local_time("changedAt", "when the estate changed"),
    *nested("status", LABEL),
    money("commission", "whole commission after the change; currency and tax basis not documented"),
    money("commissionForeign", "whole commission after the change, in the foreign currency"),
    money("startingPrice", "asking price after the change; currency not documented"),
    money("finalPrice", "sale price after the change; currency not documented"),
    money("startingPriceForeign", "asking price after the change, in the foreign currency"),
    money("finalPriceForeign", "sale price after the change, in the foreign currency"),
    text("currencyCode", "code of the foreign currency after the change"),
    rate("currencyExchangeRate", "exchange rate of the foreign currency after the change"),
)
AGENT_CHANGE = (
    local_time("changedAt", "when the share changed"),
    money("commission", "the agent's share after the change, in SEK; tax basis not documented"),
    money("commissionForeign", "the agent's share after the change, in the foreign currency"),
    percent("percentageOfTotal", "the agent's share after the change, in percent of the whole commission"),
)
# The columns of a sold estate in the answer of /Estates.
REFERENCE = (
    text("id", "id of the estate"),
    *nested("status", LABEL),
    *nested("address", ADDRESS),
    boolean("isNewHome", "whether the home is newly built"),
    text("responsibleAgentName", "name of the responsible agent; no id is sent", personal=True),
    day("contractDay", "day of the sale contract"),
    local_time("advertisedAt", "when the home was first advertised", needed=True),
)
OFFICE_PATH = "officeSaleReports[]"
FILED = "under which the service filed the estate, as text"
LEVELS = (  # the columns of the levels above the estates: office, year and month
    text(
        f"{OFFICE_PATH}.customerId",
        "customer id of the reporting office",
        name="office_customer_id",
        needed=True,
    ),
    text(f"{OFFICE_PATH}.officeName", "name of the reporting office", name="office_name"),
    text(f"{OFFICE_PATH}.years[].year", f"year {FILED}", name="year"),
    text(f"{OFFICE_PATH}.years[].months[].month", f"month {FILED}", name="month"),
)
OFFICE_OF_REFERENCES = (
    text("[].customerId", "customer id of the office", name="office_customer_id"),
    text("[].name", "name of the office", name="office_name"),
    text("[].city", "town of the office", name="office_city"),
    text("[].*[]#", "kind of home: the name of the list that holds the row", name="kind"),
)

REQUESTED_ESTATE = requested("asked_estate_id", description="id of the requested estate")
REQUESTED_NUMBER = requested("asked_estate_number", description="number of the requested estate")


def _nested_tables(
    name: str, agent: tuple[Column, ...], requested_columns: tuple[Column, ...] = ()
) -> tuple[Table, Table, Table]:
    estates, agents = f"{name}_estates", f"{name}_agents"
    meaning = "id of the estate that the row belongs to"
    estate_id = text(f"@{estates}.id", meaning, name="estate_id")
    agent_ids = (
        text(f"@{agents}.estate_id", meaning, name="estate_id"),
        text(f"@{agents}.id", "user id of the agent that the row belongs to", id_of="user", name="agent_id"),
    )
    return (
        Table(
            agents,
            f"@{estates}.agents[]",
            "One row per agent and estate for which the agent receives commission.",
            (estate_id, *agent),
            parent=estates,
            requested=requested_columns,
            key=("estate_id", "id"),
        ),
        Table(
            f"{name}_estate_changes",
            f"@{estates}.changes[]",
            "One row per change of an estate, with its values after the change.",
            (estate_id, *ESTATE_CHANGE),
            parent=estates,
            requested=requested_columns,
        ),
        Table(
            f"{name}_agent_changes",
            f"@{agents}.changes[]",
            "One row per change of an agent's share.",
            (*agent_ids, *AGENT_CHANGE),
            parent=agents,
            requested=requested_columns,
        ),
    )


def _estates(
    name: str, description: str, *, is_thin: bool = False, dated_by: str | None = "contract_day"
) -> tuple[Table, ...]:
    estates = Table(
        f"{name}_estates",
        ESTATE_ROWS,
        f"{description} One row per estate.",
        (*LEVELS, *(THIN_ESTATE if is_thin else ESTATE)),
        key=("id",),
        dated_by=dated_by,
    )
    nested_tables = _nested_tables(name, THIN_AGENT if is_thin else AGENT)
    return (estates, *(nested_tables[:1] if is_thin else nested_tables))


def _endpoint(operation: str, selection: str, months: int = ONE_YEAR) -> Endpoint:
    query = {"selectionType": selection}
    return Endpoint(f"{PATH}/{operation}", "dates", window_months=months, query=query)


sales_report = partial(Report, subject="sales")
report_by_contract_date = partial(  # a sale has one contract date, so it belongs to one month
    sales_report, stored_as="months", month_of_row="documented date", estate_id_column="id"
)
SOLD = "Sold estates, with their agents, shares and changes."
BY_CONTRACT_DATE = (
    "Estates by contract date, of every kind of assignment (assignment_text). They include sales, so never "
    "add up this report and `sales`."
)
THIN = "The estates of estates_report with fewer fields and without changes. Off by default."
REPORTS = (
    report_by_contract_date(
        name="sales",
        description=SOLD,
        endpoint=_endpoint("GetSalesReport", "Agreement"),
        timing=Timing(follows_sales=True, unsettled=NOT_RECEIVED),
        tables=_estates("sales", SOLD),
    ),
    report_by_contract_date(
        name="estates_report",
        description=BY_CONTRACT_DATE,
        endpoint=_endpoint("GetEstatesReport", "Agreement"),
        timing=Timing(follows_sales=True),
        tables=_estates("estates_report", BY_CONTRACT_DATE),
    ),
    report_by_contract_date(
        name="estates_report_prod",
        description=THIN,
        endpoint=_endpoint("GetEstateReportProdDb", "Agreement"),
        timing=Timing(enabled=False, follows_sales=True),
        tables=_estates("estates_report_prod", THIN, is_thin=True),
    ),
    *(
        sales_report(
            name=name,
            description=f"One estate of the sales report, requested by {id_name}.",
            endpoint=Endpoint(f"{PATH}/GetSalesReportForEstate", "none", by_id=ById((parameter,))),
            timing=Timing(enabled=False, on_demand=True),
            stored_as="history",
            month_of_row="none",
            tables=(
                Table(
                    f"{name}_estates",
                    "estates[]",
                    "One row per matching estate.",
                    ESTATE,
                    requested=(column,),
                    key=("id",),
                ),
                *_nested_tables(name, AGENT, (column,)),
            ),
        )
        for name, parameter, id_name, column in (
            ("sales_for_estate", "estateId", "id", REQUESTED_ESTATE),
            ("sales_for_estate_number", "estateNumber", "the office's own estate number", REQUESTED_NUMBER),
        )
    ),
    report_by_contract_date(
        name="sold_estates",
        description="Sold estates by contract date, in one list per kind of home. On by default, because no "
        "other report has the first day of advertising.",
        endpoint=Endpoint(f"{PATH}/Estates", "dates", window_months=ONE_YEAR),
        timing=Timing(follows_sales=True),
        tables=(
            Table(
                "sold_estates",
                "[].*[]",
                "One row per sold estate; `kind` is the name of its list, such as houses.",
                (*OFFICE_OF_REFERENCES, *REFERENCE),
                key=("id",),
                dated_by="contract_day",
            ),
        ),
    ),
    *(
        sales_report(
            name=name,
            description=f"The estates of estates_report by {criterion} instead of contract date. Off by "
            f"default; takes {requests}.",
            endpoint=_endpoint("GetEstatesReport", selection, ONE_YEAR if dated_by else 1),
            timing=Timing(enabled=False),
            stored_as="months",
            month_of_row="documented date" if dated_by else "window",
            tables=_estates(name, f"Estates by {criterion}.", dated_by=dated_by),
        )
        for name, selection, criterion, dated_by, requests in (
            ("estates_by_access", "Access", "day of possession", "access_day", "one request per night"),
            ("estates_by_creation", "Create", "day of entry", None, "three requests per night"),
            (
                "estates_by_property_change",
                "LatestPropertyChangeDate",
                "latest change of the property",
                None,
                "three requests per night",
            ),
        )
    ),
)


def changed_sales(catalogue: Mapping[str, Report], denied: Sequence[str]) -> tuple[str, Report] | None:
    """The name of the first of PROBE_REPORTS that is not denied, and the report's variant for changed sales.

    None if each of them is denied or not in the catalogue. Rows of the variant get no month, because the
    service files a changed sale under the month of the change and not under that of the contract.
    """
    for name in PROBE_REPORTS:
        if name in catalogue and name not in denied:
            report = catalogue[name]
            return name, replace(
                report,
                name=CHANGED_SALES,
                description="Recently changed sales, which decide which older months are due again.",
                endpoint=replace(report.endpoint, query=BY_CHANGE_TIME),
                stored_as="not kept",
                month_of_row="none",
                tables=tuple(replace(table, dated_by=None) for table in report.tables),
            )
    return None
