"""From which rows, load and landing file does an office's month come? Read from the published file.

sql/analysis/13_where_a_number_comes_from.sql answers the same for analysts, for all reports at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from warehouse.errors import WarehouseError
from warehouse.opening import literal, opened
from warehouse.pictures import NothingPublished
from warehouse.versions import Versions


class NotInTheFile(WarehouseError, ValueError):
    """The published file has no such office, month or measure; the sentence says what it has."""


@dataclass(frozen=True)
class Source:
    """Where a measure of marts.office_month comes from: a report, a table of bi, and which of its rows."""

    report: str
    table: str
    way: str = ""  # of marts.leads; empty for amounts


@dataclass(frozen=True)
class TracedLoad:
    """The load that brought the rows, as the ledger knows it."""

    load_id: str
    report: str
    customer: str
    window_start: date | None
    window_end: date | None
    requests: int
    fetched_at_utc: datetime
    loaded_at_utc: datetime | None
    landing: str | None
    sha256: str | None


@dataclass(frozen=True)
class Trace:
    """The way of one number from the mart back to its landing file; no load where nothing is held."""

    office_id: str
    office_name: str
    month: date
    measure: str
    meaning: str
    value: Decimal | int | None
    is_open: bool
    source: Source
    load: TracedLoad | None
    sales_load: TracedLoad | None  # what the office report said of sales alone, where that is held too
    query: str  # what an analyst puts after SELECT * to see the rows of bi
    rows: tuple[int, ...]  # their `_row`
    quarantined: int  # rows of the load that were set aside
    offices: frozenset[str]  # every office of the file: whose a lead is depends on them
    counted_elsewhere: frozenset[str]  # ids of leads that this load holds and another one counts


_EARNED = (
    "commission sold_commission sold_total_price sold_estate_parts sold_average_commission "
    "sold_commission_percentage writing_parts valuation_parts"
).split()
OF_SALES = frozenset(name for name in _EARNED if name.startswith("sold_") and "commission" in name)
SOURCES: Mapping[str, Source] = {
    **dict.fromkeys(_EARNED, Source("commission_office", "commission_office")),
    "running_commission_sek_excl_vat": Source("running_commissions", "running_commissions"),
    "incoming_lead_count": Source("tips_and_leads", "incoming_leads", "incoming lead"),
    "outgoing_lead_count": Source("tips_and_leads", "outgoing_leads", "outgoing lead"),
    "tip_count": Source("tips_and_leads", "tips", "tip"),
}


def trace(data_dir: Path, office: str, month: date, measure: str) -> Trace:
    """Follow a number back; raises NotInTheFile or NothingPublished with what there is instead."""
    file = Versions(Path(data_dir)).published
    if not file.exists():
        raise NothingPublished(f"There is no published file {file} yet; `brokerbi sync` makes one.")
    if measure not in SOURCES:
        raise NotInTheFile(f"There is no measure {measure!r}; marts.office_month has {', '.join(SOURCES)}.")
    with opened(file, read_only=True) as connection:
        return _traced(connection, office, month, measure)


def _traced(connection: DuckDBPyConnection, office: str, month: date, measure: str) -> Trace:
    name, value, is_open = _in_the_mart(connection, office, month, measure)
    source = SOURCES[measure]
    load = _load(connection, source.report, office, month)
    query = _query(connection, source, load, office, month) if load else ""
    found = _rows(connection, f"SELECT _row {query} ORDER BY _row", []) if query else []
    return Trace(
        office,
        name or office,
        month,
        measure,
        _meaning(connection, measure),
        value,
        is_open,
        source,
        load,
        _sales_load(connection, load, office, month) if load and measure in OF_SALES else None,
        query,
        tuple(row for (row,) in found),
        _quarantined(connection, load, source) if load else 0,
        frozenset(one for (one,) in connection.execute("SELECT office_id FROM marts.offices").fetchall()),
        _elsewhere(connection, source, load, month) if load else frozenset(),
    )


def _in_the_mart(
    connection: DuckDBPyConnection, office: str, month: date, measure: str
) -> tuple[str, Decimal | int | None, bool]:
    # The measure is one of SOURCES, never what somebody typed.
    rows = connection.execute(
        f"SELECT office_name, {measure}, is_open FROM marts.office_month WHERE office_id = $1 AND month = $2",
        [office, month],
    ).fetchall()
    if rows:
        name, value, is_open = rows[0]
        return name, value, bool(is_open)
    months = _rows(connection, "SELECT month FROM marts.office_month WHERE office_id = $1", [office])
    if months:
        held = [one for (one,) in months]
        raise NotInTheFile(
            f"Nothing is held of {office} for {month:%Y-%m}; the published file has {len(held)} months "
            f"of it, {min(held):%Y-%m} to {max(held):%Y-%m}."
        )
    offices = _rows(connection, "SELECT office_id, office_name FROM marts.offices ORDER BY office_id", [])
    listed = ", ".join(f"{one} ({name})" if name else one for one, name in offices)
    raise NotInTheFile(f"There is no office {office!r}; the published file has {listed or 'none yet'}.")


def _load(connection: DuckDBPyConnection, report: str, office: str, month: date) -> TracedLoad | None:
    names = ", ".join(f"loads.{name}" for name in TracedLoad.__dataclass_fields__)
    rows = _rows(
        connection,
        f"SELECT {names} FROM marts.office_sources AS sources JOIN meta.loads AS loads USING (load_id) "
        "WHERE sources.report = $1 AND sources.office_id = $2 AND sources.month = $3",
        [report, office, month],
    )
    return TracedLoad(*rows[0]) if rows else None


def _sales_load(
    connection: DuckDBPyConnection, load: TracedLoad, office: str, month: date
) -> TracedLoad | None:
    """The report on sales alone, which the mart prefers to an average times homes; off by default."""
    names = ", ".join(f"loads.{name}" for name in TracedLoad.__dataclass_fields__)
    rows = _rows(
        connection,
        f"SELECT {names} FROM bi.commission_office_sale AS sale JOIN meta.loads AS loads "
        "ON loads.load_id = sale._load_id "
        "WHERE sale._customer = $1 AND sale._month = $2 AND sale.office_customer_id = $3 LIMIT 1",
        [load.customer, month, office],
    )
    return TracedLoad(*rows[0]) if rows else None


def _query(connection: DuckDBPyConnection, source: Source, load: TracedLoad, office: str, month: date) -> str:
    """The rows behind the number, as an analyst can ask for them too."""
    where = f"FROM bi.{source.table} WHERE _load_id = {literal(load.load_id)} AND _month = DATE '{month}'"
    if source.way:
        return (
            f"{where} AND {_id_column(source)} IN (SELECT lead_id FROM marts.leads "
            f"WHERE (way, month, office_id) = ({literal(source.way)}, DATE '{month}', {literal(office)}))"
        )
    if source.table == "running_commissions":
        return f"{where} AND customer_id = {literal(office)}"
    named = f"{where} AND office_customer_id = {literal(office)}"
    if _rows(connection, f"SELECT 1 {named} LIMIT 1", []):
        return named
    # As sql/staging/commission_office.sql does: without the id with its letter, the old number.
    number = office.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ") if office == load.customer else office
    return f"{where} AND office_customer_id IS NULL AND customer_id::VARCHAR = {literal(number)}"


def _meaning(connection: DuckDBPyConnection, measure: str) -> str:
    rows = _rows(
        connection,
        "SELECT comment FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = 'office_month' "
        "AND column_name = $1 AND comment IS NOT NULL",
        [measure],
    )
    return str(rows[0][0]) if rows else ""


def _quarantined(connection: DuckDBPyConnection, load: TracedLoad, source: Source) -> int:
    query = (
        "SELECT coalesce(sum(rows), 0)::BIGINT FROM meta.quarantine WHERE load_id = $1 AND table_name = $2"
    )
    ((count,),) = _rows(connection, query, [load.load_id, source.table])
    return int(count)


def _elsewhere(
    connection: DuckDBPyConnection, source: Source, load: TracedLoad, month: date
) -> frozenset[str]:
    """A lead that two answers hold counts once, where it was fetched last."""
    if not source.way:
        return frozenset()
    ids = _id_column(source)
    rows = _rows(
        connection,
        f"SELECT {ids} FROM bi.{source.table} WHERE _load_id = $1 AND _month = $2 AND {ids} IN ("
        "SELECT lead_id FROM marts.leads WHERE way = $3 AND (_load_id <> $1 OR month <> $2))",
        [load.load_id, month, source.way],
    )
    return frozenset(one for (one,) in rows)


def _id_column(source: Source) -> str:
    return "tip_id" if source.table == "tips" else "lead_id"


def _rows(connection: DuckDBPyConnection, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    return connection.execute(query, list(values)).fetchall()
