"""Which columns does a table have before its first row? Those its documented fields flatten to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
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
    """Every documented column of a table: carried down first, then the row's own."""
    columns = list(_handed(table))
    for path, model in table.level_models.items():
        columns += _carried(path, table.levels.get(path, ""), model)
    if table.key_column:
        columns.append(Column(table.key_column, "VARCHAR", True, "", "the name of the list the row came in"))
    if table.model:
        columns += _flattened(table.model)
    return tuple(columns)


def _handed(table: Table) -> Iterator[Column]:
    if table.handed:
        for column in _flattened(table.handed):
            yield Column(column.name, column.type, True, "", column.description)


def _carried(path: str, prefix: str, model: type[BaseModel]) -> Iterator[Column]:
    for column in _flattened(model):
        name = prefixed(prefix, column.name)
        yield Column(name, column.type, True, f"{path}.{column.source}", column.description)


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
