"""The budget reports: what offices and users mean to reach, month by month.

The months of the rows are not documented, so one month is asked at a time.
"""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.model import (
    Report,
    Table,
    inherited,
    text,
    with_inferred_names,
)

OFFICE = (
    text("customerId", "customer id of the office"),
    text("name", "name of the office"),
    text("city", "town of the office"),
)
OF_OFFICE = inherited("office_customer_id", description="customer id of the office that the row belongs to")
ASKED_USER = inherited("asked_user_id", description="the user that we asked the service for", id_of="user")
BUDGETED = {"Estate": "homes", "Commission": "commission", "Crm": "customer meetings"}


def _offices_and_users(name: str) -> tuple[Table, ...]:
    return (
        Table(
            name=name,
            rows="[]",
            description="One row per office and month.",
            columns=with_inferred_names(OFFICE),
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


budget = partial(Report, subject="budgets", stored_as="history", month_of_row="window", months_ahead=True)

REPORTS = (
    budget(
        name="budget_sold_estates",
        path="/Report/Budget/{customerId}/SoldEstates",
        description="How many homes each office means to sell in a month, kept with its history.",
        time_parameters="month bounds",
        tables=_offices_and_users("budget_sold_estates"),
    ),
    budget(
        name="budget_commission",
        path="/Report/Budget/{customerId}/Commission",
        description="What commission each office means to earn in a month, kept with its history.",
        time_parameters="month bounds",
        tables=_offices_and_users("budget_commission"),
    ),
    budget(
        name="budget_crm",
        path="/Report/Budget/{customerId}/Crm",
        description="How many customer meetings each office means to hold in a month, kept with its history.",
        time_parameters="month bounds",
        tables=(Table("budget_crm", rows="[]", description="One row per office and month, as it comes."),),
    ),
    *(
        budget(
            name=f"office_budget_{operation.lower()}",
            path=f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{year}}/{{month}}",
            description=f"The office's budget of {budgeted} for a month, kept with its history.",
            time_parameters="month in path",
            tables=(
                Table(
                    name=f"office_budget_{operation.lower()}",
                    rows="[]",
                    description="One row per budget; no field is documented.",
                ),
            ),
        )
        for operation, budgeted in BUDGETED.items()
    ),
    *(
        budget(
            name=f"user_budget_{operation.lower()}",
            path=f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{userId}}/{{year}}/{{month}}",
            description=f"A user's budget of {budgeted} for a month: one request per user, "
            "so off by default.",
            time_parameters="month in path",
            each="userId",
            enabled=False,
            tables=(
                Table(
                    name=f"user_budget_{operation.lower()}",
                    rows="[]",
                    description="One row per budget of a user; its fields are not documented.",
                    inherited=(ASKED_USER,),
                ),
            ),
        )
        for operation, budgeted in BUDGETED.items()
    ),
)
