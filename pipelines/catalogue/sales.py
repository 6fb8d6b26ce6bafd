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
ONE_YEAR = 12  # no limit is stated; longer answers may time out
ESTATE_ROWS = "officeSaleReports[].years[].months[].estateSaleReports[]"
PROBE_REPORTS = ("sales", "estates_report", "estates_report_prod")
"""Reports that take a selectionType, the preferred one first (interface, Business intelligence)."""
CHANGED_SALES = "changed_sales"
BY_CHANGE_TIME = {"selectionType": "Changed"}
DAYS_PER_REQUEST = 62  # no limit is stated; the shortest of another report is two months

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
    text("customerId", "customer id of the agent's own office, not always the reporting one"),
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
    text("commissionText", "the agreed fee in free text, when it is a fixed one"),
    local_time("commissionReceivedAt", "when the commission was received"),
    boolean("isNewHome", "whether it is newly built"),
    *nested("wgs84Coordinate", COORDINATE),
    local_time("changedAt", "when the estate was last changed"),
    money("startingPrice", "asking price; currency not documented"),
    money("finalPrice", "sale price; currency not documented", needed=True),
    *nested("intakeSource", LABEL),
    money("commissionForeign", "whole commission in the foreign currency; foreign properties only"),
    money("startingPriceForeign", "asking price in the foreign currency; foreign properties only"),
    money("finalPriceForeign", "sale price in the foreign currency; foreign properties only"),
    text("currencyCode", "code of the foreign currency; foreign properties only"),
    rate("currencyExchangeRate", "exchange rate of that currency; foreign properties only"),
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
    money("commission", "whole commission then; currency and tax basis not documented"),
    money("commissionForeign", "whole commission then, in the foreign currency"),
    money("startingPrice", "asking price then; currency not documented"),
    money("finalPrice", "sale price then; currency not documented"),
    money("startingPriceForeign", "asking price then, in the foreign currency"),
    money("finalPriceForeign", "sale price then, in the foreign currency"),
    text("currencyCode", "code of the foreign currency then"),
    rate("currencyExchangeRate", "exchange rate of that currency then"),
)
AGENT_CHANGE = (
    local_time("changedAt", "when the share changed"),
    money("commission", "the agent's share then, in SEK; tax basis not documented"),
    money("commissionForeign", "the agent's share then, in the foreign currency"),
    percent("percentageOfTotal", "the agent's share then, in percent of the whole commission"),
)
# A sold estate in the answer of /Estates.
REFERENCE = (
    text("id", "id of the estate"),
    *nested("status", LABEL),
    *nested("address", ADDRESS),
    boolean("isNewHome", "whether it is newly built"),
    text("responsibleAgentName", "name of the responsible agent; the id is not sent", personal=True),
    day("contractDay", "day of the sale contract"),
    local_time("advertisedAt", "when it was first advertised", needed=True),
)
OFFICE_PATH = "officeSaleReports[]"
FILED = "under which the service filed the estate, as text"
LEVELS = (  # of the tree of offices, years and months above the estates
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
    text("[].*[]#", "name of the list with the row", name="kind"),
)

ASKED_ESTATE = requested("asked_estate_id", description="the requested estate")
ASKED_NUMBER = requested("asked_estate_number", description="the requested estate number")


def _nested_tables(
    name: str, agent: tuple[Column, ...], asked: tuple[Column, ...] = ()
) -> tuple[Table, Table, Table]:
    """Agents, changes of estates and changes of agents' shares, nested in the estates."""
    estates, agents = f"{name}_estates", f"{name}_agents"
    meaning = "id of the estate that the row belongs to"
    of_estate = text(f"@{estates}.id", meaning, name="estate_id")
    of_agent = (
        text(f"@{agents}.estate_id", meaning, name="estate_id"),
        text(f"@{agents}.id", "user id of the agent that the row belongs to", id_of="user", name="agent_id"),
    )
    return (
        Table(
            agents,
            f"@{estates}.agents[]",
            "One row per agent entitled to commission of an estate.",
            (of_estate, *agent),
            parent=estates,
            requested=asked,
            key=("estate_id", "id"),
        ),
        Table(
            f"{name}_estate_changes",
            f"@{estates}.changes[]",
            "One row per change of an estate, with the values set then.",
            (of_estate, *ESTATE_CHANGE),
            parent=estates,
            requested=asked,
        ),
        Table(
            f"{name}_agent_changes",
            f"@{agents}.changes[]",
            "One row per change of an agent's share.",
            (*of_agent, *AGENT_CHANGE),
            parent=agents,
            requested=asked,
        ),
    )


def _estates(
    name: str, description: str, *, thin: bool = False, dated_by: str | None = "contract_day"
) -> tuple[Table, ...]:
    """Estates in a tree of offices, and their nested tables; thin ones have fewer fields and no changes."""
    estates = Table(
        f"{name}_estates",
        ESTATE_ROWS,
        f"{description} One row per estate whose day is in the window.",
        (*LEVELS, *(THIN_ESTATE if thin else ESTATE)),
        key=("id",),
        dated_by=dated_by,
    )
    nested_tables = _nested_tables(name, THIN_AGENT if thin else AGENT)
    return (estates, *(nested_tables[:1] if thin else nested_tables))


