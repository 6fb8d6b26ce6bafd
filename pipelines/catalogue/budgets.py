"""The budget reports: what offices and users mean to reach, month by month.

Three of them take a range of months and are asked for all at once, as long as their rows turn out to carry a
year and a month. The others name one month in their path, and are asked again when their counterpart
has changed, or once a week.
"""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.model import (
    Each,
    Endpoint,
    Ids,
    Report,
    Table,
    Timing,
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
USER = Each(  # of a customer whose users are not known, those that earned commission
    ("userId",), (Ids("users", ("id",)), Ids("users", ("user_id",)), Ids("commission_user", ("user_id",)))
)
BUDGETED = {  # by the operation for one month: what is budgeted, and the report that tells it of a range
    "Estate": ("homes", "budget_sold_estates"),
    "Commission": ("commission", "budget_commission"),
    "Crm": ("customer meetings", "budget_crm"),
}

budget = partial(Report, subject="budgets", stored_as="history")
of_range = partial(
    budget, month_of_row="year and month within", timing=Timing(months_ahead=True, weekly=True)
)
range_at = partial(
    Endpoint,
    time_parameters="month bounds",
    window_months=60,  # no limit is stated; a first backfill with the months ahead is one request
)
of_month = partial(budget, month_of_row="window")
month_at = partial(Endpoint, time_parameters="month in path")
when_counterpart_changes = partial(Timing, months_ahead=True, weekly=True)

REPORTS = (
    *(
        of_range(
            name=name,
            description=f"{meant} in a month, kept with its history.",
            endpoint=range_at(f"/Report/Budget/{{customerId}}/{operation}"),
            tables=(
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
            ),
        )
        for name, operation, meant in (
            ("budget_sold_estates", "SoldEstates", "How many homes each office means to sell"),
            ("budget_commission", "Commission", "What commission each office means to earn"),
        )
    ),
    of_range(
        name="budget_crm",
        description="How many customer meetings each office means to hold in a month, kept with its history.",
        endpoint=range_at("/Report/Budget/{customerId}/Crm"),
        tables=(Table("budget_crm", rows="[]", description="One row per office and month, as it comes."),),
    ),
    *(
        of_month(
            name=f"office_budget_{operation.lower()}",
            endpoint=month_at(f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{year}}/{{month}}"),
            description=f"The office's budget of {budgeted} for a month, kept with its history: asked when "
            f"{counterpart} has changed or once a week; on, for what it tells beyond that is not documented.",
            timing=when_counterpart_changes(counterpart=counterpart),
            tables=(
                Table(
                    name=f"office_budget_{operation.lower()}",
                    rows="[]",
                    description="One row per budget; no field is documented.",
                ),
            ),
        )
        for operation, (budgeted, counterpart) in BUDGETED.items()
    ),
    *(
        of_month(
            name=f"user_budget_{operation.lower()}",
            endpoint=month_at(
                f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{userId}}/{{year}}/{{month}}",
                each=USER,
            ),
            description=f"A user's budget of {budgeted} for a month: one request per user, "
            "so off by default.",
            timing=when_counterpart_changes(counterpart=counterpart, enabled=False),
            tables=(
                Table(
                    name=f"user_budget_{operation.lower()}",
                    rows="[]",
                    description="One row per budget of a user; its fields are not documented.",
                    inherited=(ASKED_USER,),
                ),
            ),
        )
        for operation, (budgeted, counterpart) in BUDGETED.items()
    ),
)
