"""Explanation of a number: from the mart to the stored answers, which are read and counted again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from pipelines.diagnosis.recount import (
    QUOTIENTS,
    Number,
    Recount,
    RecountedNumber,
    quotient,
    recount,
    sum_of,
)
from warehouse.errors import LandingDamaged, WarehouseError
from warehouse.load.archive import Archive
from warehouse.load.landing import Landing
from warehouse.marts.lineage import (
    BUDGETS,
    NotInTheFile,
    Trace,
    TracedAnswer,
    TracedLoad,
    TracedNumber,
    trace,
)
from warehouse.marts.queries import SQL, published_rows

# A quotient is kept to so many places in the mart: half of the last one is rounding.
ROUNDING = {
    "sold_average_commission": Decimal("0.0001"),
    "average_price": Decimal("0.0001"),
    "sold_commission_percentage": Decimal("0.00000001"),
}
STATUS, REMOVED = "activeStatusTipLead", "Removed"
"""The parameter that asks for leads that were removed, apart from the others."""
YEAR_TO_DATE = "year_to_date_"
"""Before a measure that may be added up over months."""
Record = TypeVar("Record", "Compared", "Part")
Around = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows that answer each query of sql/explain, by its name."""
NEVER_ADDED = frozenset({*QUOTIENTS, "active_agent_count", "commission_per_active_agent"})


@dataclass(frozen=True)
class Compared:
    """The number that was asked for, or its month before, as sql/explain/compared.sql has it."""

    month: date
    month_count: int
    is_open: bool
    number: Decimal | None


@dataclass(frozen=True)
class Part:
    """An office whose number is a part of the chain's, as sql/explain/parts.sql has it."""

    id: str
    number: Decimal | None


@dataclass(frozen=True)
class StoredRequest:
    """One request behind the number, as landing kept it: never with a login."""

    path: str
    query: Mapping[str, str]
    status: int
    bytes: int


@dataclass
class Explanation:
    """A number, the way to it, and whether the stored answers say the same."""

    trace: Trace
    around: Around = field(default_factory=dict)
    requests: list[StoredRequest] = field(default_factory=list)
    recounted: Recount | None = None
    trouble: str = ""  # why the stored answers could not be read again
    offices: list[Explanation] = field(
        default_factory=list
    )  # of the chain: the number of each, counted again

    @property
    def difference(self) -> Number | None:
        """What the stored answers say more (or less) than the mart; none where either is unknown."""
        found = self.recounted.number if self.recounted else None
        value = self.trace.value
        if found is None or value is None:
            return None
        difference = Decimal(found) - Decimal(value)
        rounding = ROUNDING.get(self.trace.number.measure, Decimal(0))
        return Decimal(0) if abs(difference) <= rounding else difference

    @property
    def not_recounted(self) -> str:
        """Why the stored answers are not counted again; empty where they are."""
        if shards := self.trace.shards:
            number = self.trace.number
            asked = f"--{number.kind} {number.id} --month {number.month:%Y-%m} --measure {number.measure}"
            return (
                f"the stored answers are in shard {', '.join(shards)}; ask there: `brokerbi explain {asked}`"
            )
        return self.trace.number.source.not_recounted

    @property
    def agrees(self) -> bool:
        """Whether the number was found again in the stored answers; what nobody holds is right as unknown."""
        if not self.trace.answers:
            return all(one.agrees for one in self.offices)
        if self.trouble:
            return False
        if self.not_recounted:
            return True
        if self.recounted is None:
            return False
        if self.trace.value is None:
            return self.recounted.number is None
        return self.difference == 0


def explain(
    data_dir: Path,
    *,
    month: date,
    measure: str,
    office: str = "",
    user: str = "",
    archive: Archive | None = None,
) -> Explanation:
    """Trace a number of an office or a user, and count it again; asks the service nothing.

    Stored answers are those of the disk, or else of the archive.
    """
    explanation = explain_alone(
        data_dir, month=month, measure=measure, office=office, user=user, archive=archive
    )
    explanation.around = _around(data_dir, explanation, month)
    return explanation


def _around(data_dir: Path, explanation: Explanation, first_month: date) -> Around:
    """What surrounds a number whose way is known, over the months from the first to its own."""
    number, answers = explanation.trace.number, explanation.trace.answers
    report = answers[0].load.report if answers else number.source.report
    return rows_around(data_dir, number, first_month, report)


def rows_around(data_dir: Path, number: TracedNumber, first_month: date, report: str) -> Around:
    """The answers of sql/explain on the months from the first to that of the number.

    Raises NotInTheFile where the file has not what they read.
    """
    variables = {
        "kind": number.kind,
        "id": number.id,
        "first_month": first_month,
        "month": number.month,
        "measure": number.measure,
        "report": report,
        "way": number.source.way,
    }
    around: dict[str, Sequence[Mapping[str, Any]]] = {}
    folder = SQL / "explain"
    names = sorted(path.stem for path in folder.glob("*.sql"))
    for name, rows in published_rows(data_dir, folder, names, variables).items():
        if rows is None:
            raise NotInTheFile(
                f"The published file is of an earlier version: it cannot answer sql/explain/{name}.sql. "
                "`brokerbi publish` makes one that can."
            )
        around[name] = rows
    return around


