"""Paths of the reports, with their parameters and limits as the interface states them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from pipelines.months import Month
from pipelines.sandbox.answers import (
    budget_answers,
    commission_answers,
    lead_answers,
    sales_answers,
    user_answers,
)
from pipelines.sandbox.answers.snapshot import Question
from pipelines.sandbox.calls import Refusal

LOCAL = ZoneInfo("Europe/Stockholm")
WRITTEN = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?")
YEAR, TWO_MONTHS = 12, 2
CHOICES = {
    "assignment": ("Writing", "Valuation", "Sale"),
    "selectionType": ("Create", "Access", "Agreement", "Changed", "LatestPropertyChangeDate"),
    "activeStatusTipLead": ("Active", "ActiveAndRemoved", "Removed"),
}


@dataclass(frozen=True, slots=True)
class Route:
    """A path (segments in braces are filled in), its answer and parameters; `longest` counts months."""

    path: str
    answer: Callable[[Question], object]
    longest: int | None = None
    choice: str | None = None
    reads_dates: bool = False
    reads_page: bool = False
    reads_month_range: bool = False
    reads_estate: bool = False

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

    def read(self, question: Question, filled: Mapping[str, str], query: Mapping[str, str]) -> Question:
        """The question with its parameters; refuses with 400 what the interface does not allow."""
        given = Parameters(query)
        if self.longest is not None or self.reads_dates:
            start, end = given.interval(self.longest)
            question = replace(question, start=start, end=end)
        if self.choice is not None:
            question = replace(question, choice=given.choice(self.choice))
        if self.reads_page:
            index = given.whole("pageIndex", 0, 10**8, required=True)
            size = given.whole("pageSize", 1, 100_000, required=True)
            question = replace(question, page=(index or 0, size or 1))
        if self.reads_month_range:
            question = replace(question, months=given.month_range(question.snapshot.world.as_of.year))
        if self.reads_estate:
            estate = (query.get("estateid") or None, query.get("estatenumber") or None)
            question = replace(question, estate=estate)
        if given.wrong:
            raise Refusal(400, "The request is invalid.", given.wrong)
        if "year" in filled:
            month = _path_month(filled["year"], filled["month"])
            question = replace(question, months=(month, month), user_id=_user(question, filled.get("userId")))
        return question


@dataclass(slots=True)
class Parameters:
    """The parameters of a query, read one by one; remembers everything that is wrong with them."""

    query: Mapping[str, str]
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def interval(self, longest: int | None) -> tuple[datetime, datetime]:
        """From dateFrom to dateTo; both are required where the interval is limited."""
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
        """A value in any case, or its position counted from 0."""
        values = CHOICES[name]
        text = self._text(name, required=name == "selectionType")
        if not text:
            return None
        if text.isdigit() and int(text) < len(values):
            return values[int(text)]
        found = next((value for value in values if value.lower() == text.lower()), None)
        if found is None:
            self._blame(name, f"The value '{text}' is not valid for {name}.")
        return found

    def whole(self, name: str, low: int, high: int, *, required: bool = False) -> int | None:
        """A whole number within bounds."""
        text = self._text(name, required=required)
        if not text:
            return None
        if not re.fullmatch(r"-?\d{1,9}", text) or not low <= int(text) <= high:
            self._blame(name, f"The value '{text}' is not valid for {name}.")
            return None
        return int(text)

    def month_range(self, this_year: int) -> tuple[Month, Month]:
        """Both bounds belong to the range; without any it is this year."""
        from_year = self.whole("fromYear", 1990, 2100) or this_year
        to_year = self.whole("toYear", 1990, 2100) or max(this_year, from_year)
        start = Month(from_year, self.whole("fromMonth", 1, 12) or 1)
        end = Month(to_year, self.whole("toMonth", 1, 12) or 12)
        if end < start:
            self._blame("toMonth", "The last month lies before the first.")
        return start, end

    def _moment(self, name: str, *, required: bool) -> datetime | None:
        text = self._text(name, required=required)
        if not text:
            return None
        found = WRITTEN.fullmatch(text)
        try:
            if found:
                return _local(found)
        except ValueError:
            pass
        self._blame(name, f"The value '{text}' is not a date.")
        return None

    def _text(self, name: str, *, required: bool) -> str:
        text = self.query.get(name.lower(), "").strip()
        if required and not text:
            self._blame(name, f"The parameter {name} is required.")
        return text

    def _blame(self, name: str, sentence: str) -> None:
        self.wrong.setdefault(name, []).append(sentence)


def _local(found: re.Match[str]) -> datetime:
    """Wall-clock time of the brokerage; without an offset it is local, a date alone is its midnight."""
    day, clock, fraction, offset = found.groups()
    value = datetime.fromisoformat(f"{day}T{clock or '00:00:00'}")
    if fraction:
        value = value.replace(microsecond=int(f"{fraction[1:7]:0<6}"))
    if offset is None:
        return value
    written = "+00:00" if offset == "Z" else offset
    return datetime.fromisoformat(f"{value.isoformat()}{written}").astimezone(LOCAL).replace(tzinfo=None)


def _months_later(moment: datetime, months: int) -> datetime:
    """The same day and time so many calendar months later, or the last day of a shorter month."""
    month = Month.of(moment.date()).plus(months)
    day = min(moment.day, calendar.monthrange(month.year, month.number)[1])
    return moment.replace(year=month.year, month=month.number, day=day)


def _path_month(year: str, month: str) -> Month:
    if not (re.fullmatch(r"\d{4}", year) and re.fullmatch(r"\d{1,2}", month) and 1 <= int(month) <= 12):
        raise Refusal(400, "The request is invalid.", {"month": [f"There is no month {year}/{month}."]})
    return Month(int(year), int(month))


def _user(question: Question, user_id: str | None) -> str | None:
    """The user, if one of the customer's offices knows it."""
    world = question.snapshot.world
    if user_id is None or any(
        user.id == user_id
        for office in question.offices
        for user in world.history.users(office.customer_id)
        if user.hired <= world.as_of
    ):
        return user_id
    raise Refusal(404, f"There is no user {user_id}.")


