"""Samples of reports: for each report a stored or newly requested answer, read as a load would read it.

Only months that are over are requested, because their figures are complete. The reports in IDS are requested
first, because their ids show which fields of the other reports are ids of offices and users.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report, declared_columns
from pipelines.connect.errors import ConnectError, Forbidden
from pipelines.months import Month
from pipelines.normalize.document import Document, InvalidJson, read_document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.rows import OnlyPlainValues, ShapeMismatch
from pipelines.normalize.types import AMBIGUOUS
from pipelines.planning.selection import Selection, chosen_customers
from pipelines.planning.windows import RequestVariant, Span
from pipelines.shapes.places import places_of
from pipelines.shapes.proposal import IdsByColumn, propose
from pipelines.sync.window.fetch import build_request
from pipelines.sync.window.paging import MIN_PAGE_SIZE, UNPAGED
from warehouse.errors import WarehouseError
from warehouse.ledger.ledger import Pair, add_requests, forget_denial, ledger_of, record_denial
from warehouse.ledger.stored_answers import loaded_ids, newest_answers
from warehouse.load.landing import Landing
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from pipelines.sync.run_context import Clients, RunContext

State = Literal[
    "as declared", "columns missing", "proposed", "not understood", "empty", "no access", "not answered"
]
IDS = {
    "commission_office": ("office_customer_id", "office_id"),
    "commission_user": ("user_id", "user_id"),
    "users": ("id", "user_id"),
}
"""For each report, whose table is named like the report: the column with ids, and the kind of these ids."""
MAX_TRIES, MAX_RETRY_SECONDS = 2, 20.0
"""A request has few tries, and little time for retries, because the operator is waiting."""
MAX_UNANSWERED = 10
REMEDY = 'Write the path of each needed column in shapes.toml, or "-" if the service has none.'


@dataclass(frozen=True)
class Sample:
    """The sample of one report.

    `rows` maps each table to the declared path of its rows. `columns` are the declared columns in which the
    first table has values, and `extra` the paths of its undeclared fields with values. `missing` are columns
    that marts need but that no row of their table has. `sentence` describes a problem, and `proposal` is a
    section for shapes.toml. If the report was requested, `customer` is the customer of the request. If the
    request failed, `error` is the reason.
    """

    report: str
    state: State
    rows: Mapping[str, str]
    columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    sentence: str = ""
    proposal: str = ""
    customer: str = ""
    error: ConnectError | None = None


def empty_sample(report: Report) -> Sample:
    """The sample of a report whose answers have no rows."""
    return Sample(report.name, "empty", {table.name: table.rows for table in report.tables})


def judge_answers(
    report: Report,
    documents: Sequence[Document],
    months: Sequence[Month],
    known_ids: IdsByColumn,
    timezone: str,
) -> Sample:
    """The sample that shows how a load would read these answers.

    If the answers do not fit, the sample proposes a shape, unless none can be found.
    """
    sample = _read_answers(report, documents, months, timezone)
    if sample.state in ("as declared", "empty", "not answered"):
        return sample
    values = [document.value for document in documents]
    if report.is_assumed and (proposal := propose(report, values, known_ids)).tables:
        state = "proposed" if proposal.is_complete else sample.state
        return replace(sample, state=state, proposal=proposal.as_toml())
    places = places_of(values) if sample.state == "not understood" else []
    most = max((place.count for place in places), default=0)
    heads = [re.findall(r"\w+", re.split(r"[^\w.]", row.path)[0]) for row in places if row.count == most]
    roots = {".".join(head[:length]) for head in heads for length in range(1, len(head) + 1)}
    inner = {root: _read_answers(replace(report, root=root), documents, months, timezone) for root in roots}
    match [root for root in roots if inner[root].state == "as declared"]:
        case [root]:
            return replace(inner[root], state="proposed", proposal=f'[{report.name}]\nroot = "{root}"\n')
    if not sample.missing:
        return sample
    lacking = f"No row has {', '.join(sample.missing)}, which marts need. {REMEDY}"
    moved = f"{sample.sentence}. If the rows or a field have moved, write their path in shapes.toml."
    return replace(sample, sentence=moved if sample.sentence else lacking)


def _read_answers(
    report: Report, documents: Sequence[Document], months: Sequence[Month], timezone: str
) -> Sample:
    sample = empty_sample(report)
    try:
        answer = normalize(report, documents, months=months, timezone=timezone)
    except OnlyPlainValues as error:
        return replace(sample, state="not answered", sentence=str(error))
    except ShapeMismatch as error:
        needed = [
            f"{table.name}.{column.name}"
            for table in report.tables
            for column in declared_columns(table)
            if column.needed and AMBIGUOUS not in str(error)
        ]
        return replace(sample, state="not understood", missing=tuple(needed), sentence=str(error))
    if not (answer.rejected or any(table.frame.height for table in answer.tables)):
        return sample
    first = answer.tables[0]
    filled = [column for column in first.columns if first.frame[column.name].count()]
    return replace(
        sample,
        state="columns missing" if answer.missing else "as declared",
        columns=tuple(column.name for column in filled if column.documented),
        missing=answer.missing,
        extra=tuple(column.source for column in filled if not column.documented),
    )


def sample_reports(
    settings: Settings,
    selection: Selection,
    context: RunContext,
    reports: Sequence[Report],
    requestable: Collection[Report],
    *,
    months: int = 1,
) -> list[Sample]:
    """A sample of each report, except reports that are requested one id at a time.

    A report in `requestable` is requested for the customer of its `newest_answers`, or for the first active
    customer of the selection. Before them, the reports in IDS are requested, unless ids of their kind are
    loaded. For a report not in `requestable`, its newest answer is read. If that answer is missing or
    unreadable, the sample is empty.
    """
    reports = [report for report in reports if not report.endpoint.by_id]
    if not reports:
        return []
    known_ids: IdsByColumn = {"office_id": set(), "user_id": set()}
    with Store(settings.data_dir).reading() as connection:
        answers = newest_answers(connection)
        for table, (column, kind) in IDS.items():
            known_ids[kind].update(loaded_ids(connection, table, column))
    landing, samples = Landing(settings.data_dir / "landing"), dict[str, Sample]()
    for report in reports:
        if report.name in answers and report not in requestable:
            path, days, _ = answers[report.name]
            with suppress(WarehouseError, OSError, InvalidJson):
                documents = [read_document(body) for _, body in landing.read_used(path)]
                stored = [Month.of(day) for day in days]
                samples[report.name] = judge_answers(report, documents, stored, known_ids, settings.timezone)
    if rest := [report for report in reports if report in requestable]:
        sources = (context.catalogue.get(name) for name, (_, kind) in IDS.items() if not known_ids[kind])
        requested = {report.name: report for report in (*rest, *filter(None, sources))}.values()
        active = [customer.id for customer in chosen_customers(settings, selection) if customer.active]
        answered = {name: customer for name, (_, _, customer) in answers.items() if customer in active}
        pairs = [(report, answered.get(report.name, active[0])) for report in requested if active]
        pairs.sort(key=lambda pair: pair[0].name not in IDS)
        new = asyncio.run(request_samples(settings, context, pairs, known_ids, months=months))
        samples = {sample.report: sample for sample in new} | samples
    return [samples.get(report.name) or empty_sample(report) for report in reports]


async def request_samples(
    settings: Settings,
    context: RunContext,
    pairs: Sequence[tuple[Report, str]],
    known_ids: IdsByColumn,
    *,
    months: int = 1,
) -> list[Sample]:
    """A sample of each pair of a report and a customer, from a request for the last month that is over.

    If the answer is empty, the month before is requested, and so on, for at most `months` months. A report
    that was denied today is not requested: its state is "no access". Ids that are found are added to
    `known_ids`. Raises WarehouseError if the ledger cannot be read or written.
    """
    clock, store, zone = settings.run_clock(context.clock), Store(settings.data_dir), settings.timezone
    denials, today = ledger_of(store).denied, settings.today_local(clock)
    denied = {pair for pair, at in denials.items() if at.astimezone(ZoneInfo(zone)).date() == today}
    retry_limit = {"retry_seconds": min(settings.retry_seconds, MAX_RETRY_SECONDS)}
    reports = {report.name for report, _ in pairs}
    async with context.open_session(settings.model_copy(update=retry_limit), "samples") as session:
        session.breaker.report_count = len(reports)
        session.breaker.max_failures = min(len(reports), MAX_UNANSWERED)
        sampler = _Sampler(session.clients, Month.of(today), zone, known_ids, denied)
        samples = [await sampler.take(report, customer, months) for report, customer in pairs]
    with store.writing() as connection:
        add_requests(connection, session.log.counts)
        for sample in samples:
            pair = (sample.report, sample.customer)
            if sample.error is None:
                forget_denial(connection, *pair)
            elif isinstance(sample.error, Forbidden) and not (session.breaker.stop_error or pair in denied):
                record_denial(connection, *pair, clock.utc_now())
    return samples


@dataclass
class _Sampler:
    clients: Clients
    this_month: Month
    timezone: str
    known_ids: IdsByColumn
    denied: set[Pair]  # denied today, so not requested again

    async def take(self, report: Report, customer: str, months: int) -> Sample:
        sample = empty_sample(report)
        self.known_ids["office_id"].add(customer)
        try:
            for months_back in range(1, (months if report.has_months else 1) + 1):
                month = self.this_month.plus(-months_back)
                document = await self._request(report, customer, month)
                self._learn_ids(report, document)
                sample = judge_answers(report, [document], [month], self.known_ids, self.timezone)
                if sample.state != "empty":
                    break
        except ConnectError as error:
            state: State = "no access" if isinstance(error, Forbidden) else "not answered"
            sample = replace(sample, state=state, sentence=error.issue, error=error)
        return replace(sample, customer=customer)

    def _learn_ids(self, report: Report, document: Document) -> None:
        if report.name in IDS:
            column, kind = IDS[report.name]
            with suppress(ShapeMismatch):
                answer = normalize(report, [document], months=(), timezone=self.timezone)
                self.known_ids[kind].update(answer.tables[0].frame[column].drop_nulls())

    async def _request(self, report: Report, customer: str, month: Month) -> Document:
        span = Span(month.first_day, month.last_day) if report.has_months else None
        variant = RequestVariant(choice=report.endpoint.choice_values[0])
        rows = MIN_PAGE_SIZE if report.endpoint.paged else UNPAGED
        request = build_request(report, customer, span, variant, rows=rows)
        if (report.name, customer) in self.denied:
            raise Forbidden("The service denied this report earlier today (403).", request=request)
        client = self.clients(customer, report.endpoint.path)
        _, document = await client.get(request, read_document, tries=MAX_TRIES)
        return document