def _records(kind: type[Record], rows: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Rows as records of the columns that are calculated with; the others are only shown."""
    names = [column.name for column in fields(kind)]
    return [kind(**{name: row[name] for name in names}) for row in rows]


def explain_alone(
    data_dir: Path,
    *,
    month: date,
    measure: str,
    office: str = "",
    user: str = "",
    archive: Archive | None = None,
) -> Explanation:
    """A number traced and counted again, without what surrounds it."""
    explanation = Explanation(trace(data_dir, month, measure, office=office, user=user))
    if explanation.trace.answers and not explanation.trace.shards:
        try:
            explanation.recounted = _recount_all(Landing(data_dir / "landing", archive), explanation)
        except WarehouseError as error:
            explanation.trouble = str(error)
    return explanation


def explain_chain(
    data_dir: Path,
    *,
    month: date,
    measure: str,
    first_month: date | None = None,
    archive: Archive | None = None,
) -> Explanation:
    """Explain a number of all offices together, in a month or (with `first_month`) several; asks nothing.

    The months are of one year. Of a single one the number of every office is traced and counted again.
    Raises NotInTheFile for a measure that does not add up over offices, and where a month is not held.
    """
    number = TracedNumber("chain", "", month, measure)
    if measure not in number.sources:
        known = ", ".join(number.sources)
        raise NotInTheFile(
            f"{measure!r} of the chain is not explained, but that of an office is. "
            f"There are {known}, beside their budgets."
        )
    around = rows_around(data_dir, number, first_month or month, number.source.report)
    compared = _records(Compared, around["compared"])
    if not compared or compared[0].month != month:
        raise NotInTheFile(
            f"Nothing is held of the chain for {month:%Y-%m}; marts.chain_month has its months."
        )
    offices = []
    if first_month is None:
        offices = [
            explain_alone(data_dir, month=month, measure=measure, office=one.id, archive=archive)
            for one in _records(Part, around["parts"])
            if one.number is not None
        ]
    asked, month_count = compared[0], month.month - (first_month or month).month + 1
    value = asked.number if asked.month_count == month_count else None
    trace = Trace(number, "the chain", "", value, asked.is_open, False, False, (), frozenset())
    return Explanation(trace, around, offices=offices)


def explain_year(
    data_dir: Path,
    *,
    month: date,
    measure: str,
    office: str = "",
    user: str = "",
    archive: Archive | None = None,
) -> list[Explanation]:
    """Explain every month that is held from January to this one; the year to date is their sum.

    What surrounds the year to date is in the last of them, over all these months.
    Raises NotInTheFile for a measure that is never added up, and where no month is held.
    """
    if measure in NEVER_ADDED or measure in BUDGETS:
        raise NotInTheFile(f"{measure} is not added up over months; explain the measures it is made of.")
    found: list[Explanation] = []
    for number in range(1, month.month + 1):
        try:
            asked = {"measure": measure, "office": office, "user": user}
            found.append(explain_alone(data_dir, month=month.replace(month=number), **asked, archive=archive))
        except NotInTheFile:
            if number == month.month:
                raise
    found[-1].around = _around(data_dir, found[-1], month.replace(month=1))
    return found


def _recount_all(landing: Landing, explanation: Explanation) -> Recount | None:
    """The number over all answers together, and a quotient from the sums of both its parts."""
    answers, measure = explanation.trace.answers, explanation.trace.number.measure
    if explanation.trace.number.source.not_recounted:
        for answer in answers:
            list(_answers(landing, answer.load, explanation))
        return None

    def counted(measure: str) -> list[Recount]:
        explanation.requests.clear()
        return [_recount_answer(landing, explanation, one, measure) for one in answers]

    if len(answers) == 1:
        return counted(measure)[0]
    if measure not in QUOTIENTS:
        return _summed(counted(measure))
    dividend, divisor, factor = QUOTIENTS[measure]
    above, below = _summed(counted(dividend)), _summed(counted(divisor))
    return Recount(quotient(above.number, below.number, factor), above.objects)


def _summed(counts: Sequence[Recount]) -> Recount:
    """Counts of several answers as one; of those that mention it at all, if any does."""
    found = [one for one in counts if one.objects] or counts
    return Recount(sum_of(one.number for one in found), sum(one.objects for one in counts))


def _recount_answer(
    landing: Landing, explanation: Explanation, answer: TracedAnswer, measure: str
) -> Recount:
    traced = explanation.trace
    number = RecountedNumber(
        office=traced.number.id if traced.number.kind == "office" else "",
        user=traced.number.id if traced.number.kind == "user" else "",
        month=traced.number.month,
        measure=measure,
        customer=answer.load.customer,
        timezone=traced.timezone,
        offices=traced.offices,
        counted_elsewhere=answer.counted_elsewhere,
        counted_offices=answer.counted_offices,
        unnamed_office=answer.unnamed_office,
    )
    if answer.sales_load:
        bodies = [body for _, body in _answers(landing, answer.sales_load, explanation)]
        alone = recount(bodies, replace(number, measure="commission"))
        number = replace(number, sales_alone=alone.number if alone.objects else None)
    removed: list[bytes] = []
    bodies = []
    for request, body in _answers(landing, answer.load, explanation):
        (removed if request.query.get(STATUS) == REMOVED else bodies).append(body)
    return recount(bodies, number, removed)


def _answers(
    landing: Landing, load: TracedLoad, explanation: Explanation
) -> Iterator[tuple[StoredRequest, bytes]]:
    """The answers that counted, with a note of each request on the way."""
    if load.landing is None:
        raise LandingDamaged(f"The ledger knows no landing file of load {load.load_id}.")
    for meta, body in landing.read_used(load.landing, load.sha256):
        query = {str(name): str(value) for name, value in (meta.get("query") or {}).items()}
        path, status = str(meta.get("path", "")), int(meta.get("status", 0))
        explanation.requests.append(StoredRequest(path, query, status, len(body)))
        yield explanation.requests[-1], body
