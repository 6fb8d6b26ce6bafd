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

OF_SALES = "commission sold_commission sold_total_price sold_estate_parts writing_parts valuation_parts "
OF_LEADS = "incoming_lead_count outgoing_lead_count tip_count "
SUMMED = {
    **dict.fromkeys(
        ("office_month", "chain_month", "brand_month", "region_month"),
        OF_SALES + OF_LEADS + "running_commission_sek_excl_vat active_agent_count",
    ),
    "agent_month": OF_SALES + OF_LEADS,
    "sales": "commission final_price",
    "sale_shares": "commission commission_share final_price_share",
    "lead_funnel": "lead_count removed_lead_count no_home_lead_count home_count sold_count",
    "office_budget_vs_actual": "",
}
"""Marts with measures, and their columns whose rows may be added up as they are."""
OF_BUDGETS = "NOT is_open AND budget IS NOT NULL AND measure = 'commission'"
OF_AGENTS = "NOT is_open AND budget_commission IS NOT NULL AND commission IS NOT NULL"
COMPUTED = {
    "agent_month": {
        "active_months": "is_active::INTEGER",
        "budgeted_commission": f"CASE WHEN {OF_AGENTS} THEN commission_against_budget END",
        "budget": f"CASE WHEN {OF_AGENTS} THEN budget_commission END",
    },
    "office_budget_vs_actual": {
        "budgeted_commission": f"CASE WHEN {OF_BUDGETS} THEN actual END",
        "budget": f"CASE WHEN {OF_BUDGETS} AND actual IS NOT NULL THEN budget END",
    },
}
"""More measures: whole months alone, of which both the budget and what was reached are known."""
RATIOS = {
    "average_commission": ("sold_commission", "sold_estate_parts", "commission of an average sale"),
    "average_price": ("sold_total_price", "sold_estate_parts", "price of an average home"),
    "fee_share": ("sold_commission", "sold_total_price", "the fee in parts of the price: 0.025 is 2.5 %"),
    "commission_per_agent_month": (
        "commission",
        "active_agent_count",
        "commission by agent and month at work",
    ),
    "commission_per_active_month": ("commission", "active_months", "commission by agent and month at work"),
    "share_of_budget": (
        "budgeted_commission",
        "budget",
        "reached in parts of the budget, whole months alone",
    ),
}
"""Metrics of two measures, for each mart that has both."""
ENTITIES = {"office_id": "office", "user_id": "user", "estate_id": "estate", "lead_id": "lead"}
MONTH = "first_of_month"
"""What the semantic model calls the column month: the word alone is one of its own."""
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
                "metrics": [
                    metric for one in semantic for metric in (*map(_metric, one["measures"]), *_ratios(one))
                ],
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
    known = {column.name: column.meaning for column in columns}
    measures = [
        {
            "name": f"{table.table}_{name}",
            "agg": "sum",
            "expr": expression,
            "description": known.get(name) or name,
        }
        for name, expression in _measures(table.table).items()
        if name in known or name in COMPUTED.get(table.table, {})
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
    return {
        "name": table.table,
        "description": table.meaning,
        "model": f"ref('{table.table}')",
        "defaults": {"agg_time_dimension": MONTH},
        "entities": entities,
        "dimensions": dimensions,
        "measures": measures,
    }


def _measures(table: str) -> dict[str, str]:
    """The measures of a mart by name, and what each of its rows adds."""
    return {**{name: name for name in SUMMED[table].split()}, **COMPUTED.get(table, {})}


def _ratios(model: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The metrics that divide one measure of a mart by another."""
    table, measures = model["name"], {one["name"] for one in model["measures"]}
    return [
        {
            "name": f"{table}_{name}",
            "label": f"{table}_{name}".replace("_", " "),
            "description": meaning,
            "type": "ratio",
            "type_params": {"numerator": f"{table}_{above}", "denominator": f"{table}_{below}"},
        }
        for name, (above, below, meaning) in RATIOS.items()
        if {f"{table}_{above}", f"{table}_{below}"} <= measures
    ]


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
