"""The budget reports: what offices and users mean to reach, month by month."""

from __future__ import annotations

from collections.abc import Iterator

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
)

WHAT_IS_BUDGETED = {"Estate": "homes", "Commission": "commission", "Crm": "customer meetings"}


class BudgetOffice(Row):
    """An office with a budget; what its users' rows hold is not documented."""

    customer_id: Text = field("customer id of the office")
    name: Text = field("name of the office")
    city: Text = field("town of the office")


class OfOffice(Row):
    """What a row nested in an office carries of it."""

    office_customer_id: Text = field("customer id of the office that the row belongs to")


class AskedUser(Row):
    """What we asked for."""

    asked_user_id: Text = field("the user that we asked the service for", id_of="user")


def _documented_offices(name: str) -> tuple[Table, ...]:
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
            inherited=OfOffice,
        ),
    )


def _of_customer(name: str, operation: str, description: str, tables: tuple[Table, ...]) -> Report:
    return Report(
        name=name,
        subject="budgets",
        path=f"/Report/Budget/{{customerId}}/{operation}",
        description=description,
        time_parameters=TimeParameters.MONTH_BOUNDS,
        stored_as=StoredAs.HISTORY,
        month_of_row=MonthOfRow.WINDOW,  # the rows' months are not documented: one month at a time
        months_ahead=True,
        tables=tables,
    )


def _per_office() -> Iterator[Report]:
    for operation, what in WHAT_IS_BUDGETED.items():
        name = f"office_budget_{operation.lower()}"
        yield Report(
            name=name,
            subject="budgets",
            path=f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{year}}/{{month}}",
            description=f"The office's budget of {what} for a month, kept with its history.",
            time_parameters=TimeParameters.MONTH_IN_PATH,
            stored_as=StoredAs.HISTORY,
            month_of_row=MonthOfRow.WINDOW,
            months_ahead=True,
            tables=(Table(name, rows="[]", description="One row per budget; no field is documented."),),
        )


def _per_user() -> Iterator[Report]:
    for operation, what in WHAT_IS_BUDGETED.items():
        name = f"user_budget_{operation.lower()}"
        rows = "One row per budget of a user; its fields are not documented."
        yield Report(
            name=name,
            subject="budgets",
            path=f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{userId}}/{{year}}/{{month}}",
            description=f"A user's budget of {what} for a month: one request per user, so off by default.",
            time_parameters=TimeParameters.MONTH_IN_PATH,
            stored_as=StoredAs.HISTORY,
            month_of_row=MonthOfRow.WINDOW,
            months_ahead=True,
            each=Each.USER,
            enabled=False,
            tables=(Table(name, rows="[]", description=rows, inherited=AskedUser),),
        )


REPORTS = (
    _of_customer(
        "budget_sold_estates",
        "SoldEstates",
        "How many homes each office means to sell in a month, kept with its history.",
        _documented_offices("budget_sold_estates"),
    ),
    _of_customer(
        "budget_commission",
        "Commission",
        "What commission each office means to earn in a month, kept with its history.",
        _documented_offices("budget_commission"),
    ),
    _of_customer(
        "budget_crm",
        "Crm",
        "How many customer meetings each office means to hold in a month, kept with its history.",
        (Table("budget_crm", rows="[]", description="One row per office and month, as it comes."),),
    ),
    *_per_office(),
    *_per_user(),
)
