"""The budget reports: what offices and users mean to reach, month by month.

The months of the rows are not documented, so one month is asked at a time.
"""

from __future__ import annotations

from pipelines.catalogue.model import (
    Each,
    MonthOfRow,
    Report,
    Row,
    StoredAs,
    Table,
    Text,
    TimeParameters,
    field,
    inherited,
)


class BudgetOffice(Row):
    """An office with a budget; what its users' rows hold is not documented."""

    customer_id: Text = field("customer id of the office")
    name: Text = field("name of the office")
    city: Text = field("town of the office")


OF_OFFICE = inherited("office_customer_id", "customer id of the office that the row belongs to")
ASKED_USER = inherited("asked_user_id", "the user that we asked the service for", id_of="user")
BUDGETED = {"Estate": "homes", "Commission": "commission", "Crm": "customer meetings"}


def _offices_and_users(name: str) -> tuple[Table, ...]:
    return (
        Table(
            name=name,
            rows="[]",
            description="One row per office and month.",
            model=BudgetOffice,
            key=("customer_id",),
            hands_down={"customer_id": "office_customer_id"},
        ),
        Table(
            name=f"{name}__users",
            rows="[].users[]",
            description="One row per user of an office and month; its fields are not documented.",
            parent=name,
            inherited=(OF_OFFICE,),
        ),
    )


def _all_offices(name: str, operation: str, description: str, tables: tuple[Table, ...]) -> Report:
    return Report(
        name=name,
        subject="budgets",
        path=f"/Report/Budget/{{customerId}}/{operation}",
        description=description,
        time_parameters=TimeParameters.MONTH_BOUNDS,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.WINDOW,
        months_ahead=True,
        tables=tables,
    )


def _one_office(operation: str, budgeted: str) -> Report:
    name = f"office_budget_{operation.lower()}"
    return Report(
        name=name,
        subject="budgets",
        path=f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{year}}/{{month}}",
        description=f"The office's budget of {budgeted} for a month, kept with its history.",
        time_parameters=TimeParameters.MONTH_IN_PATH,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.WINDOW,
        months_ahead=True,
        tables=(Table(name, rows="[]", description="One row per budget; no field is documented."),),
    )


def _one_user(operation: str, budgeted: str) -> Report:
    name = f"user_budget_{operation.lower()}"
    rows = "One row per budget of a user; its fields are not documented."
    return Report(
        name=name,
        subject="budgets",
        path=f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{userId}}/{{year}}/{{month}}",
        description=f"A user's budget of {budgeted} for a month: one request per user, so off by default.",
        time_parameters=TimeParameters.MONTH_IN_PATH,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.WINDOW,
        months_ahead=True,
        each=Each.USER,
        enabled=False,
        tables=(Table(name, rows="[]", description=rows, inherited=(ASKED_USER,)),),
    )


REPORTS = (
    _all_offices(
        "budget_sold_estates",
        "SoldEstates",
        "How many homes each office means to sell in a month, kept with its history.",
        _offices_and_users("budget_sold_estates"),
    ),
    _all_offices(
        "budget_commission",
        "Commission",
        "What commission each office means to earn in a month, kept with its history.",
        _offices_and_users("budget_commission"),
    ),
    _all_offices(
        "budget_crm",
        "Crm",
        "How many customer meetings each office means to hold in a month, kept with its history.",
        (Table("budget_crm", rows="[]", description="One row per office and month, as it comes."),),
    ),
    *(_one_office(operation, budgeted) for operation, budgeted in BUDGETED.items()),
    *(_one_user(operation, budgeted) for operation, budgeted in BUDGETED.items()),
)
