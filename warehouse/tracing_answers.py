"""Which answers stand behind a number, and which of their rows? Asked of the published file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from duckdb import DuckDBPyConnection

from warehouse.opening import literal
from warehouse.traces import LOAD_COLUMNS, Asked, NotInTheFile, Source, TracedLoad

_OFFICES_LOAD = f"""
SELECT {LOAD_COLUMNS} FROM marts.office_sources AS sources JOIN meta.loads AS loads USING (load_id)
WHERE sources.report = $1 AND sources.office_id = $2 AND sources.month = $3
"""
# A user's answers: those of the customers that count, and those that hold an event or lead that does.
_USERS_LOADS = f"""
SELECT DISTINCT {LOAD_COLUMNS} FROM meta.loads AS loads WHERE load_id IN (
    SELECT held.load_id FROM meta.months AS held JOIN marts.user_month AS counted
    ON held.month = counted.month AND list_contains(string_split(counted._customer, ', '), held.customer)
    WHERE held.report = $1 AND counted.user_id = $2 AND counted.month = $3
    UNION ALL SELECT _load_id FROM marts.running_commissions
    WHERE $1 = 'running_commissions' AND user_id = $2 AND month = $3
    UNION ALL SELECT _load_id FROM marts.leads WHERE $1 = 'tips_and_leads' AND user_id = $2 AND month = $3
) ORDER BY loads.load_id
"""
MOST_NAMED = 12
_NAMES = """
SELECT {0}_id, any_value({0}_name) FROM marts.{0}_month GROUP BY ALL ORDER BY {0}_id
"""


def number_in_the_mart(
    connection: DuckDBPyConnection, asked: Asked
) -> tuple[str, Decimal | int | None, bool]:
    """Name, number, and whether the month is open; raises NotInTheFile with what there is instead."""
    kind, mart = asked.kind, asked.mart
    # The measure is one of the known ones, never what somebody typed.
    rows = connection.execute(
        f"SELECT {kind}_name, {asked.measure}, is_open FROM marts.{mart} WHERE {kind}_id = $1 AND month = $2",
        [asked.id, asked.month],
    ).fetchall()
    if rows:
        name, value, is_open = rows[0]
        return name, value, bool(is_open)
    months = _rows(connection, f"SELECT month FROM marts.{mart} WHERE {kind}_id = $1", [asked.id])
    if months:
        held = [one for (one,) in months]
        raise NotInTheFile(
            f"Nothing is held of {asked.id} for {asked.month:%Y-%m}; the published file has {len(held)} "
            f"months of it, {min(held):%Y-%m} to {max(held):%Y-%m}."
        )
    known = _rows(connection, _NAMES.format(kind), [])
    listed = ", ".join(f"{one} ({name})" if name else one for one, name in known[:MOST_NAMED])
    more = f" and {len(known) - MOST_NAMED} more, see marts.{kind}s" if len(known) > MOST_NAMED else ""
    raise NotInTheFile(
        f"There is no {kind} {asked.id!r}; the published file has {listed or 'none yet'}{more}."
    )


def loads_of(connection: DuckDBPyConnection, asked: Asked) -> list[TracedLoad]:
    """The loads that the number comes from; none where nothing is held."""
    query = _OFFICES_LOAD if asked.kind == "office" else _USERS_LOADS
    found = _rows(connection, query, [asked.source.report, asked.id, asked.month])
    return [TracedLoad(*row) for row in found]


def rows_query(connection: DuckDBPyConnection, asked: Asked, load: TracedLoad) -> str:
    """The rows behind the number in one load, as an analyst can ask for them too."""
    source, month = asked.source, f"DATE '{asked.month}'"
    where = f"FROM bi.{source.table} WHERE _load_id = {literal(load.load_id)} AND _month = {month}"
    if source.way:
        return (
            f"{where} AND {id_column(source)} IN (SELECT lead_id FROM marts.leads "
            f"WHERE (way, month, {asked.kind}_id) = ({literal(source.way)}, {month}, {literal(asked.id)}))"
        )
    if asked.kind == "user":
        offices = ", ".join(literal(one) for one in sorted(counted_offices(connection, load, asked.month)))
        its = f" AND customer_id IN ({offices or 'NULL'})" if source.table == "running_commissions" else ""
        return f"{where} AND user_id = {literal(asked.id)}{its}"
    if source.table == "running_commissions":
        return f"{where} AND customer_id = {literal(asked.id)}"
    names = ", ".join(literal(one) for one in _names(connection, asked.id))
    return f"{where} AND coalesce(office_customer_id, customer_id::VARCHAR) IN ({names})"


def _names(connection: DuckDBPyConnection, office: str) -> list[str]:
    """An office's id, and its old number if no other office has it, as sql/staging reads them."""
    number = office.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    query = "SELECT count(*) FROM marts.offices WHERE ltrim(office_id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = $1"
    ((alike,),) = _rows(connection, query, [number])
    return [office, number] if alike == 1 and number != office else [office]


def counted_offices(connection: DuckDBPyConnection, load: TracedLoad, month: date) -> frozenset[str]:
    """The offices for which this load's answer counts, and not that of another customer."""
    query = "SELECT office_id FROM marts.office_sources WHERE load_id = $1 AND month = $2"
    return frozenset(one for (one,) in _rows(connection, query, [load.load_id, month]))


def id_column(source: Source) -> str:
    """The documented id of a lead or tip."""
    return "tip_id" if source.table == "tips" else "lead_id"


def _rows(connection: DuckDBPyConnection, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    return connection.execute(query, list(values)).fetchall()
