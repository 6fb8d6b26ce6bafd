"""The dbt project: sources with their meanings and keys, and measures only of what may be summed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.upkeep.dbt_project import SUMMED, write_dbt_project
from tests.marts.given import warehouse
from warehouse.marts.build import build_marts
from warehouse.publishing.table_export import PublishedColumn, PublishedTable

COLUMNS = {
    "month": "DATE",
    "office_id": "VARCHAR",
    "office_name": "VARCHAR",
    "commission": "DECIMAL(18,4)",
    "sold_commission": "DECIMAL(18,4)",
    "sold_estate_parts": "DECIMAL(19,8)",
    "sold_average_commission": "DECIMAL(18,4)",
    "commission_per_active_agent": "DECIMAL(18,4)",
    "incoming_lead_count": "BIGINT",
    "is_open": "BOOLEAN",
    "_load_id": "VARCHAR",
}


def table(name: str, columns: dict[str, str], schema: str = "marts") -> PublishedTable:
    described = tuple(
        PublishedColumn(column, type_, f"what {column} is") for column, type_ in columns.items()
    )
    return PublishedTable(schema, name, f"what {name} is", 1, described)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "dbt"
    tables = [
        table("office_month", COLUMNS),
        table("offices", {"office_id": "VARCHAR"}),
        table("leaderboard", {"commission": "DECIMAL(18,4)"}),
    ]
    keys = {"marts.offices": ["office_id"], "marts.office_month": ["office_id", "month"]}
    write_dbt_project(folder, tables, keys)
    return folder


def read(project: Path, name: str) -> Any:
    return yaml.safe_load((project / "models" / name).read_text("utf-8"))


def test_sources_carry_meanings_types_and_the_key(project: Path) -> None:
    [source] = read(project, "sources.yml")["sources"]
    month, offices, _ = source["tables"]
    assert month["columns"][3] == {
        "name": "commission",
        "description": "what commission is",
        "data_type": "decimal(18,4)",
    }
    assert month["config"]["meta"]["key"] == ["office_id", "month"]
    assert offices["columns"][0]["data_tests"] == ["unique", "not_null"]


def test_nothing_that_the_service_named_is_a_template(tmp_path: Path) -> None:
    hostile = "{{ env_var('HOME') }} {% do x() %} {# x #} {{{ 1 }}}"
    month = PublishedColumn("month", "DATE", hostile)
    sums = PublishedColumn(f"sum {hostile}", "BIGINT", hostile)
    tables = [PublishedTable(schema, "leads", hostile, 1, (month, sums)) for schema in ("marts", "bi")]
    write_dbt_project(tmp_path / "dbt", tables, {"marts.leads": [sums.name]})
    written = "".join(path.read_text("utf-8") for path in (tmp_path / "dbt" / "models").glob("*.yml"))
    assert written.count("env_var") > 5
    assert re.findall(r"\{[{%#]", written) == []


def test_only_what_may_be_summed_is_a_measure_and_averages_are_divided_from_sums(project: Path) -> None:
    written = read(project, "semantic_models.yml")
    [model] = written["semantic_models"]
    summed = ["commission", "sold_commission", "sold_estate_parts", "incoming_lead_count"]
    assert [measure["name"] for measure in model["measures"]] == [f"office_month_{name}" for name in summed]
    ratios = {one["name"]: one["type_params"] for one in written["metrics"] if one["type"] == "ratio"}
    assert ratios == {
        "office_month_average_commission": {
            "numerator": "office_month_sold_commission",
            "denominator": "office_month_sold_estate_parts",
        }
    }


def test_every_mart_with_measures_has_their_columns_and_agents_have_a_share_of_budget(tmp_path: Path) -> None:
    given = warehouse()
    build_marts(given)
    query = (
        "SELECT table_name, list(column_name) FROM duckdb_columns() WHERE schema_name = 'marts' GROUP BY ALL"
    )
    columns = dict(given.execute(query).fetchall())
    assert [name for name, words in SUMMED.items() if not {*words.split()} <= {*columns[name]}] == []
    tables = [table(name, dict.fromkeys(columns[name], "DOUBLE")) for name in SUMMED]
    write_dbt_project(tmp_path / "dbt", tables, {})
    metrics = {one["name"] for one in read(tmp_path / "dbt", "semantic_models.yml")["metrics"]}
    assert {"agent_month_share_of_budget", "office_budget_vs_actual_share_of_budget"} < metrics


def test_a_semantic_model_names_its_grain_its_ids_and_its_dimensions(project: Path) -> None:
    [model] = read(project, "semantic_models.yml")["semantic_models"]
    assert [(one["name"], one["type"]) for one in model["entities"]] == [
        ("office_month_row", "primary"),
        ("office", "foreign"),
    ]
    assert [one["name"] for one in model["dimensions"]] == ["first_of_month", "office_name", "is_open"]


def test_every_semantic_model_has_its_model(project: Path) -> None:
    assert (project / "models" / "office_month.sql").read_text("utf-8") == (
        "FROM {{ source('marts', 'office_month') }}\n"
    )
    assert not (project / "models" / "leaderboard.sql").exists()
