"""The tables of the catalogue: their names, columns, keys and parents."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pipelines.catalogue import reports
from pipelines.catalogue.model import Report, Table, declared_columns, snake_case
from pipelines.catalogue.reports import REPORTS, report

TABLES = [(entry, table) for entry in REPORTS.values() for table in entry.tables]

# The tables of schema bi that scripts of others rely on.
PROMISED = set(
    """
    commission_office commission_user commission_office_by_month sales_estates sales_agents
    sales_estate_changes sales_agent_changes incoming_leads outgoing_leads tips running_commissions
    live_activity live_commissions sold_estates users trademarks budget_sold_estates budget_commission
    budget_crm office_budget_estate office_budget_commission office_budget_crm
    """.split()
)


def names(table: Table) -> list[str]:
    return [column.name for column in declared_columns(table)]


def named(name: str) -> Table:
    return next(table for _, table in TABLES if table.name == name)


def test_every_promised_table_is_declared_by_exactly_one_report() -> None:
    declared = [table.name for _, table in TABLES]
    assert len(declared) == len(set(declared))
    assert set(declared) >= PROMISED


def test_a_nested_table_is_below_its_parent_and_refers_to_existing_columns() -> None:
    for entry, table in TABLES:
        if table.parent is None:
            continue
        [parent] = [other for other in entry.tables if other.name == table.parent]
        assert table.rows.startswith(f"@{parent.name}.")
        types = {f"@{parent.name}.{column.name}": column.type for column in declared_columns(parent)}
        handed_down = {column.source: column.type for column in table.columns if column.source[:1] == "@"}
        assert handed_down.items() <= types.items(), table.name


def test_columns_are_described_once_and_keys_and_dates_are_among_them() -> None:
    types = {"VARCHAR", "BIGINT", "BOOLEAN", "TIMESTAMP", "DECIMAL(18,4)", "DECIMAL(18,8)", "JSON"}
    for _, table in TABLES:
        columns = declared_columns(table)
        assert len(names(table)) == len(set(names(table))), table.name
        assert all(column.description and column.documented for column in columns), table.name
        assert {column.type for column in columns} <= types, table.name
        places = {*table.key, *filter(None, [table.dated_by])}
        assert places <= set(names(table)), table.name


def test_personal_columns_are_texts_or_portraits_and_not_ids() -> None:
    for _, table in TABLES:
        for column in filter(lambda one: one.personal, declared_columns(table)):
            assert not column.id_of, table.name
            assert column.type == "VARCHAR" or column.name.startswith("image_"), table.name


def test_contacts_users_and_agents_are_personal() -> None:
    personal = {
        name: [column.name for column in declared_columns(named(name)) if column.personal]
        for name in ("sales_agents", "sold_estates", "tips", "commission_user")
    }
    assert personal == {
        "sales_agents": ["name", "employee_id"],
        "sold_estates": ["responsible_agent_name"],
        "tips": [
            "sender_name", "receiver_name", "receiver_employee_number", "tip_message",
            "contact_first_name", "contact_last_name",
        ],
        "commission_user": [],
    }  # fmt: skip


def test_a_column_has_its_type_and_its_path_in_the_answer() -> None:
    known = {column.name: (column.source, column.type) for column in declared_columns(named("sales_estates"))}
    assert known["office_name"] == ("officeSaleReports[].officeName", "VARCHAR")
    assert known["address_zip_code"] == ("address.zipCode", "VARCHAR")


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("customerId", "customer_id"),
        ("CustomerId", "customer_id"),
        ("wgs84Coordinate", "wgs84_coordinate"),
        ("userID", "user_id"),
        ("HTMLText", "html_text"),
        ("already_snake", "already_snake"),
    ],
)
def test_names_of_the_service_are_written_in_snake_case(name: str, column: str) -> None:
    assert snake_case(name) == column


def test_an_unknown_report_is_an_error_with_the_nearest_names() -> None:
    assert report("sales") is REPORTS["sales"]
    with pytest.raises(ValueError, match=r"no report named 'sale'; did you mean sales\?"):
        report("sale")
    with pytest.raises(ValueError, match="`brokerbi reports` lists them all"):
        report("zzzzzz")


def test_every_declared_report_is_in_the_catalogue() -> None:
    folder = Path(reports.__file__).parent
    modules = [import_module(f"pipelines.catalogue.{path.stem}") for path in folder.glob("*.py")]
    declared = [
        one.name for module in modules for one in getattr(module, "REPORTS", ()) if isinstance(one, Report)
    ]
    assert sorted(declared) == sorted(REPORTS)
