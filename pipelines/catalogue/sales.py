"""The sales and estates reports: estates by month, with their agents, shares and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipelines.catalogue.model import (
    Boolean,
    Column,
    Degrees,
    Each,
    Integer,
    LocalTime,
    Money,
    MonthOfRow,
    Percent,
    Rate,
    Report,
    Row,
    StoredAs,
    Table,
    Text,
    TimeParameters,
    field,
    inherited,
)

ONE_YEAR = 12  # the interface states no limit; a year keeps an answer to a size that comes back in time
IN_THE_TREE = "officeSaleReports[].years[].months[].estateSaleReports[]"
BY_CONTRACT_DATE = {"selectionType": "Agreement"}  # so that a sale belongs to one month
OFFICE, YEAR, MONTH = (
    "officeSaleReports[]",
    "officeSaleReports[].years[]",
    "officeSaleReports[].years[].months[]",
)
ASKED_OF = ("sales", "estates_report", "estates_report_prod")
"""Reports that take a selectionType, the one to prefer first (interface, Business intelligence)."""
CHANGED_SALES = "changed_sales"
BY_MOMENT_OF_CHANGE = {"selectionType": "Changed"}
DAYS_AT_ONCE = 62  # no limit is stated; the other reports with a short one are asked two months at a time


class Label(Row):
    """A code with its text; what the codes mean is not documented."""

    id: Integer = field("code; its values are not documented")
    text: Text = field("what the code means, as the service words it")


class ThinAddress(Row):
    """Where an estate is."""

    street_address: Text = field("street address")
    zip_code: Text = field("postal code")


class Address(ThinAddress):
    """Where an estate is, with its country."""

    country_code: Text = field("country code")


class Coordinate(Row):
    """A WGS84 position; the service spells both names without their last e."""

    longitud: Degrees = field("longitude in decimal degrees")
    latitud: Degrees = field("latitude in decimal degrees")


class AgentOffice(Row):
    """The office an agent belongs to."""

    customer_id: Text = field("customer id of the agent's own office, which may not be the reporting one")
    name: Text = field("name of the agent's own office")
    city: Text = field("town of the agent's own office")


class ThinAgentShare(Row):
    """An agent's share of a commission."""

    value: Money = field("the agent's share in SEK; tax basis not stated")
    percentage_of_total: Percent = field("the agent's share in percent of the whole commission")


class AgentShare(ThinAgentShare):
    """An agent's share of a commission, abroad as well."""

    value_foreign: Money = field("the agent's share in the foreign currency; foreign properties only")


class ThinAgent(Row):
    """An agent entitled to commission."""

    id: Text = field("user id of the agent", id_of="user")
    name: Text = field("name of the agent", personal=True)
    initials: Text = field("initials of the agent")
    employee_id: Text = field("employee number, a text", personal=True)
    responsible: Boolean = field("whether this agent is the responsible one")
    primary_office: AgentOffice | None = field("the agent's own office")
    commission: ThinAgentShare | None = field("the agent's share")


class Agent(ThinAgent):
    """An agent entitled to commission, abroad as well."""

    commission: AgentShare | None = field("the agent's share")


class ThinSaleEstate(Row):
    """An estate of GetEstateReportProdDb."""

    id: Text = field("id of the estate")
    estate_number: Text = field("the office's own number of the estate")
    status: Label | None = field("state of the sale")
    type: Label | None = field("kind of estate")
    assignment: Label | None = field("kind of assignment")
    address: ThinAddress | None = field("where it is")
    contract_day: LocalTime = field("day of the sale contract")
    access_day: LocalTime = field("day of possession")
    deposit_reported_at: LocalTime = field("when the deposit was accounted for")
    commission: Money = field("whole commission in SEK; tax basis not stated")
    commission_text: Text = field("the agreed fee in free text, when it is a fixed one")
    commission_received_at: LocalTime = field("when the commission was received")
    is_new_home: Boolean = field("whether it is newly built")
    wgs84_coordinate: Coordinate | None = field("where it is on the map")
    changed_at: LocalTime = field("when the estate was last changed")
    starting_price: Money = field("asking price in SEK")
    final_price: Money = field("sale price in SEK")


