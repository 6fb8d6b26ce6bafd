"""The budget reports: what offices and users mean to reach, month by month.

Three of them take a range of months and are requested for all at once, if their rows carry a year and a
month. The others name one month in their path, and are requested again when their counterpart with a range
has changed, or once a week. No row is documented: paths of columns are assumptions, which `shapes.toml`
corrects.
"""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.model import (
    Column,
    Each,
    Endpoint,
    Ids,
    Report,
    Table,
    Timing,
    assumed,
    requested,
)

ASKED_USER = requested("asked_user_id", description="the user that we asked the service for", id_of="user")
USER = Each(  # of a customer whose users are not known, those that earned commission
    ("userId",), (Ids("users", ("id",)), Ids("users", ("user_id",)), Ids("commission_user", ("user_id",)))
)
AMOUNT = "DECIMAL(18,4)"
COMMISSION = (
    "commission_budget",
    AMOUNT,
    "commission",
    "commission budgeted, in whole SEK without VAT where set",
)
SOLD = ("sold_budget", AMOUNT, "sold", "homes to be sold")
REGISTERED = ("registered_budget", AMOUNT, "registered", "homes to be taken in")
MEETINGS = ("meetings_budget", AMOUNT, "total", "customer meetings to be held")
OWN_BOOKED = ("own_booked_budget", AMOUNT, "ownBooked", "of these, meetings that the user books")

Measure = tuple[str, str, str, str]
"""Our name of a measure, its type, the service's name as far as it is assumed, and what it counts."""

RANGES: dict[str, tuple[str, str, tuple[Measure, ...]]] = {
    "budget_sold_estates": ("SoldEstates", "How many homes each office means to sell", (SOLD,)),
    "budget_commission": ("Commission", "What commission each office means to earn", (COMMISSION,)),
    "budget_crm": ("Crm", "How many customer meetings each office means to hold", (MEETINGS, OWN_BOOKED)),
}
OF_A_MONTH: dict[str, tuple[str, str, tuple[Measure, ...]]] = {
    # by the operation for one month: what is budgeted, and the report that states it for a range
    "Estate": ("homes", "budget_sold_estates", (SOLD, REGISTERED)),
    "Commission": ("commission", "budget_commission", (COMMISSION,)),
    "Crm": ("customer meetings", "budget_crm", (MEETINGS, OWN_BOOKED)),
}


OFFICE = (
    assumed("office_name", "VARCHAR", "[].name", "name of the office"),
    assumed("office_city", "VARCHAR", "[].city", "town of the office"),
)
USER_NAME = assumed("user_name", "VARCHAR", "[].users[].name", "name of the user", personal=True)


def _columns(office: str, user: str, measures: tuple[Measure, ...]) -> tuple[Column, ...]:
    """The columns of a budget; `office` and `user` begin the paths of what rows say of them."""
    return (
        assumed("office_id", "VARCHAR", f"{office}.customerId", "customer id of the office"),
        assumed("office_named", "VARCHAR", f"{office}.officeId", "the office's own id, such as FIR31529"),
        assumed("user_id", "VARCHAR", f"{user}.userId", "id of the user; none of the office's own budget",
                needed=True, id_of="user"),
        assumed("year", "VARCHAR", ".year", "year of the month, where the month does not name it"),
        assumed("month", "VARCHAR", ".month", "month, as a number or with its year", needed=True),
        *(
            assumed(name, type_, f".{source}", meaning, needed=True)
            for name, type_, source, meaning in measures
        ),
    )  # fmt: skip


budget = partial(
    Report, subject="budgets", stored_as="history", month_of_row="year and month", is_assumed=True
)

REPORTS = (
    *(
        budget(
            name=name,
            description=f"{meant} in a month, kept with its history.",
            endpoint=Endpoint(
                f"/Report/Budget/{{customerId}}/{operation}",
                time_parameters="month bounds",
                window_months=60,  # no limit is stated; a first backfill with the months ahead is one request
            ),
            timing=Timing(months_ahead=True, weekly=True),
            tables=(
                Table(
                    name=name,
                    rows="[].users[].months[]",
                    description="One row per office, user and month.",
                    columns=(*_columns("[]", "[].users[]", measures), *OFFICE, USER_NAME),
                ),
            ),
        )
        for name, (operation, meant, measures) in RANGES.items()
    ),
    *(
        budget(
            name=f"office_budget_{operation.lower()}",
            endpoint=Endpoint(
                f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{year}}/{{month}}",
                time_parameters="month in path",
            ),
            description=f"The office's budget of {budgeted} for a month, kept with its history: asked when "
            f"{counterpart} has changed or once a week; on, for what it tells beyond that is not documented.",
            timing=Timing(months_ahead=True, weekly=True, counterpart=counterpart),
            tables=(
                Table(
                    name=f"office_budget_{operation.lower()}",
                    rows="[]",
                    description="One row per office, user and month.",
                    columns=_columns("", "", measures),
                ),
            ),
        )
        for operation, (budgeted, counterpart, measures) in OF_A_MONTH.items()
    ),
    *(
        budget(
            name=f"user_budget_{operation.lower()}",
            endpoint=Endpoint(
                f"/BusinessIntelligence/Budget/{operation}/{{customerId}}/{{userId}}/{{year}}/{{month}}",
                time_parameters="month in path",
                each=USER,
            ),
            description=f"A user's budget of {budgeted} for a month: one request per user, "
            "so off by default.",
            timing=Timing(months_ahead=True, weekly=True, counterpart=counterpart, enabled=False),
            tables=(
                Table(
                    name=f"user_budget_{operation.lower()}",
                    rows="[]",
                    description="One row per office, user and month.",
                    columns=_columns("", "", measures),
                    requested=(ASKED_USER,),
                ),
            ),
        )
        for operation, (budgeted, counterpart, measures) in OF_A_MONTH.items()
    ),
)
