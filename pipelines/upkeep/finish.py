"""Publishing: marts, checks, and a new published file with its page if no check refuses it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.planning.plan import note_next_due
from pipelines.sync.declaration import declared_tables
from pipelines.sync.privacy import documented_tables
from warehouse.errors import WarehouseError
from warehouse.ledger.changes import remember_disagreements
from warehouse.ledger.ledger import forget_lake, holds_anything
from warehouse.load.schema_evolution import declare_missing
from warehouse.marts.build import MartError, build_marts, within_memory
from warehouse.marts.checks import CheckResult, check_and_keep
from warehouse.persons.erased_list import read_erased
from warehouse.persons.rebuild import is_replay_unfinished
from warehouse.persons.suppression import suppress_tables
from warehouse.publishing.lake import refresh_lake
from warehouse.publishing.publish import Publication, note_failure, publish
from warehouse.publishing.retention import clear_landing
from warehouse.store.database import Connection, Store
from warehouse.store.meta_schema import write_configured, write_declared

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from pipelines.upkeep.export import Export

PING_SECONDS = 10.0


@dataclass(frozen=True)
class Finished:
    """The outcome of building, checking and publishing."""

    marts: tuple[str, ...]
    checks: tuple[CheckResult, ...]
    publication: Publication
    page: Path | str | None = None  # beside the published file, or why it could not be drawn
    export: Export | str | None = None  # in other formats, if the settings want them, or why there is none
    lake: str = ""  # why the lake could not be written
    ping: str = ""  # why no monitor was called although there is a new file


def finish(
    settings: Settings,
    clock: Clock | None = None,
    *,
    transport: httpx.BaseTransport | None = None,
) -> Finished:
    """Build the marts, run the checks and publish; with a failing error check the old file stays.

    Raises WarehouseError before the first load, and MartError when a mart cannot be built: then too the
    old file stays, and the refusal is written down with its reason and shown on the operators' page. Any
    other error is written down as a failure, and raised.
    """
    clock = settings.clock_of_day(clock or SystemClock())
    data_dir, keep = settings.data_dir, settings.keep_published
    store = Store(data_dir)
    with store.locked():
        try:
            build = partial(_build_and_check, store, settings, clock)
            marts, checks = within_memory(store.path, build)
            reasons = [check.finding for check in checks if check.blocks]
            publication = publish(data_dir, keep=keep, now=clock.utc_now(), reasons_against=reasons)
        except MartError as error:
            publish(data_dir, keep=keep, now=clock.utc_now(), reasons_against=[str(error)])
            refresh_operators_page(settings, clock)
            raise
        except Exception as error:
            note_failure(data_dir, clock.utc_now(), error)
            raise
    if settings.landing_days is not None:
        clear_landing(data_dir, days=settings.landing_days, now=clock.utc_now())
    page, lake, ping = None, "", ""
    exported: Export | str | None = None
    if publication.published:
        page = refresh_report_page(settings, clock)
        if settings.export_formats:
            from pipelines.upkeep.export import refresh_export  # most publications do without

            exported = refresh_export(settings, clock.utc_now())
        lake = refresh_lake(data_dir, settings.lake, settings.shard, clock.utc_now())
        ping = call(settings.ping_url.get_secret_value(), transport)
    else:
        refresh_operators_page(settings, clock)
    return Finished(tuple(marts), tuple(checks), publication, page, exported, lake, ping=ping)


def refresh_report_page(settings: Settings, clock: Clock) -> Path | str | None:
    """The page of a new publication, or why it failed, as a sentence; a sync does not fail with it.

    None if the settings want no pages: existing ones are removed.
    """
    try:
        if settings.pages:
            from pipelines.upkeep.report_page import write_report_page  # a publication may do without

            return write_report_page(settings, clock)
        remove_pages(settings.data_dir)
    except Exception as error:  # noqa: BLE001 - the numbers are loaded and published without the page
        return _undrawn("report.html", error)
    return None


def refresh_operators_page(settings: Settings, clock: Clock) -> str:
    """Draw the operators' page after a run without a publication; returns why it failed, if it did."""
    try:
        if settings.pages and Store(settings.data_dir).path.exists():
            from pipelines.upkeep.report_page import write_operators_page

            write_operators_page(settings, clock)
    except Exception as error:  # noqa: BLE001 - as above
        return _undrawn("operators.html", error)
    return ""


def _undrawn(page: str, error: Exception) -> str:
    why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
    return f"The page {page} could not be drawn, the earlier one stays: {why}"


def remove_pages(data_dir: Path) -> None:
    """Remove all pages: they name persons, and state what is no longer true."""
    for page in [*data_dir.glob("*.html"), *data_dir.glob("*/*.html")]:
        page.unlink()


def call(address: str, transport: httpx.BaseTransport | None = None) -> str:
    """Call the address of a monitor that raises an alarm when the calls stop; the error, or an empty text."""
    if not address:
        return ""
    try:
        with httpx.Client(transport=transport, timeout=PING_SECONDS) as client:
            answer = client.get(address)
    except httpx.HTTPError as error:
        return f"BROKERBI_PING_URL could not be called ({type(error).__name__})"
    return "" if answer.is_success else f"BROKERBI_PING_URL answered {answer.status_code}; check it"


def _build_and_check(
    store: Store, settings: Settings, clock: Clock, memory_limit_mb: int | None
) -> tuple[list[str], list[CheckResult]]:
    """Build marts in one transaction and run checks in another; the file is opened once for both."""
    with store.writing() as connection:
        if not holds_anything(connection):
            raise WarehouseError(
                "Nothing has been loaded yet, so there is nothing to publish; run `brokerbi sync` first."
            )
        if is_replay_unfinished(connection, REPORTS):
            raise WarehouseError("A replay was stopped before its end; run `brokerbi replay` again first.")
        declare_missing(connection, declared_tables(), clock.utc_now().replace(tzinfo=None))
        # a backup that was put back may hold persons who were erased since
        suppress_tables(connection, read_erased(settings.data_dir), documented_tables())
        _declare(connection, settings)
        marts = build_marts(connection, memory_limit_mb=memory_limit_mb)
        followers = [report.name for report in REPORTS.values() if report.timing.follows_sales]
        remember_disagreements(connection, followers)
        note_next_due(connection, settings, clock)
        return marts, check_and_keep(connection, clock.utc_now())


def _declare(connection: Connection, settings: Settings) -> None:
    """Write down what the settings say of customers, times and amounts."""
    start = settings.start.first_day
    customers = [
        {
            "customer": customer.id,
            "name": customer.name,
            "start_month": start,
            "is_active": customer.active,
            "region": customer.region or None,
        }
        for customer in settings.customers
    ]
    write_configured(connection, "customers", customers)
    write_declared(connection, "clock", settings.timezone)
    write_declared(connection, "tax_basis", settings.commission_vat, settings.vat_rate)
    write_declared(connection, "rereading", settings.changed_months)
    if not settings.lake:
        forget_lake(connection)
