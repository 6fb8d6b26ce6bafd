"""Faults: what goes wrong, for whom and how often, drawn the same way for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any

STATUSES = frozenset({"400", "401", "403", "404", "429", "500", "502", "503", "redirect"})
BODIES = frozenset({"html", "empty", "charset", "gzip"})
ENDINGS = frozenset({"half", "half_without_length", "reset", "reset_inside"})
DELAYS = frozenset({"slow_start", "slow_body"})
PAGES = frozenset({"moving_rows", "repeated_ids"})
CONTENTS = frozenset(
    {"unknown_fields", "wrong_types", "wrong_rows", "nested_list", "fractional", "text", "empty_report"}
)
KINDS = STATUSES | BODIES | ENDINGS | DELAYS | PAGES | CONTENTS


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    `path` (a part of it) and `customer` say for which requests; `rate` how often; `count` how many times
    at most; `after` how many such requests go well first; `tries` lets only the first so many tries of
    the same request fail; `share` is the part of the rows that are spoiled, `rows` how many move.
    """

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
        given: dict[str, object] = {"kind": kind.strip()}
        for pair in filter(None, rest.split(",")):
            name, equals, value = pair.partition("=")
            if not equals:
                raise ValueError(f"{pair!r} in the fault {text!r} is not written name=value")
            given[name.strip()] = value.strip()
        return cls.of(given)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Fault:
        """Read a fault from names and values; refuses names it does not know."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in given if name not in known]
        if unknown or "kind" not in given:
            raise ValueError(
                f"a fault has {', '.join(known)}; not understood: {', '.join(unknown) or 'no kind'}"
            )
        read: dict[str, Any] = {}
        for name, value in given.items():
            try:
                read[name] = _TYPES.get(name, str)(str(value))
            except ValueError as error:
                raise ValueError(f"{name} of a fault is a number, not {value!r}") from error
        return cls(**read)


_TYPES: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("rate", "seconds", "share"), float),
    **dict.fromkeys(("count", "after", "tries", "rows"), int),
    "restless": lambda text: text.lower() == "true",
}


class Faults:
    """The faults switched on now, and how often each has struck."""

    def __init__(self, faults: Sequence[Fault] = (), *, seed: int = 1) -> None:
        self._seed = seed
        self.switch(faults)

    def switch(self, faults: Sequence[Fault]) -> None:
        """Exactly these from now on; counting starts again."""
        self._active = list(faults)
        self._met = [0] * len(faults)
        self._struck = [0] * len(faults)
        self._tries: dict[tuple[int, str], int] = {}
        self.moved: dict[str, int] = {}

    def described(self) -> list[dict[str, object]]:
        """Every active fault with how often it met a request and how often it struck."""
        return [
            {**asdict(fault), "met": met, "struck": struck}
            for fault, met, struck in zip(self._active, self._met, self._struck, strict=True)
        ]

    def striking(self, path: str, target: str, customer: str) -> list[Fault]:
        """The faults that strike a request: of those that end it only the first."""
        struck: list[Fault] = []
        for number, fault in enumerate(self._active):
            if fault.path is not None and fault.path.lower() not in path.lower():
                continue
            if fault.customer not in (None, customer):
                continue
            # A request fails with one status only, and its body breaks in one way only.
            excluded = any(
                {other.kind, fault.kind} <= kinds for other in struck for kinds in (STATUSES, BODIES)
            )
            if not excluded and self._is_drawn(number, fault, target):
                self._struck[number] += 1
                struck.append(fault)
        return struck

    def _is_drawn(self, number: int, fault: Fault, target: str) -> bool:
        """Whether it strikes this time; that depends on the request and its try, not on earlier requests."""
        self._met[number] += 1
        attempt = self._tries[number, target] = self._tries.get((number, target), 0) + 1
        too_early = self._met[number] <= fault.after
        too_often = fault.count is not None and self._struck[number] >= fault.count
        if too_early or too_often or (fault.tries is not None and attempt > fault.tries):
            return False
        lot = sha256(f"{self._seed}/{number}/{fault.kind}/{target}/{attempt}".encode()).digest()
        return int.from_bytes(lot[:6], "big") < fault.rate * 2**48
