"""The parts a report is declared with: reports, tables, field types, and the columns they flatten to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


IdOf = Literal["user", "contact"]


class TimeParameters(StrEnum):
    """How a request names the time it is about."""

    DATES = "dates"  # query dateFrom and dateTo, local date-times
    MONTH_BOUNDS = "month bounds"  # query fromYear, fromMonth, toYear, toMonth, both ends included
    MONTH_IN_PATH = "month in path"  # path segments {year} and {month}
    NONE = "none"  # the answer is the present state


class StoredAs(StrEnum):
    """How the warehouse stores the rows."""

    MONTHS = "months"  # a new answer replaces whole months
    HISTORY = "history"  # a snapshot, kept as slowly changing history
    NOT_KEPT = "not kept"  # the answer only says what is to be asked next


class MonthOfRow(StrEnum):
    """How a row of an answer finds its month."""

    WINDOW = "window"  # rows carry no date: the window is one month, and that is it
    DOCUMENTED_DATE = "documented date"  # the table names the column that dates a row
    YEAR_AND_MONTH = "year and month"  # assumed: rows turn out to carry a year and a month
    NONE = "none"  # the report has no months at all


class Each(StrEnum):
    """What a report is asked for one by one, besides the customer: the name of the parameter."""

    USER = "userId"
    ESTATE = "estateId"


@dataclass(frozen=True)
class SqlType:
    """The DuckDB type that a documented field is stored as."""

    name: str


# The service sends money as JSON numbers (commissions fractional, prices whole): never int or float here.
Money = Annotated[Decimal | None, SqlType("DECIMAL(18,4)")]
Parts = Annotated[Decimal | None, SqlType("DECIMAL(18,8)")]  # a count, fractional when a sale is shared
Percent = Annotated[Decimal | None, SqlType("DECIMAL(18,8)")]
Rate = Annotated[Decimal | None, SqlType("DECIMAL(18,8)")]
Degrees = Annotated[Decimal | None, SqlType("DECIMAL(18,8)")]
LocalTime = Annotated[datetime | None, SqlType("TIMESTAMP")]  # the brokerage's wall clock
Text = Annotated[str | None, SqlType("VARCHAR")]
Integer = Annotated[int | None, SqlType("BIGINT")]
Boolean = Annotated[bool | None, SqlType("BOOLEAN")]


class Row(BaseModel):
    """Base of the row models: camelCase in JSON (interface, first section), any field may be null."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # no row is built from a model; its fields are read, and that at every start
    )


def field(description: str, *, personal: bool = False, id_of: IdOf | None = None) -> Any:
    """A documented field that may be null.

    `id_of` marks the id of a natural person, `personal` what says something of one: of the person whose id
    has the same prefix (`contact_first_name` of `contact_id`), or of everybody in the row if none has.
    """
    extra: dict[str, Any] = {"personal": personal, "id_of": id_of}
    return Field(default=None, description=description, json_schema_extra=extra)


@dataclass(frozen=True)
class Column:
    """One column of a table; `source` is the JSON path that it is read from, empty when it is ours."""

    name: str
    type: str
    documented: bool
    source: str
    description: str
    personal: bool = False
    id_of: IdOf | None = None


@dataclass(frozen=True)
class Table:
    """One table of a report: where its rows are in the answer, and what is documented of them.

    `rows` is a path of JSON keys: `[]` steps into every element of a list, `*[]` into every list of
    objects under any key (the key is kept in the column named by `key_column`), and the empty path
    is the document itself. `levels` gives, for every list on the way down that is not a table of its
    own, the prefix under which all its scalars are carried down to the rows (an empty prefix adds
    none, and a field that already begins with the prefix is not prefixed twice). A level is named by
    its path, such as `offices[].years[]`; one that is not declared goes by the key of its list.
    `parent` names the table whose rows these are nested in; its `hands_down` columns are carried.
    """

    name: str
    rows: str
    description: str
    model: type[BaseModel] | None = None
    levels: Mapping[str, str] = attribute(default_factory=dict)
    parent: str | None = None
    hands_down: Mapping[str, str] = attribute(default_factory=dict)  # column here -> column of the children
    key: tuple[str, ...] = ()  # documented id of a row, as columns
    dated_by: str | None = None  # the column that says which month a row belongs to
    key_column: str | None = None  # for `*[]`: the column that keeps the list's own key
    at_any_depth: bool = False  # the envelope is undocumented: find the list by its key at any depth
    level_models: Mapping[str, type[BaseModel]] = attribute(default_factory=dict)  # documented level fields
    inherited: tuple[Column, ...] = ()  # columns from outside the row: of its parent, or of the request


