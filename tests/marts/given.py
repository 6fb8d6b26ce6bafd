"""Small warehouses: declared tables, rows written as dictionaries, and the marts that a query reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from itertools import count
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from pipelines.sync.declaration import declared_tables
from tests.optimizers import optimizers_to_leave_out
from warehouse.load.schema_evolution import declare
from warehouse.marts.build import build_marts
from warehouse.marts.queries import SQL, tables_read
from warehouse.store.duckdb_file import literal, mappings
from warehouse.store.meta_schema import create_meta, write_configured

Given = DuckDBPyConnection
Row = Mapping[str, object]
FIRST_MOMENT = datetime(2026, 6, 1, 5, 0)
_numbers = count(1)
_folder = TemporaryDirectory()


def warehouse(prepare: Callable[[DuckDBPyConnection], object] | None = None) -> DuckDBPyConnection:
    """A working file with every declared table and no rows, which is gone when it is closed.

    `prepare` may fill it, and is called once for all tests; temporary macros do not stay.
    """
    path = _copied(_prepared(prepare) if prepare else _template())
    connection = duckdb.connect(path, config={**_CONFIG, "fsync_mode": "NONE"})
    path.unlink()
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("SET disabled_optimizers = $1", [optimizers_to_leave_out()])
    return connection


def _copied(template: Path) -> Path:
    path = template.with_name(f"{next(_numbers)}.duckdb")
    copyfile(template, path)
    return path


@cache
def _prepared(prepare: Callable[[DuckDBPyConnection], object]) -> Path:
    path = _copied(_template())
    with duckdb.connect(path, config=_CONFIG) as connection:
        prepare(connection)
    return path


_CONFIG: dict[str, str | bool | int | float | list[str]] = {"autoload_known_extensions": False, "threads": 1}


@cache
def _template() -> Path:
    """An empty warehouse, made once as the store makes it, without comments and meta.columns."""
    path = Path(_folder.name, "empty.duckdb")
    with duckdb.connect(path, config=_CONFIG) as connection:
        connection.execute(";".join(_statements()))
    return path


def _statements() -> list[str]:
    with duckdb.connect() as connection:
        create_meta(connection)
        declare(connection, declared_tables(), FIRST_MOMENT)
        made = connection.execute(
            "SELECT sql FROM duckdb_tables() UNION ALL "
            "(SELECT sql FROM duckdb_views() WHERE NOT internal ORDER BY view_oid)"
        ).fetchall()
        tables = connection.execute("SELECT * FROM meta.tables").fetchall()
    schemas = [f"CREATE SCHEMA {schema}" for schema in ("bi", "meta", "marts")]
    return [*schemas, *(sql for (sql,) in made), _insert("tables", tables)]


def _insert(table: str, found: Sequence[tuple[object, ...]]) -> str:
    values = ", ".join(f"({', '.join(_literal(value) for value in row)})" for row in found)
    return f"INSERT INTO meta.{table} VALUES {values}"


def _literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(inner) for inner in value)}]::VARCHAR[]"
    return "NULL" if value is None else literal(str(value))


def month(text: str) -> date:
    """`2026-03` as the first day of it."""
    return date.fromisoformat(f"{text}-01")


def held(
    connection: DuckDBPyConnection,
    report: str,
    customer: str,
    months: Sequence[str],
    *,
    at_utc: datetime = FIRST_MOMENT,
    is_open: bool = False,
) -> str:
    """Record these months of a report as loaded, by one new load; returns its id."""
    load_id = f"L{next(_numbers):06d}"
    firsts = [month(text) for text in months]
    connection.execute(
        "INSERT INTO meta.loads BY NAME SELECT $1 AS load_id, $2 AS report, $3 AS customer, "
        "$4::DATE[] AS months, $5::TIMESTAMP AS fetched_at_utc, $5::TIMESTAMP AS loaded_at_utc, "
        "'loaded' AS status",
        [load_id, report, customer, firsts, at_utc],
    )
    for first in firsts:
        connection.execute(
            "DELETE FROM meta.months WHERE (report, customer, month) = ($1, $2, $3)",
            [report, customer, first],
        )
        connection.execute(
            "INSERT INTO meta.months BY NAME SELECT $1 AS report, $2 AS customer, $3 AS month, "
            "$4 AS load_id, $5::TIMESTAMP AS loaded_at_utc, $5::TIMESTAMP AS fetched_at_utc, $6 AS state",
            [report, customer, first, load_id, at_utc, "open" if is_open else "held"],
        )
    return load_id


def asked_for(connection: DuckDBPyConnection, *customers: str, **switched: str) -> None:
    """Configure these customers, switched off if `off`; other loaded customers count as removed."""
    configured = {**dict.fromkeys(customers, "on"), **switched}
    named = [
        {"customer": name, "start_month": month("2026-01"), "is_active": state == "on"}
        for name, state in configured.items()
    ]
    write_configured(connection, "customers", named)


def rows(
    connection: DuckDBPyConnection,
    table: str,
    customer: str,
    of_month: str,
    given: Sequence[Row],
    *,
    at_utc: datetime = FIRST_MOMENT,
    load_id: str | None = None,
) -> list[int]:
    """Insert rows of one customer and month into a table of bi; returns their `_row` numbers."""
    numbers = []
    for row in given:
        number = next(_numbers)
        whole = {
            "_customer": customer,
            "_month": month(of_month),
            "_load_id": load_id or _current_load(connection, customer, of_month),
            "_fetched_at_utc": at_utc,
            "_row": number,
            **row,
        }
        names = ", ".join(whole)
        places = ", ".join(f"${place}" for place in range(1, len(whole) + 1))
        connection.execute(f"INSERT INTO bi.{table} ({names}) VALUES ({places})", [*whole.values()])
        numbers.append(number)
    return numbers


def loaded(
    connection: DuckDBPyConnection,
    report: str,
    customer: str,
    of_month: str,
    given: Sequence[Row],
    *,
    at_utc: datetime = FIRST_MOMENT,
    is_open: bool = False,
) -> list[int]:
    """Replace a month of a report with a single table of the same name: ledger and rows."""
    load_id = held(connection, report, customer, [of_month], at_utc=at_utc, is_open=is_open)
    connection.execute(
        f"DELETE FROM bi.{report} WHERE (_customer, _month) = ($1, $2)", [customer, month(of_month)]
    )
    return rows(connection, report, customer, of_month, given, at_utc=at_utc, load_id=load_id)


def in_quarantine(
    connection: DuckDBPyConnection, report: str, customer: str, table: str = "", of_month: str = "2026-01"
) -> None:
    """Put a row of this month of a report into quarantine."""
    row = f"('{report}', '{customer}', DATE '{of_month}-01', '{table or report}')"
    connection.execute(f"INSERT INTO meta.quarantine_rows (report, customer, month, table_name) VALUES {row}")


def built(connection: DuckDBPyConnection, query: str) -> list[tuple[object, ...]]:
    """Build the marts that a query reads, with all they need; returns the query's rows."""
    build_for(connection, query)
    return connection.execute(query).fetchall()


