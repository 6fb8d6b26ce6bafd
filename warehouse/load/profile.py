"""Profile of what is held of a report and customer: which columns are filled, and some rows with amounts.

What comes anew is compared with it before it replaces anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import polars as pl

from warehouse.store.duckdb_file import quoted
from warehouse.store.schema import read_tables, tables_of_report

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.schema import StoredColumn, TableSchema

Pair = tuple[str, str]
"""A report's name and a customer's id."""
AMOUNT = "DECIMAL"
"""How the type of a column begins that holds amounts or counts; a whole number may be a code."""
SAMPLE_ROWS, TABLE_ROWS = 50, 5_000
"""Rows that are looked up again: so many of a table and customer, and so many of a table where its customers
are few, as one may be a group of hundreds of offices. Bounds the memory of a sync of any size."""
_HELD = """
FROM {public} AS held
SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS customer, unnest($2::DATE[]) AS month) AS asked
ON held._customer = asked.customer AND held._month IS NOT DISTINCT FROM asked.month
"""
_FILLED = f"SELECT _customer, count(*){{counts}} {_HELD} GROUP BY _customer"
_SAMPLE = f"""
SELECT unnest(arg_min({{{{{{row}}}}}}, hash({{identity}}), {{rows}}), recursive := true)
{_HELD} WHERE {{has_amount}} GROUP BY _customer
"""


@dataclass(frozen=True)
class HeldTable:
    """The rows of a table: how many, in how many a documented column is filled, or an amount is not 0.

    Of a table of which nothing is documented (`is_documented` is false) all columns are counted. `sample` has
    some rows with an amount. They are known again by `_month` and the columns of `identity`: the documented
    key, or else all that is documented of a row and is no amount.
    """

    rows: int
    filled: Mapping[str, int]
    nonzero: Mapping[str, int] = field(default_factory=dict)
    identity: Sequence[str] = ()
    sample: pl.DataFrame = field(default_factory=pl.DataFrame)
    is_documented: bool = True


def read_profiles(
    connection: DuckDBPyConnection, months: Mapping[Pair, Sequence[date | None]]
) -> dict[Pair, dict[str, HeldTable]]:
    """The documented tables of reports and customers by name, as far as they hold rows of these months.

    All tables of a report of which nothing is documented.
    """
    tables = read_tables(connection)
    profiles: dict[Pair, dict[str, HeldTable]] = {pair: {} for pair in months}
    for report in dict.fromkeys(report for report, _ in months):
        asked = [
            (pair[1], month) for pair, several in months.items() if pair[0] == report for month in several
        ]
        for history in (False, True):
            existing = [one for one in tables_of_report(tables, report, history=history) if one.exists]
            for schema in [one for one in existing if _documented(one)] or existing:
                for customer, held in _profiles_of(connection, schema, asked).items():
                    profiles[report, customer][schema.name] = held
    return profiles


def _documented(schema: TableSchema) -> list[StoredColumn]:
    return [column for column in schema.columns.values() if column.documented]


def _profiles_of(
    connection: DuckDBPyConnection, schema: TableSchema, asked: Sequence[tuple[str, date | None]]
) -> dict[str, HeldTable]:
    """The rows that are held of one table, by customer."""
    documented = _documented(schema)
    amounts = [column.name for column in documented if column.type.startswith(AMOUNT)]
    identity = [name for name in schema.key if name.lower() in schema.columns] or [
        column.name for column in documented if column.name not in amounts
    ]
    parameters = [[customer for customer, _ in asked], [month for _, month in asked]]
    names = [column.name for column in documented or schema.columns.values()]
    wanted = [*map(quoted, names), *(f"nullif({quoted(name)}, 0)" for name in amounts)]
    counts = "".join(f", count({value})" for value in wanted)
    counted = connection.execute(_FILLED.format(counts=counts, public=schema.public), parameters).fetchall()
    samples: Mapping[str, pl.DataFrame] = {}
    if amounts and identity and counted:
        samples = _samples(connection, schema, identity, amounts, parameters, len(counted))
    return {
        customer: HeldTable(
            rows,
            dict(zip(names, filled, strict=False)),
            dict(zip(amounts, filled[len(names) :], strict=True)),
            identity,
            samples.get(customer, pl.DataFrame()),
            is_documented=bool(documented),
        )
        for customer, rows, *filled in counted
    }


def _samples(
    connection: DuckDBPyConnection,
    schema: TableSchema,
    identity: Sequence[str],
    amounts: Sequence[str],
    parameters: Sequence[object],
    customers: int,
) -> dict[str, pl.DataFrame]:
    """Some rows with an amount, by customer; the same ones every time."""
    known = {name: quoted(name) for name in ("_customer", "_month", *identity)}
    values = {name: f"CAST({quoted(name)} AS DOUBLE)" for name in amounts}
    statement = _SAMPLE.format(
        row=", ".join(f"{quoted(name)}: {value}" for name, value in {**known, **values}.items()),
        identity=", ".join(list(known.values())),
        has_amount=" OR ".join(f"{quoted(name)} <> 0" for name in amounts),
        public=schema.public,
        rows=max(SAMPLE_ROWS, TABLE_ROWS // customers),
    )
    frame = pl.DataFrame(connection.sql(statement, params=parameters))
    return {
        str(customer): rows for (customer,), rows in frame.partition_by("_customer", as_dict=True).items()
    }
