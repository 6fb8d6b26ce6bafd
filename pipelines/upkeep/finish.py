"""Publishing: marts, checks and, unless an error blocks publication, a new file with pages and export."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import httpx

from pipelines.catalogue.reports import REPORTS
from pipelines.clock import Clock, SystemClock
from pipelines.planning.plan import record_next_due
from pipelines.sync.declaration import declared_tables, record_customers
from pipelines.sync.privacy import documented_tables
from pipelines.upkeep.report_page import draw_pages
from warehouse.errors import WarehouseError, reason_of
from warehouse.ledger.changes import record_disagreements
from warehouse.ledger.ledger import has_rows, record_no_lake
from warehouse.ledger.stored_answers import is_replay_unfinished
from warehouse.load.schema_evolution import declare
from warehouse.marts.build import MartError, build_marts, build_within_memory
from warehouse.marts.checks import CheckResult, run_and_store_checks
from warehouse.persons.erased_list import read_erased
from warehouse.persons.suppression import suppress_tables
from warehouse.publishing.lake import refresh_lake
from warehouse.publishing.publish import Publication, publish, record_failed_publication
from warehouse.publishing.retention import clear_landing
from warehouse.store.database import Connection, Store
from warehouse.store.meta_schema import naive_utc, write_configured

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


@dataclass
class Finished:
    """The outcome of building, checking and publishing.

    `failed_steps` has the errors of the pages and the export; `warnings` has those of the lake and the ping.
    """

    marts: list[str]
    checks: list[CheckResult]
    publication: Publication
    failed_steps: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def finish(settings: Settings, clock: Clock | None = None) -> Finished:
    """Build the marts, run the checks and publish. Then write pages, export and lake, and ping the monitor.

    If a blocking check fails or a mart cannot be built, the earlier published file stays, and only the
    operators' page is drawn. Raises WarehouseError if nothing has been loaded or a replay did not finish.
    """
    clock = settings.run_clock(clock or SystemClock())
    data_dir, store = settings.data_dir, Store(settings.data_dir)
    marts: list[str] = []
    checks: list[CheckResult] = []
    try:
        try:
            marts, checks = build_within_memory(store.path, partial(_build_and_check, store, settings, clock))
            reasons = [check.finding for check in checks if check.blocks]
        except MartError as error:
            reasons = [str(error)]
        publication = publish(
            data_dir, keep=settings.keep_published, now=clock.utc_now(), reasons_against=reasons
        )
    except Exception as error:
        record_failed_publication(data_dir, clock.utc_now(), error)
        raise
    if settings.landing_days is not None:
        clear_landing(data_dir, days=settings.landing_days, now=clock.utc_now())
    failed_steps, warnings = [draw_pages(settings, clock, only_operators=not publication.has_new_file)], []
    if publication.has_new_file:
        failed_steps.append(_export(settings))
        warnings.append(refresh_lake(data_dir, settings.lake, settings.shard, clock.utc_now()))
        warnings.append(ping(settings.ping_url.get_secret_value()))
    return Finished(marts, checks, publication, [*filter(None, failed_steps)], [*filter(None, warnings)])


def _export(settings: Settings) -> str:
    if not settings.export_formats:
        return ""
    from pipelines.upkeep.export import export  # imported here, as most publications have no export

    try:
        export(settings)
    except Exception as error:  # noqa: BLE001 - the numbers are published even if their export is not
        return f"The export could not be written, so the earlier export stays: {reason_of(error)}"
    return ""


def ping(address: str, transport: httpx.BaseTransport | None = None) -> str:
    """Ping a monitor, which raises an alarm when pings stop. Returns the error, or an empty text."""
    if not address:
        return ""
    try:
        with httpx.Client(transport=transport, timeout=10.0) as client:
            answer = client.get(address)
    except httpx.HTTPError as error:
        return f"BROKERBI_PING_URL could not be called ({type(error).__name__}); check the address"
    return "" if answer.is_success else f"BROKERBI_PING_URL answered {answer.status_code}; check the address"


def _build_and_check(
    store: Store, settings: Settings, clock: Clock, memory_limit_mb: int | None
) -> tuple[list[str], list[CheckResult]]:
    with store.writing() as connection:
        if not has_rows(connection, "months"):
            raise WarehouseError(
                "Nothing has been loaded yet, so there is nothing to publish; run `brokerbi sync` first."
            )
        if is_replay_unfinished(connection, REPORTS):
            raise WarehouseError("A replay did not finish; run `brokerbi replay` again first.")
        declare(connection, declared_tables(), naive_utc(clock.utc_now()), only_missing=True)
        # a restored backup may name persons erased after it was made
        suppress_tables(connection, read_erased(settings.data_dir), documented_tables())
        _write_settings(connection, settings)
        marts = build_marts(connection, memory_limit_mb=memory_limit_mb)
        followers = [report.name for report in REPORTS.values() if report.timing.follows_sales]
        record_disagreements(connection, followers)
        record_next_due(connection, settings, clock)
        return marts, run_and_store_checks(connection, clock.utc_now())


def _write_settings(connection: Connection, settings: Settings) -> None:
    record_customers(connection, settings)
    declared = settings.model_dump(include={"timezone", "commission_vat", "vat_rate", "changed_months"})
    for table in ("clock", "tax_basis", "rereading"):
        write_configured(connection, table, [declared])
    if not settings.lake:
        record_no_lake(connection)  # otherwise, a former lake would be reported as out of date