def _endpoint(operation: str, selection: str, months: int = ONE_YEAR) -> Endpoint:
    query = {"selectionType": selection}
    return Endpoint(f"{PATH}/{operation}", "dates", window_months=months, query=query)


sales = partial(Report, subject="sales")
by_contract_date = partial(  # so that a sale belongs to one month
    sales, stored_as="months", month_of_row="documented date", estate_id_column="id"
)
SOLD = "Estates sold, with agents, shares and changes."
BY_CONTRACT_DATE = (
    "Estates by contract date, of every kind of assignment in the service's list (assignment_text): beyond "
    "sales, it may have writing assignments, so never add it to `sales`."
)
THIN = "The rows of estates_report with fewer fields and no changes, so off by default."
REPORTS = (
    by_contract_date(
        name="sales",
        description=SOLD,
        endpoint=_endpoint("GetSalesReport", "Agreement"),
        timing=Timing(follows_sales=True, unsettled=NOT_RECEIVED),
        tables=_estates("sales", SOLD),
    ),
    by_contract_date(
        name="estates_report",
        description=BY_CONTRACT_DATE,
        endpoint=_endpoint("GetEstatesReport", "Agreement"),
        timing=Timing(follows_sales=True),
        tables=_estates("estates_report", BY_CONTRACT_DATE),
    ),
    by_contract_date(
        name="estates_report_prod",
        description=THIN,
        endpoint=_endpoint("GetEstateReportProdDb", "Agreement"),
        timing=Timing(enabled=False, follows_sales=True),
        tables=_estates("estates_report_prod", THIN, thin=True),
    ),
    *(
        sales(
            name=name,
            description=f"One estate of the sales report, requested by {words}.",
            endpoint=Endpoint(f"{PATH}/GetSalesReportForEstate", "none", by_id=ById((parameter,))),
            timing=Timing(enabled=False, on_demand=True),
            stored_as="history",
            month_of_row="none",
            tables=(
                Table(
                    f"{name}_estates",
                    "estates[]",
                    "One row per estate that matched.",
                    ESTATE,
                    requested=(asked,),
                    key=("id",),
                ),
                *_nested_tables(name, AGENT, (asked,)),
            ),
        )
        for name, parameter, words, asked in (
            ("sales_for_estate", "estateId", "id", ASKED_ESTATE),
            ("sales_for_estate_number", "estateNumber", "the office's own number", ASKED_NUMBER),
        )
    ),
    by_contract_date(
        name="sold_estates",
        description="References to the estates sold, by contract date, in one list per kind; on by default, "
        "as no other report has the kind and the first day of advertising.",
        endpoint=Endpoint(f"{PATH}/Estates", "dates", window_months=ONE_YEAR),
        timing=Timing(follows_sales=True),
        tables=(
            Table(
                "sold_estates",
                "[].*[]",
                "One row per estate sold; `kind` is its list, such as houses.",
                (*OFFICE_OF_REFERENCES, *REFERENCE),
                key=("id",),
                dated_by="contract_day",
            ),
        ),
    ),
    *(
        sales(
            name=name,
            description=f"Estates by {words}, as a tree of offices: the same rows as estates_report by "
            f"another date, so off by default; {requests}.",
            endpoint=_endpoint("GetEstatesReport", selection, ONE_YEAR if dated_by else 1),
            timing=Timing(enabled=False),
            stored_as="months",
            month_of_row="documented date" if dated_by else "window",
            tables=_estates(name, f"Estates by {words}.", dated_by=dated_by),
        )
        for name, selection, words, dated_by, requests in (
            ("estates_by_access", "Access", "day of possession", "access_day", "one request a night"),
            ("estates_by_creation", "Create", "the day they were entered", None, "three requests a night"),
            (
                "estates_by_property_change",
                "LatestPropertyChangeDate",
                "the latest change of the property",
                None,
                "three requests a night",
            ),
        )
    ),
)


def changed_sales(catalogue: Mapping[str, Report], denied: Sequence[str]) -> tuple[str, Report] | None:
    """The first report that is not denied: its name, and its variant with changed sales; else None.

    The service files a changed sale under the month of the change, so its rows are given no month.
    """
    for name in PROBE_REPORTS:
        if name in catalogue and name not in denied:
            report = catalogue[name]
            return name, replace(
                report,
                name=CHANGED_SALES,
                description="Recently changed sales; they decide which older months are due again.",
                endpoint=replace(report.endpoint, query=BY_CHANGE_TIME),
                stored_as="not kept",
                month_of_row="none",
                tables=tuple(replace(table, dated_by=None) for table in report.tables),
            )
    return None
