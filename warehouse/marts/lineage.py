"""Lineage of a number: from the mart of the published file to the rows, loads and landing files behind it.

The macros marts.sources_of and marts.sources_of_user answer the same for analysts, for all reports at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from string import ascii_uppercase

from duckdb import BinderException, CatalogException, DuckDBPyConnection

from warehouse.errors import WarehouseError
from warehouse.store.duckdb_file import literal
from warehouse.store.versions import Versions

MOST_NAMED = 12
SALES_ALONE = {"commission_office": "commission_office_sale", "commission_user": "commission_user_sale"}


class NotInTheFile(WarehouseError, ValueError):
    """The published file has no such office, month or measure; the sentence says what it has."""


@dataclass(frozen=True)
class MeasureSource:
    """Where a measure of a mart comes from: a report, a table of bi, and which rows of marts.leads.

    A measure that no table of bi holds comes from a mart; `rows` says from which of its rows, with the kind,
    id, month and load of the number, and `not_recounted` why the stored answers are not counted again.
    """

    report: str
    table: str
    way: str = ""  # of marts.leads; empty for amounts
    rows: str = ""
    not_recounted: str = ""
    budget: str = ""  # the measure in the budget marts

    @property
    def id_column(self) -> str:
        """The documented id of a lead or tip."""
        return "tip_id" if self.table == "tips" else "lead_id"


_EARNED = (
    "commission sold_commission sold_total_price sold_estate_parts sold_average_commission "
    "sold_commission_percentage average_price writing_parts valuation_parts"
).split()
_AGENTS = MeasureSource(
    "commission_user",
    "marts.user_month",
    rows="FROM marts.user_month WHERE {kind}_id = {id} AND month = {month} AND is_active",
    not_recounted="who is active is known from a user's other months too; explain the commission itself",
)
OF_SALES = frozenset(name for name in _EARNED if name.startswith("sold_") and "commission" in name)
SOURCES: Mapping[str, MeasureSource] = {
    **dict.fromkeys(_EARNED, MeasureSource("commission_office", "commission_office")),
    "running_commission_sek_excl_vat": MeasureSource("running_commissions", "running_commissions"),
    "incoming_lead_count": MeasureSource("tips_and_leads", "incoming_leads", "incoming lead"),
    "outgoing_lead_count": MeasureSource("tips_and_leads", "outgoing_leads", "outgoing lead"),
    "tip_count": MeasureSource("tips_and_leads", "tips", "tip"),
    "removed_lead_count": MeasureSource(
        "tips_and_leads",
        "marts.leads",
        rows="FROM marts.leads WHERE {kind}_id = {id} AND month = {month} AND is_removed "
        "AND _load_id = {load}",
        not_recounted="leads of three lists, of which one answer says that they were removed",
    ),
    "active_agent_count": _AGENTS,
    "commission_per_active_agent": _AGENTS,
}
SOURCES_OF_USERS: Mapping[str, MeasureSource] = {
    **{name: source for name, source in SOURCES.items() if source is not _AGENTS},
    **dict.fromkeys(_EARNED, MeasureSource("commission_user", "commission_user")),
}
ADDED_UP = [
    name
    for name, source in SOURCES.items()
    if source is not _AGENTS and not name.endswith(("_average_commission", "_percentage", "average_price"))
]
"""Measures whose number of the chain is the sum of those of its offices."""
BUDGETS: Mapping[str, MeasureSource] = {
    f"budget_{name.replace(' ', '_')}": MeasureSource(
        "budgets",
        "marts.budgets",
        rows="FROM marts.budgets WHERE {kind}_id = {id} AND month = {month} AND valid_to_utc IS NULL "
        f"AND measure = '{name}' AND _load_id = {{load}}",
        not_recounted="nobody has documented the rows of budgets",
        budget=name,
    )
    for name in ("commission", "sold estates", "registered estates", "meetings", "own booked meetings")
}
"""Measures of the budget marts, as they are asked for; their number is the budget of the month."""


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
    def sources(self) -> Mapping[str, MeasureSource]:
        if self.kind == "chain":
            return {name: SOURCES[name] for name in ADDED_UP}
        return {**(SOURCES if self.kind == "office" else SOURCES_OF_USERS), **BUDGETS}

    @property
    def source(self) -> MeasureSource:
        return self.sources[self.measure]


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
class TracedAnswer:
    """One answer that a number comes from, and which of its rows."""

    load: TracedLoad
    sales_load: TracedLoad | None  # what the same report said of sales alone, where that is held too
    query: str  # what an analyst puts after SELECT * to see the rows of bi
    row_count: int
    rows: tuple[int, ...]  # their `_row`, where they have one
    quarantined: int  # rows of the load that were set aside
    counted_elsewhere: frozenset[str]  # ids of leads here that another load counts, or none as removed
    counted_offices: frozenset[str]  # offices for which this customer's answer counts
    unnamed_office: str  # the office of rows that name none; empty if it is not known


@dataclass(frozen=True)
class Trace:
    """The way of one number back to its landing files; no answer where nothing is held.

    A user's number may come from the answers of several customers.
    """

    number: TracedNumber
    name: str  # of the office or user
    meaning: str
    value: Decimal | int | None
    is_open: bool
    is_ahead: bool  # whether the month had not begun when anything was last read
    is_without_budget: bool  # whether budgets of the month were read and have, or have had, none here
    answers: tuple[TracedAnswer, ...]
    offices: frozenset[str]  # every office of the file: whose a lead is depends on them
    asked_as: str = ""  # another name of the user, where the number was asked for by that
    timezone: str = "UTC"  # of the brokerage, as the file was built with
    shards: tuple[str, ...] = ()  # of a merged file: those that have the stored answers

    @property
    def rows(self) -> tuple[int, ...]:
        return tuple(row for answer in self.answers for row in answer.rows)

    @property
    def quarantined(self) -> int:
        return sum(answer.quarantined for answer in self.answers)


_LOAD = ", ".join(f"loads.{name}" for name in TracedLoad.__dataclass_fields__)
_LOADS_OF_OFFICE = f"""
SELECT {_LOAD} FROM marts.office_sources AS sources JOIN meta.loads AS loads USING (load_id)
WHERE sources.report = $1 AND sources.office_id = $2 AND sources.month = $3
"""
# A user's answers: those of the customers that count, and those that hold an event or lead that does.
_LOADS_OF_USER = f"""
SELECT DISTINCT {_LOAD} FROM meta.loads AS loads WHERE load_id IN (
    SELECT load_id FROM meta.months WHERE report = $1 AND month = $3 AND customer IN (
        SELECT customer_id FROM marts.user_sources WHERE user_id = $2 AND month = $3
        UNION ALL SELECT _customer FROM marts.user_month WHERE user_id = $2 AND month = $3
    )
    UNION ALL SELECT _load_id FROM marts.running_commissions
    WHERE $1 = 'running_commissions' AND user_id = $2 AND month = $3
    UNION ALL SELECT _load_id FROM marts.leads WHERE $1 = 'tips_and_leads' AND user_id = $2 AND month = $3
) ORDER BY loads.load_id
"""
_LOADS_OF_BUDGET = f"""
SELECT DISTINCT {_LOAD}
FROM marts.budgets AS budgets JOIN meta.loads AS loads ON loads.load_id = budgets._load_id
WHERE budgets.measure = $1 AND $2 IN (budgets.office_id, budgets.user_id) AND budgets.month = $3
AND budgets.valid_to_utc IS NULL ORDER BY loads.load_id
"""
_MEANING = """
SELECT comment FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = $1
AND column_name = $2 AND comment IS NOT NULL
"""
_QUARANTINED = """
SELECT coalesce(sum(rows), 0)::BIGINT FROM meta.quarantine WHERE load_id = $1 AND table_name = $2
"""
_OTHER_NAMES = """
SELECT DISTINCT user_id, trim(user_name) FROM (
    SELECT user_id, user_name FROM marts.sale_shares UNION ALL SELECT id, name FROM bi.users_history
) WHERE user_id IS NOT NULL AND user_name IS NOT NULL ORDER BY ALL
"""
_ZONE = "SELECT coalesce(any_value(timezone), 'UTC') FROM meta.clock"
_IS_AHEAD = "SELECT timezone($2, timezone('UTC', max(fetched_at_utc)))::DATE < $1 FROM meta.loads"


def trace(data_dir: Path, month: date, measure: str, *, office: str = "", user: str = "") -> Trace:
    """Follow a number back; raises NotInTheFile or WarehouseError with what there is instead.

    The office or user is an id, or a name or part of one that nobody else has; of a user that nobody is
    called now, another name that the service gave an id in a sale or directory.
    """
    number = TracedNumber("user" if user else "office", user or office, month, measure)
    if measure not in number.sources:
        known = ", ".join(number.sources)
        raise NotInTheFile(f"There is no measure {measure!r}; marts.{number.kind}_month has {known}.")
    source = number.source
    with Versions(data_dir).reading() as connection:
        known_id, is_other_name = _known_id(connection, number)
        asked_as = number.id if is_other_name else ""
        number = replace(number, id=known_id)
        name, value, is_open = _in_mart(connection, number)
        timezone = _zone(connection)
        [(is_ahead,)] = connection.execute(_IS_AHEAD, [month, timezone]).fetchall()
        statement = _LOADS_OF_BUDGET if source.budget else _LOADS_OF_USER if user else _LOADS_OF_OFFICE
        found = connection.execute(statement, [source.budget or source.report, number.id, month]).fetchall()
        loads = [TracedLoad(*load) for load in found]
        meaning = connection.execute(_MEANING, [number.mart, number.column]).fetchall()
        return Trace(
            number,
            name or number.id,
            str(meaning[0][0]) if meaning else "",
            value,
            is_open,
            bool(is_ahead),
            bool(source.budget and not loads and value is None and _is_budget_read(connection, number)),
            tuple(_answer(connection, number, load) for load in loads),
            _ids(connection, "SELECT office_id FROM marts.offices"),
            asked_as,
            timezone,
            _shards(connection, [load.customer for load in loads]),
        )


def _shards(connection: DuckDBPyConnection, customers: Collection[str]) -> tuple[str, ...]:
    """The shards of a merged file that answer for customers; none where it is not merged."""
    statement = "SELECT shard FROM meta.shards WHERE list_has_any(customers, $1::VARCHAR[]) ORDER BY shard"
    with suppress(CatalogException):  # a file of an earlier version
        return tuple(shard for (shard,) in connection.execute(statement, [customers]).fetchall())
    return ()


def _zone(connection: DuckDBPyConnection) -> str:
    """The time zone of the brokerage; raises NotInTheFile where an earlier version did not keep it."""
    try:
        [(timezone,)] = connection.execute(_ZONE).fetchall()
    except CatalogException as error:
        raise NotInTheFile(
            "The published file is of an earlier version and does not say in which time zone its days are. "
            "`brokerbi publish` makes one that does."
        ) from error
    return str(timezone)


def _known_id(connection: DuckDBPyConnection, number: TracedNumber) -> tuple[str, bool]:
    """The id that is meant by an id, a name or a part of one, and whether that is another name than today's.

    Raises NotInTheFile unless it is one alone.
    """
    kind, asked = number.kind, number.id.strip().casefold()
    # Whose budgets were all taken back is in no budget mart.
    known = connection.execute(
        f"SELECT {kind}_id, any_value({kind}_name) FROM (FROM marts.{number.mart} "
        f"UNION ALL BY NAME FROM marts.{kind}s WHERE {bool(number.source.budget)}) "
        f"GROUP BY ALL ORDER BY {kind}_id"
    ).fetchall()
    names = [(str(one), str(name or "").casefold()) for one, name in known]
    others: list[tuple[str, str]] = []
    found = (
        [one for one, _ in names if one == number.id]
        or [one for one, _ in names if one.casefold() == asked]
        or [one for one, name in names if name == asked]
    )
    if kind == "user" and asked and not found:
        others = _other_names(connection, {one for one, _ in names})
    other = [one for one, name in others if name == asked]
    part = _named(names, asked)
    found = found or other or part or _named(others, asked)
    found = list(dict.fromkeys(found))
    if len(found) == 1:
        return found[0], bool(others and (other or not part))
    listed = [f"{one} ({name})" if name else one for one, name in known if one in found or not found]
    more = f" and {len(listed) - MOST_NAMED} more, see marts.{kind}s" if len(listed) > MOST_NAMED else ""
    says = f"{', '.join(listed[:MOST_NAMED]) or 'none yet'}{more}."
    if found:
        raise NotInTheFile(f"{number.id!r} may be each of {len(found)} {kind}s; give the id: {says}")
    raise NotInTheFile(f"There is no {kind} {number.id!r}; the published file has {says}")


def _named(names: Sequence[tuple[str, str]], asked: str) -> list[str]:
    """Whose name has this as whole words, or where nobody's has, as a part of it."""
    if not asked:
        return []
    whole = [one for one, name in names if f" {asked} " in f" {name} "]
    return whole or [one for one, name in names if asked in name]


