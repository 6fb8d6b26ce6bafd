"""A dbt project on the published file: every table with its meaning, types and key, as sources.

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

PROJECT = {"name": "brokerbi", "version": "1.0.0", "profile": "brokerbi", "model-paths": ["models"]}
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


def write_dbt_project(
    folder: Path, tables: Sequence[PublishedTable], keys: Mapping[str, Sequence[str]]
) -> None:
    """Write the project; `keys` are the columns that tell the rows of a table apart, by its name."""
    models = folder / "models"
    models.mkdir(parents=True)
    files: dict[Path, dict[str, Any]] = {
        folder / "dbt_project.yml": PROJECT,
        folder / "profiles.yml": PROFILE,
        models / "sources.yml": _inert({"version": 2, "sources": _sources(tables, keys)}),
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
