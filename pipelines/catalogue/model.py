"""Declarations of the catalogue: reports, their tables, and the columns of the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal, NamedTuple

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

IdOf = Literal["user", "contact"]
# How a request states its period.
TimeParameters = Literal[
    "dates",  # query dateFrom and dateTo, local date-times
    "month bounds",  # query fromYear, fromMonth, toYear, toMonth, both ends included
    "month in path",  # path segments {year} and {month}
    "none",  # the answer is the current state
]
# How the warehouse stores rows.
StoredAs = Literal[
    "months",  # a new answer replaces whole months
    "history",  # a changed row becomes a new version, and the old version stays
    "not kept",  # the answer only decides which months to request next
]
# How the month of a row is determined.
MonthOfRow = Literal[
    "window",  # rows do not state their month, so they belong to the month of the window
    "documented date",  # `Table.dated_by` names the column with the date of a row
    "year and month",  # the columns `month` and `year` state it; their paths are assumed
    "none",  # the report has no months
]
ID_SEPARATOR = "|"


@dataclass(frozen=True)
class Column:
    """One column of a table; `source` is the JSON path of its values, or empty if they come from the request.

    - `id_of` marks the id of a natural person.
    - `personal` marks a fact about a person: `name` is about the person `id`, and `contact_first_name` about
      the person `contact_id`. A free text, or a fact without such an id, is about every person in the row.
    - `name_inferred` marks a field whose name in the JSON is inferred: the interface does not state it.
    - `is_day` marks a time that stands for a whole day.
    - `needed` marks a column that is reported as missing if no row has it.
    - `documented` is true for a column that the catalogue declares, false for one found only in an answer.
    """

    name: str
    type: str
    source: str
    description: str
    documented: bool = True
    personal: bool = False
    id_of: IdOf | None = None
    name_inferred: bool = False
    is_day: bool = False
    needed: bool = False

    @property
    def is_id(self) -> bool:
        """Whether the column is a declared id. Codes of states and kinds are numbers, not ids."""
        is_named_id = self.name == "id" or self.name.endswith("_id")
        return self.documented and self.type == "VARCHAR" and is_named_id


def snake_case(name: str) -> str:
    """A name of the service in snake_case: `customerId` becomes `customer_id`."""
    return _WORD_STARTS.sub("_", name).lower()


def functions_of(path: str) -> list[str]:
    """The functions of a path, the narrowest first: crm_bids and crm for `/CRM/Bids/{customerId}`.

    A function is an area of the service. All its paths begin with the same words (interface, "What the
    service does").
    """
    words = [snake_case(word) for word in path.partition("{")[0].strip("/").split("/")]
    return ["_".join(words[:count]) for count in range(len(words), 0, -1)]


def column(sql_type: str, source: str, description: str, *, name: str = "", **marks: Any) -> Column:
    """A column for a field in the interface; any field may be null (interface, "What the service does").

    If the field is not in the row itself, `source` is a full path, and `name` is a name that we chose.
    """
    return Column(name or snake_case(source), sql_type, source, description, **marks)


# The service sends money as JSON numbers: commissions fractional, prices whole. We read them as decimals.
money = partial(column, "DECIMAL(18,4)")
parts = partial(column, "DECIMAL(18,8)")  # a count, fractional when a sale is shared
percent = rate = degrees = partial(column, "DECIMAL(18,8)")
local_time = partial(column, "TIMESTAMP")  # the brokerage's wall clock
day = partial(column, "TIMESTAMP", is_day=True)  # sent as the midnight at its start
text = partial(column, "VARCHAR")
integer = partial(column, "BIGINT")
boolean = partial(column, "BOOLEAN")
LABEL = (
    integer("id", "code; its values are not documented"),
    text("text", "meaning of the code, in the words of the service"),
)

assumed = partial(Column, name_inferred=True)
"""A column that the interface does not document: we chose its name, and assume its path."""


def nested(source: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of an object in a row: `zipCode` of `address` becomes `address_zip_code`."""
    prefix = snake_case(source)
    return tuple(
        replace(column, name=f"{prefix}_{column.name}", source=f"{source}.{column.source}")
        for column in columns
    )


def with_inferred_names(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns, marked as fields whose names in the JSON the interface does not state."""
    return tuple(replace(column, name_inferred=True) for column in columns)


requested = partial(Column, type="VARCHAR", source="")
"""A column whose value is known from the request, usually the requested id."""


@dataclass(frozen=True)
class Table:
    """One table of a report: where its rows are in the answer, and their declared columns.

    `rows` and the sources of columns are paths (pipelines/shapes/paths.py). Example: with rows at
    `offices[].users[]`, the source `name` or `.name` is the user's name, and `offices[].name` the office's.
    In a table nested in the table `users`, the source `@users.id` is the column `id` of the parent row.

    A row must have every column of the `key`, or the column that `old_keys` gives instead. Example: with
    {"office_customer_id": "customer_id"}, a row may have the second column instead of the first.
    """

    name: str
    rows: str
    description: str
    columns: tuple[Column, ...] = ()  # the declared fields of a row
    parent: str | None = None  # the table in whose rows this table is nested
    key: tuple[str, ...] = ()  # columns that identify a row; empty if the interface documents none
    old_keys: Mapping[str, str] = field(default_factory=dict)  # column of the key -> column with the older id
    dated_by: str | None = None  # the column with the date that decides the month of a row
    requested: tuple[Column, ...] = ()  # columns whose values are known from the request
    paths: Mapping[str, str] = field(default_factory=dict)  # by column: the corrected path, from shapes.toml


@dataclass(frozen=True)
class Choices:
    """A parameter with two values; every window is requested once with each, in the order of `values`.

    `column` states with which value a row was requested. Example: with {"Active": False, "Removed": True},
    `is_removed` is false in the rows of the first request.

    A row that both requests return has changed in between, so the last value counts. But if the second
    request returns nearly all rows of the first, the service probably ignores the parameter. `column` is then
    null in every row that both return.
    """

    parameter: str
    column: Column
    values: Mapping[str, bool]


class Ids(NamedTuple):
    """A source of ids: a table of schema bi, and the columns that together form one id.

    `condition` is SQL that selects rows of the table. In it, `_today` is the current date.
    """

    table: str
    columns: tuple[str, ...]
    condition: str = "true"


@dataclass(frozen=True)
class Unsettled:
    """Rows that are expected to change: the rows of `table` that meet `condition`, in SQL.

    Each nightly run requests at most `max_months` of the months with such rows: those fetched longest ago.
    """

    table: str
    condition: str
    max_months: int


@dataclass(frozen=True)
class ById:
    """How a report is requested one id at a time.

    `parameters` of the path or query take the parts of the id, such as an office and its estate. The ids come
    from the first source in `ids_from` that has any. Without `ids_from`, the operator names the ids.
    """

    parameters: tuple[str, ...]
    ids_from: tuple[Ids, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns for the parts of the requested id, such as `asked_user_id` for the parameter userId."""
        return tuple(f"asked_{snake_case(name.rpartition('.')[2])}" for name in self.parameters)

    def parts(self, requested_id: str | None) -> tuple[str | None, ...]:
        """The parts of a requested id, in the order of `parameters`; all None if `requested_id` is None."""
        if requested_id is None:
            return (None,) * len(self.parameters)
        return tuple(requested_id.split(ID_SEPARATOR, len(self.parameters) - 1))


@dataclass(frozen=True)
class Endpoint:
    """How a report is requested (interface, "Business intelligence", "Budget reports" and "Limits")."""

    path: str
    time_parameters: TimeParameters
    window_months: int = 1  # the most calendar months that are loaded together, as one window
    limit: int | None = None  # the most months of one request, if fewer than a window (interface, Limits)
    query: Mapping[str, str] = field(default_factory=dict)  # fixed parameters, such as selectionType
    choices: Choices | None = None  # a parameter with one request per value
    paged: bool = False
    unpaged_path: str | None = None  # the same report without pages, requested if pages may be incomplete
    by_id: ById | None = None  # one request per id

    @property
    def request_months(self) -> int:
        """The most months of one request; a longer window takes several requests."""
        return self.limit or self.window_months

    @property
    def choice_values(self) -> tuple[str | None, ...]:
        """The values for which each window is requested: those of `choices`, or only None."""
        return tuple(self.choices.values) if self.choices else (None,)


@dataclass(frozen=True)
class Timing:
    """When a report is requested."""

    enabled: bool = True  # whether it is on by default
    on_demand: bool = False  # whether it is requested only for ids that the operator names
    latest_months: int | None = None  # the service calculates only the latest n months
    months_ahead: bool = False  # whether future months are requested, too
    counterpart: str | None = None  # a report with the same budgets, which takes a range of months
    follows_sales: bool = False  # a changed sale makes months of this report due
    unsettled: Unsettled | None = None
    position: int = 0  # place in the catalogue; it shifts the days on which months are due


@dataclass(frozen=True)
class ShrinkLimits:
    """How many stored rows an answer may remove. An answer that would remove more is held back."""

    max_loss: float = 0.5  # share of the stored rows
    min_rows: int = 20  # if fewer rows are stored, all may be removed


ONE_MONTH_LIMITS = ShrinkLimits(min_rows=5)
SNAPSHOT_LIMITS = ShrinkLimits(max_loss=0.33, min_rows=1)


@dataclass(frozen=True)
class Report:
    """One report of the Connect service: how and when it is requested, how it is read and stored."""

    name: str
    subject: str  # the group of reports to which it belongs, such as sales
    description: str
    endpoint: Endpoint
    stored_as: StoredAs
    month_of_row: MonthOfRow
    tables: tuple[Table, ...]
    timing: Timing = field(default_factory=Timing)
    estate_id_column: str | None = None  # the column with the estate's id, in the first of `tables`
    root: str = ""  # path from the document to the value where the paths of rows and columns begin
    total_rows: str = ""  # path from the document to the number of rows on all pages
    decimal: str = ""  # the decimal separator of texts that are numbers in two ways, if known
    unpaged: Report | None = None  # the same report without pages, if its shape differs
    is_assumed: bool = False  # rows are not documented: the operator may have to correct the shape
    shape: str = ""  # a hash of the report's part of shapes.toml; empty if the file has no such part

    @property
    def margin(self) -> timedelta:
        """The extra time that a request adds before and after its months; rows from this time are not loaded.

        The interface states no time zone, so the bounds of a request and the times in the rows may be in
        different zones.
        """
        return timedelta(days=self.month_of_row == "documented date")

    @property
    def has_months(self) -> bool:
        """Whether each row belongs to a month."""
        return self.month_of_row != "none"

    @property
    def shrink_limits(self) -> ShrinkLimits:
        if not self.has_months:
            return SNAPSHOT_LIMITS
        return ONE_MONTH_LIMITS if self.endpoint.window_months == 1 else ShrinkLimits()

    @property
    def is_tracked_by_id(self) -> bool:
        """Whether the ledger tracks this report by requested id instead of by month."""
        return self.endpoint.by_id is not None and not self.has_months


def declared_columns(table: Table) -> tuple[Column, ...]:
    """All declared columns of a table: first those of the request, then those of the row."""
    return (*table.requested, *table.columns)
