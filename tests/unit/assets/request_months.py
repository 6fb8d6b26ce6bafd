"""The months that requests covered, read from the requests a sandbox has seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from pipelines.months import Month, months_between

Request = tuple[str, Mapping[str, str]]

MONTH_IN_PATH = re.compile(r"/(\d{4})/(\d{1,2})$")
TIME_PARAMETERS = frozenset({"datefrom", "dateto", "fromyear", "frommonth", "toyear", "tomonth"})
PAGE_PARAMETERS = frozenset({"pageindex", "pagesize"})


def months_of(request: Request) -> tuple[Month, ...]:
    """The months that a request covers; none for a snapshot."""
    path, query = request
    if in_path := MONTH_IN_PATH.search(path):
        return (Month(int(in_path[1]), int(in_path[2])),)
    if "datefrom" in query:
        first, last = (date.fromisoformat(query[name][:10]) for name in ("datefrom", "dateto"))
        return tuple(months_between(Month.of(first), Month.of(last)))
    if "fromyear" in query:
        first_month = Month(int(query["fromyear"]), int(query["frommonth"]))
        return tuple(months_between(first_month, Month(int(query["toyear"]), int(query["tomonth"]))))
    return ()


def subject_of(request: Request) -> str:
    """What is asked for, whatever the months: the path and the rest of the query."""
    path, query = request
    names = sorted(set(query) - TIME_PARAMETERS - PAGE_PARAMETERS)
    return f"{MONTH_IN_PATH.sub('', path)} {' '.join(f'{name}={query[name]}' for name in names)}".strip()


def asked_twice(requests: Iterable[Request]) -> list[str]:
    """The months asked for more than once; the second look at a first page is no repetition."""
    counted = Counter(
        (subject_of(request), month, request[1].get("pageindex", ""))
        for request in requests
        for month in months_of(request) or (None,)
    )
    return [
        f"{subject} {month}"
        for (subject, month, page), times in counted.items()
        if times > (2 if page == "0" else 1)
    ]
