"""A customer carried from one working file to another: what is known of it, and proof.

Its rows are not copied: a replay makes them from the stored answers. What this file adds is what no answer
says, the comparison of both files, and the removal from the old one.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.load.landing import Landing, safe
from warehouse.load.load import following_number
from warehouse.store.database import Store
from warehouse.store.duckdb_file import literal, quoted
from warehouse.store.files import copy_file, make_folder, replacement
from warehouse.store.schema import VALID, converted, read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REPLAYED = ("history_scopes", "months", "quarantine_rows")
"""Tables of meta about a customer that a replay writes."""
KNOWN = ("access", "budget_pushes", "changes", "probes", "requests_by_day", "turns", "window_caps")
"""Those that only the old file knows."""
MARTS_REMEMBER = {
    "month_totals": ("report, office_id, month", "meta.month_totals", "customer_id"),
    "sale_versions": ("estate_id", "meta.sale_versions", "customer_id"),
    "lead_states": ("way, lead_id", "marts.leads", "_customer"),
    "user_month_versions": ("user_id, month", "marts.user_sources", "customer_id"),
}
"""What marts remember: its key, and the table and column that say which customers it is about."""


def _of_customer_alone(table: str, database: str = "") -> str:
    """The condition for what marts remember of a customer, $1, and of no other."""
    key, source, column = MARTS_REMEMBER[table]
    return f"({key}) IN (SELECT {key} FROM {database}{source} GROUP BY ALL HAVING bool_and({column} = $1))"


def holds_customer(store: Store, customer: str) -> bool:
    """Whether a working file has anything of a customer."""
    with store.reading() as connection:
        found = connection.execute("SELECT 1 FROM meta.loads WHERE customer = $1 LIMIT 1", [customer])
        return found.fetchone() is not None


def customers_held(store: Store) -> list[str]:
    """The customers of whom a working file has anything."""
    with store.reading() as connection:
        found = connection.execute("SELECT DISTINCT customer FROM meta.loads ORDER BY ALL").fetchall()
    return [customer for (customer,) in found]


def copy_landing(source: Landing, target: Store, customer: str) -> int:
    """Copy the stored answers of a customer that are not there yet, also from the archive; how many."""
    copied, root = 0, target.data_dir / "landing"
    for path in _landing_of(source, customer):
        place = root / path.relative_to(source.root)
        if place.exists() and place.stat().st_size == path.stat().st_size:
            continue
        make_folder(place.parent)
        with replacement(place) as unfinished:
            copy_file(path, unfinished)
        copied += 1
    for name, sha256 in _archived(source, customer):
        if not (root / name).exists() and source.archive:
            copied += source.archive.bring_back(name, root / name, sha256)
    return copied


def copy_ledger(source: Store, target: Store, customer: str) -> None:
    """Let the target know what the source knows of a customer, in one transaction; may be repeated."""
    with target.writing() as connection:
        connection.execute(f"ATTACH {literal(str(source.path))} AS old (READ_ONLY)")
        for table in KNOWN:
            connection.execute(f"DELETE FROM meta.{table} WHERE customer = $1", [customer])
            connection.execute(
                f"INSERT INTO meta.{table} BY NAME FROM old.meta.{table} WHERE customer = $1", [customer]
            )
        connection.execute(
            "INSERT INTO meta.loads BY NAME "
            "SELECT * REPLACE ($2 - 1 + row_number() OVER (ORDER BY load_number) AS load_number) "
            "FROM old.meta.loads WHERE customer = $1 AND load_id NOT IN (SELECT load_id FROM meta.loads)",
            [customer, following_number(connection)],
        )
        for table in MARTS_REMEMBER:
            chosen = _of_customer_alone(table, "old.")
            connection.execute(f"DELETE FROM meta.{table} WHERE {chosen}", [customer])
            connection.execute(
                f"INSERT INTO meta.{table} BY NAME FROM old.meta.{table} WHERE {chosen}",
                [customer],
            )
    sys.audit("brokerbi.customer_ledger_copied")


def differences(source: Store, target: Store, customer: str) -> list[str]:
    """Tables and months of a customer whose rows are others in the target, and not newer ones."""
    with target.reading() as connection:
        connection.execute(f"ATTACH {literal(str(source.path))} AS old (READ_ONLY)")
        return list(_differences(connection, customer))


def _differences(connection: DuckDBPyConnection, customer: str) -> Iterator[str]:
    newer = {
        tuple(row)
        for row in connection.execute(
            "SELECT report, held.month FROM meta.months AS held INNER JOIN old.meta.months AS old "
            "USING (report, customer) WHERE customer = $1 AND held.month IS NOT DISTINCT FROM old.month "
            "AND held.fetched_at_utc > old.fetched_at_utc",
            [customer],
        ).fetchall()
    }
    here = read_tables(connection)
    [(own,)] = connection.execute("SELECT current_database()").fetchall()
    connection.execute("USE old")
    there = read_tables(connection)
    connection.execute(f"USE {quoted(own)}")
    for name, schema in there.items():
        if not schema.exists:
            continue
        known = here.get(name)
        moments = list(VALID) if schema.history else []
        before, now = list(moments), list(moments)
        for column, one in sorted(schema.columns.items()):
            wider = known.columns.get(column) if known else None
            if wider:
                before.append(converted(quoted(one.name), one.type, wider.type))
                now.append(quoted(wider.name))
            elif one.type != "NULL":
                before.append(quoted(one.name))
        sums = "SELECT _month, count(*), sum(hash({})::HUGEINT) FROM {}.{} WHERE _customer = $1 GROUP BY 1"
        old = connection.execute(sums.format(", ".join(["0", *before]), "old", schema.stored), [customer])
        wanted = {month: rest for month, *rest in old.fetchall()}
        found = {}
        if known and known.exists:
            new = connection.execute(
                sums.format(", ".join(["0", *now]), quoted(own), known.stored), [customer]
            )
            found = {month: rest for month, *rest in new.fetchall()}
        for month in wanted.keys() | found.keys():
            if wanted.get(month) != found.get(month) and (schema.report, month) not in newer:
                yield f"{schema.name}{f' {month:%Y-%m}' if month else ''}"


def remove_customer(store: Store, customer: str) -> None:
    """Take a customer out of a working file, in one transaction; may be repeated."""
    with store.writing() as connection:
        for schema in read_tables(connection).values():
            if schema.exists:
                connection.execute(f"DELETE FROM {schema.stored} WHERE _customer = $1", [customer])
        for table in MARTS_REMEMBER:
            connection.execute(f"DELETE FROM meta.{table} WHERE {_of_customer_alone(table)}", [customer])
        for table in (*REPLAYED, *KNOWN, "loads"):
            connection.execute(f"DELETE FROM meta.{table} WHERE customer = $1", [customer])
        connection.execute(
            "DELETE FROM meta.archived WHERE split_part(landing, '/', 2) = $1", [safe(customer)]
        )
        connection.execute("UPDATE meta.storage SET has_traces = true")
    sys.audit("brokerbi.customer_removed")


def remove_landing(landing: Landing, customer: str) -> None:
    """Remove the stored answers of a customer, in the archive as well: no replay brings them back."""
    for folder in landing.root.glob(f"*/{safe(customer)}"):
        shutil.rmtree(folder)
    for path, _ in _archived(landing, customer):
        if landing.archive:
            landing.archive.keep_only(path, None)


def _archived(landing: Landing, customer: str) -> list[tuple[str, str]]:
    """The stored answers of a customer in the archive, if there is one, with their checksums."""
    found = landing.archive.newest() if landing.archive else {}
    return [(path, sha256) for path, (_, sha256) in found.items() if path.split("/")[1] == safe(customer)]


def _landing_of(landing: Landing, customer: str) -> Iterator[Path]:
    for folder in sorted(landing.root.glob(f"*/{safe(customer)}")):
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file())
