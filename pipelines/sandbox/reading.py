"""Is a request legal? Its parameters, read and held against what the interface states."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from pipelines.months import Month
from pipelines.sandbox.calls import Refusal

LOCAL = ZoneInfo("Europe/Stockholm")
ASSIGNMENTS = ("Writing", "Valuation", "Sale")
SELECTIONS = ("Create", "Access", "Agreement", "Changed", "LatestPropertyChangeDate")
ACTIVE_STATUSES = ("Active", "ActiveAndRemoved", "Removed")
WRITTEN = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?")


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter that takes one of some names, or the place of a name among them."""

    name: str
    values: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a report reads from the query; `longest` is its limit in calendar months."""

    dates: bool = False
    dates_required: bool = True
    longest: int | None = None
    choice: Choice | None = None
    pages: bool = False
    month_range: bool = False
    estate: bool = False


@dataclass(slots=True)
class Reader:
    """Reads parameters one by one and remembers everything that is wrong with them."""

    query: Mapping[str, str]
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def blame(self, name: str, sentence: str) -> None:
        self.wrong.setdefault(name, []).append(sentence)

    def finish(self) -> None:
        """Refuse with 400 if anything was wrong."""
        if self.wrong:
            raise Refusal(400, "The request is invalid.", self.wrong)

    def interval(self, inputs: Inputs) -> tuple[datetime, datetime]:
        start = self.moment("dateFrom", required=inputs.dates_required) or datetime.min
        end = self.moment("dateTo", required=inputs.dates_required) or datetime.max
        if self.wrong:
            return start, end
        if end < start:
            self.blame("dateTo", "The end of the interval lies before its start.")
        elif inputs.longest is not None and end > months_later(start, inputs.longest):
            limit = "one year" if inputs.longest == 12 else "two months"
            self.blame("dateTo", f"The interval must not exceed {limit}.")
        return start, end

    def moment(self, name: str, *, required: bool) -> datetime | None:
        """A date-time; with an offset it is turned into local time, without one it is local."""
        text = self.query.get(name.lower(), "")
        if not text:
            if required:
                self.blame(name, f"The parameter {name} is required.")
            return None
        found = WRITTEN.fullmatch(text.strip())
        try:
            if found:
                return local(found)
        except ValueError:
            pass
        self.blame(name, f"The value '{text}' is not a date.")
        return None

    def choice(self, choice: Choice) -> str | None:
        """A name in any case, or its place counted from 0."""
        text = self.query.get(choice.name.lower(), "").strip()
        if not text:
            if choice.required:
                self.blame(choice.name, f"The parameter {choice.name} is required.")
            return None
        if text.isdigit() and int(text) < len(choice.values):
            return choice.values[int(text)]
        for value in choice.values:
            if value.lower() == text.lower():
                return value
        self.blame(choice.name, f"The value '{text}' is not valid for {choice.name}.")
        return None

    def whole(self, name: str, low: int, high: int, *, required: bool = False) -> int | None:
        """A whole number within bounds."""
        text = self.query.get(name.lower(), "").strip()
        if not text:
            if required:
                self.blame(name, f"The parameter {name} is required.")
            return None
        if not re.fullmatch(r"-?\d{1,9}", text) or not low <= int(text) <= high:
            self.blame(name, f"The value '{text}' is not valid for {name}.")
            return None
        return int(text)

    def page(self) -> tuple[int, int]:
        """Index from 0, and rows per page."""
        index = self.whole("pageIndex", 0, 10**8, required=True)
        size = self.whole("pageSize", 1, 100_000, required=True)
        return index or 0, size or 1

    def month_range(self, otherwise: tuple[Month, Month]) -> tuple[Month, Month]:
        """Both bounds belong to the range; what is missing is taken from the default."""
        first, last = otherwise
        from_year = self.whole("fromYear", 1990, 2100) or first.year
        to_year = self.whole("toYear", 1990, 2100) or max(last.year, from_year)
        start = Month(from_year, self.whole("fromMonth", 1, 12) or first.number)
        end = Month(to_year, self.whole("toMonth", 1, 12) or last.number)
        if end < start:
            self.blame("toMonth", "The last month lies before the first.")
        return start, end


def local(found: re.Match[str]) -> datetime:
    """Wall-clock time of the brokerage; a date alone is its midnight."""
    day, clock, fraction, offset = found.groups()
    text = f"{day}T{clock or '00:00:00'}"
    value = datetime.fromisoformat(text)
    if fraction:
        value = value.replace(microsecond=int(f"{fraction[1:7]:0<6}"))
    if offset is None:
        return value
    written = "+00:00" if offset == "Z" else offset
    return datetime.fromisoformat(f"{value.isoformat()}{written}").astimezone(LOCAL).replace(tzinfo=None)


def months_later(moment: datetime, months: int) -> datetime:
    """The same day and time so many calendar months later, or the last day of a shorter month."""
    month = Month.of(moment.date()).plus(months)
    day = min(moment.day, calendar.monthrange(month.year, month.number)[1])
    return moment.replace(year=month.year, month=month.number, day=day)


def path_month(year: str, month: str) -> Month:
    """A month named by two segments of the path."""
    if not (re.fullmatch(r"\d{4}", year) and re.fullmatch(r"\d{1,2}", month) and 1 <= int(month) <= 12):
        raise Refusal(400, "The request is invalid.", {"month": [f"There is no month {year}/{month}."]})
    return Month(int(year), int(month))