def _other_names(connection: DuckDBPyConnection, known: Collection[str]) -> list[tuple[str, str]]:
    """What sales and directories call these users, or called them."""
    found = connection.execute(_OTHER_NAMES).fetchall()
    return [(one, str(name).casefold()) for one, name in found if one in known]


def _in_mart(connection: DuckDBPyConnection, number: TracedNumber) -> tuple[str, Decimal | int | None, bool]:
    """Name, number, and whether the month is open; raises NotInTheFile with what there is instead."""
    kind, mart = number.kind, f"marts.{number.mart}"
    # The measure is one of the known ones, never what somebody typed.
    of_budget = f"AND measure = {literal(number.source.budget)}" if number.source.budget else ""
    rows = connection.execute(
        f"SELECT {kind}_name, {number.column}, is_open FROM {mart} WHERE {kind}_id = $1 AND month = $2 "
        f"{of_budget}",
        [number.id, number.month],
    ).fetchall()
    if rows:
        name, value, is_open = rows[0]
        return name, value, bool(is_open)
    if number.source.budget and _is_budget_read(connection, number):
        [(name, is_open)] = connection.execute(
            f"SELECT (SELECT any_value({kind}_name) FROM marts.{kind}s WHERE {kind}_id = $1), "
            "(SELECT coalesce(bool_or(is_open), true) FROM marts.office_month WHERE month = $2)",
            [number.id, number.month],
        ).fetchall()
        return name, None, bool(is_open)
    [(count, first, last)] = connection.execute(
        f"SELECT count(*), min(month), max(month) FROM {mart} WHERE {kind}_id = $1 {of_budget}", [number.id]
    ).fetchall()
    held = f"has {count} months of it, {first:%Y-%m} to {last:%Y-%m}" if count else "has no month of it"
    raise NotInTheFile(
        f"There is no {number.measure} of {number.id} in {number.month:%Y-%m}; the published file {held}."
    )


