"""The dbt project: sources with their meanings and keys, and nothing in them that is a template."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from pipelines.upkeep.dbt_project import write_dbt_project
from warehouse.publishing.table_export import PublishedColumn, PublishedTable


def table(name: str, columns: dict[str, str]) -> PublishedTable:
    described = tuple(
        PublishedColumn(column, type_, f"what {column} is") for column, type_ in columns.items()
    )
    return PublishedTable("marts", name, f"what {name} is", 1, described)


def test_sources_carry_meanings_types_and_the_key(tmp_path: Path) -> None:
    tables = [
        table("office_month", {"month": "DATE", "office_id": "VARCHAR", "commission": "DECIMAL(18,4)"}),
        table("offices", {"office_id": "VARCHAR"}),
    ]
    keys = {"marts.offices": ["office_id"], "marts.office_month": ["office_id", "month"]}
    write_dbt_project(tmp_path / "dbt", tables, keys)
    [source] = yaml.safe_load((tmp_path / "dbt" / "models" / "sources.yml").read_text("utf-8"))["sources"]
    month, offices = source["tables"]
    assert month["columns"][2] == {
        "name": "commission",
        "description": "what commission is",
        "data_type": "decimal(18,4)",
    }
    assert month["config"]["meta"]["key"] == ["office_id", "month"]
    assert offices["columns"][0]["data_tests"] == ["unique", "not_null"]


def test_nothing_that_the_service_named_is_a_template(tmp_path: Path) -> None:
    hostile = "{{ env_var('HOME') }} {% do x() %} {# x #} {{{ 1 }}}"
    column = PublishedColumn(f"sum {hostile}", "BIGINT", hostile)
    tables = [PublishedTable(schema, "leads", hostile, 1, (column,)) for schema in ("marts", "bi")]
    write_dbt_project(tmp_path / "dbt", tables, {"marts.leads": [column.name]})
    written = (tmp_path / "dbt" / "models" / "sources.yml").read_text("utf-8")
    assert written.count("env_var") > 5
    assert re.findall(r"\{[{%#]", written) == []
