"""Which columns does a table have before its first row? Those its documented fields flatten to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipelines.catalogue.fields import Stored
from pipelines.catalogue.vocabulary import Table

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Column:
    """One column of a table; `source` is the JSON path that it is read from, empty when it is ours."""

    name: str
    type: str
    documented: bool
    source: str
    description: str


def snake_case(name: str) -> str:
    """The service's camelCase or PascalCase name as we write it: `customerId` is `customer_id`."""
    return _WORD_STARTS.sub("_", name).lower()


def prefixed(prefix: str, name: str) -> str:
    """A column name under its level's prefix, which is not said twice: `office_name` stays."""
    if not prefix or name == prefix or name.startswith(f"{prefix}_"):
        return name
    return f"{prefix}_{name}"


def declared_columns(table: Table) -> tuple[Column, ...]:
    """Every documented column of a table: what reaches its rows from outside, then their own."""
    levels = (column for path in table.level_models for column in level_columns(table, path))
    return (*handed_columns(table), *levels, *_key_column(table), *row_columns(table))


def handed_columns(table: Table) -> tuple[Column, ...]:
    """What a row has of its parent, or of what we asked for."""
    columns = _columns_of(table.handed) if table.handed else ()
    return tuple(replace(column, source="") for column in columns)


def level_columns(table: Table, path: str) -> tuple[Column, ...]:
    """What a row has of the level above it that stands at this path, under the level's prefix."""
    prefix = table.levels.get(path, "")
    return tuple(
        replace(column, name=prefixed(prefix, column.name), source=f"{path}.{column.source}")
        for column in _columns_of(table.level_models[path])
    )


def row_columns(table: Table) -> tuple[Column, ...]:
    """What a row has of its own."""
    return _columns_of(table.model) if table.model else ()


def _key_column(table: Table) -> Iterator[Column]:
    if table.key_column:
        yield Column(table.key_column, "VARCHAR", True, "", "the name of the list that the row came in")


@cache  # every answer asks for them, and a small one is read quicker than they are made
def _columns_of(model: type[BaseModel]) -> tuple[Column, ...]:
    return tuple(_flattened(model))


def _flattened(model: type[BaseModel], source: str = "", name: str = "") -> Iterator[Column]:
    for field_name, info in model.model_fields.items():
        own_source = f"{source}{info.alias or field_name}"
        own_name = f"{name}{field_name}"
        stored = next((part for part in info.metadata if isinstance(part, Stored)), None)
        if stored:
            yield Column(own_name, stored.type, True, own_source, info.description or "")
        else:
            yield from _flattened(_nested_model(info), f"{own_source}.", f"{own_name}_")


def _nested_model(info: FieldInfo) -> type[BaseModel]:
    for part in (info.annotation, *get_args(info.annotation)):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return part
    raise TypeError(f"a row model's field must have a documented type or be an object, not {info.annotation}")
