"""Lineage of a number in a mart of the published file: the rows, loads and landing files behind the number.

The macros marts.sources_of and marts.sources_of_user give analysts the same lineage, for all reports at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from string import ascii_uppercase

from duckdb import BinderException, CatalogException, DuckDBPyConnection

from warehouse.errors import WarehouseError
from warehouse.marts.queries import SQL
from warehouse.store.duckdb_file import literal

MAX_LISTED = 12
OLDER_FILE = (
    "An older brokerbi made the published file. `brokerbi publish` makes one whose numbers can be explained."
)


class NotInTheFile(WarehouseError, ValueError):
    """The published file lacks the number or is too old, or several offices or users match a name."""


@dataclass(frozen=True)
class MeasureSource:
    """The source of a measure: a report, and the rows of the published file behind the measure.

    `rows` is the SQL after SELECT *, with the placeholders {kind}, {id}, {month} and {old_number}.
    {old_number} is the office id without its first letters, as some answers give it. For a budget, `budget`
    is the name of the measure in marts.budgets. Otherwise it is empty.
    """

    report: str
    rows: str
    budget: str = ""


QUOTIENTS = frozenset({"sold_average_commission", "average_price", "sold_commission_percentage"})
_COMMISSION_MEASURES = (
    *("commission", "sold_commission", "sold_total_price", "sold_estate_parts", "writing_parts"),
    *("valuation_parts", *sorted(QUOTIENTS)),
)


def _commission_sources(report: str, rows: str) -> dict[str, MeasureSource]:
    source = MeasureSource(report, f"FROM bi.{report} WHERE _month = {{month}} AND {rows}")
    return dict.fromkeys(_COMMISSION_MEASURES, source)


def _lead_source(condition: str) -> MeasureSource:
    rows = f"FROM marts.leads WHERE {{kind}}_id = {{id}} AND month = {{month}} AND {condition}"
    return MeasureSource("tips_and_leads", rows)


_ACTIVITY = {
    "running_commission_sek_excl_vat": MeasureSource(
        "running_commissions",
        "FROM marts.running_commissions WHERE {kind}_id = {id} AND month = {month}",
    ),
    "incoming_lead_count": _lead_source("way = 'incoming lead' AND NOT is_removed"),
    "outgoing_lead_count": _lead_source("way = 'outgoing lead' AND NOT is_removed"),
    "tip_count": _lead_source("way = 'tip' AND NOT is_removed"),
    "removed_lead_count": _lead_source("is_removed"),
}
_ACTIVE_AGENTS = "FROM marts.user_office_month WHERE office_id = {id} AND month = {month} AND is_active"
SOURCES: Mapping[str, MeasureSource] = {
    **_commission_sources(
        "commission_office",
        "_load_id = (SELECT _load_id FROM marts.office_month WHERE office_id = {id} AND month = {month}) "
        "AND coalesce(office_customer_id, customer_id::VARCHAR) IN ({id}, {old_number})",
    ),
    **_ACTIVITY,
    "active_agent_count": MeasureSource("commission_user", _ACTIVE_AGENTS),
    "commission_per_active_agent": MeasureSource("commission_user", _ACTIVE_AGENTS),
}
SOURCES_OF_USERS: Mapping[str, MeasureSource] = {
    **_commission_sources(
        "commission_user",
        "user_id = {id} AND _customer IN "
        "(SELECT customer_id FROM marts.user_sources WHERE user_id = {id} AND month = {month})",
    ),
    **_ACTIVITY,
}
SOURCES_OF_CHAIN: Mapping[str, MeasureSource] = {
    measure: MeasureSource(source.report, "FROM marts.office_month WHERE month = {month}")
    for measure, source in SOURCES.items()
    if measure not in {*QUOTIENTS, "removed_lead_count"} and source.report != "commission_user"
}
BUDGETS: Mapping[str, MeasureSource] = {
    f"budget_{name.replace(' ', '_')}": MeasureSource(
        "budgets",
        "FROM marts.budgets WHERE {kind}_id = {id} AND month = {month} AND valid_to_utc IS NULL "
        f"AND measure = '{name}'",
        budget=name,
    )
    for name in ("commission", "sold estates", "registered estates", "meetings", "own booked meetings")
}
"""The budgets that can be traced, by their names on the command line."""
_SOURCES = {
    "office": {**SOURCES, **BUDGETS},
    "user": {**SOURCES_OF_USERS, **BUDGETS},
    "chain": SOURCES_OF_CHAIN,
}


@dataclass(frozen=True)
class TracedNumber:
    """The number that is traced: a measure of an office, a user or the chain (`kind`) in a month."""

    kind: str
    id: str
    month: date
    measure: str

    @property
    def mart(self) -> str:
        return f"{self.kind}_{'budget_vs_actual' if self.source.budget else 'month'}"

    @property
    def column(self) -> str:
        return "budget" if self.source.budget else self.measure

    @property
    def source(self) -> MeasureSource:
        """Where the number comes from; raises NotInTheFile for a measure that cannot be traced."""
        sources = _SOURCES[self.kind]
        if self.measure in sources:
            return sources[self.measure]
        raise NotInTheFile(f"There is no measure {self.measure!r}; choose one of {', '.join(sources)}.")


@dataclass(frozen=True)
class TracedLoad:
    """A load behind the number; the fields are columns of meta.loads."""

    load_id: str
    report: str
    customer: str
    window_start: date | None
    window_end: date | None
    fetched_at_utc: datetime
    landing: str | None
    sha256: str | None


@dataclass(frozen=True)
class Trace:
    """The path from a number back to its loads.

    For the chain, `rows` shows its offices, and `loads` is empty. A user may have loads of several customers.
    """

    number: TracedNumber
    name: str  # the name of the office or user
    value: Decimal | int | None
    is_open: bool  # whether the month had not ended when it was requested
    meaning: str  # the description of the measure in the mart
    is_ahead: bool  # whether the month had not begun when the newest answer arrived
    rows: str  # the SQL after SELECT * that shows the rows
    row_count: int
    loads: tuple[TracedLoad, ...]


# The loads that count for the office or user, even if no row behind the number comes from them.
_LOADS = {
    "office": "SELECT load_id FROM marts.office_sources WHERE (report, office_id, month) = ($1, $2, $3)",
    "user": """
        SELECT load_id FROM meta.months WHERE report = $1 AND month = $3 AND customer IN (
            SELECT customer_id FROM marts.user_sources WHERE user_id = $2 AND month = $3
            UNION ALL SELECT _customer FROM marts.user_month WHERE user_id = $2 AND month = $3
        )
    """,
}
_MEANING_AND_AGE = """
SELECT (
    SELECT coalesce(max(comment), '') FROM duckdb_columns()
    WHERE (schema_name, table_name, column_name) = ('marts', $1, $2)
), coalesce(local_day(max(fetched_at_utc)) < $3::DATE, false) FROM meta.loads
"""


def trace(
    connection: DuckDBPyConnection, month: date, measure: str, *, office: str = "", user: str = ""
) -> Trace:
    """Trace a number of an office, of a user or, if neither is given, of the chain.

    `office` and `user` take an id, a unique name, or a unique part of a name. Raises NotInTheFile if there is
    no such number, if several offices or users match, or if the file is too old.
    """
    kind = "user" if user else "office" if office else "chain"
    number = TracedNumber(kind, user or office, month, measure)
    source = number.source
    try:
        connection.execute((SQL / "macros.sql").read_text("utf-8"))
        if number.id:
            number = replace(number, id=_matching_id(connection, number))
        name, value, is_open = _lookup(connection, number)
        [(meaning, is_ahead)] = connection.execute(
            _MEANING_AND_AGE, [number.mart, number.column, month]
        ).fetchall()
    except (BinderException, CatalogException) as error:
        raise NotInTheFile(OLDER_FILE) from error
    rows = source.rows.format(
        kind=kind,
        id=literal(number.id),
        month=f"DATE '{month}'",
        old_number=literal(number.id.lstrip(ascii_uppercase)),
    )
    [(row_count,)] = connection.execute(f"SELECT count(*) {rows}").fetchall()
    if kind == "chain":
        return Trace(number, name, value, is_open, meaning, is_ahead, rows, row_count, ())
    # A lead may come from the answer of another office, and a budget from an earlier answer.
    others = "" if source.report.startswith("commission") else f"UNION ALL SELECT _load_id {rows}"
    loads = connection.execute(
        f"SELECT DISTINCT {', '.join(TracedLoad.__dataclass_fields__)} FROM meta.loads "
        f"WHERE load_id IN ({_LOADS[kind]} {others}) ORDER BY load_id",
        [source.report, number.id, month],
    ).fetchall()
    traced = tuple(TracedLoad(*load) for load in loads)
    return Trace(number, name or number.id, value, is_open, meaning, is_ahead, rows, row_count, traced)


def _matching_id(connection: DuckDBPyConnection, number: TracedNumber) -> str:
    kind, text = number.kind, number.id.strip().lower()
    members = connection.execute(
        f"SELECT DISTINCT {kind}_id, coalesce(trim({kind}_name), '') FROM marts.{number.mart} ORDER BY ALL"
    ).fetchall()
    matches = (
        {member_id: name for member_id, name in members if member_id.lower() == text}
        or {member_id: name for member_id, name in members if name.lower() == text}
        or {member_id: name for member_id, name in members if text in name.lower()}
    )
    if len(matches) == 1:
        return str(*matches)
    labels = [f"{member} ({name})" if name else member for member, name in (matches or dict(members)).items()]
    more = f" and {len(labels) - MAX_LISTED} more in marts.{number.mart}" if len(labels) > MAX_LISTED else ""
    shown = f"{', '.join(labels[:MAX_LISTED]) or 'none yet'}{more}."
    if matches:
        raise NotInTheFile(f"{number.id!r} matches {len(matches)} {kind}s; give the id: {shown}")
    raise NotInTheFile(f"There is no {kind} {number.id!r} in marts.{number.mart}; it has {shown}")


def _lookup(connection: DuckDBPyConnection, number: TracedNumber) -> tuple[str, Decimal | int | None, bool]:
    """The name of the office, user or chain, the number's value, and whether the month is open."""
    kind, budget = number.kind, number.source.budget
    name = "'the chain'" if kind == "chain" else f"{kind}_name"
    condition = "true" if kind == "chain" else f"{kind}_id = {literal(number.id)}"
    and_measure = f" AND measure = {literal(budget)}" if budget else ""
    rows = f"FROM marts.{number.mart} WHERE {condition}{and_measure}"
    # The column is a name from this module, never text from outside.
    for member_name, value, is_open in connection.execute(
        f"SELECT {name}, {number.column}, is_open {rows} AND month = $1", [number.month]
    ).fetchall():
        return str(member_name or ""), value, bool(is_open)
    [(count, first, last)] = connection.execute(f"SELECT count(*), min(month), max(month) {rows}").fetchall()
    available = f"has {count} months of it, {first:%Y-%m} to {last:%Y-%m}" if count else "has no month of it"
    raise NotInTheFile(
        f"There is no {number.measure} of {number.id or 'the chain'} in {number.month:%Y-%m}; "
        f"the published file {available}."
    )
