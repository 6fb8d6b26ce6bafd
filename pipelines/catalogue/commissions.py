"""The commission reports: earnings per office, per user, per month, and as they run."""

from __future__ import annotations

from pipelines.catalogue.model import (
    LocalTime,
    Money,
    MonthOfRow,
    Parts,
    Percent,
    Rate,
    Report,
    Row,
    StoredAs,
    Table,
    Text,
    TimeParameters,
    field,
)

ONE_YEAR = 12  # interface, Limits: the interval must not exceed one year
TWO_MONTHS = 2
KINDS = ("Sale", "Valuation", "Writing")


class CommissionOffice(Row):
    """The office of a commission row; the service documents no more of it than its id."""

    customer_id: Text = field("customer id of the office, with its prefix letter")


class Earnings(Row):
    """What an office or a user earned in the window; shared sales count in parts."""

    commission: Money = field("commission for sales, valuations and writings together; tax basis not stated")
    sold_total_price: Money = field("sum of the prices of what was sold, by share of the commission")
    sold_commission_percentage: Percent = field(
        "commission of sales in percent of their prices; not to be added"
    )
    sold_average_commission: Money = field("average commission of a sale; not to be added")
    sold_estate_parts: Parts = field("homes sold, fractional where the commission is shared")
    writing_parts: Parts = field("writing assignments, fractional where shared")
    valuation_parts: Parts = field("valuations, fractional where shared")


class ByOffice(Row):
    """Whose earnings they are: an office's."""

    office: CommissionOffice | None = field("the office")
    customer_id: Text = field("the old customer number without prefix; office_customer_id replaces it")


class ByUser(Row):
    """Whose earnings they are: a user's; the service does not say of which office."""

    user_id: Text = field("id of the user who earned", id_of="user")


class OfficeEarnings(Earnings, ByOffice):
    """One row of CommissionOfficeReport."""


class UserEarnings(Earnings, ByUser):
    """One row of CommissionUserReport."""


class RunningCommission(Row):
    """One event of RunningCommissions: no id, and equal rows can both be real."""

    user_id: Text = field("id of the user who earned, from the commission split or the project", id_of="user")
    customer_id: Text = field("customer id of the office, from the commission split or the project")
    estate_id: Text = field("id of the estate, or of the project, that earned it")
    amount: Money = field("amount excluding VAT in the estate's currency, already split")
    exchange_rate: Rate = field("rate that turns the amount into SEK")
    obtained_at: LocalTime = field("when it was earned")


def _per_office(kind: str | None) -> Report:
    return Report(
        name=_named("commission_office", kind),
        subject="commissions",
        path="/BusinessIntelligence/CommissionOfficeReport/{customerId}",
        description=f"What each office earned in a month{_only(kind)}: an aggregate, so one month a request.",
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.WINDOW,
        query=_assignment(kind),
        enabled=kind is None,
        follows_sales=True,
        tables=(
            Table(
                name=_named("commission_office", kind),
                rows="[]",
                description=f"One row per office and month{_only(kind)}.",
                model=OfficeEarnings,
                key=("office_customer_id",),
            ),
        ),
    )


def _per_user(kind: str | None) -> Report:
    return Report(
        name=_named("commission_user", kind),
        subject="commissions",
        path="/BusinessIntelligence/CommissionUserReport/{customerId}",
        description=f"What each user earned in a month{_only(kind)}: an aggregate, so one month a request.",
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.WINDOW,
        query=_assignment(kind),
        enabled=kind is None,
        follows_sales=True,
        tables=(
            Table(
                name=_named("commission_user", kind),
                rows="[]",
                description=f"One row per user and month{_only(kind)}.",
                model=UserEarnings,
                key=("user_id",),
            ),
        ),
    )


def _per_office_by_month(kind: str | None) -> Report:
    return Report(
        name=_named("commission_office_by_month", kind),
        subject="commissions",
        path="/BusinessIntelligence/CommissionOfficeReportByMonth/{customerId}",
        description=f"What each office earned, month by month{_only(kind)}: assumed office > year > month.",
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.YEAR_AND_MONTH,
        max_months=ONE_YEAR,
        query=_assignment(kind),
        enabled=kind is None,
        follows_sales=True,
        tables=(
            Table(
                name=_named("commission_office_by_month", kind),
                rows="commissionOffices[]",
                description=f"One row per office and month{_only(kind)}, wherever the answer holds them.",
                levels={
                    "commissionOffices[]": "office",
                    "commissionOffices[].years[]": "year",
                    "commissionOffices[].years[].months[]": "month",
                },
            ),
        ),
    )


def _named(name: str, kind: str | None) -> str:
    return f"{name}_{kind.lower()}" if kind else name


def _only(kind: str | None) -> str:
    return f", {kind.lower()} assignments only" if kind else ""


def _assignment(kind: str | None) -> dict[str, str]:
    return {"assignment": kind} if kind else {}


REPORTS = (
    *(_per_office(kind) for kind in (None, *KINDS)),
    *(_per_user(kind) for kind in (None, *KINDS)),
    *(_per_office_by_month(kind) for kind in (None, *KINDS)),
    Report(
        name="running_commissions",
        subject="commissions",
        path="/BusinessIntelligence/RunningCommissions",
        description="Commissions earned in steps, one event a row.",
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.DOCUMENTED_DATE,
        max_months=TWO_MONTHS,
        customer_parameter="customerId",
        follows_sales=True,
        estate_id_column="estate_id",
        tables=(
            Table(
                name="running_commissions",
                rows="[]",
                description="One row per event; there is no id, and equal rows can both be real.",
                model=RunningCommission,
                dated_by="obtained_at",
            ),
        ),
    ),
)
