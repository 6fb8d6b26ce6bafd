"""Paths of the service, with their parameters and limits as the interface states them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from pipelines.months import Month
from pipelines.sandbox.answers import (
    bid_answers,
    budget_answers,
    commission_answers,
    lead_answers,
    sales_answers,
    user_answers,
)
from pipelines.sandbox.answers.snapshot import ReportQuery
from pipelines.sandbox.calls import HttpError

AnswerFunction = Callable[[ReportQuery], object]

LOCAL = ZoneInfo("Europe/Stockholm")
ONE_YEAR, TWO_MONTHS = 12, 2  # in months
# The values that the sandbox accepts for each of these parameters.
CHOICES = {
    "assignment": ("Writing", "Valuation", "Sale"),
    "selectionType": ("Create", "Access", "Agreement", "Changed", "LatestPropertyChangeDate"),
    "activeStatusTipLead": ("Active", "ActiveAndRemoved", "Removed"),
}


@dataclass(frozen=True, slots=True)
class Route:
    """A path with names in braces, the function that answers it, and the parameters that it takes.

    `max_months` limits the time from dateFrom to dateTo. Only the path that writes a budget has no `answer`.
    """

    path: str
    answer: AnswerFunction | None
    max_months: int | None = None
    choice: str | None = None
    reads_dates: bool = False
    reads_page: bool = False
    reads_months: bool = False
    reads_ids: bool = False

    def match(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """The values of the names in braces; None if the path does not match."""
        parts = self.path.strip("/").split("/")
        if len(parts) != len(segments):
            return None
        path_values: dict[str, str] = {}
        for part, segment in zip(parts, segments, strict=True):
            if part.startswith("{"):
                path_values[part[1:-1]] = segment
            elif part != segment:
                return None
        return path_values

    def read(self, query: ReportQuery, path_values: dict[str, str], values: dict[str, str]) -> ReportQuery:
        """Add the request's parameters to the query. Raises HttpError (404 for an unknown user, else 400)."""
        parameters = Parameters(values)
        if self.max_months is not None or self.reads_dates:
            start, end = parameters.interval(self.max_months)
            query = replace(query, start=start, end=end)
        if self.choice is not None:
            query = replace(query, choice=parameters.choice(self.choice))
        if self.reads_page:
            index = parameters.whole_number("pageIndex", 0, 10**8, required=True)
            size = parameters.whole_number("pageSize", 1, query.largest_page, required=True)
            query = replace(query, page=(index or 0, size or 1))
        if self.reads_months:
            query = replace(query, months=parameters.month_range(query.snapshot.world.as_of.year))
        if self.reads_ids:
            path_ids = {name.lower(): value for name, value in path_values.items()}
            query = replace(query, parameters={**values, **path_ids})
        if parameters.errors:
            raise HttpError(400, "The request is invalid.", parameters.errors)
        if "year" in path_values:
            month = _path_month(path_values["year"], path_values["month"])
            query = replace(query, months=(month, month), user_id=_user_id(query, path_values.get("userId")))
        return query


@dataclass(slots=True)
class Parameters:
    """The parameters of a request, by name in lower case; reading them collects their `errors`."""

    values: Mapping[str, str]
    errors: dict[str, list[str]] = field(default_factory=dict)

    def interval(self, max_months: int | None) -> tuple[datetime, datetime]:
        """The times dateFrom and dateTo. Under a limit of `max_months`, both are required."""
        start = self._moment("dateFrom", required=max_months is not None) or datetime.min
        end = self._moment("dateTo", required=max_months is not None) or datetime.max
        if self.errors:
            return start, end
        if end < start:
            self._add_error("dateTo", "The end of the interval lies before its start.")
        elif max_months is not None and end > _months_later(start, max_months):
            limit = "one year" if max_months == ONE_YEAR else "two months"
            self._add_error("dateTo", f"The interval must not exceed {limit}.")
        return start, end

    def choice(self, name: str) -> str | None:
        """The value of a parameter, spelled as in CHOICES; None if it is missing or invalid."""
        values = CHOICES[name]
        text = self._text(name, required=name == "selectionType")
        if not text:
            return None
        choice = next((value for value in values if value.lower() == text.lower()), None)
        if choice is None:
            self._add_error(name, f"The value '{text}' is not valid for {name}.")
        return choice

    def whole_number(self, name: str, low: int, high: int, *, required: bool = False) -> int | None:
        """A whole number from `low` to `high`; None if it is missing or invalid."""
        text = self._text(name, required=required)
        if text and re.fullmatch(r"-?\d{1,9}", text) and low <= int(text) <= high:
            return int(text)
        if text:
            self._add_error(name, f"The value '{text}' is not valid for {name}.")
        return None

    def month_range(self, this_year: int) -> tuple[Month, Month]:
        """The first and the last month; by default, January and December of this year."""
        from_year = self.whole_number("fromYear", 1990, 2100) or this_year
        to_year = self.whole_number("toYear", 1990, 2100) or max(this_year, from_year)
        start = Month(from_year, self.whole_number("fromMonth", 1, 12) or 1)
        end = Month(to_year, self.whole_number("toMonth", 1, 12) or 12)
        if end < start:
            self._add_error("toMonth", "The last month lies before the first.")
        return start, end

    def _moment(self, name: str, *, required: bool) -> datetime | None:
        """A parameter as local time; a time without an offset is local already."""
        text = self._text(name, required=required)
        try:
            value = datetime.fromisoformat(text) if text else None
        except ValueError:
            self._add_error(name, f"The value '{text}' is not a date.")
            return None
        return value.astimezone(LOCAL).replace(tzinfo=None) if value and value.tzinfo else value

    def _text(self, name: str, *, required: bool) -> str:
        text = self.values.get(name.lower(), "").strip()
        if required and not text:
            self._add_error(name, f"The parameter {name} is required.")
        return text

    def _add_error(self, name: str, sentence: str) -> None:
        self.errors.setdefault(name, []).append(sentence)


