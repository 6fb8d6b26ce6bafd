"""What is asked, and what came back? A request to the service, one try of it, and its answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipelines.connect.content import Content

_PATH = re.compile(r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+")


@dataclass(frozen=True, slots=True)
class Request:
    """One question: a path below the base address, percent-encoded already, and its query.

    Refuses a path that is not encoded, or that climbs with `..`.
    """

    path: str
    query: Mapping[str, str]
    report: str
    customer: str

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.path) or {".", ".."} & set(self.path.split("/")):
            raise ValueError(f"the path {self.path!r} is not percent-encoded; quote the ids in it one by one")

    def with_query(self, **values: str) -> Request:
        """The same question with more in its query."""
        return replace(self, query={**self.query, **values})

    @property
    def window(self) -> str:
        """What the query says besides the customer, the dates above all."""
        return ", ".join(f"{name}={value}" for name, value in self.query.items() if value != self.customer)

    def __str__(self) -> str:
        return f"report {self.report} of customer {self.customer} ({self.window or self.path})"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered, decompressed; the URL and the headers carry no credentials.

    `tries` counts the requests it took so far. A body that broke off is kept, but is not `whole`.
    """

    request: Request
    url: str
    status: int
    body: Content = field(repr=False)
    content_type: str
    headers: Mapping[str, str] = field(repr=False)
    seconds: float
    tries: int
    fetched_at_utc: datetime
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Try:
    """One request as the log and the accounting see it; `failure` is empty when it went well."""

    request: Request
    number: int
    status: int | None
    failure: str
    bytes: int
    seconds: float
