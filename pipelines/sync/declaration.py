"""Declaration of the catalogue in the working file: its tables, and which reports are on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report, declared_columns
from pipelines.catalogue.reports import REPORTS
from pipelines.planning.due import Calendar, make_calendar, months_in_scope
from pipelines.planning.selection import Selection, chosen_reports
from warehouse.load.schema_evolution import declare
from warehouse.store.database import Connection
from warehouse.store.meta_schema import naive_utc, record_rehearsal, write_configured
from warehouse.store.schema import StoredColumn, TableSchema

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Settings


def declare_catalogue(
    connection: Connection, settings: Settings, catalogue: Mapping[str, Report], clock: Clock
) -> None:
    """Create the tables of the catalogue, and record which reports are on.

    A report on demand is recorded as off, so that it never counts as late. Also records whether this run
    is a rehearsal, as if on another day (`BROKERBI_TODAY`), and the customers.
    """
    record_rehearsal(connection, is_rehearsal=settings.today is not None)
    declare(connection, declared_tables(catalogue.values()), naive_utc(clock.utc_now()))
    chosen = chosen_reports(settings, Selection(), catalogue)
    calendar = make_calendar(settings, settings.today_local(clock))
    rows = [
        {
            "report": report.name,
            "subject": report.subject,
            "description": report.description,
            "path": report.endpoint.path,
            "is_on": report in chosen and not report.timing.on_demand,
            "is_awaited": not report.is_tracked_by_id,
            **_first_and_last_month(report, calendar),
        }
        for report in catalogue.values()
    ]
    write_configured(connection, "reports", rows)
    record_customers(connection, settings)


def record_customers(connection: Connection, settings: Settings) -> None:
    """Record the customers of the settings, active or not."""
    customers = [
        {
            "customer": customer.id,
            "name": customer.name,
            "start_month": settings.start.first_day,
            "is_active": customer.active,
            "region": customer.region or None,
        }
        for customer in settings.customers
    ]
    write_configured(connection, "customers", customers)


def _first_and_last_month(report: Report, calendar: Calendar) -> dict[str, date]:
    if not report.has_months:
        return {}
    months = list(months_in_scope(report, calendar))
    return {"first_month": months[0].first_day, "last_month": months[-1].first_day} if months else {}


def declared_tables(reports: Iterable[Report] = REPORTS.values()) -> list[TableSchema]:
    """The tables of the reports, with their declared columns."""
    return [
        TableSchema(
            name=table.name,
            report=report.name,
            parent=table.parent,
            history=report.stored_as == "history",
            key=table.key,
            nested=table.parent is not None,
            description=table.description,
            columns={column.name.lower(): StoredColumn.of(column) for column in declared_columns(table)},
        )
        for report in reports
        for table in report.tables
    ]
