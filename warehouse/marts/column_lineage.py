"""Lineage of the columns of the marts: which columns of which tables their values are computed from.

DuckDB itself binds the SQL: its plan, before it is optimized, has every macro, star and USING worked out, and
names the place of each column in what is read. A column counts as read by the expression that makes a value,
and by the conditions in it; what rows are joined, filtered, grouped and ordered by does not count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import chain, starmap
from operator import or_
from pathlib import Path
from typing import Any

import duckdb
import orjson
from duckdb import DuckDBPyConnection

from warehouse.errors import WarehouseError
from warehouse.marts.queries import Query
from warehouse.store.duckdb_file import connect, insert_rows, quoted

_TABLES = """
SELECT
    schema_name || '.' || table_name,
    list((column_name, data_type) ORDER BY column_index)
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name IN ('bi', 'marts', 'meta')
GROUP BY ALL
ORDER BY ALL
"""
_PLANS = """
SELECT json_serialize_plan(unnest($1::VARCHAR[]), skip_null := true, skip_empty := true, skip_default := true)
"""
_CHOOSERS = frozenset({"arg_min", "arg_max", "arg_min_null", "arg_max_null"})
"""Functions of two arguments, of which the second only says which value of the first is taken."""
_VALUES_IN = {
    "BOUND_CONSTANT": (),
    "BOUND_FUNCTION": ("children",),
    "BOUND_OPERATOR": ("children",),
    "BOUND_CONJUNCTION": ("children",),
    "BOUND_UNNEST": ("child",),
    "BOUND_CASE": ("case_checks", "else_expr"),
    "BOUND_AGGREGATE": ("children", "filter"),
    "BOUND_WINDOW": ("children", "filters", "offset_expr", "default_expr"),
}
"""Where an expression holds those that make its value; others say in which order and groups rows are."""
_RANKS = frozenset(
    f"WINDOW_{name}" for name in ("ROW_NUMBER", "RANK", "RANK_DENSE", "PERCENT_RANK", "CUME_DIST", "NTILE")
)
"""Windows that tell a row's place in an order, so that the order makes the value."""
_KEEPS_FIELDS = frozenset({"__cast", "list_value"})
_TAKES_FIELD = frozenset({"struct_extract", "->>"})
_SAME_COLUMNS = frozenset({"LOGICAL_FILTER", "LOGICAL_DISTINCT", "LOGICAL_ORDER_BY", "LOGICAL_LIMIT"})
_ADDS_COLUMNS = frozenset({"LOGICAL_WINDOW", "LOGICAL_UNNEST"})
_JOINS = frozenset(
    {"LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_ASOF_JOIN", "LOGICAL_CROSS_PRODUCT"}
)
_KEEPS_BOTH = frozenset({"INNER", "LEFT", "RIGHT", "FULL", "SINGLE"})

Column = tuple[str, str, str]
"""Schema, table and column."""
Node = Mapping[str, Any]

_SOME_COLUMN: Column = ("", "", "")
"""A column of a row that was read as a whole: which one is not told by the SQL."""


@dataclass(frozen=True)
class _Origin:
    """The columns that a value is computed from; of a struct also field by field, where that is known."""

    columns: frozenset[Column] = frozenset()
    fields: Mapping[str, _Origin] = field(default_factory=dict)

    def __or__(self, other: _Origin) -> _Origin:
        known = all(one.fields for one in (self, other) if one.columns)
        return _Origin(
            self.columns | other.columns,
            {
                name: self.fields.get(name, _NOTHING) | other.fields.get(name, _NOTHING)
                for name in {**self.fields, **other.fields}
                if known
            },
        )


_NOTHING = _Origin()