def _months_later(moment: datetime, months: int) -> datetime:
    month = Month.of(moment.date()).plus(months)
    return moment.replace(month.year, month.number, min(moment.day, month.last_day.day))


def _path_month(year: str, month: str) -> Month:
    if not (re.fullmatch(r"\d{4}", year) and re.fullmatch(r"\d{1,2}", month) and 1 <= int(month) <= 12):
        raise HttpError(400, "The request is invalid.", {"month": [f"There is no month {year}/{month}."]})
    return Month(int(year), int(month))


def _user_id(query: ReportQuery, user_id: str | None) -> str | None:
    """The user id; raises a 404 if this user has not yet started at any office of the customer."""
    world = query.snapshot.world
    users = [user for office in query.offices for user in world.history.users(office.customer_id)]
    if user_id and not any(user.id == user_id and user.hired <= world.as_of for user in users):
        raise HttpError(404, f"There is no user {user_id}.")
    return user_id


_BI = "/BusinessIntelligence"
_LEADS = f"{_BI}/TipsAndLeads/Report"


def _commission(name: str, answer: AnswerFunction) -> Route:
    return Route(f"{_BI}/{name}/{{customerId}}", answer, max_months=ONE_YEAR, choice="assignment")


def _sales(name: str, answer: AnswerFunction) -> Route:
    return Route(f"{_BI}/{name}", answer, choice="selectionType", reads_dates=True)


def _leads(path: str, answer: AnswerFunction, *, reads_page: bool = False) -> Route:
    return Route(path, answer, max_months=TWO_MONTHS, choice="activeStatusTipLead", reads_page=reads_page)


def _month_budgets(name: str) -> tuple[Route, Route]:
    base, answer = f"{_BI}/Budget/{name}/{{customerId}}", partial(budget_answers.month_report, name)
    return Route(f"{base}/{{year}}/{{month}}", answer), Route(f"{base}/{{userId}}/{{year}}/{{month}}", answer)


def _range_budgets(name: str) -> Route:
    answer = partial(budget_answers.range_report, name)
    return Route(f"/Report/Budget/{{customerId}}/{name}", answer, reads_months=True)


def _bids(name: str, *, hidden: bool) -> Route:
    return Route(f"/CRM/{name}/{{customerId}}", partial(bid_answers.bids, hidden=hidden), reads_ids=True)


ROUTES: tuple[Route, ...] = (
    _commission("CommissionOfficeReport", commission_answers.by_office),
    _commission("CommissionOfficeReportByMonth", commission_answers.by_month),
    _commission("CommissionUserReport", commission_answers.by_user),
    _sales("GetSalesReport", partial(sales_answers.report, sales_only=True)),
    _sales("GetEstatesReport", sales_answers.report),
    _sales("GetEstateReportProdDb", partial(sales_answers.report, is_short=True)),
    Route(f"{_BI}/GetSalesReportForEstate", sales_answers.report_for_estate, reads_ids=True),
    Route(f"{_BI}/Estates", sales_answers.sold_estates, reads_dates=True),
    _leads(_LEADS, lead_answers.report),
    _leads(f"{_LEADS}/Paged", lead_answers.paged, reads_page=True),
    Route(f"{_BI}/RunningCommissions", commission_answers.running_commissions, max_months=TWO_MONTHS),
    Route(f"{_BI}/External/Trademarks", user_answers.trademarks),
    Route(f"{_BI}/External/Users", user_answers.users),
    Route(f"{_BI}/LiveData/Report", user_answers.activity_report, max_months=TWO_MONTHS),
    Route(f"{_BI}/LiveData/CommissionReport", commission_answers.live_report, max_months=TWO_MONTHS),
    *_month_budgets("Estate"),
    *_month_budgets("Commission"),
    *_month_budgets("Crm"),
    _range_budgets("SoldEstates"),
    _range_budgets("Commission"),
    _range_budgets("Crm"),
    _bids("Bids", hidden=False),
    _bids("HiddenBids", hidden=True),
    Route(f"{_BI}/Budget/{{customerId}}/{{officeId}}/{{userId}}/{{year}}/{{month}}", answer=None),
)


def find_route(segments: tuple[str, ...], method: str = "GET") -> tuple[Route, dict[str, str]] | None:
    """The route of a path and a method, with the values of its names in braces; None if there is none."""
    for route in ROUTES:
        path_values = route.match(segments)
        if path_values is not None and (route.answer is None) is (method == "POST"):
            return route, path_values
    return None
