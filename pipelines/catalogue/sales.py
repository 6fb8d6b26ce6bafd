"""What do the sales and estates reports answer? Estates by month, with their agents and changes."""

from __future__ import annotations

from pipelines.catalogue.fields import Row, Text, field
from pipelines.catalogue.sales_rows import (
    Agent,
    AgentChange,
    Estate,
    EstateChange,
    EstateReference,
    ThinAgent,
    ThinEstate,
)
from pipelines.catalogue.vocabulary import Asking, Each, Keeping, MonthOfRow, Report, Table

ONE_YEAR = 12  # the interface states no limit; a year keeps an answer to a size that comes back in time
IN_THE_TREE = "officeSaleReports[].years[].months[].estateSaleReports[]"
BY_CONTRACT_DATE = {"selectionType": "Agreement"}  # so that a sale belongs to one month
OFFICE, YEAR, MONTH = (
    "officeSaleReports[]",
    "officeSaleReports[].years[]",
    "officeSaleReports[].years[].months[]",
)


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


class OfEstate(Row):
    """What a row nested in an estate carries of it."""

    estate_id: Text = field("id of the estate that the row belongs to")


class OfAgent(OfEstate):
    """What a row nested in an agent carries of it."""

    agent_id: Text = field("user id of the agent that the row belongs to")


class AskedEstate(Row):
    """What we asked for."""

    asked_estate_id: Text = field("the estate that we asked the service for")


class OfAskedEstate(OfEstate, AskedEstate):
    """What a row nested in an estate that we asked for carries of it."""


class OfAskedAgent(OfAgent, AskedEstate):
    """What a row nested in an agent of an estate that we asked for carries of it."""


class OfficeOfReference(Row):
    """The office that references its sold estates."""

    customer_id: Text = field("customer id of the office")
    name: Text = field("name of the office")
    city: Text = field("town of the office")


def _tree(name: str, *, thin: bool = False) -> tuple[Table, ...]:
    estates = Table(
        name=f"{name}_estates",
        rows=IN_THE_TREE,
        description="One row per estate whose contract date lies in the window.",
        model=ThinEstate if thin else Estate,
        levels={OFFICE: "office", YEAR: "year", MONTH: "month"},
        level_models={OFFICE: OfficeLevel, YEAR: YearLevel, MONTH: MonthLevel},
        key=("id",),
        dated_by="contract_day",
        hands_down={"id": "estate_id"},
    )
    changes = () if thin else _changes(name, IN_THE_TREE, OfEstate, OfAgent)
    return (estates, _agents(name, IN_THE_TREE, ThinAgent if thin else Agent, OfEstate), *changes)


def _agents(name: str, rows: str, agent: type[Row], handed: type[Row]) -> Table:
    return Table(
        name=f"{name}_agents",
        rows=f"{rows}.agents[]",
        description="One row per agent entitled to commission of an estate.",
        model=agent,
        parent=f"{name}_estates",
        handed=handed,
        key=("estate_id", "id"),
        hands_down={column: column for column in handed.model_fields} | {"id": "agent_id"},
    )


def _changes(name: str, rows: str, of_estate: type[OfEstate], of_agent: type[OfAgent]) -> tuple[Table, Table]:
    return (
        Table(
            name=f"{name}_estate_changes",
            rows=f"{rows}.changes[]",
            description="One row per change of an estate, with the values set then.",
            model=EstateChange,
            parent=f"{name}_estates",
            handed=of_estate,
        ),
        Table(
            name=f"{name}_agent_changes",
            rows=f"{rows}.agents[].changes[]",
            description="One row per change of an agent's share.",
            model=AgentChange,
            parent=f"{name}_agents",
            handed=of_agent,
        ),
    )


def _by_contract_date(name: str, operation: str, description: str, *, thin: bool = False) -> Report:
    return Report(
        name=name,
        subject="sales",
        path=f"/BusinessIntelligence/{operation}",
        description=description,
        asking=Asking.DATES,
        keeping=Keeping.MONTHS,
        month_of_row=MonthOfRow.DOCUMENTED_DATE,
        longest=ONE_YEAR,
        query=BY_CONTRACT_DATE,
        customer_parameter="customerId",
        follows_sales=True,
        names_estates="id",
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
        asking=Asking.NOW,
        keeping=Keeping.HISTORY,
        month_of_row=MonthOfRow.NONE,
        customer_parameter="customerId",
        each=Each.ESTATE,
        on=False,
        on_demand=True,
        tables=(
            Table(
                name="sales_for_estate_estates",
                rows="estates[]",
                description="One row per estate that matched.",
                model=Estate,
                handed=AskedEstate,
                key=("id",),
                hands_down={"asked_estate_id": "asked_estate_id", "id": "estate_id"},
            ),
            _agents("sales_for_estate", "estates[]", Agent, OfAskedEstate),
            *_changes("sales_for_estate", "estates[]", OfAskedEstate, OfAskedAgent),
        ),
    ),
    Report(
        name="sold_estates",
        subject="sales",
        path="/BusinessIntelligence/Estates",
        description="References to the estates sold, by contract date, in one list per kind of estate.",
        asking=Asking.DATES,
        keeping=Keeping.MONTHS,
        month_of_row=MonthOfRow.DOCUMENTED_DATE,
        longest=ONE_YEAR,
        customer_parameter="customerId",
        follows_sales=True,
        names_estates="id",
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