def _is_budget_read(connection: DuckDBPyConnection, number: TracedNumber) -> bool:
    """Whether budgets of the month were read: its own, if only formerly, or others at the user's office."""
    return bool(
        connection.execute(
            "FROM marts.budgets WHERE month = $2 AND measure = $3 AND "
            f"({number.kind}_id = $1 OR office_id IN "
            "(SELECT office_id FROM marts.user_month WHERE user_id = $1 AND month = $2)) LIMIT 1",
            [number.id, number.month, number.source.budget],
        ).fetchall()
    )


def _answer(connection: DuckDBPyConnection, number: TracedNumber, load: TracedLoad) -> TracedAnswer:
    source = number.source
    counted_offices = _ids(
        connection,
        "SELECT office_id FROM marts.office_sources WHERE load_id = $1 AND month = $2",
        load.load_id,
        number.month,
    )
    unnamed_office = _unnamed_office(connection, load.customer, counted_offices)
    query = _rows_query(connection, number, load, counted_offices, unnamed_office)
    rows = connection.execute(f"SELECT {'NULL' if source.rows else '_row'} {query} ORDER BY ALL").fetchall()
    [(quarantined,)] = connection.execute(_QUARANTINED, [load.load_id, source.table]).fetchall()
    counted_elsewhere: frozenset[str] = frozenset()
    if source.way:  # a lead that two answers hold counts once, where it was fetched last
        counted_elsewhere = _ids(
            connection,
            f"SELECT {source.id_column} FROM bi.{source.table} WHERE _load_id = $1 AND _month = $2 "
            f"AND {source.id_column} IN (SELECT lead_id FROM marts.leads WHERE way = $3 "
            "AND (_load_id <> $1 OR month <> $2 OR is_removed))",
            load.load_id,
            number.month,
            source.way,
        )
    return TracedAnswer(
        load,
        _sales_load(connection, number, load) if number.measure in OF_SALES else None,
        query,
        len(rows),
        tuple(row for (row,) in rows if row is not None),
        int(quarantined),
        counted_elsewhere,
        counted_offices,
        unnamed_office,
    )


