"""A look at the shapes of reports: what arrives, whether it is as declared, and what may be proposed.

One small request per report, for a month that is over, so that outcomes are filled. Documented reports come
first: their ids tell what is an office and what a user in all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pipelines.catalogue.model import Report, declared_columns
from pipelines.connect.errors import ConnectError, Forbidden
from pipelines.months import Month
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.normalize import ShapeMismatch, normalize
from pipelines.planning.windows import Question, Span
from pipelines.shapes.places import named
from pipelines.shapes.proposal import propose
from pipelines.sync.window.request import build_request

if TYPE_CHECKING:
    from pipelines.sync.run_context import Clients

State = Literal[
    "as declared", "columns missing", "proposed", "not understood", "empty", "no access", "not answered"
]
IDS = {
    "office_id": (("commission_office", "office_customer_id"),),
    "user_id": (("commission_user", "user_id"), ("users", "id")),
}
"""Where documented reports state the ids of offices and of users: report and table, column."""
PAGE = 100
"""Rows a page that are requested of a paged report."""
REMEDY = 'Write in shapes.toml where it is, or "-" if the service has none.'


@dataclass(frozen=True)
class Look:
    """One report: its state, a sentence if it is not as declared, and the part of shapes.toml that may be.

    `rows` is where the rows of each table are declared; `columns` are those found of the first table, `extra`
    its undeclared ones, and `missing` those that marts need.
    """

    report: str
    state: State
    rows: Mapping[str, str]
    columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    sentence: str = ""
    proposal: str = ""


def unseen(report: Report) -> Look:
    """The look at a report of which no row was seen."""
    return Look(report.name, "empty", {table.name: table.rows for table in report.tables})


def judged(
    report: Report,
    documents: Sequence[Document],
    months: Sequence[Month],
    known: Mapping[str, frozenset[str]],
    timezone: str,
) -> Look:
    """Read answers for some months as loading would; propose a shape if the declared one is assumed."""
    look = unseen(report)
    try:
        answer = normalize(report, documents, months=months, timezone=timezone)
    except ShapeMismatch as error:
        needed = [
            f"{table.name}.{column.name}"
            for table in report.tables
            for column in declared_columns(table)
            if column.needed
        ]
        look = replace(look, state="not understood", missing=tuple(needed), sentence=str(error))
    else:
        if not (answer.rejected or any(table.frame.height for table in answer.tables)):
            return look
        first = answer.tables[0]
        filled = [column.name for column in first.columns if first.frame[column.name].count()]
        declared = {column.name for column in declared_columns(report.tables[0])}
        look = replace(
            look,
            state="columns missing" if answer.missing else "as declared",
            columns=tuple(name for name in filled if name in declared),
            missing=answer.missing,
            extra=tuple(name for name in filled if name not in declared),
        )
    if look.state == "as declared":
        return look
    values = [document.value for document in documents]
    if report.is_assumed and (proposal := propose(report, values, known)).tables:
        state = "proposed" if proposal.is_complete else look.state
        return replace(look, state=state, proposal=proposal.as_toml())
    lacking = f"No row has {', '.join(look.missing) or 'any column'}, which marts need"
    extra = f"Fields without a column of ours: {named(look.extra)}" if look.extra else ""
    return replace(look, sentence=". ".join(filter(None, (look.sentence, lacking, extra, REMEDY))))


@dataclass
class Survey:
    """Requests to look at the reports of one customer; those that were `denied` today are not requested."""

    clients: Clients
    customer: str
    today: Month
    timezone: str
    known: dict[str, frozenset[str]]
    denied: set[str]

    async def learn_ids(self, catalogue: Mapping[str, Report]) -> None:
        """Request the ids of offices and of users that no table has yet."""
        for column, sources in IDS.items():
            for name, source in () if self.known[column] else sources:
                with suppress(KeyError, ConnectError, ShapeMismatch):
                    documents = await self._request(catalogue[name], self.today.plus(-1))
                    answer = normalize(catalogue[name], documents, months=(), timezone=self.timezone)
                    self.known[column] |= {*answer.tables[0].frame[source].drop_nulls()}
        self.known["office_id"] |= {self.customer}

    async def look(self, report: Report, months: int) -> Look:
        """Look at one report, going back month by month while an answer is empty."""
        look = unseen(report)
        try:
            for back in range(1, (months if report.has_months else 1) + 1):
                month = self.today.plus(-back)
                documents = await self._request(report, month)
                look = judged(report, documents, [month], self.known, self.timezone)
                if look.state != "empty":
                    break
        except ConnectError as error:
            state: State = "no access" if isinstance(error, Forbidden) else "not answered"
            return replace(look, state=state, sentence=error.found)
        return look

    async def _request(self, report: Report, month: Month) -> list[Document]:
        """One answer for a month, or for now."""
        span = Span(month.first_day, month.last_day) if report.has_months else None
        question = Question(choice=report.endpoint.questions[0])
        request = build_request(report, self.customer, span, question)
        if report.endpoint.paged:
            request = request.with_query(pageIndex="0", pageSize=str(PAGE))
        if report.name in self.denied:
            raise Forbidden("The service denied it today (403).", request=request)
        client = self.clients(self.customer, report.endpoint.path)
        try:
            _, document = await client.get(request, read_document)
        except Forbidden:
            self.denied.add(report.name)
            raise
        return [document]