def explained(
    connection: DuckDBPyConnection, question: str, first: str, *last: str, **asked: str
) -> list[dict[str, Any]]:
    """Build the marts of a query of sql/explain; returns its rows for an office, a user or the chain."""
    build_for(connection, explaining(question))
    return explained_again(connection, question, first, *last, **asked)


def explaining(question: str) -> str:
    return (SQL / "explain" / f"{question}.sql").read_text(encoding="utf-8")


def explained_again(
    connection: DuckDBPyConnection,
    question: str,
    first: str,
    last: str = "",
    *,
    office: str = "",
    user: str = "",
    **variables: str,
) -> list[dict[str, Any]]:
    """As `explained`, from the marts already built: their sources must not have changed since."""
    asked = {
        "kind": "office" if office else "user" if user else "chain",
        "id": office or user,
        "first_month": month(first),
        "month": month(last or first),
        "measure": "commission",
        "report": "commission_user" if user else "commission_office",
        **variables,
    }
    for name, value in asked.items():
        connection.execute(f"SET VARIABLE {name} = $1", [value])
    return mappings(connection.execute(explaining(question)))


def build_for(connection: DuckDBPyConnection, *queries: str) -> None:
    """Build the marts and views of meta that these queries read, and all they need."""
    read = {table for query in queries for table in tables_read(query)}
    build(connection, *sorted(".".join(table) for table in read if table[0] in ("marts", "meta")))


def build(connection: DuckDBPyConnection, *wanted: str) -> None:
    """Build these marts, or views of meta by their full names, and all they need, from the real files."""
    whole = [name if "." in name else f"marts.{name}" for name in wanted]
    build_marts(connection, only=whole)


def earned(
    office_or_user: Row, commission: float, parts: float = 1, price: float = 1000, **more: object
) -> Row:
    """A row of a commission report in which every krona comes from sales."""
    return {
        **office_or_user,
        "commission": commission,
        "sold_estate_parts": parts,
        "sold_total_price": price,
        "sold_average_commission": commission / parts if parts else 0,
        "writing_parts": 0,
        "valuation_parts": 0,
        **more,
    }


