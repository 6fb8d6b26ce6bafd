"""Faults: which requests fail, how, and how often; the same seed gives the same failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any

STATUSES = {
    "400": "rejects the request",
    "401": "denies the login",
    "403": "denies access",
    "404": "finds nothing there",
    "429": "reports too many requests, with Retry-After",
    "500": "reports an unexpected error",
    "502": "reports a bad gateway",
    "503": "is unavailable, with Retry-After",
    "redirect": "redirects to a login page (302)",
}
BODIES = {
    "html": "answers with an HTML page and status 200",
    "empty": "answers with an empty body and status 200",
    "charset": "answers in Latin-1 declared as UTF-8",
    "gzip": "compresses the answer",
}
ENDINGS = {
    "half": "ends the answer halfway",
    "half_without_length": "ends the answer halfway, without a Content-Length",
    "reset": "cuts the connection before the answer",
    "reset_inside": "cuts the connection during the answer",
}
DELAYS = {
    "slow_start": "waits before it answers",
    "slow_body": "sends the answer slowly",
}
PAGES = {
    "moving_rows": "adds rows once the first page has been read",
    "repeated_ids": "repeats rows of the previous page",
}
CONTENTS = {
    "unknown_fields": "adds unknown fields to some rows",
    "wrong_types": "puts a value of the wrong type into some rows",
    "wrong_rows": "replaces some rows with something other than an object",
    "nested_list": "adds a list of objects to every row",
    "fractional": "sends fractions in place of whole numbers",
    "text": "sends text in place of numbers",
    "empty_report": "sends no rows, in the usual envelope",
}
KINDS = STATUSES | BODIES | ENDINGS | DELAYS | PAGES | CONTENTS
"""The kinds of faults, each with its effect."""
OPTIONS = {
    "rate": "share of requests that fail, from 0 to 1",
    "count": "largest number of failures",
    "after": "number of requests that succeed first",
    "tries": "number of failing tries of each request",
    "path": "only for paths that contain this text",
    "customer": "only for this customer",
    "seconds": "length of a delay or a Retry-After",
    "retry_after": "form of a Retry-After: seconds, date or none",
    "rows": "number of rows that move or are repeated",
    "share": "share of rows that are spoiled, from 0 to 1",
    "restless": "true: moving_rows hides rows in the first, third, fifth answer and so on",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; KINDS and OPTIONS explain its fields."""

    kind: str
    rate: float = 1.0
    count: int | None = None
    after: int = 0
    tries: int | None = None
    path: str | None = None
    customer: str | None = None
    seconds: float = 2.0
    retry_after: str = "seconds"
    rows: int = 3
    share: float = 0.1
    restless: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no fault {self.kind!r}; there are {', '.join(sorted(KINDS))}")
        if self.retry_after not in ("seconds", "date", "none"):
            raise ValueError(f"retry_after is seconds, date or none, not {self.retry_after!r}")

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read `kind[:name=value,...]`, for example `429:rate=0.2,path=Leads,retry_after=date`."""
        kind, _, rest = text.partition(":")
        options: dict[str, object] = {"kind": kind.strip()}
        for pair in filter(None, rest.split(",")):
            name, equals, value = pair.partition("=")
            if not equals:
                raise ValueError(f"{pair!r} in the fault {text!r} is not written name=value")
            options[name.strip()] = value.strip()
        return cls.from_options(options)

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Fault:
        """Read a fault from its kind and options by name; raises ValueError if one is unknown or invalid."""
        names = [field.name for field in fields(cls)]
        unknown = [name for name in options if name not in names]
        if unknown or "kind" not in options:
            raise ValueError(
                f"a fault has {', '.join(names)}; unknown or missing: {', '.join(unknown) or 'kind'}"
            )
        values: dict[str, Any] = {}
        for name, value in options.items():
            try:
                values[name] = _TYPES.get(name, str)(str(value))
            except ValueError as error:
                raise ValueError(f"{name} of a fault is a number, not {value!r}") from error
        return cls(**values)


_TYPES: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("rate", "seconds", "share"), float),
    **dict.fromkeys(("count", "after", "tries", "rows"), int),
    "restless": lambda text: text.lower() == "true",
}


class Faults:
    """The active faults, and how many requests each matched and struck.

    A fault matches requests by path and customer. Options such as `rate` decide which of these it strikes.
    """

    def __init__(self, faults: Sequence[Fault] = (), *, seed: int = 1) -> None:
        self._seed = seed
        self.switch(faults)

    def switch(self, faults: Sequence[Fault]) -> None:
        """Replace all faults, and reset their counts."""
        self._active = list(faults)
        self._matched = [0] * len(faults)
        self._struck = [0] * len(faults)
        self._tries: dict[tuple[int, str], int] = {}
        self.page_readings: dict[str, int] = {}

    def summary(self) -> list[dict[str, object]]:
        """Every active fault with its options; `matched` and `struck` are numbers of requests."""
        return [
            {**asdict(fault), "matched": matched, "struck": struck}
            for fault, matched, struck in zip(self._active, self._matched, self._struck, strict=True)
        ]

    def draw(self, path: str, target: str, customer: str) -> list[Fault]:
        """Draw and count the faults that strike a request: at most one of STATUSES and one of BODIES."""
        struck: list[Fault] = []
        for number, fault in enumerate(self._active):
            if fault.path is not None and fault.path.lower() not in path.lower():
                continue
            if fault.customer not in (None, customer):
                continue
            excluded = any(
                {other.kind, fault.kind} <= kinds.keys() for other in struck for kinds in (STATUSES, BODIES)
            )
            if not excluded and self._is_drawn(number, fault, target):
                self._struck[number] += 1
                struck.append(fault)
        return struck

    def _is_drawn(self, number: int, fault: Fault, target: str) -> bool:
        """Whether a fault strikes this try. Other requests matter only for `after` and `count`."""
        self._matched[number] += 1
        attempt = self._tries[number, target] = self._tries.get((number, target), 0) + 1
        too_early = self._matched[number] <= fault.after
        too_often = fault.count is not None and self._struck[number] >= fault.count
        if too_early or too_often or (fault.tries is not None and attempt > fault.tries):
            return False
        digest = sha256(f"{self._seed}/{number}/{fault.kind}/{target}/{attempt}".encode()).digest()
        return int.from_bytes(digest[:6], "big") < fault.rate * 2**48