class SaleEstate(ThinSaleEstate):
    """An estate of GetSalesReport, GetEstatesReport and GetSalesReportForEstate."""

    address: Address | None = field("where it is")
    intake_source: Label | None = field("where the assignment came from")
    commission_foreign: Money = field("whole commission in the foreign currency; foreign properties only")
    starting_price_foreign: Money = field("asking price in the foreign currency; foreign properties only")
    final_price_foreign: Money = field("sale price in the foreign currency; foreign properties only")
    currency_code: Text = field("code of the foreign currency; foreign properties only")
    currency_exchange_rate: Rate = field("exchange rate of that currency; foreign properties only")


class EstateChange(Row):
    """What an estate was changed to."""

    changed_at: LocalTime = field("when the estate changed")
    status: Label | None = field("state of the sale then")
    commission: Money = field("whole commission then, in SEK")
    commission_foreign: Money = field("whole commission then, in the foreign currency")
    starting_price: Money = field("asking price then, in SEK")
    final_price: Money = field("sale price then, in SEK")
    starting_price_foreign: Money = field("asking price then, in the foreign currency")
    final_price_foreign: Money = field("sale price then, in the foreign currency")
    currency_code: Text = field("code of the foreign currency then")
    currency_exchange_rate: Rate = field("exchange rate of that currency then")


class AgentChange(Row):
    """What an agent's share was changed to."""

    changed_at: LocalTime = field("when the share changed")
    commission: Money = field("the agent's share then, in SEK")
    commission_foreign: Money = field("the agent's share then, in the foreign currency")
    percentage_of_total: Percent = field("the agent's share then, in percent of the whole commission")


class EstateReference(Row):
    """A sold estate as /Estates refers to it."""

    id: Text = field("id of the estate")
    status: Label | None = field("state of the sale")
    address: Address | None = field("where it is")
    is_new_home: Boolean = field("whether it is newly built")
    responsible_agent_name: Text = field("name of the responsible agent; the id is not sent", personal=True)
    contract_day: LocalTime = field("day of the sale contract")
    advertised_at: LocalTime = field("when it was first advertised")


class OfficeLevel(Row):
    """The office at the top of the tree."""

    customer_id: Text = field("customer id of the reporting office")
    office_name: Text = field("name of the reporting office")


class YearLevel(Row):
    """A year of an office."""

    year: Text = field("year the service filed the estate under, as the text it sends")


class MonthLevel(Row):
    """A month of a year."""

    month: Text = field("month the service filed the estate under, as the text it sends")


class OfficeOfReference(Row):
    """The office that references its sold estates."""

    customer_id: Text = field("customer id of the office")
    name: Text = field("name of the office")
    city: Text = field("town of the office")


OF_ESTATE = inherited("estate_id", "id of the estate that the row belongs to")
OF_AGENT = inherited("agent_id", "user id of the agent that the row belongs to", id_of="user")
ASKED_ESTATE = inherited("asked_estate_id", "the estate that we asked the service for")


def _tree(name: str, *, thin: bool = False) -> tuple[Table, ...]:
    estates = Table(
        name=f"{name}_estates",
        rows=IN_THE_TREE,
        description="One row per estate whose contract date lies in the window.",
        model=ThinSaleEstate if thin else SaleEstate,
        levels={OFFICE: "office", YEAR: "year", MONTH: "month"},
        level_models={OFFICE: OfficeLevel, YEAR: YearLevel, MONTH: MonthLevel},
        key=("id",),
        dated_by="contract_day",
        hands_down={"id": "estate_id"},
    )
    nested = _nested_tables(name, IN_THE_TREE, ThinAgent if thin else Agent, (OF_ESTATE,))
    return (estates, *(nested[:1] if thin else nested))