def declare_column_lineage(
    connection: DuckDBPyConnection, staging: Mapping[str, str], marts: Sequence[Query], macros: str
) -> None:
    """Write down which columns every column of the marts comes from, in meta.column_lineage.

    That takes a fifth of the time of building a file of 50 MB (0.6 of 2.7 s of CPU time), so it stays as it
    is while all it is worked out from is the same. Nothing is said of what cannot be worked out, be it all of
    it: no file is kept back for that.
    """
    tables: dict[str, list[tuple[str, str]]] = dict(connection.execute(_TABLES).fetchall())
    asked = (
        tuple((table, tuple(columns)) for table, columns in tables.items()),
        tuple(staging.items()),
        tuple((query.schema, query.name, query.parameters, query.sql) for query in marts),
        macros,
    )
    how = (duckdb.__version__, Path(__file__).read_text("utf-8"))
    checksum = hashlib.sha256(repr((how, asked)).encode()).hexdigest()
    if connection.execute("SELECT column_lineage_sha256 FROM meta.storage").fetchall() == [(checksum,)]:
        return
    rows: Sequence[dict[str, object]] = ()
    worked_out = None
    with suppress(duckdb.Error, WarehouseError):
        rows = _lineage(*asked)
        worked_out = checksum
    connection.execute("DELETE FROM meta.column_lineage")
    insert_rows(connection, "meta.column_lineage", rows)
    connection.execute("UPDATE meta.storage SET column_lineage_sha256 = $1", [worked_out])


@lru_cache(maxsize=32)
def _lineage(
    tables: tuple[tuple[str, tuple[tuple[str, str], ...]], ...],
    staging: tuple[tuple[str, str], ...],
    marts: tuple[tuple[str, str, tuple[str, ...], str], ...],
    macros: str,
) -> tuple[dict[str, object], ...]:
    """The rows of meta.column_lineage; kept for other files of this process, as tests make many.

    The SQL is bound in memory, over empty tables of what the file holds. So a mart comes from marts and
    tables of bi and meta, never from what is behind a view.
    """
    names = {table: [name for name, _ in columns] for table, columns in tables}
    selects = []
    with connect(Path(":memory:")) as memory:
        memory.execute("; ".join(f"CREATE SCHEMA {one}" for one in ("bi", "meta", "marts", "staging")))
        memory.execute("; ".join(starmap(_empty_table, tables)))
        memory.execute(macros)
        memory.execute(";\n".join(f"CREATE VIEW {table} AS {sql}" for table, sql in staging))
        for schema, name, parameters, sql in marts:
            select = sql
            if parameters:
                select = f"FROM {schema}.{name}({', '.join('NULL' for _ in parameters)})"
                memory.execute(f"CREATE MACRO {schema}.{name}({', '.join(parameters)}) AS TABLE {sql}")
                columns = memory.execute(f"DESCRIBE {select}").fetchall()
                names[f"{schema}.{name}"] = [column for column, *_ in columns]
            selects.append(select)
        plans = memory.execute(_PLANS, [selects]).fetchall()
    return tuple(
        {
            "schema_name": schema,
            "table_name": name,
            "column_name": column,
            "from_schema_name": from_schema,
            "from_table_name": from_table,
            "from_column_name": from_column,
        }
        for (schema, name, *_), (plan,) in zip(marts, plans, strict=True)
        for column, sources in _sources(plan, tuple(names[f"{schema}.{name}"])).items()
        for from_schema, from_table, from_column in sorted(sources)
    )


def _empty_table(table: str, columns: Sequence[tuple[str, str]]) -> str:
    name = ".".join(map(quoted, table.split(".", 1)))
    return f"CREATE TABLE {name} ({', '.join(f'{quoted(column)} {kind}' for column, kind in columns)})"


@lru_cache(maxsize=512)
def _sources(serialized: str, names: tuple[str, ...]) -> dict[str, frozenset[Column]]:
    """The columns that each column of a query comes from, as far as they can be worked out."""
    try:
        [plan] = orjson.loads(serialized)["plans"]
        found = dict(zip(names, _outputs(plan, {}), strict=True))
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return {}  # a plan of a shape, or with something in it, that is not known here
    return {name: one.columns for name, one in found.items() if _SOME_COLUMN not in one.columns}


