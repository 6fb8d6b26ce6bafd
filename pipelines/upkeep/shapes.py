"""Shapes before a sync: the operator's file, adopted proposals, and reports whose shape changed.

If the shape of a report has changed, its stored answers are loaded again first, so that a corrected shape
rewrites no history; if answers are missing, the report is held back. Answers that fit only the earlier shape
stay as loaded.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.diagnosis.look import IDS, Look, Survey, judged, unseen
from pipelines.months import Month
from pipelines.normalize.document import InvalidJson, read_document
from pipelines.planning.selection import Selection, chosen_customers, chosen_reports
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.run_context import RunContext
from pipelines.upkeep.replay import replay
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

    from pipelines.settings.model import Settings

Listener = Callable[[str], None]
MOST_MONTHS = 12
"""How many months back a sync looks for rows before it adopts a shape."""


def prepare_shapes(
    settings: Settings, selection: Selection, context: RunContext, on_message: Listener
) -> RunContext:
    """Replay the reports whose shape changed; returns the context with the current shapes.

    `on_message` receives adopted shapes and replayed reports. Raises ShapesError if the file is invalid.
    """
    catalogue = adopt_shapes(settings, selection, context, on_message, may_request=True)
    store, held_back = Store(settings.data_dir), {}
    with store.reading() as connection:
        loaded = loaded_shapes(connection)
    for name, shapes in loaded.items():
        if name not in catalogue or shapes == {catalogue[name].shape}:
            continue
        again = replay(settings, reports=[name], catalogue=catalogue, clock=context.clock)
        if again.failures:
            held_back[name] = (
                f"its shape changed and stored answers could not be loaded again: {again.failures[0]}"
            )
            continue
        with store.writing() as connection:
            remember_shape(connection, name, catalogue[name].shape)
        unfit = f"; {len(again.unfit)} fit only the earlier shape and stay as loaded" if again.unfit else ""
        on_message(f"the shape of {name} changed: {again.loads} stored answers were read again{unfit}")
    return replace(context, catalogue=catalogue, held_back=held_back)


def adopt_shapes(
    settings: Settings, selection: Selection, context: RunContext, on_message: Listener, *, may_request: bool
) -> Mapping[str, Report]:
    """Add complete proposals to the operator's file; returns the catalogue with the shapes of the file.

    Proposals are made for undocumented reports that are not loaded yet and not in the file, from stored
    answers or, with `may_request`, by a first request.
    """
    shaped = in_shape(settings, context)
    with suppress(OlderFormat):  # a replay rebuilds the file
        with Store(settings.data_dir).reading() as connection:
            loaded, requested = loaded_shapes(connection), requested_reports(connection)
        reports = [
            report
            for report in chosen_reports(settings, selection, shaped.catalogue)
            if report.is_assumed and not report.shape and report.name not in loaded
        ]
        unrequested = [report for report in reports if may_request and report.name not in requested]
        looks = _looks(settings, selection, shaped, reports, unrequested, months=MOST_MONTHS)
        if names := add_to_file(settings.shapes_file, [look for look in looks if look.state == "proposed"]):
            on_message(f"the shape of {', '.join(names)} was found and written to {settings.shapes_file}")
    return with_shapes(context.catalogue, settings.shapes_file)


def looks_of(
    settings: Settings, selection: Selection, *, from_landing: bool, context: RunContext | None = None
) -> list[Look]:
    """Look at the selected reports in their current shapes; reports by id are left out."""
    context = in_shape(settings, context or RunContext())
    reports = chosen_reports(settings, selection, context.catalogue)
    return _looks(settings, selection, context, reports, () if from_landing else reports)


def in_shape(settings: Settings, context: RunContext) -> RunContext:
    """The context with the shapes of the operator's file."""
    return replace(context, catalogue=with_shapes(context.catalogue, settings.shapes_file))


def _looks(
    settings: Settings,
    selection: Selection,
    context: RunContext,
    reports: Sequence[Report],
    requestable: Sequence[Report],
    *,
    months: int = 1,
) -> list[Look]:
    """Look at the newest stored answer with rows of each report, or at a new answer of the service."""
    reports = [report for report in reports if not report.endpoint.each]
    if not reports:
        return []
    landing = Landing(settings.data_dir / "landing")
    with Store(settings.data_dir).reading() as connection:
        known = {column: loaded_ids(connection, sources) for column, sources in IDS.items()}
        stored = newest_answers(connection)
    looks: dict[str, Look] = {}
    for report in reports:
        if report.name in stored:
            path, days = stored[report.name]
            with suppress(WarehouseError, OSError, InvalidJson):
                documents = [read_document(body) for _, body in landing.read_used(path)]
                requested = [Month.of(day) for day in days]
                looks[report.name] = judged(report, documents, requested, known, settings.timezone)
    left = [report for report in reports if report in requestable and report.name not in looks]
    if left and (customers := chosen_customers(settings, selection)):
        looks |= asyncio.run(_request(settings, context, left, customers[0].id, known, months))
    return [looks.get(report.name) or unseen(report) for report in reports]


async def _request(
    settings: Settings,
    context: RunContext,
    reports: Sequence[Report],
    customer: str,
    known: dict[str, frozenset[str]],
    months: int,
) -> dict[str, Look]:
    """Request a short window of each report; a denied report is not requested again that day."""
    clock, store = settings.clock_of_day(context.clock), Store(settings.data_dir)
    today, zone = settings.today_local(clock), ZoneInfo(settings.timezone)
    denied = {
        report
        for (report, owner), at in ledger_of(store).denied.items()
        if owner == customer and at.astimezone(zone).date() == today
    }
    async with context.open_session(settings, "shapes") as session:
        survey = Survey(session.clients, customer, Month.of(today), settings.timezone, known, set(denied))
        await survey.learn_ids(context.catalogue)
        looks = {report.name: await survey.look(report, months) for report in reports}
    with store.writing() as connection:
        add_requests(connection, session.log.counts)
        for report in survey.denied - denied:
            deny(connection, report, customer, clock.utc_now())
    return looks


def add_to_file(path: Path, looks: Sequence[Look]) -> list[str]:
    """Append proposals to the operator's file; returns the names of the reports added.

    A report that is already in the file is left alone.
    """
    there = path.read_text("utf-8") if path.exists() else ""
    new = {look.report: look.proposal for look in looks if look.proposal}
    written = [name for name in new if name not in tomllib.loads(there)]
    if written:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join([there, *(new[name] for name in written)]).lstrip("\n")
        write_file(path, text.encode(), mode=SHARED_FILE)
    return written
