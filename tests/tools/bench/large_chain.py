"""What does a chain of a hundred offices leave behind in ten years? Rows of bi, made by SQL alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duckdb import DuckDBPyConnection

CORES = 2
OFFICES, USERS_AN_OFFICE, MONTHS = 100, 30, 120
READ = datetime(2027, 1, 1, 5, 0)

_OURS = """
'M' || (n % {offices}) AS _customer,
(DATE '2017-01-01' + to_months((n // {offices}) % {months}))::DATE AS _month,
'L' || '{report}' || (n % {offices}) || '-' || (n // {offices}) % {months} AS _load_id,
TIMESTAMP '{read}' AS _fetched_at_utc, {first} + n AS _row
"""
_USER = "'U' || (n % 100) || '-' || (hash(n) % 30)"
_USER_OF_MONTH = "'U' || (n % 100) || '-' || (n // 12000)"
_DAY = "_month + ((hash(n, 1) % 28)::INT)"
_EARNED = """
100000 + hash(n) % 900000 AS commission, 3000000 AS sold_total_price, 1 + hash(n) % 3 AS sold_estate_parts,
50000 AS sold_average_commission, 1 AS writing_parts, 2 AS valuation_parts
"""


@dataclass(frozen=True)
class Made:
    """A table of a report: its rows in a world of ten million, and what its columns are."""

    report: str
    table: str
    rows: int
    columns: str
    grows: bool = True  # otherwise there is one row per office or user and month, however large the world


_TABLES = (
    Made(
        "commission_office", "commission_office", OFFICES * MONTHS,
        f"_customer AS office_customer_id, {_EARNED}", grows=False,
    ),
    Made(
        "commission_user", "commission_user", OFFICES * MONTHS * USERS_AN_OFFICE,
        f"{_USER_OF_MONTH} AS user_id, {_EARNED}", grows=False,
    ),
    Made("sales", "sales_estates", 600_000, f"""
        'E' || n AS id, _customer AS office_customer_id, 'Office ' || _customer AS office_name,
        {_DAY} AS contract_day, 90000 AS commission, 3000000 AS final_price, 2900000 AS starting_price,
        'Villa' AS type_text, 'Street ' || n AS address_street_address
    """),
    Made("sales", "sales_agents", 1_200_000, f"""
        'E' || n % {{estates}} AS estate_id, {{of_estates}} + n % {{estates}} AS _parent_row, {_USER} AS id,
        'Agent ' || n % 3000 AS name, _customer AS primary_office_customer_id, n < {{estates}} AS responsible,
        45000 AS commission_value, 50 AS commission_percentage_of_total
    """),
    Made("sales", "sales_estate_changes", 1_200_000, f"""
        'E' || n % {{estates}} AS estate_id, {{of_estates}} + n % {{estates}} AS _parent_row,
        {_DAY} AS changed_at, 90000 + n % 3 AS commission, 3000000 AS final_price
    """),
    Made("sold_estates", "sold_estates", 600_000, """
        'E' || n AS id, _customer AS office_customer_id, _month - 30 AS advertised_at
    """),
    Made("running_commissions", "running_commissions", 1_000_000, f"""
        _customer AS customer_id, {_USER} AS user_id, 'E' || n AS estate_id, 1000 AS amount,
        1 AS exchange_rate, {_DAY} AS obtained_at
    """),
    Made("tips_and_leads", "incoming_leads", 3_500_000, f"""
        'L' || n AS lead_id, {_DAY} AS created_at, 'Kind ' || hash(n) % 6 AS lead_type,
        'State ' || hash(n, 2) % 7 AS lead_state, {_USER} AS receiver_id,
        _customer AS receiver_company_customer_number, 'E' || hash(n, 3) % 2000000 AS estate_id
    """),
    Made("tips_and_leads", "outgoing_leads", 1_000_000, f"""
        'O' || n AS lead_id, {_DAY} AS created_at, 'Kind ' || hash(n) % 4 AS lead_type,
        {_USER} AS user_id, _customer AS sender_company_customer_number
    """),
    Made("tips_and_leads", "tips", 500_000, f"""
        'T' || n AS tip_id, {_DAY} AS created_at, 'FromUser' AS tip_type,
        'State ' || hash(n) % 5 AS tip_state, {_USER} AS sender_id,
        _customer AS sender_company_customer_number
    """),
    Made(
        "office_budget_commission", "office_budget_commission_history", OFFICES * MONTHS * USERS_AN_OFFICE,
        f"_customer AS customer_id, {_USER_OF_MONTH} AS user_id, 60000 AS commission, "
        "TIMESTAMP '2016-12-01' AS valid_from_utc", grows=False,
    ),
)  # fmt: skip


def make_chain(connection: DuckDBPyConnection, millions: float) -> int:
    """Fill the declared tables and the ledger; answers the number of rows."""
    undocumented = {"customer_id": "VARCHAR", "user_id": "VARCHAR", "commission": "BIGINT"}
    for name, kind in undocumented.items():
        connection.execute(
            f"ALTER TABLE bi.office_budget_commission_history ADD COLUMN IF NOT EXISTS {name} {kind}"
        )
    first = of_estates = 1
    estates = round(600_000 * millions / 10)
    for made in _TABLES:
        count = round(made.rows * millions / 10) if made.grows else made.rows
        of_estates = first if made.table == "sales_estates" else of_estates
        ours = _OURS.format(offices=OFFICES, months=MONTHS, report=made.report, read=READ, first=first)
        theirs = made.columns.format(estates=estates, of_estates=of_estates)
        connection.execute(
            f"INSERT INTO bi.{made.table} BY NAME SELECT * EXCLUDE (n) FROM (SELECT n, {ours}, {theirs} "
            f"FROM (SELECT unnest(range({count})) AS n))"
        )
        first += count
    for report in dict.fromkeys(made.report for made in _TABLES):
        _hold(connection, report)
    return first - 1


def _hold(connection: DuckDBPyConnection, report: str) -> None:
    """Every month of every office, each by a load of its own."""
    connection.execute(
        "INSERT INTO meta.months BY NAME SELECT $1 AS report, 'M' || office AS customer, "
        "(DATE '2017-01-01' + to_months(number::INT))::DATE AS month, "
        "'L' || $1 || office || '-' || number AS load_id, 1 AS rows, $2::TIMESTAMP AS loaded_at_utc, "
        "$2::TIMESTAMP AS fetched_at_utc, 'held' AS state "
        f"FROM range({OFFICES}) AS offices (office), range({MONTHS}) AS months (number)",
        [report, READ],
    )
    connection.execute(
        "INSERT INTO meta.loads BY NAME SELECT load_id, report, customer, [month] AS months, fetched_at_utc, "
        "loaded_at_utc, 'loaded' AS status FROM meta.months WHERE report = $1",
        [report],
    )