def _outputs(node: Node, named: dict[int, list[_Origin]]) -> list[_Origin]:
    """What every column that an operator hands on comes from; `named` gathers its CTEs by their number."""
    kind = node["type"]
    if kind == "LOGICAL_MATERIALIZED_CTE":
        cte, query = node["children"]
        named[node.get("table_index", 0)] = _outputs(cte, named)
        return _outputs(query, named)
    below = [_outputs(child, named) for child in node.get("children", ())]
    given = list(chain.from_iterable(below))
    if kind in _SAME_COLUMNS and not node.get("projection_map") and not node.get("projections"):
        return given
    if kind in _JOINS:
        return _joined(node, below)
    if kind == "LOGICAL_UNION":
        return [reduce(or_, same) for same in zip(*below, strict=True)]
    if kind == "LOGICAL_CTE_REF":
        return named[node.get("cte_index", 0)]
    if kind == "LOGICAL_GET":
        return _scanned(node)
    if kind == "LOGICAL_DUMMY_SCAN":
        return [_NOTHING]
    made = [_origin(one, given) for one in node.get("expressions", ())]
    if kind == "LOGICAL_PROJECTION":
        return made
    if kind in _ADDS_COLUMNS:
        return [*given, *made]
    if kind == "LOGICAL_AGGREGATE_AND_GROUP_BY" and not node.get("grouping_functions"):
        return [*(_origin(one, given) for one in node.get("groups", ())), *made]
    raise LookupError(kind)


def _joined(node: Node, below: Sequence[list[_Origin]]) -> list[_Origin]:
    kind = node.get("join_type", "INNER")
    left, right = below
    if node.get("left_projection_map") or node.get("right_projection_map"):
        raise LookupError(kind)
    if kind in ("SEMI", "ANTI"):
        return left
    if kind == "MARK":
        compared = [_origin(one["left"], left) | _origin(one["right"], right) for one in node["conditions"]]
        return [*left, reduce(or_, compared)]
    if kind in _KEEPS_BOTH:
        return [*left, *right]
    raise LookupError(kind)


def _scanned(node: Node) -> list[_Origin]:
    scanned = node.get("function_data", {})
    if "table" not in scanned or node.get("projection_ids"):
        raise LookupError(node["type"])
    names = dict(enumerate(node["names"]))  # what is beyond them is the number of a row
    places = [names.get(one.get("index", 0)) for one in node.get("column_indexes", ())]
    return [
        _Origin(frozenset({(scanned["schema"], scanned["table"], name)})) if name else _NOTHING
        for name in places
    ]


def _origin(expression: Node, given: Sequence[_Origin]) -> _Origin:
    """What an expression comes from, whose references are places in `given`."""
    kind = expression["expression_class"]
    if kind == "BOUND_REF":
        return given[expression.get("index", 0)]
    name = expression.get("qname", {}).get("path", [""])[-1]
    parts = [_origin(one, given) for one in _parts(expression)]
    if name in _CHOOSERS:
        return parts[0]
    together = reduce(or_, parts, _NOTHING)
    if name in _TAKES_FIELD and parts[0].fields:
        key = expression["children"][1].get("value", {}).get("value")
        is_absent = name == "->>" and isinstance(key, str) and key.isidentifier()
        return parts[0].fields.get(key, _NOTHING if is_absent else _Origin(together.columns))
    if name == "struct_pack":
        names = [one["first"] for one in expression["return_type"]["type_info"]["child_types"]]
        return _Origin(together.columns, dict(zip(names, parts, strict=True)))
    if name == "to_json" and together.fields:
        return _Origin(frozenset({_SOME_COLUMN}), together.fields)
    return together if name in _KEEPS_FIELDS or kind == "BOUND_UNNEST" else _Origin(together.columns)


def _parts(expression: Node) -> Iterator[Node]:
    """The expressions within another one that make its value."""
    is_rank = expression.get("type") in _RANKS
    for place in ("orders",) if is_rank else _VALUES_IN[expression["expression_class"]]:
        yield from _expressions(expression.get(place))


def _expressions(value: object) -> Iterator[Node]:
    if isinstance(value, list):
        for one in value:
            yield from _expressions(one)
    elif isinstance(value, dict):
        if "expression_class" not in value:
            for one in value.values():
                yield from _expressions(one)
        elif value["expression_class"] != "BOUND_LAMBDA":  # what it reads is beside it, among the arguments
            yield value


def sources_of_columns(connection: DuckDBPyConnection, schema: str) -> list[tuple[str, ...]]:
    """A row for each source of a column: its table and name, and schema, table and name of the source."""
    return connection.execute(
        "SELECT * EXCLUDE (schema_name) FROM meta.column_lineage WHERE schema_name = $1 ORDER BY ALL",
        [schema],
    ).fetchall()
