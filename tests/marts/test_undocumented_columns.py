"""Columns that nobody documented, under any name and of any type: they change no mart."""

from __future__ import annotations

import re
from collections.abc import Collection
from zlib import crc32

import pytest

from pipelines.normalize.tables import OUR_COLUMNS
from tests.marts.given import Given, arrived, asked_for, earned, held, loaded, rows, sold, warehouse
from warehouse.marts.build import build_marts
from warehouse.marts.queries import SQL, queries
from warehouse.store.duckdb_file import quoted

WORDS = """
    id type name value date month year status count total amount sum office user key index order group from to
    select table rowid clock asked now row_number version state code number kind label email phone city unit
    price rank share currency level customer users offices months years own_booked registered
    estates_registered tax office_id
""".split()
VALUES = ("7::BIGINT", "'seven'::VARCHAR", """'{"id": "7", "month": 7}'::JSON""", "NULL::VARCHAR")
MARTS = [f"marts.{path.stem}" for path in (SQL / "marts").glob("*.sql")]
BY_NAME = {"running_commissions": {"user_name"}}
"""What staging/user_names.sql reads if it arrives."""
COUNTED = ("live_activity",)
"""Every number in this table counts something."""
SINCE = {"valid_from_utc": "2026-06-01"}


def budgets(given: Given) -> None:
    """A budget of every report of budgets."""
    commission, homes = {"commission_budget": 60}, {"sold_budget": 4}
    meetings = {"meetings_budget": 6, "own_booked_budget": 7}
    for report, customer, measures in (
        ("budget_commission", "M1", commission),
        ("budget_sold_estates", "M1", homes),
        ("budget_crm", "M1", meetings),
        *(
            (f"{owner}_budget_{subject}", "M2", measures)
            for owner in ("office", "user")
            for subject, measures in (("commission", commission), ("estate", homes), ("crm", meetings))
        ),
    ):
        held(given, report, customer, ["2026-01"])
        budget = {**SINCE, "office_id": customer, "user_id": "U9", "month": "1", **measures}
        rows(given, f"{report}_history", customer, "2026-01", [budget])


def people(given: Given) -> None:
    """A directory that somebody has left, trademarks, and what users did."""
    rows(given, "users_history", "M1", "2026-01", [
        {**SINCE, "id": "U1", "name": "Ann"},
        {**SINCE, "id": "U3", "name": "Cia", "valid_to_utc": "2026-06-02"},
    ])  # fmt: skip
    [brand] = rows(given, "trademarks_history", "M1", "2026-01", [{**SINCE, "trademark": "Brand"}])
    member = {**SINCE, "_parent_row": brand, "office_id": "M1"}
    rows(given, "trademark_offices_history", "M1", "2026-01", [member])
    load_id = held(given, "live_activity", "M1", ["2026-01"])
    arrived(given, "live_activity", calls="BIGINT")
    caller = {"user_id": "U1", "office_id": "M1", "calls": 3}
    rows(given, "live_activity", "M1", "2026-01", [caller], load_id=load_id)


def business(given: Given) -> None:
    """What two offices and their users earned and sold, with leads and changes."""
    for customer, user in (("M1", "U1"), ("M2", "U2")):
        office = {"office_customer_id": customer, "customer_id": customer[1:]}
        for month in ("2025-01", "2026-01"):
            more = {"writing_parts": 1}
            loaded(given, "commission_office", customer, month, [earned(office, 100, **more)])
            loaded(given, "commission_user", customer, month, [earned({"user_id": user}, 100, **more)])
            loaded(given, "commission_office_sale", customer, month, [earned(office, 70)])
            loaded(given, "commission_user_sale", customer, month, [earned({"user_id": user}, 70)])
        by_month = {"office_id": customer, "month": "1", "commission": 100, "sold_total_price": 1000}
        loaded(given, "commission_office_by_month", customer, "2026-01", [by_month])
        event = {
            "user_id": user, "customer_id": customer, "estate_id": f"E{customer}", "amount": 5,
            "exchange_rate": 1, "obtained_at": "2026-01-09",
        }  # fmt: skip
        loaded(given, "running_commissions", customer, "2026-01", [event])
        sold(
            given, customer, "2026-01", customer, f"E{customer}", final_price=1000, status_text="Sold",
            office_name=f"Office {customer}", commission_received_at="2026-02-01",
            agents=[{"id": user, "name": f"User {user}", "responsible": True, "commission_value": 100,
                     "commission_percentage_of_total": 100, "primary_office_customer_id": customer}],
            changes=[{"changed_at": "2026-03-01", "status_text": "Sold", "commission": 90}],
        )  # fmt: skip
        loaded(given, "sold_estates", customer, "2026-01", [
            {"id": f"E{customer}", "office_customer_id": customer, "office_city": "Lund",
             "advertised_at": "2026-01-01"},
        ])  # fmt: skip
        load_id = held(given, "tips_and_leads", customer, ["2026-01"])
        lead = {"lead_type": "Valuation", "created_at": "2026-01-05", "contact_id": "C1"}
        for table, row in {
            "incoming_leads": {**lead, "lead_id": f"I{customer}", "receiver_id": user, "receiver_name": "Rex",
                               "lead_state": "New", "estate_id": f"E{customer}"},
            "outgoing_leads": {**lead, "lead_id": f"O{customer}", "user_id": user},
            "tips": {"tip_id": f"T{customer}", "tip_type": "FromUser", "sender_id": user,
                     "created_at": "2026-01-05"},
        }.items():  # fmt: skip
            rows(given, table, customer, "2026-01", [row], load_id=load_id)


