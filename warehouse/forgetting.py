"""How does a person go out of the tables of a DuckDB file? By the id, and by what tells her elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.opening import literal, quoted
from warehouse.persons import Person, companion

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Pair = tuple[str, str]
SCHEMAS = ("bi", "marts", "meta")
_TEXTS = ("VARCHAR", "JSON")


def known_by(connection: DuckDBPyConnection, person: Person) -> Person:
    """The same person with what her rows, old and new, tell of her."""
    values = set(person.values)
    for table, columns in _columns(connection, "bi"):
        for named in filter(person.is_meant, columns):
            along = [name for name in columns if person.takes_along(name, named)]
            names = ", ".join(quoted(name) for name in [named, *along])
            found = connection.execute(
                f"SELECT DISTINCT {names} FROM {table} WHERE {quoted(named)}::VARCHAR = $1", [person.id]
            ).fetchall()
            for row in found:
                values |= set(person.told_by(dict(zip([named, *along], row, strict=True))))
    return replace(person, values=frozenset(values))


def pairs_with(connection: DuckDBPyConnection, person: Person) -> tuple[set[Pair], dict[str, int]]:
    """The reports and customers of which some row names the person, and how many rows of each table do."""
    report_of = dict(connection.execute("SELECT table_name, report FROM meta.tables").fetchall())
    pairs: set[Pair] = set()
    rows: Counter[str] = Counter()
    for table, columns in _columns(connection, "bi"):
        named = [f"{quoted(name)}::VARCHAR" for name in columns if person.is_meant(name)]
        report = report_of.get(table.removeprefix('bi."').removesuffix('"').removesuffix("_history"))
        if named and report and "_customer" in columns:
            found = connection.execute(
                f"SELECT _customer, count(*) FROM {table} WHERE list_contains([{', '.join(named)}], $1) "
                "GROUP BY ALL",
                [person.id],
            )
            for customer, number in found.fetchall():
                pairs.add((report, customer))
                rows[table] += number
    return pairs, dict(rows)


def forget(
    connection: DuckDBPyConnection,
    person: Person,
    customers: Collection[str],
    schemas: Collection[str] = SCHEMAS,
) -> Counter[str]:
    """Take the person out of every table of these schemas; counts the values it changed, by table.

    Values found without an id are looked for in the rows of these customers only.
    """
    touched: Counter[str] = Counter()
    for schema in schemas:
        for table, columns in _columns(connection, schema):
            if schema != "meta":
                touched[table] += _by_id(connection, table, columns, person)
            touched[table] += _by_value(connection, table, columns, person, customers)
    _rename_asked(connection, person)
    return +touched


def names_her(connection: DuckDBPyConnection, person: Person, customers: Collection[str]) -> bool:
    """Whether the id stands in the open file, or a value that no other id is beside."""
    for schema in SCHEMAS:
        for table, columns in _columns(connection, schema):
            named = [name for name, type_ in columns.items() if person.is_meant(name) or type_ in _TEXTS]
            for name in named:
                query = f"SELECT 1 FROM {table} WHERE {quoted(name)}::VARCHAR = $1 LIMIT 1"
                if connection.execute(query, [person.id]).fetchall():
                    return True
            if any(_changes(connection, table, columns, person, customers)):
                return True
    return False


def _by_id(connection: DuckDBPyConnection, table: str, columns: dict[str, str], person: Person) -> int:
    changed = 0
    for named in filter(person.is_meant, columns):
        along = [name for name in columns if name != named and person.takes_along(name, named)]
        emptied = "".join(f", {quoted(name)} = NULL" for name in along)
        alias = literal(person.alias) if columns[named] in _TEXTS else "NULL"  # a number has no such word
        [(rows,)] = connection.execute(
            f"UPDATE {table} SET {quoted(named)} = {alias}{emptied} WHERE {quoted(named)}::VARCHAR = $1",
            [person.id],
        ).fetchall()
        changed += rows
    return changed


def _by_value(
    connection: DuckDBPyConnection,
    table: str,
    columns: dict[str, str],
    person: Person,
    customers: Collection[str],
) -> int:
    changed = 0
    for column, old, new, condition in list(_changes(connection, table, columns, person, customers)):
        [(rows,)] = connection.execute(
            f"UPDATE {table} SET {quoted(column)} = $1 WHERE {quoted(column)} = $2{condition}", [new, old]
        ).fetchall()
        changed += rows
    return changed


def _changes(
    connection: DuckDBPyConnection,
    table: str,
    columns: dict[str, str],
    person: Person,
    customers: Collection[str],
) -> Iterator[tuple[str, str, str, str]]:
    """Each text that would change: its column, what it is, what it becomes, and where that holds."""
    owned = ("_customer", "customer")
    mine = next((name for name in owned if name in columns), None)
    for column in [name for name, type_ in columns.items() if type_ in _TEXTS and name not in owned]:
        condition = ""
        if mine and customers:
            condition += f" AND {quoted(mine)} IN ({', '.join(literal(one) for one in sorted(customers))})"
        if beside := companion(column, columns):
            known = f"({literal(person.id)}, {literal(person.alias)})"
            condition += f" AND coalesce({quoted(beside)}::VARCHAR IN {known}, true)"
        sought = [value.lower() for value in sorted({person.id, *person.values})]
        found = connection.execute(
            f"SELECT DISTINCT {quoted(column)} FROM {table} WHERE list_bool_or([contains(lower("
            f"{quoted(column)}::VARCHAR), one) FOR one IN $1]){condition}",
            [sought],
        ).fetchall()
        for (old,) in found:
            new = person.without(old) if columns[column] == "JSON" else person.anonymous(old)
            if new != old:
                yield column, old, new, condition


def _columns(connection: DuckDBPyConnection, schema: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Every table of a schema with its columns and their types."""
    found = connection.execute(
        """
        SELECT table_name, list(column_name ORDER BY column_index), list(data_type ORDER BY column_index)
        FROM duckdb_columns() WHERE schema_name = $1 AND database_name = current_database()
          AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = $1)
        GROUP BY table_name ORDER BY table_name
        """,
        [schema],
    ).fetchall()
    for table, names, types in found:
        yield f"{schema}.{quoted(table)}", dict(zip(names, types, strict=True))


def _rename_asked(connection: DuckDBPyConnection, person: Person) -> None:
    """Ids that were asked for one by one stand in the ledger."""
    connection.execute(
        "UPDATE meta.history_scopes SET asked = $1 WHERE asked = $2", [person.alias, person.id]
    )
    renamed = "list_transform(asked, lambda one: CASE one WHEN $1 THEN $2 ELSE one END)"
    connection.execute(
        f"UPDATE meta.loads SET asked = {renamed} WHERE list_contains(asked, $1)", [person.id, person.alias]
    )
