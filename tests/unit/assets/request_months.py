"""The months that requests covered, read from the requests a sandbox has seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from pipelines.months import Month, months_between

Request = tuple[str, Mapping[str, str]]

MONTH_IN_PATH = re.compile(r"/(\d{4})/(\d{1,2})$")
TIME_PARAMETERS = frozenset({"datefrom", "dateto", "fromyear", "frommonth", "toyear", "tomonth"})
PAGE_PARAMETERS = frozenset({"pageindex", "pagesize"})


def months_of(request: Request) -> tuple[Month, ...]:
    """The months that a request covers, its margin of a day aside; none for a snapshot."""
    path, query = request
    if in_path := MONTH_IN_PATH.search(path):
        return (Month(int(in_path[1]), int(in_path[2])),)
    if "datefrom" in query:
        days = days_of(query)
        return tuple(months_between(Month.of(days[0]), Month.of(days[-1])))
    if "fromyear" in query:
        first_month = Month(int(query["fromyear"]), int(query["frommonth"]))
        return tuple(months_between(first_month, Month(int(query["toyear"]), int(query["tomonth"]))))
    return ()


def days_of(query: Mapping[str, str]) -> list[date]:
    """The days that a request covers, without the first and the last of several, which may be its margin."""
    first, last = (date.fromisoformat(query[name][:10]) for name in ("datefrom", "dateto"))
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return days[1:-1] if len(days) > 2 else days[-1:]


def subject_of(request: Request) -> str:
    """The request without its months: the path and the rest of the query."""
    path, query = request
    names = sorted(set(query) - TIME_PARAMETERS - PAGE_PARAMETERS)
    return f"{MONTH_IN_PATH.sub('', path)} {' '.join(f'{name}={query[name]}' for name in names)}".strip()


def asked_twice(requests: Iterable[Request]) -> list[str]:
    """The days or months requested more than once; a first page read twice does not count."""
    counted: Counter[tuple[str, date | Month | None, str]] = Counter()
    for request in requests:
        page = request[1].get("pageindex", "")
        times = days_of(request[1]) if "datefrom" in request[1] else months_of(request) or (None,)
        counted.update((subject_of(request), time, page) for time in times)
    return [
        f"{subject} {time}"
        for (subject, time, page), times in counted.items()
        if times > (2 if page == "0" else 1)
    ]