def filled() -> Given:
    """A warehouse with rows in every table that staging reads, whose numbers have changed before."""
    given = warehouse()
    asked_for(given, "M1", "M2")
    business(given)
    people(given)
    budgets(given)
    build_marts(given, wanted=MARTS)
    given.execute("UPDATE bi.commission_office SET commission = 101, _fetched_at_utc = '2026-07-01'")
    given.execute("UPDATE bi.commission_user SET commission = 101, _fetched_at_utc = '2026-07-01'")
    given.execute("UPDATE bi.sales_estates SET commission = 101, _fetched_at_utc = '2026-07-01'")
    given.execute("UPDATE meta.months SET fetched_at_utc = '2026-07-01'")
    for _ in range(2):  # totals that are another ones are remembered once, and are the same ones afterwards
        build_marts(given, wanted=MARTS)
    return given


def marts(given: Given) -> dict[str, list[tuple[object, ...]]]:
    """Every mart as a whole, its columns first."""
    found = {}
    for (name,) in given.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'marts' ORDER BY ALL"
    ).fetchall():
        answer = given.execute(f"FROM marts.{name} ORDER BY ALL")
        found[name] = [tuple(column[0] for column in answer.description or ()), *answer.fetchall()]
    return found


def names_of_ours(given: Given) -> list[str]:
    """Every name in the SQL that makes the marts, every column of these, and usual words, in lower case."""
    paths = [path for room in ("staging", "marts", "meta") for path in (SQL / room).rglob("*.sql")]
    files = "\n".join(path.read_text(encoding="utf-8") for path in [SQL / "macros.sql", *paths])
    found = set(re.findall(r"[a-z][a-z0-9_]*", re.sub(r"--.*|'[^']*'", " ", files).lower()))
    of_marts = "SELECT DISTINCT lower(column_name) FROM duckdb_columns() WHERE schema_name = 'marts'"
    found |= {name for (name,) in given.execute(of_marts).fetchall() if not name.startswith("_")}
    return sorted((found | {*WORDS}) - {*OUR_COLUMNS} | {"rowid"})


def add_columns(given: Given, names: Collection[str]) -> None:
    """A column of every name in every table that staging reads, with values by turns."""
    read = {
        table
        for query in queries(SQL / "staging", "staging")
        for schema, table in query.reads
        if schema == "bi"
    }
    read |= {f"{table}_history" for table in read}
    tables = given.execute(
        "SELECT table_name, list(lower(column_name)) FROM duckdb_columns() WHERE schema_name = 'bi' "
        "AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = 'bi') GROUP BY ALL"
    ).fetchall()
    for at, (table, known) in enumerate(sorted(tables)):
        if table not in read:
            continue
        values = VALUES[int(table in COUNTED) :]
        new = sorted({*names} - {*known} - BY_NAME.get(table, set()))
        turns = ((values[(crc32(one.encode()) + at) % len(values)], quoted(one)) for one in new)
        more = "".join(f", {value} AS {name}" for value, name in turns)
        given.execute(f"CREATE OR REPLACE TABLE bi.{quoted(table)} AS SELECT *{more} FROM bi.{quoted(table)}")
        if table.endswith("_history"):
            current = quoted(table.removesuffix("_history"))
            given.execute(
                f"CREATE OR REPLACE VIEW bi.{current} AS SELECT * EXCLUDE (valid_from_utc, valid_to_utc) "
                f"FROM bi.{quoted(table)} WHERE valid_to_utc IS NULL"
            )


def changed(given: Given, names: Collection[str]) -> list[str]:
    """The marts that are others once the service has sent columns of these names."""
    before = marts(given)
    given.begin()
    add_columns(given, names)
    build_marts(given, wanted=MARTS)
    after = marts(given)
    given.rollback()
    return [mart for mart in after if after[mart] != before[mart]]


@pytest.fixture(scope="module")
def given() -> Given:
    return filled()


def test_no_column_of_the_service_changes_a_mart_by_its_name(given: Given) -> None:
    assert changed(given, names_of_ours(given)) == []
