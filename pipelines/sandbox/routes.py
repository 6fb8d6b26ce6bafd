"""Paths of the reports, with their parameters and limits as the interface states them."""

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
from pipelines.sandbox.answers.snapshot import Question
from pipelines.sandbox.calls import Refusal

AnswerFunction = Callable[[Question], object]

LOCAL = ZoneInfo("Europe/Stockholm")
YEAR, TWO_MONTHS = 12, 2
# The values of choice parameters that the sandbox accepts.
CHOICES = {
    "assignment": ("Writing", "Valuation", "Sale"),
    "selectionType": ("Create", "Access", "Agreement", "Changed", "LatestPropertyChangeDate"),
    "activeStatusTipLead": ("Active", "ActiveAndRemoved", "Removed"),
}


@dataclass(frozen=True, slots=True)
class Route:
    """A path (segments in braces are filled in), its answer and parameters; `longest` counts months."""

    path: str
    answer: AnswerFunction
    longest: int | None = None
    choice: str | None = None
    reads_dates: bool = False
    reads_page: bool = False
    reads_months: bool = False
    reads_ids: bool = False
    writes: bool = False

    def match(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """The values of the segments in braces; None if the path does not match."""
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

    def read(self, question: Question, filled: Mapping[str, str], query: Mapping[str, str]) -> Question:
        """The question with its parameters; rejects with 400 what the interface does not allow."""
        given = Parameters(query)
        if self.longest is not None or self.reads_dates:
            start, end = given.interval(self.longest)
            question = replace(question, start=start, end=end)
        if self.choice is not None:
            question = replace(question, choice=given.choice(self.choice))
        if self.reads_page:
            index = given.whole("pageIndex", 0, 10**8, required=True)
            size = given.whole("pageSize", 1, question.largest_page, required=True)
            question = replace(question, page=(index or 0, size or 1))
        if self.reads_months:
            question = replace(question, months=given.month_range(question.snapshot.world.as_of.year))
        if self.reads_ids:
            question = replace(question, ids={**query, **{name.lower(): id_ for name, id_ in filled.items()}})
        if given.wrong:
            raise Refusal(400, "The request is invalid.", given.wrong)
        if "year" in filled:
            month = _path_month(filled["year"], filled["month"])
            question = replace(question, months=(month, month), user_id=_user(question, filled.get("userId")))
        return question


@dataclass(slots=True)
class Parameters:
    """The parameters of a query, read one by one; collects their errors."""

    query: Mapping[str, str]
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def interval(self, longest: int | None) -> tuple[datetime, datetime]:
        """From dateFrom to dateTo; both are required if the interval is limited."""
        start = self._moment("dateFrom", required=longest is not None) or datetime.min
        end = self._moment("dateTo", required=longest is not None) or datetime.max
        if self.wrong:
            return start, end
        if end < start:
            self._blame("dateTo", "The end of the interval lies before its start.")
        elif longest is not None and end > _months_later(start, longest):
            limit = "one year" if longest == YEAR else "two months"
            self._blame("dateTo", f"The interval must not exceed {limit}.")
        return start, end

    def choice(self, name: str) -> str | None:
        """A value in any case."""
        values = CHOICES[name]
        text = self._text(name, required=name == "selectionType")
        if not text:
            return None
        found = next((value for value in values if value.lower() == text.lower()), None)
        if found is None:
            self._blame(name, f"The value '{text}' is not valid for {name}.")
        return found

    def whole(self, name: str, low: int, high: int, *, required: bool = False) -> int | None:
        """A whole number within bounds."""
        text = self._text(name, required=required)
        if text and re.fullmatch(r"-?\d{1,9}", text) and low <= int(text) <= high:
            return int(text)
        if text:
            self._blame(name, f"The value '{text}' is not valid for {name}.")
        return None

    def month_range(self, this_year: int) -> tuple[Month, Month]:
        """The range of months, both ends included; this year by default."""
        from_year = self.whole("fromYear", 1990, 2100) or this_year
        to_year = self.whole("toYear", 1990, 2100) or max(this_year, from_year)
        start = Month(from_year, self.whole("fromMonth", 1, 12) or 1)
        end = Month(to_year, self.whole("toMonth", 1, 12) or 12)
        if end < start:
            self._blame("toMonth", "The last month lies before the first.")
        return start, end

    def _moment(self, name: str, *, required: bool) -> datetime | None:
        """A local time of the brokerage; text without an offset is local, a date alone means its midnight."""
        text = self._text(name, required=required)
        try:
            value = datetime.fromisoformat(text) if text else None
        except ValueError:
            self._blame(name, f"The value '{text}' is not a date.")
            return None
        return value.astimezone(LOCAL).replace(tzinfo=None) if value and value.tzinfo else value

    def _text(self, name: str, *, required: bool) -> str:
        text = self.query.get(name.lower(), "").strip()
        if required and not text:
            self._blame(name, f"The parameter {name} is required.")
        return text

    def _blame(self, name: str, sentence: str) -> None:
        self.wrong.setdefault(name, []).append(sentence)


def _months_later(moment: datetime, months: int) -> datetime:
    """The same day and time n calendar months later, or the last day of a shorter month."""
    month = Month.of(moment.date()).plus(months)
    return moment.replace(month.year, month.number, min(moment.day, month.last_day.day))


def _path_month(year: str, month: str) -> Month:
    if not (re.fullmatch(r"\d{4}", year) and re.fullmatch(r"\d{1,2}", month) and 1 <= int(month) <= 12):
        raise Refusal(400, "The request is invalid.", {"month": [f"There is no month {year}/{month}."]})
    return Month(int(year), int(month))


def _user(question: Question, user_id: str | None) -> str | None:
    """The user, if one of the customer's offices has it."""
    world = question.snapshot.world
    users = [user for office in question.offices for user in world.history.users(office.customer_id)]
    if user_id and not any(user.id == user_id and user.hired <= world.as_of for user in users):
        raise Refusal(404, f"There is no user {user_id}.")
    return user_id


_BI = "/BusinessIntelligence"
_LEADS = f"{_BI}/TipsAndLeads/Report"


def _commission(name: str, answer: AnswerFunction) -> Route:
    return Route(f"{_BI}/{name}/{{customerId}}", answer, longest=YEAR, choice="assignment")


def _sales(name: str, answer: AnswerFunction) -> Route:
    return Route(f"{_BI}/{name}", answer, choice="selectionType", reads_dates=True)


def _leads(path: str, answer: AnswerFunction, *, reads_page: bool = False) -> Route:
    return Route(path, answer, longest=TWO_MONTHS, choice="activeStatusTipLead", reads_page=reads_page)


def _budgets(name: str) -> tuple[Route, Route]:
    base, answer = f"{_BI}/Budget/{name}/{{customerId}}", partial(budget_answers.of_month, name)
    return Route(f"{base}/{{year}}/{{month}}", answer), Route(f"{base}/{{userId}}/{{year}}/{{month}}", answer)


def nothing(_: Question) -> object:
    """The answer to a writing request."""
    return None


def _budget_report(name: str) -> Route:
    answer = partial(budget_answers.over_months, name)
    return Route(f"/Report/Budget/{{customerId}}/{name}", answer, reads_months=True)


def _bids(name: str, *, hidden: bool) -> Route:
    return Route(f"/CRM/{name}/{{customerId}}", partial(bid_answers.bids, hidden=hidden), reads_ids=True)


ROUTES: tuple[Route, ...] = (
    _commission("CommissionOfficeReport", commission_answers.by_office),
    _commission("CommissionOfficeReportByMonth", commission_answers.by_month),
    _commission("CommissionUserReport", commission_answers.by_user),
    _sales("GetSalesReport", partial(sales_answers.report, sales_only=True)),
    _sales("GetEstatesReport", sales_answers.report),
    _sales("GetEstateReportProdDb", partial(sales_answers.report, thin=True)),
    Route(f"{_BI}/GetSalesReportForEstate", sales_answers.report_for_estate, reads_ids=True),
    Route(f"{_BI}/Estates", sales_answers.sold_estates, reads_dates=True),
    _leads(_LEADS, lead_answers.report),
    _leads(f"{_LEADS}/Paged", lead_answers.paged, reads_page=True),
    Route(f"{_BI}/RunningCommissions", commission_answers.running_commissions, longest=TWO_MONTHS),
    Route(f"{_BI}/External/Trademarks", user_answers.trademarks),
    Route(f"{_BI}/External/Users", user_answers.users),
    Route(f"{_BI}/LiveData/Report", user_answers.activity_report, longest=TWO_MONTHS),
    Route(f"{_BI}/LiveData/CommissionReport", commission_answers.live_report, longest=TWO_MONTHS),
    *_budgets("Estate"),
    *_budgets("Commission"),
    *_budgets("Crm"),
    _budget_report("SoldEstates"),
    _budget_report("Commission"),
    _budget_report("Crm"),
    _bids("Bids", hidden=False),
    _bids("HiddenBids", hidden=True),
    Route(f"{_BI}/Budget/{{customerId}}/{{officeId}}/{{userId}}/{{year}}/{{month}}", nothing, writes=True),
)


def find(segments: tuple[str, ...], method: str = "GET") -> tuple[Route, dict[str, str]] | None:
    """The route of a path, and the values of its braces."""
    for route in ROUTES:
        filled = route.match(segments)
        if filled is not None and route.writes is (method == "POST"):
            return route, filled
    return None
