"""Shapes before a sync: the operator's file, adopted proposals, and what another shape has loaded.

If the shape of a report is another one now, its stored answers are loaded again first, so that a corrected
shape rewrites no history; if answers are missing, the report is held back. Answers that fit only the earlier
shape, from before the service changed, stay as loaded.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.months import Month
from pipelines.normalize.document import InvalidJson, read_document
from pipelines.planning.selection import Selection, chosen_customers, chosen_reports
from pipelines.shapes.proposal import KnownIds
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.look import MOST_MONTHS, OFFICES, USERS, Look, Survey, judged
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
from pipelines.upkeep.replay import Replayed, replay
from warehouse.errors import OlderFormat, WarehouseError
from warehouse.ledger.ledger import add_requests, deny, ledger_of
from warehouse.ledger.shapes import (
    loaded_ids,
    loaded_shapes,
    newest_answers,
    remember_shape,
    requested_reports,
)
from warehouse.load.landing import Landing
from warehouse.store.database import Store
from warehouse.store.files import SHARED_FILE, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.planning.plan import Plan
    from pipelines.settings.model import Settings
    from pipelines.sync.summary import Summary
    from warehouse.ledger.window_result import WindowResult


@dataclass
class Prepared:
    """The catalogue with the shapes in force, messages about them, and the reports that are held back."""

    catalogue: Mapping[str, Report]
    messages: list[str] = field(default_factory=list)
    held_back: dict[str, str] = field(default_factory=dict)


def sync_in_shape(
    settings: Settings,
    selection: Selection,
    *,
    context: RunContext | None = None,
    on_message: Callable[[str], None],
    on_plan: Callable[[Plan], None],
    on_result: Callable[[WindowResult], None],
) -> Summary:
    """Sync with the shapes in force; `on_message` hears of adopted shapes and replayed reports."""
    context = context or RunContext()
    prepared = prepare_shapes(settings, selection, context)
    for message in prepared.messages:
        on_message(message)
    context = replace(context, catalogue=prepared.catalogue, held_back=prepared.held_back)
    return sync(settings, selection, context=context, on_plan=on_plan, on_result=on_result)


def prepare_shapes(settings: Settings, selection: Selection, context: RunContext) -> Prepared:
    """Read the operator's file, adopt complete proposals, and replay what another shape has loaded.

    Only reports that were never requested are requested for that. Raises ShapesError for a file that cannot
    be used.
    """
    store = Store(settings.data_dir)
    with store.reading() as connection:
        loaded, requested = loaded_shapes(connection), requested_reports(connection)
    prepared = _adopted(settings, selection, context, loaded, lambda report: report.name not in requested)
    for name, shapes in loaded.items():
        report = prepared.catalogue.get(name)
        if report is None or shapes == {report.shape}:
            continue
        again = replay(settings, reports=[name], catalogue=prepared.catalogue, clock=context.clock)
        if again.failures:
            prepared.held_back[name] = (
                f"its shape changed and stored answers could not be loaded again: {again.failures[0]}"
            )
            continue
        with store.writing() as connection:
            remember_shape(connection, name, report.shape)
        unfit = f"; {len(again.unfit)} fit only the earlier shape and stay as loaded" if again.unfit else ""
        prepared.messages.append(
            f"the shape of {name} changed: {again.loads} stored answers were read again{unfit}"
        )
    return prepared


def replay_in_shape(settings: Settings, **options: Any) -> Replayed:
    """Replay, after complete proposals for stored answers of reports without rows were adopted."""
    prepared = Prepared(with_shapes(RunContext().catalogue, settings.shapes_file))
    with suppress(OlderFormat), Store(settings.data_dir).reading() as connection:
        loaded = loaded_shapes(connection)
        prepared = _adopted(settings, Selection(), RunContext(), loaded, lambda _: False)
    done = replay(settings, catalogue=prepared.catalogue, **options)
    done.notes += prepared.messages
    return done


def looks_of(
    settings: Settings, selection: Selection, *, from_landing: bool, context: RunContext | None = None
) -> list[Look]:
    """Looks at the selected reports, in the shapes in force; those by id are left out."""
    context = context or RunContext()
    catalogue = with_shapes(context.catalogue, settings.shapes_file)
    chosen = [report for report in chosen_reports(settings, selection, catalogue) if not report.endpoint.each]
    return _look_at(settings, selection, context, catalogue, chosen, lambda _: not from_landing)


def _adopted(
    settings: Settings,
    selection: Selection,
    context: RunContext,
    loaded: Collection[str],
    may_request: Callable[[Report], bool],
) -> Prepared:
    """The catalogue in the shapes of the operator's file, after complete proposals were added to it.

    Looked at are undocumented reports that no shape has loaded yet, and of which the operator wrote nothing.
    """
    prepared = Prepared(with_shapes(context.catalogue, settings.shapes_file))
    reports = [
        report
        for report in chosen_reports(settings, selection, prepared.catalogue)
        if report.is_assumed
        and not report.endpoint.each
        and report is context.catalogue[report.name]
        and report.name not in loaded
    ]
    if reports:
        looks = _look_at(
            settings, selection, context, prepared.catalogue, reports, may_request, months=MOST_MONTHS
        )
        if names := add_to_file(settings.shapes_file, [look for look in looks if look.state == "proposed"]):
            prepared.catalogue = with_shapes(context.catalogue, settings.shapes_file)
            prepared.messages.append(
                f"the shape of {', '.join(names)} was found and written to {settings.shapes_file}"
            )
    return prepared


def _look_at(
    settings: Settings,
    selection: Selection,
    context: RunContext,
    catalogue: Mapping[str, Report],
    reports: Sequence[Report],
    may_request: Callable[[Report], bool],
    *,
    months: int = 1,
) -> list[Look]:
    """Look at reports: at the newest stored answer with rows, else at what the service answers now."""
    store, landing = Store(settings.data_dir), Landing(settings.data_dir / "landing")
    with store.reading() as connection:
        known = KnownIds(loaded_ids(connection, OFFICES), loaded_ids(connection, USERS))
        stored = newest_answers(connection)
    looks: dict[str, Look] = {}
    for report in reports:
        if report.name in stored:
            path, days = stored[report.name]
            with suppress(WarehouseError, OSError, InvalidJson):
                documents = [read_document(body) for _, body in landing.read_used(path)]
                requested = [Month.of(day) for day in days]
                looks[report.name] = judged(report, documents, requested, known, settings.timezone)
    left = [report for report in reports if report.name not in looks and may_request(report)]
    customers = chosen_customers(settings, selection)
    if left and customers:
        looks |= asyncio.run(_request(settings, context, catalogue, left, customers[0].id, known, months))
    return [looks.get(report.name) or Look(report, "empty") for report in reports]


async def _request(
    settings: Settings,
    context: RunContext,
    catalogue: Mapping[str, Report],
    reports: Sequence[Report],
    customer: str,
    known: KnownIds,
    months: int,
) -> dict[str, Look]:
    """The answers to one small request per report; a denied report rests for the day."""
    clock, store = settings.clock_of_day(context.clock), Store(settings.data_dir)
    today = settings.today_local(clock)
    zone = ZoneInfo(settings.timezone)
    denied = {
        report
        for (report, owner), at in ledger_of(store).denied.items()
        if owner == customer and at.astimezone(zone).date() == today
    }
    rate_limit, log = context.rate_limit(settings), RequestLogger(settings.data_dir, "shapes", clock)
    async with AsyncExitStack() as stack:
        breaker = CircuitBreaker(rate_limit)
        clients = context.open_clients(settings, rate_limit, breaker, stack, log.record)
        survey = Survey(clients, customer, Month.of(today), settings.timezone, known, set(denied))
        await survey.learn_ids(catalogue)
        looks = {report.name: await survey.look(report, months=months) for report in reports}
    with store.writing() as connection:
        add_requests(connection, log.counts)
        for report in survey.denied - denied:
            deny(connection, report, customer, clock.utc_now())
    return looks


def add_to_file(path: Path, looks: Sequence[Look]) -> list[str]:
    """Write proposals to the operator's file, behind what is there; returns the names of those written.

    Nothing is overwritten: a report that the file names already is left alone.
    """
    there = path.read_text("utf-8") if path.exists() else ""
    named, written = tomllib.loads(there), []
    for look in looks:
        name = look.report.name
        if look.proposal and name not in named:
            there += ("\n" if there else "") + look.proposal.as_toml()
            written.append(name)
    if written:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, there.encode(), mode=SHARED_FILE)
    return written
