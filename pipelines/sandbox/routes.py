"""Which path leads to which answer? Every report of the interface the sandbox serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.sandbox.answers import budgets, commissions, leads, live, people, running, sales
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.reading import ACTIVE_STATUSES, ASSIGNMENTS, SELECTIONS, Choice, Inputs

YEAR = 12
TWO_MONTHS = 2

_ASSIGNMENT = Choice("assignment", ASSIGNMENTS)
_SELECTION = Choice("selectionType", SELECTIONS, required=True)
_ACTIVE = Choice("activeStatusTipLead", ACTIVE_STATUSES)
_YEAR_OF_COMMISSION = Inputs(dates=True, longest=YEAR, choice=_ASSIGNMENT)
_SELECTED = Inputs(dates=True, dates_required=False, choice=_SELECTION)
_TWO_MONTHS = Inputs(dates=True, longest=TWO_MONTHS)
_LEADS = Inputs(dates=True, longest=TWO_MONTHS, choice=_ACTIVE)
_PAGED_LEADS = Inputs(dates=True, longest=TWO_MONTHS, choice=_ACTIVE, pages=True)


@dataclass(frozen=True, slots=True)
class Route:
    """A path (segments in braces are filled in), what it reads, how it answers and what XML calls it."""

    path: str
    inputs: Inputs
    answer: Callable[[Question], object]
    root: str

    def match(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """The values of the segments in braces, or None if the path is another one."""
        own = self.path.strip("/").split("/")
        if len(own) != len(segments):
            return None
        filled: dict[str, str] = {}
        for part, segment in zip(own, segments, strict=True):
            if part.startswith("{"):
                filled[part[1:-1]] = segment
            elif part != segment:
                return None
        return filled


def _budget_routes() -> list[Route]:
    measures = (
        ("Estate", "estates", budgets.estate_goals),
        ("Commission", "commission", budgets.commission_goals),
        ("Crm", "saleMeetings", budgets.crm_goals),
    )
    found: list[Route] = []
    for name, group, measure in measures:
        answer = budgets.monthly(measure, group)
        base, root = f"/BusinessIntelligence/Budget/{name}/{{customerId}}", f"ArrayOf{name}Budget"
        found.append(Route(f"{base}/{{year}}/{{month}}", Inputs(), answer, root))
        found.append(Route(f"{base}/{{userId}}/{{year}}/{{month}}", Inputs(), answer, root))
    reports = (
        ("SoldEstates", budgets.sold_goals, "ArrayOfBudgetOfficeReportRow"),
        ("Commission", budgets.commission_goals, "ArrayOfBudgetOfficeReportRow"),
        ("Crm", budgets.crm_goals, "ArrayOfBudgetCrmOfficeReportRow"),
    )
    for name, measure, root in reports:
        path = f"/Report/Budget/{{customerId}}/{name}"
        found.append(Route(path, Inputs(month_range=True), budgets.reported(measure), root))
    return found


_BI = "/BusinessIntelligence"

ROUTES: tuple[Route, ...] = (
    Route(
        f"{_BI}/CommissionOfficeReport/{{customerId}}",
        _YEAR_OF_COMMISSION,
        commissions.by_office,
        "ArrayOfCommissionOfficeReport",
    ),
    Route(
        f"{_BI}/CommissionOfficeReportByMonth/{{customerId}}",
        _YEAR_OF_COMMISSION,
        commissions.by_month,
        "CommissionOfficeReportByMonth",
    ),
    Route(
        f"{_BI}/CommissionUserReport/{{customerId}}",
        _YEAR_OF_COMMISSION,
        commissions.by_user,
        "ArrayOfCommissionUserReport",
    ),
    Route(f"{_BI}/GetSalesReport", _SELECTED, sales.sales_report, "SalesReportResponse"),
    Route(f"{_BI}/GetEstatesReport", _SELECTED, sales.estates_report, "SalesReportResponse"),
    Route(f"{_BI}/GetEstateReportProdDb", _SELECTED, sales.estates_report_prod, "SalesReportResponse"),
    Route(
        f"{_BI}/GetSalesReportForEstate",
        Inputs(estate=True),
        sales.sales_report_for_estate,
        "SalesReportForEstateResponse",
    ),
    Route(
        f"{_BI}/Estates",
        Inputs(dates=True, dates_required=False),
        sales.sold_estates,
        "ArrayOfEstateReferences",
    ),
    Route(f"{_BI}/TipsAndLeads/Report", _LEADS, leads.report, "TipsAndLeadsReport"),
    Route(f"{_BI}/TipsAndLeads/Report/Paged", _PAGED_LEADS, leads.paged, "PagedTipsAndLeadsReport"),
    Route(f"{_BI}/RunningCommissions", _TWO_MONTHS, running.running_commissions, "ArrayOfRunningCommission"),
    Route(f"{_BI}/External/Trademarks", Inputs(), people.trademarks, "ArrayOfTrademark"),
    Route(f"{_BI}/External/Users", Inputs(), people.users, "ArrayOfUser"),
    Route(f"{_BI}/LiveData/Report", _TWO_MONTHS, live.activity_report, "LiveDataReport"),
    Route(
        f"{_BI}/LiveData/CommissionReport", _TWO_MONTHS, live.commission_report, "LiveDataCommissionReport"
    ),
    *_budget_routes(),
)


def find(segments: tuple[str, ...]) -> tuple[Route, dict[str, str]] | None:
    """The route of a path and what its braces hold."""
    for route in ROUTES:
        filled = route.match(segments)
        if filled is not None:
            return route, filled
    return None
