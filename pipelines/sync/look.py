"""A look at the shapes of reports: what arrives, whether it is as declared, and what may be proposed.

One small request per report, for a month that is over, so that outcomes are filled. Documented reports come
first: their ids tell what is an office and what a user in all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pipelines.catalogue.model import Report, declared_columns
from pipelines.connect.errors import ConnectError, Forbidden
from pipelines.months import Month
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.normalize import ShapeMismatch, normalize
from pipelines.planning.windows import Question, Span
from pipelines.shapes.paths import NONE
from pipelines.shapes.places import named
from pipelines.shapes.proposal import KnownIds, Proposal, propose
from pipelines.sync.window.request import build_request

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.sync.run_context import Clients

State = Literal[
    "as declared", "columns missing", "proposed", "not understood", "empty", "no access", "not answered"
]
OFFICES = (("commission_office", "office_customer_id"),)
USERS = (("commission_user", "user_id"), ("users", "id"))
"""Where documented reports state the ids of offices and of users: report and table, column."""
MOST_MONTHS = 12
"""How far back a month with rows is looked for."""
PAGE = 100
"""Rows a page that are requested of a paged report."""


@dataclass(frozen=True)
class Look:
    """What one report looks like: the state, a sentence if it is not as declared, and the proposal."""

    report: Report
    state: State
    sentence: str = ""
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    proposal: Proposal | None = None

    @property
    def remedy(self) -> str:
        """What the operator has to write in shapes.toml; a proposal says it already."""
        if not self.missing or (self.proposal and self.proposal.tables):
            return ""
        tables = {table: column for table, _, column in (name.partition(".") for name in self.missing)}
        table, column = next(iter(tables.items()))
        part = self.report.name if len(self.report.tables) == 1 else f"{self.report.name}.{table}"
        names = ", ".join(name.partition(".")[2] if len(tables) == 1 else name for name in self.missing)
        if self.state == "not understood":
            return f"In shapes.toml correct the rows of [{part}]; the columns that marts need are {names}."
        fields = f" Fields without a column of ours: {named(self.extra)}." if self.extra else ""
        return (
            f"No row has {names}, which marts need. In shapes.toml write where it is, as in [{part}.columns] "
            f'{column} = ".field", or "{NONE}" if the service has none.{fields}'
        )


def judged(
    report: Report, documents: Sequence[Document], months: Sequence[Month], known: KnownIds, timezone: str
) -> Look:
    """Compare the answers for some months with the shape of their report; propose one if it is assumed."""
    look = _compared(report, documents, months, timezone)
    if look.state not in ("columns missing", "not understood") or not report.is_assumed:
        return look
    proposal = propose(report, [document.value for document in documents], known)
    return replace(look, state="proposed" if proposal.is_complete else look.state, proposal=proposal)


def _compared(report: Report, documents: Sequence[Document], months: Sequence[Month], timezone: str) -> Look:
    """Read answers as loading would, and report the columns that they have."""
    try:
        normalized = normalize(report, documents, months=months, timezone=timezone)
    except ShapeMismatch as error:
        needed = tuple(
            f"{table.name}.{column.name}"
            for table in report.tables
            for column in declared_columns(table)
            if column.needed
        )
        return Look(report, "not understood", str(error), missing=needed)
    first = normalized.tables[0]
    declared = {column.name for column in declared_columns(report.tables[0])}
    filled = [column.name for column in first.columns if first.frame[column.name].count()]
    found = tuple(name for name in filled if name in declared)
    extra = tuple(name for name in filled if name not in declared)
    has_rows = bool(normalized.rejected) or any(table.frame.height for table in normalized.tables)
    state: State = "columns missing" if normalized.missing else "as declared" if has_rows else "empty"
    return Look(report, state, "", found, normalized.missing, extra)


@dataclass
class Survey:
    """Requests to look at the reports of one customer; those that were `denied` today are not requested."""

    clients: Clients
    customer: str
    today: Month
    timezone: str
    known: KnownIds
    denied: set[str]

    async def learn_ids(self, catalogue: Mapping[str, Report]) -> None:
        """Request the ids of offices and of users that no table has yet."""
        known = self.known
        offices = (known.offices or await self._ids(catalogue, OFFICES)) | {self.customer}
        self.known = KnownIds(offices, known.users or await self._ids(catalogue, USERS))

    async def look(self, report: Report, *, months: int = 1) -> Look:
        """Look at one report, going back month by month while an answer is empty."""
        look = Look(report, "empty")
        for back in range(1, months + 1):
            month = self.today.plus(-back)
            documents = await self._request(report, month)
            if documents is None:
                return Look(report, "no access", "the service denies it today (403)")
            if isinstance(documents, str):
                return Look(report, "not answered", documents)
            look = judged(report, documents, [month], self.known, self.timezone)
            if look.state != "empty" or not report.has_months:
                break
        return look

    async def _ids(
        self, catalogue: Mapping[str, Report], columns: Sequence[tuple[str, str]]
    ) -> frozenset[str]:
        ids: set[str] = set()
        for name, column in columns:
            documents = (
                await self._request(catalogue[name], self.today.plus(-1)) if name in catalogue else None
            )
            if isinstance(documents, list):
                with suppress(ShapeMismatch):
                    [table, *_] = normalize(
                        catalogue[name], documents, months=(), timezone=self.timezone
                    ).tables
                    ids.update(table.frame[column].drop_nulls())
        return frozenset(ids)

    async def _request(self, report: Report, month: Month) -> list[Document] | str | None:
        """One answer for a month, or for now; else the reason in a word, None for a denial."""
        if report.name in self.denied:
            return None
        client: Client = self.clients(self.customer, report.endpoint.path)
        span = Span(month.first_day, month.last_day) if report.has_months else None
        question = Question(choice=report.endpoint.questions[0])
        request = build_request(report, self.customer, span, question)
        if report.endpoint.paged:
            request = request.with_query(pageIndex="0", pageSize=str(PAGE))
        try:
            _, document = await client.get(request, read_document)
        except Forbidden:
            self.denied.add(report.name)
            return None
        except ConnectError as error:
            return error.found
        return [document]


def as_json(look: Look) -> dict[str, Any]:
    """A look as machines read it."""
    return {
        "report": look.report.name,
        "state": look.state,
        "rows": {table.name: table.rows for table in look.report.tables},
        "columns": list(look.found),
        "missing": list(look.missing),
        "extra": list(look.extra),
        "sentence": look.sentence,
        "remedy": look.remedy,
        "proposal": look.proposal.as_toml() if look.proposal else "",
    }
