"""Lineage of columns: each mart's columns come from those that its SQL computes them from, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import arrived, warehouse
from tests.marts.test_building import room
from warehouse.marts.build import build_marts
from warehouse.marts.queries import SQL, queries

COUNTED = re.compile(r"\w+_count|row_count_change|version|\w*age_weeks")
"""Columns that count rows or weeks."""
FOUND_IN_ROWS = {"activity.amount"}
"""What counts something there is found in the rows."""
COLUMNS = "SELECT table_name || '.' || column_name FROM duckdb_columns() WHERE schema_name = 'marts'"
LINEAGE = "SELECT DISTINCT table_name || '.' || column_name FROM meta.column_lineage"
SOURCES = """
SELECT coalesce(list_sort(list(concat_ws('.', from_schema_name, from_table_name, from_column_name))), [])
FROM meta.column_lineage WHERE table_name || '.' || column_name = $1
"""


@pytest.fixture(scope="module")
def file() -> DuckDBPyConnection:
    """All marts without a row, when budgets, trademarks and activities have arrived as they are expected."""
    given = warehouse()
    arrived(given, "office_budget_crm_history", user_id="VARCHAR", total="BIGINT", own_booked="BIGINT")
    arrived(given, "live_activity__users", user_id="VARCHAR", customer_id="VARCHAR", calls="BIGINT")
    arrived(given, "trademarks_history", name="VARCHAR", customer_ids="JSON")
    build_marts(given)
    return given


def sources(file: DuckDBPyConnection, column: str) -> list[str]:
    [(found,)] = file.execute(SOURCES, [column]).fetchall()
    return [*found]


def is_written(column: str) -> bool:
    """Whether the SQL itself says the value, as in `'leads' AS subject` or `{'subject': 'leads'}`."""
    sql = "\n".join(query.sql for schema in ("staging", "marts") for query in queries(SQL / schema, schema))
    written = rf"(?:'[^'\n]*'|true|false)[\])]*\s+AS {column}\b|\b{column}'?: '"
    return bool(re.search(written, sql))


def test_every_column_of_every_mart_comes_from_a_column_or_counts_or_is_written(
    file: DuckDBPyConnection,
) -> None:
    found = {column for (column,) in file.execute(f"{COLUMNS} EXCEPT {LINEAGE}").fetchall()}
    names = {one: one.partition(".")[2] for one in found}
    unknown = {one for one, name in names.items() if not (COUNTED.fullmatch(name) or is_written(name))}
    assert unknown == FOUND_IN_ROWS


def test_what_columns_come_from_are_columns_of_the_file(file: DuckDBPyConnection) -> None:
    found = file.execute(
        "SELECT from_schema_name, from_table_name, from_column_name FROM meta.column_lineage "
        "EXCEPT SELECT schema_name, table_name, column_name FROM duckdb_columns()"
    )
    assert found.fetchall() == []


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("sales.commission_percentage", ["bi.sales_estates.commission", "bi.sales_estates.final_price"]),
        ("sales.office_name", ["marts.offices.office_name"]),
        ("sales.agent_commission", ["bi.sales_agents.commission_value"]),
        ("sales.first_commission", ["bi.sales_estate_changes.commission"]),
        ("chain_month.sold_commission", ["marts.office_month.sold_commission"]),
        (
            "chain_month.sold_commission_percentage",
            ["marts.office_month.sold_commission", "marts.office_month.sold_total_price"],
        ),
        ("chain_month.office_count", ["marts.office_coverage.is_held"]),
        (
            "office_month.active_agent_count",
            ["marts.office_sources.month", "marts.user_month.is_active", "marts.user_month.user_id"],
        ),
        ("budget_vs_actual.year_budget", ["marts.budgets.amount"]),
        ("budget_vs_actual.user_name", ["marts.users.user_name"]),
        ("office_budget_vs_actual.attainment_share", ["marts.budget_vs_actual.attainment_share"]),
        (
            "budgets.amount",
            ["bi.office_budget_crm_history.own_booked", "bi.office_budget_crm_history.total"],
        ),
        (
            "user_month_versions.commission",
            ["marts.user_month.commission", "meta.user_month_versions.commission"],
        ),
        (
            "leads.lead_side",
            ["bi.incoming_leads.lead_type", "bi.outgoing_leads.lead_type", "bi.tips.tip_type"],
        ),
        ("sales_as_of.final_price", ["marts.sale_versions.final_price"]),
    ],
)
def test_a_column_comes_from(file: DuckDBPyConnection, column: str, expected: list[str]) -> None:
    assert sources(file, column) == expected


# fmt: off
EXPRESSIONS = {
    "SELECT COLUMNS('a|b') + 1 FROM marts.one": {"a": ["a"], "b": ["b"]},
    "SELECT coalesce(a, max(b) OVER (PARTITION BY c)) AS x FROM marts.one": {"x": ["a", "b"]},
    "SELECT rank() OVER (PARTITION BY a ORDER BY b) AS x FROM marts.one": {"x": ["b"]},
    "SELECT arg_min(a, b) AS x, max(b) FILTER (c > 1) AS y FROM marts.one": {"x": ["a"], "y": ["b", "c"]},
    "SELECT a AS x FROM marts.one WHERE b IN (SELECT c FROM marts.one)": {"x": ["a"]},
    "SELECT b IN (SELECT c FROM marts.one) AS x FROM marts.one": {"x": ["b", "c"]},
    "SELECT (SELECT max(b) FROM marts.one) AS x, count(*) AS y FROM marts.one": {"x": ["b"]},
    "SELECT a AS x, b AS y FROM marts.one UNION ALL BY NAME SELECT b AS x FROM marts.one":
        {"x": ["a", "b"], "y": ["b"]},
    "SELECT unnest([{'x': a, 'y': b}, {'x': c, 'y': 1}], recursive := true) FROM marts.one":
        {"x": ["a", "c"], "y": ["b"]},
    "SELECT list_filter([a], LAMBDA each: each > b) AS x FROM marts.one": {"x": ["a", "b"]},
    "SELECT to_json(one) ->> 'b' AS x, to_json(one) ->> 'd' AS y, to_json(one) AS z FROM marts.one":
        {"x": ["b"]},
    "SELECT whole.b AS x FROM (SELECT one AS whole FROM marts.one)": {"x": ["b"]},
    "SELECT coalesce(a, other.b) AS x FROM marts.one FULL JOIN marts.one AS other USING (a)":
        {"x": ["a", "b"]},
    "SELECT a AS x FROM marts.one EXCEPT SELECT b FROM marts.one": {},
}
# fmt: on


def test_a_value_comes_from_what_its_expression_reads_as_far_as_that_is_known(tmp_path: Path) -> None:
    given, files = warehouse(), {f"marts_t{number}": sql for number, sql in enumerate(EXPRESSIONS)}
    build_marts(given, room(tmp_path, marts_one="SELECT 1 AS a, 2 AS b, 3 AS c", **files))
    found: dict[str, dict[str, list[str]]] = {sql: {} for sql in EXPRESSIONS}
    lineage = given.execute("SELECT table_name, column_name, from_column_name FROM meta.column_lineage")
    for table, column, name in sorted(lineage.fetchall()):
        found[files[f"marts_{table}"]].setdefault(column, []).append(name)
    assert found == EXPRESSIONS


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [("", True), ("ALTER TABLE bi.sales_estates ADD COLUMN new VARCHAR", False)],
    ids=["nothing", "a new column"],
)
def test_lineage_is_worked_out_anew_only_when_something_it_comes_from_changed(
    tmp_path: Path, change: str, is_kept: bool
) -> None:
    given, folder = warehouse(), room(tmp_path, marts_one="SELECT customer AS a FROM meta.customers")
    given.execute("INSERT INTO meta.storage (format) SELECT 1 WHERE NOT EXISTS (FROM meta.storage)")
    build_marts(given, folder)
    given.execute("UPDATE meta.column_lineage SET column_name = 'seen'")
    given.execute(change)
    build_marts(given, folder)
    found = given.execute("SELECT column_name FROM meta.column_lineage").fetchall()
    assert found == [("seen" if is_kept else "a",)]