def _unnamed_office(connection: DuckDBPyConnection, customer: str, counted_offices: frozenset[str]) -> str:
    """The office of a row that names none, where it is counted; empty where nobody can say it."""
    try:
        own = _ids(connection, "SELECT own_office_id FROM marts.customers WHERE customer_id = $1", customer)
    except BinderException as error:
        raise NotInTheFile(
            "The published file is of an earlier version and does not say whose rows without an office are. "
            "`brokerbi publish` makes one that does."
        ) from error
    return "".join(own & counted_offices)


def _rows_query(
    connection: DuckDBPyConnection,
    number: TracedNumber,
    load: TracedLoad,
    counted_offices: frozenset[str],
    unnamed_office: str,
) -> str:
    """The rows behind the number in one load, as an analyst can ask for them too."""
    source, month = number.source, f"DATE '{number.month}'"
    if source.rows:
        return source.rows.format(
            kind=number.kind, id=literal(number.id), month=month, load=literal(load.load_id)
        )
    where = f"FROM bi.{source.table} WHERE _load_id = {literal(load.load_id)} AND _month = {month}"
    if source.way:
        return (
            f"{where} AND {source.id_column} IN (SELECT lead_id FROM marts.leads "
            f"WHERE (way, month, {number.kind}_id) = ({literal(source.way)}, {month}, {literal(number.id)}) "
            "AND NOT is_removed)"
        )
    is_running = source.table == "running_commissions"
    if is_running:
        named = counted_offices if number.kind == "user" else {number.id}
        offices = ", ".join(literal(one) for one in sorted(named))
        office = (
            f"CASE WHEN trim(customer_id, ' 0.-') <> '' THEN customer_id ELSE {literal(unnamed_office)} END"
        )
        where = f"{where} AND {office} IN ({offices or 'NULL'})"
    if number.kind == "user":
        return f"{where} AND user_id = {literal(number.id)}"
    if is_running:
        return where
    # An old number is of the office asked, or of the only one that has it, as sql/staging reads it.
    old_number = number.id.lstrip(ascii_uppercase)
    same_number = f"SELECT office_id FROM marts.offices WHERE ltrim(office_id, '{ascii_uppercase}') = $1"
    is_known = load.customer == number.id or len(_ids(connection, same_number, old_number)) == 1
    ids = ", ".join(map(literal, dict.fromkeys([number.id, old_number] if is_known else [number.id])))
    return f"{where} AND coalesce(office_customer_id, customer_id::VARCHAR) IN ({ids})"


def _sales_load(connection: DuckDBPyConnection, number: TracedNumber, load: TracedLoad) -> TracedLoad | None:
    """The report on sales alone, which the mart prefers to an average times homes; off by default."""
    column = "office_customer_id" if number.kind == "office" else "user_id"
    rows = connection.execute(
        f"SELECT {_LOAD} FROM bi.{SALES_ALONE[number.source.report]} AS sale "
        "JOIN meta.loads AS loads ON loads.load_id = sale._load_id "
        f"WHERE sale._customer = $1 AND sale._month = $2 AND sale.{column} = $3 LIMIT 1",
        [load.customer, number.month, number.id],
    ).fetchall()
    return TracedLoad(*rows[0]) if rows else None


def _ids(connection: DuckDBPyConnection, query: str, *values: object) -> frozenset[str]:
    return frozenset(one for (one,) in connection.execute(query, list(values)).fetchall())
