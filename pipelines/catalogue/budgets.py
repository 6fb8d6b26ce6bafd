"""The budget reports: the budgets of offices and users, month by month.

Three of the reports take a range of months. The other six take one month, so each month needs a request, and
the latest and future months are requested weekly instead of nightly (pipelines/planning/due.py).
The interface documents no rows: the paths of columns are assumed, and `shapes.toml` can correct them.
"""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.model import ById, Column, Endpoint, Ids, Report, Table, Timing, assumed, requested

REQUESTED_USER = requested("asked_user_id", description="id of the requested user", id_of="user")
# The requested ids are those of the customer's users or, if no user is loaded, of the users who earned
# commission. It is not documented how the service names a user's id, so the column is `id` or `user_id`.
USER = ById(
    ("userId",), (Ids("users", ("id",)), Ids("users", ("user_id",)), Ids("commission_user", ("user_id",)))
)
measure = partial(assumed, type="DECIMAL(18,4)", needed=True)
COMMISSION = measure(
    "commission_budget",
    source=".commission",
    description="budgeted commission, which is set in whole SEK without VAT",
)
SOLD = measure("sold_budget", source=".sold", description="homes planned to be sold")
REGISTERED = measure("registered_budget", source=".registered", description="homes planned to be registered")
MEETINGS = measure("meetings_budget", source=".total", description="planned customer meetings")
OWN_BOOKED = measure(
    "own_booked_budget", source=".ownBooked", description="planned customer meetings that the user books"
)

RANGES: dict[str, tuple[str, str, tuple[Column, ...]]] = {
    # Report -> the operation in its path, the budgeted quantity, and the measures.
    "budget_sold_estates": ("SoldEstates", "sold homes", (SOLD,)),
    "budget_commission": ("Commission", "commission", (COMMISSION,)),
    "budget_crm": ("Crm", "customer meetings", (MEETINGS, OWN_BOOKED)),
}
MONTHLY: dict[str, tuple[str, str, tuple[Column, ...]]] = {
    # Operation -> the budgeted quantity, the report of RANGES with the same budgets, and the measures.
    "Estate": ("sold and registered homes", "budget_sold_estates", (SOLD, REGISTERED)),
    "Commission": ("commission", "budget_commission", (COMMISSION,)),
    "Crm": ("customer meetings", "budget_crm", (MEETINGS, OWN_BOOKED)),
}
OFFICE = (
    assumed("office_name", "VARCHAR", "[].name", "name of the office"),
    assumed("office_city", "VARCHAR", "[].city", "town of the office"),
)
USER_NAME = assumed("user_name", "VARCHAR", "[].users[].name", "name of the user", personal=True)


def _columns(office: str, user: str, measures: tuple[Column, ...]) -> tuple[Column, ...]:
    return (
        assumed("office_id", "VARCHAR", f"{office}.customerId", "customer id of the office"),
        assumed("office_named", "VARCHAR", f"{office}.officeId", "the office's own id, like FIR31529"),
        assumed("user_id", "VARCHAR", f"{user}.userId", "id of the user; null for the office's own budget",
                needed=True, id_of="user"),
        assumed("year", "VARCHAR", ".year", "year of the month, if the month does not contain it"),
        assumed("month", "VARCHAR", ".month", "month, as a number or with its year", needed=True),
        *measures,
    )  # fmt: skip


ROWS = "One row per office, user and month."
budget = partial(
    Report, subject="budgets", stored_as="history", month_of_row="year and month", is_assumed=True
)


def _range_report(name: str) -> Report:
    operation, budgeted, measures = RANGES[name]
    columns = (*_columns("[]", "[].users[]", measures), *OFFICE, USER_NAME)
    # The interface does not limit the range. With 60 months, most first backfills take one request.
    path = f"/Report/Budget/{{customerId}}/{operation}"
    return budget(
        name=name,
        description=f"The monthly budgets of offices and users for {budgeted}, with their history.",
        endpoint=Endpoint(path, "month bounds", window_months=60),
        timing=Timing(months_ahead=True),
        tables=(Table(name, "[].users[].months[]", ROWS, columns),),
    )


def _month_report(
    name: str, path_ids: str, description: str, operation: str, by_id: ById | None = None
) -> Report:
    budgeted, counterpart, measures = MONTHLY[operation]
    name = f"{name}_{operation.lower()}"
    path = f"/BusinessIntelligence/Budget/{operation}/{path_ids}/{{year}}/{{month}}"
    requested_ids = (REQUESTED_USER,) if by_id else ()
    return budget(
        name=name,
        description=description.format(budgeted, counterpart),
        endpoint=Endpoint(path, "month in path", by_id=by_id),
        timing=Timing(months_ahead=True, counterpart=counterpart, enabled=not by_id),
        tables=(Table(name, "[]", ROWS, _columns("", "", measures), requested=requested_ids),),
    )


OFFICE_BUDGET = (
    "The monthly budget of the office for {0}, with its history. Requested once a week, and when {1} "
    "changes. On by default, because it may have fields that {1} lacks."
)
USER_BUDGET = "The monthly budget of each user for {}. Off by default; takes one request per user and month."
REPORTS = (
    *(_range_report(name) for name in RANGES),
    *(_month_report("office_budget", "{customerId}", OFFICE_BUDGET, operation) for operation in MONTHLY),
    *(
        _month_report("user_budget", "{customerId}/{userId}", USER_BUDGET, operation, USER)
        for operation in MONTHLY
    ),
)
