"""The commission reports: earnings per office, per user and per month, and commissions as single events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from pipelines.catalogue.model import (
    Column,
    Endpoint,
    Report,
    Table,
    Timing,
    assumed,
    local_time,
    money,
    nested,
    parts,
    percent,
    rate,
    text,
    with_inferred_names,
)

PATH = "/BusinessIntelligence"
ONE_YEAR = 12  # interface, Limits: the interval must not exceed one year
TWO_MONTHS = 2

# Earnings of an office or user in the window; each gets only its share of a shared sale.
EARNINGS = (
    money(
        "commission",
        "commission from sales, valuations and writing assignments; currency and tax basis not documented",
        needed=True,
    ),
    money(
        "soldTotalPrice",
        "sum of sale prices, each multiplied by the commission share; currency not documented",
        needed=True,
    ),
    percent("soldCommissionPercentage", "commission of sales in percent of their prices; do not add it up"),
    money("soldAverageCommission", "average commission of a sale; do not add it up"),
    parts("soldEstateParts", "homes sold, fractional where the commission is shared", needed=True),
    parts("writingParts", "writing assignments, fractional where shared"),
    parts("valuationParts", "valuations, fractional where shared"),
)

OFFICE_EARNINGS = (
    *nested("office", (text("customerId", "customer id of the office, with its prefix letter"),)),
    text("customerId", "old customer number of the office, without prefix; office_customer_id replaces it"),
    *EARNINGS,
)
USER_EARNINGS = (  # the service does not state the office
    text("userId", "id of the user who earned the commission", id_of="user"),
    *EARNINGS,
)
# An event of RunningCommissions: one step in which commission was earned. Equal events can both be real.
RUNNING_COMMISSION = (
    text(
        "userId",
        "id of the user who earned the commission, from the commission split or the project",
        id_of="user",
        needed=True,
    ),
    text("customerId", "customer id of the office, from the commission split or the project"),
    text("estateId", "id of the estate or project for which the commission was earned"),
    money("amount", "the user's amount excluding VAT, in the estate's currency", needed=True),
    rate("exchangeRate", "rate that turns the amount into SEK", needed=True),
    local_time("obtainedAt", "when the commission was earned"),
)

# The assumed columns of the by-month report; its amounts are those of commission_office.
BY_MONTH = (
    assumed(
        "office_id", "VARCHAR", "commissionOffices[].customerId", "customer id of the office", needed=True
    ),
    assumed("year", "VARCHAR", "commissionOffices[].years[].year", "year of the month"),
    assumed("month", "VARCHAR", ".month", "month, as a number or with its year", needed=True),
    *(
        assumed(column.name, column.type, f".{column.source}", column.description, needed=column.needed)
        for column in EARNINGS
    ),
)


def _reports_by_kind(report: Report) -> Iterator[Report]:
    """The report for all kinds of assignment, then one per kind. In descriptions, `{}` becomes the kind."""
    for kind in (None, "Sale", "Valuation", "Writing"):
        suffix, note = (f"_{kind.lower()}", f", {kind.lower()} assignments only") if kind else ("", "")
        yield replace(
            report,
            name=f"{report.name}{suffix}",
            description=report.description.format(note),
            endpoint=replace(report.endpoint, query={"assignment": kind} if kind else {}),
            timing=replace(report.timing, enabled=kind is None),
            tables=tuple(
                replace(table, name=f"{table.name}{suffix}", description=table.description.format(note))
                for table in report.tables
            ),
        )


monthly_report = partial(Report, subject="commissions", stored_as="months", timing=Timing(follows_sales=True))


def _earnings(earner: str, columns: tuple[Column, ...], key: str, old_keys: Mapping[str, str]) -> Report:
    name, path = f"commission_{earner}", f"{PATH}/Commission{earner.title()}Report/{{customerId}}"
    return monthly_report(
        name=name,
        description=f"Earnings of each {earner} in a month{{}}. "
        "Rows have no dates, so each request is for one month.",
        endpoint=Endpoint(path, "dates"),
        month_of_row="window",
        tables=(
            Table(
                name,
                "[]",
                f"One row per {earner} and month{{}}.",
                with_inferred_names(columns),
                key=(key,),
                old_keys=old_keys,
            ),
        ),
    )


REPORTS = (
    *_reports_by_kind(
        _earnings("office", OFFICE_EARNINGS, "office_customer_id", {"office_customer_id": "customer_id"})
    ),
    *_reports_by_kind(_earnings("user", USER_EARNINGS, "user_id", {})),
    *_reports_by_kind(
        monthly_report(
            name="commission_office_by_month",
            description="Earnings of each office by month{}, with many months in one request. Rows are "
            "assumed to be nested: office > year > month.",
            endpoint=Endpoint(
                f"{PATH}/CommissionOfficeReportByMonth/{{customerId}}", "dates", window_months=ONE_YEAR
            ),
            month_of_row="year and month",
            is_assumed=True,
            tables=(
                Table(
                    "commission_office_by_month",
                    "commissionOffices[].years[].months[]",
                    "One row per office and month{}.",
                    BY_MONTH,
                ),
            ),
        )
    ),
    monthly_report(
        name="running_commissions",
        description="Commissions earned in steps, one event per row. On by default, because the service "
        "states of these commissions alone that they exclude VAT.",
        endpoint=Endpoint(
            f"{PATH}/RunningCommissions",
            "dates",
            window_months=TWO_MONTHS + 1,  # three months take two requests, each within the limit
            limit=TWO_MONTHS,
        ),
        month_of_row="documented date",
        estate_id_column="estate_id",
        tables=(
            Table(
                "running_commissions",
                "[]",
                "One row per event. Events have no id, and equal rows can both be real.",
                with_inferred_names(RUNNING_COMMISSION),
                dated_by="obtained_at",
            ),
        ),
    ),
)