def _commission_routes() -> list[Route]:
    reports = (
        ("CommissionOfficeReport", commission_answers.by_office),
        ("CommissionOfficeReportByMonth", commission_answers.by_month),
        ("CommissionUserReport", commission_answers.by_user),
    )
    return [
        Route(f"/BusinessIntelligence/{name}/{{customerId}}", answer, longest=YEAR, choice="assignment")
        for name, answer in reports
    ]


def _sales_routes() -> list[Route]:
    reports = (
        ("GetSalesReport", sales_answers.sales_report),
        ("GetEstatesReport", sales_answers.estates_report),
        ("GetEstateReportProdDb", sales_answers.estates_report_prod),
    )
    return [
        Route(f"/BusinessIntelligence/{name}", answer, choice="selectionType", reads_dates=True)
        for name, answer in reports
    ]


def _budget_routes() -> list[Route]:
    found: list[Route] = []
    for name in ("Estate", "Commission", "Crm"):
        answer = budget_answers.of_month(name)
        base = f"/BusinessIntelligence/Budget/{name}/{{customerId}}"
        found.append(Route(f"{base}/{{year}}/{{month}}", answer))
        found.append(Route(f"{base}/{{userId}}/{{year}}/{{month}}", answer))
    for name in ("SoldEstates", "Commission", "Crm"):
        answer = budget_answers.over_months(name)
        found.append(Route(f"/Report/Budget/{{customerId}}/{name}", answer, reads_month_range=True))
    return found


_BI = "/BusinessIntelligence"
_LEADS = f"{_BI}/TipsAndLeads/Report"
_STATUS = "activeStatusTipLead"

ROUTES: tuple[Route, ...] = (
    *_commission_routes(),
    *_sales_routes(),
    Route(f"{_BI}/GetSalesReportForEstate", sales_answers.sales_report_for_estate, reads_estate=True),
    Route(f"{_BI}/Estates", sales_answers.sold_estates, reads_dates=True),
    Route(_LEADS, lead_answers.report, longest=TWO_MONTHS, choice=_STATUS),
    Route(f"{_LEADS}/Paged", lead_answers.paged, longest=TWO_MONTHS, choice=_STATUS, reads_page=True),
    Route(f"{_BI}/RunningCommissions", commission_answers.running_commissions, longest=TWO_MONTHS),
    Route(f"{_BI}/External/Trademarks", user_answers.trademarks),
    Route(f"{_BI}/External/Users", user_answers.users),
    Route(f"{_BI}/LiveData/Report", user_answers.activity_report, longest=TWO_MONTHS),
    Route(f"{_BI}/LiveData/CommissionReport", commission_answers.live_report, longest=TWO_MONTHS),
    *_budget_routes(),
)


def find(segments: tuple[str, ...]) -> tuple[Route, dict[str, str]] | None:
    """The route of a path and what its braces hold."""
    for route in ROUTES:
        filled = route.match(segments)
        if filled is not None:
            return route, filled
    return None
