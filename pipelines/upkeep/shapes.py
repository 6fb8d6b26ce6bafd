"""Shapes before a sync: the operator's file, adopted proposals, and what another shape has loaded.

If the shape of a report is another one now, its stored answers are loaded again first, so that a corrected
shape rewrites no history; if answers are missing, the report is held back. Answers that fit only the earlier
shape, from before the service changed, stay as loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.months import Month
from pipelines.normalize.document import InvalidJson, read_document
from pipelines.planning.selection import Selection, chosen_customers, chosen_reports
from pipelines.shapes.proposal import KnownIds
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.look import MOST_MONTHS, Look, Survey, judged
from pipelines.sync.run_context import RunContext
from pipelines.sync.sync import sync
from pipelines.upkeep.replay import replay
from warehouse.errors import LandingDamaged
from warehouse.ledger.shapes import known_ids, loaded_shapes, remember_shape
from warehouse.load.landing import Landing
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.planning.plan import Plan
    from pipelines.settings.model import Settings
    from pipelines.sync.summary import Summary
    from warehouse.ledger.window_result import WindowResult


@dataclass
class Prepared:
    """The catalogue with the shapes in force, what was done for it, and the reports that are held back."""

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

    Raises ShapesError for a file that cannot be used.
    """
    store = Store(settings.data_dir)
    prepared = Prepared(with_shapes(context.catalogue, settings.shapes_file))
    with store.reading() as connection:
        loaded = loaded_shapes(connection)
    new = [
        report
        for report in chosen_reports(settings, selection, prepared.catalogue)
        if _is_to_adopt(report, context.catalogue) and report.name not in loaded
    ]
    if new:
        looks = look_at(settings, selection, context, prepared.catalogue, new, months=MOST_MONTHS)
        adopted = [look for look in looks if look.state == "proposed"]
        if adopted:
            add_to_file(settings.shapes_file, adopted)
            prepared.catalogue = with_shapes(context.catalogue, settings.shapes_file)
            names = ", ".join(look.report.name for look in adopted)
            prepared.messages.append(f"the shape of {names} was found and written to {settings.shapes_file}")
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


def _is_to_adopt(report: Report, catalogue: Mapping[str, Report]) -> bool:
    """Whether a shape may be adopted: something of it is assumed, and the operator has written nothing."""
    is_assumed = report.is_assumed or report.endpoint.paged  # where pages state their total is undocumented
    return is_assumed and not report.endpoint.each and report is catalogue[report.name]


def looks_of(settings: Settings, selection: Selection, *, from_landing: bool) -> list[Look]:
    """Looks at the selected reports, in the shapes in force; those by id are left out."""
    context = RunContext()
    catalogue = with_shapes(context.catalogue, settings.shapes_file)
    chosen = [report for report in chosen_reports(settings, selection, catalogue) if not report.endpoint.each]
    return look_at(settings, selection, context, catalogue, chosen, from_landing=from_landing)


def look_at(
    settings: Settings,
    selection: Selection,
    context: RunContext,
    catalogue: Mapping[str, Report],
    reports: Sequence[Report],
    *,
    months: int = 1,
    from_landing: bool = False,
) -> list[Look]:
    """Look at reports: at the newest stored answer with rows, else at what the service answers now."""
    store = Store(settings.data_dir)
    looks = _looks_at_landing(settings, store, reports)
    left = [report for report in reports if report.name not in looks]
    customers = chosen_customers(settings, selection)
    if left and customers and not from_landing:
        looks |= asyncio.run(_ask(settings, context, catalogue, left, customers[0].id, months))
    return [looks.get(report.name) or Look(report, "empty") for report in reports]


async def _ask(
    settings: Settings,
    context: RunContext,
    catalogue: Mapping[str, Report],
    reports: Sequence[Report],
    customer: str,
    months: int,
) -> dict[str, Look]:
    """What the service answers to one small request per report, after those that tell ids."""
    clock = settings.clock_of_day(context.clock)
    rate_limit = context.rate_limit(settings)
    async with AsyncExitStack() as stack:
        wanted = [owner for owner in settings.active_customers if owner.id == customer]
        clients = context.open_clients(settings, wanted, rate_limit, CircuitBreaker(rate_limit), stack)
        today = Month.of(settings.today_local(clock))
        survey = Survey(clients, customer, today, settings.timezone, {customer})
        await survey.learn_ids(catalogue)
        return {report.name: await survey.look(report, months=months) for report in reports}


def _looks_at_landing(settings: Settings, store: Store, reports: Sequence[Report]) -> dict[str, Look]:
    """The newest stored answer with rows of each report, as far as landing has one."""
    landing = Landing(settings.data_dir / "landing")
    by_name = {report.name: report for report in reports}
    looks: dict[str, Look] = {}
    newest = [file for file in landing.walk() if not isinstance(file, LandingDamaged)]
    newest.sort(key=lambda file: str(file.trailer.get("fetched_at_utc", "")), reverse=True)
    known = KnownIds()
    if store.path.exists():
        with store.reading() as connection:
            known = KnownIds(*known_ids(connection))
    for file in newest:
        report = by_name.get(str(file.header.get("report", "")))
        if report is None or report.name in looks:
            continue
        try:
            documents = [read_document(body) for _, body in landing.read_used(file.path)]
        except (LandingDamaged, InvalidJson):
            continue
        look = judged(report, documents, known, settings.timezone)
        if look.state != "empty":
            looks[report.name] = look
    return looks


def add_to_file(path: Path, looks: Sequence[Look]) -> list[str]:
    """Write proposals to the operator's file, behind what is there; returns the names of those written.

    Nothing is overwritten: a report that the file names already is left alone.
    """
    there = path.read_text("utf-8") if path.exists() else ""
    written = []
    for look in looks:
        name = look.report.name
        if look.proposal and f"[{name}]" not in there and f"[{name}." not in there:
            there += ("\n" if there else "") + look.proposal.as_toml()
            written.append(name)
    if written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(there, "utf-8")
    return written
