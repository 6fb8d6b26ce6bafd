"""Calendar months, and runs of consecutive months."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_PATTERN = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, order=True, slots=True)
class Month:
    """A calendar month; `Month(2026, 3)` is written `2026-03`."""

    year: int
    number: int

    def __post_init__(self) -> None:
        if not (1 <= self.number <= 12 and 1 <= self.year <= 9998):
            raise ValueError(f"there is no month {self.number} of the year {self.year}")

    @classmethod
    def parse(cls, text: str) -> Month:
        """Parse `YYYY-MM`; raises ValueError for any other text."""
        match = _PATTERN.fullmatch(text.strip())
        if not match:
            raise ValueError(f"{text!r} is not a month; write it as YYYY-MM, for example 2024-01")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, day: date) -> Month:
        return cls(day.year, day.month)

    @property
    def first_day(self) -> date:
        return date(self.year, self.number, 1)

    @property
    def last_day(self) -> date:
        return self.plus(1).first_day - timedelta(days=1)

    @property
    def ordinal(self) -> int:
        """The number of months since January of the year 0."""
        return self.year * 12 + self.number - 1

    def plus(self, months: int) -> Month:
        """The month that is `months` later, or earlier if the number is negative."""
        year, number = divmod(self.ordinal + months, 12)
        return Month(year, number + 1)

    def since(self, earlier: Month) -> int:
        """The number of months from `earlier` to this month (negative if this month comes first)."""
        return self.ordinal - earlier.ordinal

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.number:02d}"


def months_between(first: Month, last: Month) -> Iterator[Month]:
    """Every month from the first to the last, both included; none if `last` is before `first`."""
    month = first
    while month <= last:
        yield month
        month = month.plus(1)


def runs_of_months(months: Iterable[Month], longest: int | None = None) -> Iterator[tuple[Month, ...]]:
    """Split months into the fewest runs of consecutive months, each of at most `longest` months."""
    run: list[Month] = []
    for month in sorted(set(months)):
        if run and (month != run[-1].plus(1) or len(run) == longest):
            yield tuple(run)
            run = []
        run.append(month)
    if run:
        yield tuple(run)


def months_in_words(months: Iterable[Month], limit: int | None = None) -> str:
    """Months as runs: 2026-01..2026-03, 2026-07. With more runs than `limit`: the first and last month."""
    runs = [(run[0], run[-1]) for run in runs_of_months(months)]
    if limit is not None and len(runs) > limit:
        return f"months from {runs[0][0]} to {runs[-1][-1]}"
    return ", ".join(str(first) if first == last else f"{first}..{last}" for first, last in runs)