def _nested_tables(
    name: str, rows: str, agent: type[Row], of_estate: tuple[Column, ...]
) -> tuple[Table, Table, Table]:
    """Agents, changes of estates and changes of agents' shares, nested in the estates at `rows`."""
    agents = Table(
        name=f"{name}_agents",
        rows=f"{rows}.agents[]",
        description="One row per agent entitled to commission of an estate.",
        model=agent,
        parent=f"{name}_estates",
        inherited=of_estate,
        key=("estate_id", "id"),
        hands_down={column.name: column.name for column in of_estate} | {"id": "agent_id"},
    )
    estate_changes = Table(
        name=f"{name}_estate_changes",
        rows=f"{rows}.changes[]",
        description="One row per change of an estate, with the values set then.",
        model=EstateChange,
        parent=f"{name}_estates",
        inherited=of_estate,
    )
    agent_changes = Table(
        name=f"{name}_agent_changes",
        rows=f"{rows}.agents[].changes[]",
        description="One row per change of an agent's share.",
        model=AgentChange,
        parent=f"{name}_agents",
        inherited=(*of_estate, OF_AGENT),
    )
    return agents, estate_changes, agent_changes


def _by_contract_date(name: str, operation: str, description: str, *, thin: bool = False) -> Report:
    return Report(
        name=name,
        subject="sales",
        path=f"/BusinessIntelligence/{operation}",
        description=description,
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.DOCUMENTED_DATE,
        max_months=ONE_YEAR,
        query=BY_CONTRACT_DATE,
        customer_parameter="customerId",
        follows_sales=True,
        estate_id_column="id",
        tables=_tree(name, thin=thin),
    )


REPORTS = (
    _by_contract_date("sales", "GetSalesReport", "Estates sold, with agents, shares and changes."),
    _by_contract_date(
        "estates_report", "GetEstatesReport", "Estates by contract date, as a tree of offices."
    ),
    _by_contract_date(
        "estates_report_prod",
        "GetEstateReportProdDb",
        "Estates by contract date from the production database: fewer fields, no changes.",
        thin=True,
    ),
    Report(
        name="sales_for_estate",
        subject="sales",
        path="/BusinessIntelligence/GetSalesReportForEstate",
        description="One estate as the sales report knows it, asked for by id.",
        time_parameters=TimeParameters.NONE,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.NONE,
        customer_parameter="customerId",
        each=Each.ESTATE,
        enabled=False,
        on_demand=True,
        tables=(
            Table(
                name="sales_for_estate_estates",
                rows="estates[]",
                description="One row per estate that matched.",
                model=SaleEstate,
                inherited=(ASKED_ESTATE,),
                key=("id",),
                hands_down={"asked_estate_id": "asked_estate_id", "id": "estate_id"},
            ),
            *_nested_tables("sales_for_estate", "estates[]", Agent, (ASKED_ESTATE, OF_ESTATE)),
        ),
    ),
    Report(
        name="sold_estates",
        subject="sales",
        path="/BusinessIntelligence/Estates",
        description="References to the estates sold, by contract date, in one list per kind of estate.",
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.DOCUMENTED_DATE,
        max_months=ONE_YEAR,
        customer_parameter="customerId",
        follows_sales=True,
        estate_id_column="id",
        tables=(
            Table(
                name="sold_estates",
                rows="[].*[]",
                description="One row per estate sold; `kind` is the list it came in, such as houses.",
                model=EstateReference,
                levels={"[]": "office"},
                level_models={"[]": OfficeOfReference},
                key=("id",),
                dated_by="contract_day",
                key_column="kind",
            ),
        ),
    ),
)


def changed_sales(catalogue: Mapping[str, Report], refused: Sequence[str]) -> tuple[str, Report] | None:
    """The report to ask what changed, by its name, and the question as a report of its own.

    None when there is no such report left that was not refused. Its rows say by their own dates which
    months they belong to; the year and month that they are filed under are those of the change.
    """
    for name in ASKED_OF:
        if name in catalogue and name not in refused:
            asked = catalogue[name]
            tables = tuple(replace(table, dated_by=None) for table in asked.tables)
            return name, replace(
                asked,
                name=CHANGED_SALES,
                description="Sales that were changed lately, to learn which older months to ask for again.",
                stored_as=StoredAs.NOT_KEPT,
                month_of_row=MonthOfRow.NONE,
                query=BY_MOMENT_OF_CHANGE,
                tables=tables,
            )
    return None