def arrived(connection: DuckDBPyConnection, table: str, **columns: str) -> None:
    """Add undocumented columns with these types to a table; creates an undeclared table."""
    technical = "_customer VARCHAR, _month DATE, _load_id VARCHAR, _fetched_at_utc TIMESTAMP, _row BIGINT"
    connection.execute(f"CREATE TABLE IF NOT EXISTS bi.{table} ({technical})")
    for name, kind in columns.items():
        connection.execute(f"ALTER TABLE bi.{table} ADD COLUMN IF NOT EXISTS {name} {kind}")


def sold(
    connection: DuckDBPyConnection,
    customer: str,
    of_month: str,
    office: str,
    estate: str,
    *,
    agents: Sequence[Row] = (),
    changes: Sequence[Row] = (),
    at_utc: datetime = FIRST_MOMENT,
    **more: object,
) -> str:
    """Add a sale of an office to the sales report, with its agents and changes; returns the load."""
    load_id = held(connection, "sales", customer, [of_month], at_utc=at_utc)
    connection.execute(
        "UPDATE bi.sales_estates SET _load_id = $1 WHERE (_customer, _month) = ($2, $3)",
        [load_id, customer, month(of_month)],
    )
    row = {
        "id": estate,
        "office_customer_id": office,
        "contract_day": f"{of_month}-15",
        "commission": 100,
        **more,
    }
    [number] = rows(connection, "sales_estates", customer, of_month, [row], at_utc=at_utc, load_id=load_id)
    for table, nested in (("sales_agents", agents), ("sales_estate_changes", changes)):
        of_estate = [{"estate_id": estate, "_parent_row": number, **one} for one in nested]
        rows(connection, table, customer, of_month, of_estate, at_utc=at_utc, load_id=load_id)
    return load_id


def bidden(connection: DuckDBPyConnection, estate: str, *bids: Row, report: str = "bids") -> None:
    """Record that M1's bids on an estate were requested, and answered with these."""
    connection.execute(
        "INSERT INTO meta.history_scopes BY NAME SELECT $1 AS report, 'M1' AS customer, $2 AS asked, "
        "$3::TIMESTAMP AS fetched_at_utc",
        [report, f"M1|{estate}", FIRST_MOMENT],
    )
    common = {"asked_customer_id": "M1", "asked_estate_id": estate, "valid_from_utc": FIRST_MOMENT}
    snapshot(connection, report, [{**common, "estate_id": estate, **bid} for bid in bids])


def snapshot(connection: DuckDBPyConnection, report: str, given: Sequence[Row]) -> None:
    """Insert rows of M1 into a report without months."""
    row = {"_month": None, "valid_from_utc": FIRST_MOMENT}
    rows(connection, f"{report}_history", "M1", "2026-01", [{**row, **one} for one in given], load_id="L1")


def lacking(connection: DuckDBPyConnection, report: str, customer: str, *columns: str) -> None:
    """Record that a report's newest answer lacks these needed columns."""
    load_id = held(connection, report, customer, ["2026-01"])
    connection.execute(
        'UPDATE meta.loads SET missing = $1, load_number = $2, "rows" = 1 WHERE load_id = $3',
        [[*columns], next(_numbers), load_id],
    )


def trademarks(connection: DuckDBPyConnection, customer: str, **offices: Sequence[str]) -> None:
    """Insert the trademarks of a customer, by name, with the offices that trade under each."""
    since = {"_month": None, "valid_from_utc": FIRST_MOMENT}
    for name, named in offices.items():
        mark = [{**since, "trademark": name}]
        [number] = rows(connection, "trademarks_history", customer, "2026-01", mark, load_id="L1")
        members = [{**since, "_parent_row": number, "office_id": office} for office in named]
        rows(connection, "trademark_offices_history", customer, "2026-01", members, load_id="L1")


def sales_read(
    connection: DuckDBPyConnection,
    of_month: str,
    commissions: Mapping[str, float],
    at_utc: datetime,
    *,
    office: str = "M1",
    is_open: bool = False,
) -> str:
    """Replace a month of G1's sales with these estates and their commissions; returns the load."""
    load_id = held(connection, "sales", "G1", [of_month], at_utc=at_utc, is_open=is_open)
    connection.execute(
        "DELETE FROM bi.sales_estates WHERE (_month, office_customer_id) = ($1, $2)",
        [month(of_month), office],
    )
    found = [
        {
            "id": estate,
            "office_customer_id": office,
            "contract_day": f"{of_month}-15",
            "commission": commission,
            "final_price": 10 * commission,
        }
        for estate, commission in commissions.items()
    ]
    rows(connection, "sales_estates", "G1", of_month, found, at_utc=at_utc, load_id=load_id)
    return load_id


def _current_load(connection: DuckDBPyConnection, customer: str, of_month: str) -> str:
    found = connection.execute(
        "SELECT max(load_id) FROM meta.months WHERE (customer, month) = ($1, $2)", [customer, month(of_month)]
    ).fetchall()
    return str(found[0][0])