@dataclass(frozen=True)
class Report:
    """One report of the Connect service, whole: how it is requested, read and stored."""

    name: str
    subject: str
    path: str
    description: str
    time_parameters: TimeParameters
    stored_as: StoredAs
    month_of_row: MonthOfRow
    tables: tuple[Table, ...]
    max_months: int = 1  # calendar months that one request may span (interface, Limits)
    query: Mapping[str, str] = attribute(default_factory=dict)  # fixed parameters, e.g. selectionType
    customer_parameter: str | None = None  # query name of the customer id; None: it is in the path
    paged: bool = False
    unpaged_path: str | None = None  # the same report without pages, asked when paging cannot be proven
    latest_months: int | None = None  # only so many months up to the current one are calculated
    months_ahead: bool = False  # months to come are asked as well (budgets)
    each: Each | None = None  # one request per user or estate
    enabled: bool = True  # asked unless the settings say otherwise
    on_demand: bool = False  # never part of a sync of months
    follows_sales: bool = False  # a sale that is changed afterwards changes its months
    estate_id_column: str | None = None  # column of the first table: id of the estate that a row is about

    @property
    def has_months(self) -> bool:
        """Whether the ledger counts this report by month."""
        return self.month_of_row is not MonthOfRow.NONE


def inherited(name: str, description: str, id_of: IdOf | None = None) -> Column:
    """A documented text that a row has from outside: an id of its parent, or of what was asked for."""
    return Column(name, "VARCHAR", True, "", description, id_of=id_of)


def snake_case(name: str) -> str:
    """The service's camelCase or PascalCase name as we write it: `customerId` is `customer_id`."""
    return _WORD_STARTS.sub("_", name).lower()


def prefixed(prefix: str, name: str) -> str:
    """A column name under its level's prefix, which is not repeated: `office_name` stays."""
    if not prefix or name == prefix or name.startswith(f"{prefix}_"):
        return name
    return f"{prefix}_{name}"


def declared_columns(table: Table) -> tuple[Column, ...]:
    """Every documented column of a table: those from outside the row, then the row's own."""
    levels = (column for path in table.level_models for column in level_columns(table, path))
    keys = (
        [Column(table.key_column, "VARCHAR", True, "", "the name of the list that the row came in")]
        if table.key_column
        else []
    )
    return (*table.inherited, *levels, *keys, *row_columns(table))


def level_columns(table: Table, path: str) -> tuple[Column, ...]:
    """Columns that a row has of the level above it at this path, under the level's prefix."""
    prefix = table.levels.get(path, "")
    return tuple(
        replace(column, name=prefixed(prefix, column.name), source=f"{path}.{column.source}")
        for column in _columns_of(table.level_models[path])
    )


def row_columns(table: Table) -> tuple[Column, ...]:
    """The row's own columns."""
    return _columns_of(table.model) if table.model else ()


@cache  # every answer asks for them, and a small one is read quicker than they are made
def _columns_of(model: type[BaseModel]) -> tuple[Column, ...]:
    return tuple(_flattened(model))


def _flattened(model: type[BaseModel], source: str = "", prefix: str = "") -> Iterator[Column]:
    for field_name, info in model.model_fields.items():
        own_source = f"{source}{info.alias or field_name}"
        own_name = f"{prefix}{field_name}"
        stored = next((part for part in info.metadata if isinstance(part, SqlType)), None)
        if stored:
            extra: Any = info.json_schema_extra or {}
            description = info.description or ""
            yield Column(own_name, stored.name, True, own_source, description, **extra)
        else:
            yield from _flattened(_nested_model(info), f"{own_source}.", f"{own_name}_")


def _nested_model(info: FieldInfo) -> type[BaseModel]:
    for part in (info.annotation, *get_args(info.annotation)):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return part
    raise TypeError(f"a row model's field must have a documented type or be an object, not {info.annotation}")
