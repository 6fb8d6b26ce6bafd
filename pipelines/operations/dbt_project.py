"""A dbt project on the published file: sources, models, and a semantic model that says what may be summed.

dbt renders what it reads as templates, so nothing that the service named may be one. `dbt build` needs
dbt-duckdb and BROKERBI_DATA_DIR. The file is attached read-only; what dbt builds goes into a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from warehouse.publishing.table_export import PublishedColumn, PublishedTable

SUMMED = (
    "brand_month chain_month lead_funnel leads office_month region_month sale_shares sales user_month"
).split()
"""Marts whose rows may be added up; others hold sums, ranks, versions, lineage or several measures."""
NEVER_SUMMED = re.compile(
    r"_.*|(.*_)?(share|percentage|average|per|rank|rate|year|forecast|before|change|tolerance|days|latitude|"
    r"longitude|number|expected|agent|restatement|active|first|foreign|office|home)(_.*)?"
)
"""Numbers that are no sums: shares, averages, the year so far, how many offices there were."""
ENTITIES = {"office_id": "office", "user_id": "user", "estate_id": "estate", "lead_id": "lead"}
MONTH = "first_of_month"
"""What the semantic model calls the column month: the word alone is one of its own."""
NUMBERS = re.compile(r"DECIMAL.*|BIGINT|INTEGER|HUGEINT|DOUBLE")
PROFILE = {
    "brokerbi": {
        "target": "local",
        "outputs": {
            "local": {
                "type": "duckdb",
                "path": "brokerbi_dbt.duckdb",
                "attach": [
                    {
                        "path": "{{ env_var('BROKERBI_DATA_DIR', 'data') }}/warehouse.duckdb",
                        "alias": "brokerbi",
                        "read_only": True,
                    }
                ],
            }
        },
    }
}
_TEMPLATE = re.compile(r"\{(?=[{%#])")
TIME_SPINE = "SELECT unnest(range(DATE '2010-01-01', DATE '2050-01-01', INTERVAL 1 DAY))::DATE AS date_day\n"


def write_dbt_project(
    folder: Path, tables: Sequence[PublishedTable], keys: Mapping[str, Sequence[str]]
) -> None:
    """Write the project; `keys` are the columns that tell the rows of a table apart, by its name."""
    models = folder / "models"
    models.mkdir(parents=True)
    summed = [table for table in tables if table.schema == "marts" and table.table in SUMMED]
    for table in summed:
        sql = f"FROM {{{{ source('marts', '{table.table}') }}}}\n"
        (models / f"{table.table}.sql").write_text(sql, encoding="utf-8")
    (models / "time_spine.sql").write_text(TIME_SPINE, encoding="utf-8")
    semantic = [_semantic_model(table, keys.get(table.name, ())) for table in summed]
    files: dict[Path, dict[str, Any]] = {
        folder / "dbt_project.yml": {
            "name": "brokerbi",
            "version": "1.0.0",
            "profile": "brokerbi",
            "model-paths": ["models"],
            "models": {"brokerbi": {"+materialized": "view"}},
        },
        folder / "profiles.yml": PROFILE,
        models / "sources.yml": _inert({"version": 2, "sources": _sources(tables, keys)}),
        models / "semantic_models.yml": _inert(
            {
                "version": 2,
                "models": [_time_spine()],
                "semantic_models": semantic,
                "metrics": [_metric(measure) for one in semantic for measure in one["measures"]],
            }
        ),
    }
    for path, content in files.items():
        path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110), "utf-8")


def _inert(content: Any) -> Any:
    """The same with a blank in whatever would begin an expression, a statement or a comment of a template."""
    if isinstance(content, dict):
        return {_inert(key): _inert(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_inert(one) for one in content]
    return _TEMPLATE.sub("{ ", content) if isinstance(content, str) else content


def _sources(tables: Sequence[PublishedTable], keys: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [
        {
            "name": schema,
            "database": "brokerbi",
            "schema": schema,
            "tables": [
                {
                    "name": table.table,
                    "description": table.meaning,
                    "config": {"meta": {"key": list(keys.get(table.name, ()))}},
                    "columns": [
                        _source_column(column, list(keys.get(table.name, ()))) for column in table.columns
                    ],
                }
                for table in tables
                if table.schema == schema
            ],
        }
        for schema in dict.fromkeys(table.schema for table in tables)
    ]


def _source_column(column: PublishedColumn, key: Sequence[str]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": column.name,
        "description": column.meaning,
        "data_type": column.type.lower(),
    }
    if key == [column.name]:
        described["data_tests"] = ["unique", "not_null"]
    return described


def _semantic_model(table: PublishedTable, key: Sequence[str]) -> dict[str, Any]:
    """Entities from the ids, dimensions from words and days, measures from what may be summed."""
    columns = [column for column in table.columns if not column.name.startswith("_")]
    grain = " || '|' || ".join(f"coalesce({name}::VARCHAR, '')" for name in key) or "1"
    is_one_id = len(key) == 1 and key[0] in ENTITIES
    entities = [] if is_one_id else [{"name": f"{table.table}_row", "type": "primary", "expr": grain}]
    dimensions: list[dict[str, Any]] = []
    measures = [
        {
            "name": f"{table.table}_rows",
            "agg": "sum",
            "expr": "1",
            "description": f"rows of marts.{table.table}",
        }
    ]
    for column in columns:
        if column.name in ENTITIES:
            kind = "primary" if list(key) == [column.name] else "foreign"
            entities.append({"name": ENTITIES[column.name], "type": kind, "expr": column.name})
        elif column.type == "DATE":
            is_month = column.name == "month"
            dimensions.append(
                {
                    "name": MONTH if is_month else column.name,
                    "type": "time",
                    "expr": column.name,
                    "type_params": {"time_granularity": "month" if is_month else "day"},
                }
            )
        elif column.type in ("VARCHAR", "BOOLEAN"):
            dimensions.append({"name": column.name, "type": "categorical"})
        elif NUMBERS.fullmatch(column.type) and not NEVER_SUMMED.fullmatch(column.name):
            name = f"{table.table}_{column.name}"
            measures.append(
                {"name": name, "agg": "sum", "expr": column.name, "description": column.meaning or name}
            )
    return {
        "name": table.table,
        "description": table.meaning,
        "model": f"ref('{table.table}')",
        "defaults": {"agg_time_dimension": MONTH},
        "entities": entities,
        "dimensions": dimensions,
        "measures": measures,
    }


def _metric(measure: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": measure["name"],
        "label": measure["name"].replace("_", " "),
        "description": measure["description"],
        "type": "simple",
        "type_params": {"measure": measure["name"]},
    }


def _time_spine() -> dict[str, Any]:
    return {
        "name": "time_spine",
        "description": "Every day, which sums over time are laid along.",
        "time_spine": {"standard_granularity_column": "date_day"},
        "columns": [{"name": "date_day", "granularity": "day"}],
    }
