"""Why is a number what it is? From the mart to the stored answer, which is read again and counted anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from pipelines.operations.recounting import Number, Question, Recounted, recount
from warehouse.errors import LandingDamaged, LandingMissing
from warehouse.landing import Landing
from warehouse.traces import Part, Trace, TracedLoad
from warehouse.tracing import trace

# A quotient is kept to so many places in the mart: half of the last one is rounding.
ROUNDING = {"sold_average_commission": Decimal("0.0001"), "sold_commission_percentage": Decimal("0.00000001")}
QUOTIENTS = {
    "sold_average_commission": ("sold_estate_parts", 1),
    "sold_commission_percentage": ("sold_total_price", 100),
}
"""What the commission of sales is divided by, and a factor."""


@dataclass(frozen=True)
class Asked:
    """One request behind the number, as landing kept it: never with a login."""

    path: str
    query: Mapping[str, str]
    status: int
    bytes: int
    fetched_at_utc: str


@dataclass(frozen=True)
class Explanation:
    """A number, the way to it, and whether the stored answer says the same."""

    trace: Trace
    requests: tuple[Asked, ...]
    recounted: Recounted | None
    trouble: str  # why the stored answer could not be read again

    @property
    def difference(self) -> Number | None:
        """What the stored answer says more (or less) than the mart; none where either is unknown."""
        found = self.recounted.number if self.recounted else None
        value = self.trace.value
        if found is None or value is None:
            return None
        difference = Decimal(found) - Decimal(value)
        rounding = ROUNDING.get(self.trace.measure, Decimal(0))
        return Decimal(0) if abs(difference) <= rounding else difference

    @property
    def agrees(self) -> bool:
        """Whether the number was found again in the stored answer; what nobody holds is right as unknown."""
        if not self.trace.parts:
            return True
        if self.trouble or self.recounted is None:
            return False
        if self.trace.value is None:
            return self.recounted.number is None
        return self.difference == 0


def explain(
    data_dir: Path, *, month: date, measure: str, timezone: str, office: str = "", user: str = ""
) -> Explanation:
    """Trace a number of an office or a user, and count it again; asks the service nothing."""
    traced = trace(data_dir, month, measure, office=office, user=user)
    if not traced.parts:
        return Explanation(traced, (), None, "")
    requests: list[Asked] = []
    try:
        recounted = _again(Path(data_dir), traced, requests, timezone)
    except (LandingMissing, LandingDamaged) as error:
        return Explanation(traced, tuple(requests), None, str(error))
    return Explanation(traced, tuple(requests), recounted, "")


def _again(data_dir: Path, traced: Trace, requests: list[Asked], timezone: str) -> Recounted:
    """The number counted anew: over all answers together, and a quotient from the sums of both its parts."""
    if traced.measure not in QUOTIENTS or len(traced.parts) == 1:
        told = [_of_part(data_dir, traced, part, traced.measure, requests, timezone) for part in traced.parts]
        if len(told) == 1:
            return told[0]
        return Recounted(sum(one.number or 0 for one in told), sum(one.objects for one in told))
    measure, factor = QUOTIENTS[traced.measure]
    above = [_of_part(data_dir, traced, part, "sold_commission", requests, timezone) for part in traced.parts]
    below = [_of_part(data_dir, traced, part, measure, [], timezone) for part in traced.parts]
    divisor = Decimal(sum(one.number or 0 for one in below))
    dividend = factor * Decimal(sum(one.number or 0 for one in above))
    return Recounted(dividend / divisor if divisor else None, sum(one.objects for one in above))


def _of_part(
    data_dir: Path, traced: Trace, part: Part, measure: str, requests: list[Asked], timezone: str
) -> Recounted:
    question = Question(
        office="" if traced.is_of_user else traced.earner_id,
        user=traced.earner_id if traced.is_of_user else "",
        month=traced.month,
        measure=measure,
        customer=part.load.customer,
        timezone=timezone,
        offices=traced.offices,
        counted_elsewhere=part.counted_elsewhere,
        counted_offices=part.counted_offices,
    )
    if part.sales_load:
        alone = replace(question, measure="commission")
        said = recount(_bodies(data_dir, part.sales_load, requests), alone)
        question = replace(question, sales_alone=said.number)
    return recount(_bodies(data_dir, part.load, requests), question)


def _bodies(data_dir: Path, load: TracedLoad, requests: list[Asked]) -> Iterator[bytes]:
    """The answers that counted, with a note of each request on the way."""
    if load.landing is None:
        raise LandingMissing(f"The ledger knows no landing file of load {load.load_id}.")
    for meta, body in Landing(data_dir / "landing").read_used(load.landing, load.sha256):
        requests.append(_asked(meta, body))
        yield body


def _asked(meta: Mapping[str, Any], body: bytes) -> Asked:
    return Asked(
        path=str(meta.get("path", "")),
        query={str(name): str(value) for name, value in (meta.get("query") or {}).items()},
        status=int(meta.get("status", 0)),
        bytes=len(body),
        fetched_at_utc=str(meta.get("fetched_at_utc", "")),
    )
