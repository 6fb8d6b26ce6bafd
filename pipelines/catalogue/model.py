"""The parts a report is declared with: reports, their tables, and the documented columns of those."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal, NamedTuple

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

IdOf = Literal["user", "contact"]
# How a request names the time it is about.
TimeParameters = Literal[
    "dates",  # query dateFrom and dateTo, local date-times
    "month bounds",  # query fromYear, fromMonth, toYear, toMonth, both ends included
    "month in path",  # path segments {year} and {month}
    "none",  # the answer is the present state
]
# How the warehouse stores the rows.
StoredAs = Literal[
    "months",  # a new answer replaces whole months
    "history",  # a snapshot, kept as slowly changing history
    "not kept",  # the answer only says what is to be asked next
]
# How a row of an answer finds its month.
MonthOfRow = Literal[
    "window",  # rows carry no date: the window is one month, and that is it
    "documented date",  # the table names the column that dates a row
    "year and month",  # assumed: rows turn out to carry a year and a month
    "none",  # the report has no months at all
]
BETWEEN_IDS = "|"


@dataclass(frozen=True)
class Column:
    """One column of a table; `source` is the JSON path that it is read from, empty when it is ours.

    `id_of` marks the id of a natural person, `personal` what says something of one: of the person whose id
    has the same prefix (`contact_first_name` of `contact_id`), or of everybody in the row if none has.
    `name_inferred` says that the field is documented, but not how it is written in the JSON, `is_day` that a
    time holds a day and no time of day.
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
        """Whether it is a documented id; the numbers of states and kinds are none, of which 0 may be one."""
        is_named_so = self.name == "id" or self.name.endswith("_id")
        return self.documented and self.type == "VARCHAR" and is_named_so


def snake_case(name: str) -> str:
    """The service's camelCase or PascalCase name as we write it: `customerId` is `customer_id`."""
    return _WORD_STARTS.sub("_", name).lower()


def functions_of(path: str) -> list[str]:
    """What a path is part of, the narrowest first: `/CRM/Bids/{customerId}` is of crm_bids and of crm.

    The paths of a functional area begin alike (interface, What the service does).
    """
    words = [snake_case(word) for word in path.partition("{")[0].strip("/").split("/")]
    return ["_".join(words[:count]) for count in range(len(words), 0, -1)]


def column(sql_type: str, source: str, description: str, *, name: str = "", **marks: Any) -> Column:
    """A documented field by its name in the JSON (interface, first section); any field may be null.

    A field of a level above the row, or of the parent row, has a whole path and a name of ours.
    """
    return Column(name or snake_case(source), sql_type, source, description, **marks)


# The service sends money as JSON numbers (commissions fractional, prices whole): never int or float here.
money = partial(column, "DECIMAL(18,4)")
parts = partial(column, "DECIMAL(18,8)")  # a count, fractional when a sale is shared
percent = rate = degrees = partial(column, "DECIMAL(18,8)")
local_time = partial(column, "TIMESTAMP")  # the brokerage's wall clock
day = partial(column, "TIMESTAMP", is_day=True)  # sent as the midnight that it begins with
text = partial(column, "VARCHAR")
integer = partial(column, "BIGINT")
boolean = partial(column, "BOOLEAN")

assumed = partial(Column, name_inferred=True)
"""A column of a report whose rows are documented nowhere: our name of it, and its assumed path."""


def nested(source: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of an object in the row: `address` with `zipCode` gives `address_zip_code`."""
    prefix = snake_case(source)
    return tuple(
        replace(column, name=f"{prefix}_{column.name}", source=f"{source}.{column.source}")
        for column in columns
    )


def with_inferred_names(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Documented fields whose names in the JSON follow from the interface's rule, and are shown nowhere."""
    return tuple(replace(column, name_inferred=True) for column in columns)


requested = partial(Column, type="VARCHAR", source="")
"""What a row has of its request, mostly a text: the id that was requested."""


@dataclass(frozen=True)
class Table:
    """One table of a report: where its rows are in the answer, and what is documented of them.

    `rows` is a path of JSON keys: `[]` steps into every element of a list, `*[]` into every list of objects
    under any key (a column at `#` keeps the key), and the empty path is the document itself. Columns are
    members of the row, or have the whole path of a level above it (`offices[].name`) or of a column of the
    parent row (`@parent.id`). `parent` names the table whose rows these are nested in. A row without a column
    of the `key` fits if it has the one that `old_keys` names.
    """

    name: str
    rows: str
    description: str
    columns: tuple[Column, ...] = ()  # the documented fields of a row; of other rows nobody knows
    parent: str | None = None
    key: tuple[str, ...] = ()  # documented id of a row, as columns
    old_keys: Mapping[str, str] = field(default_factory=dict)  # column of the key -> column of its old id
    dated_by: str | None = None  # the column that says which month a row belongs to
    requested: tuple[Column, ...] = ()  # columns of the request
    paths: Mapping[str, str] = field(default_factory=dict)  # where an operator says that columns are


@dataclass(frozen=True)
class Choices:
    """A parameter that is requested with each of its values, in this order, for every window.

    `column` of every topmost table has what a value means for its rows. A row that comes with several values
    moved between the requests: the last counts. If nearly all rows of the first come again, the service
    ignores the parameter, and `column` is null in rows that came with several.
    """

    parameter: str
    column: Column
    values: Mapping[str, bool]


class Ids(NamedTuple):
    """Where ids come from: columns of a table of schema bi, of its rows that meet a condition in SQL.

    The condition may name `_today`, the local day.
    """

    table: str
    columns: tuple[str, ...]
    condition: str = "true"


@dataclass(frozen=True)
class Unsettled:
    """Rows of a table that will still change; the `most` months read longest ago are requested each night."""

    table: str
    condition: str
    most: int


@dataclass(frozen=True)
class Each:
    """A report that is requested id by id.

    The id goes where the path or the query names it; several names are the parts of one id, such as an office
    and its estate. The first of `ids_from` that has any id counts. Without one, the operator names the ids.
    """

    names: tuple[str, ...]
    ids_from: tuple[Ids, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in which every row has the id that was requested."""
        return tuple(f"asked_{snake_case(name.rpartition('.')[2])}" for name in self.names)

    def parts(self, id_: str | None) -> tuple[str | None, ...]:
        """The parts of an id, in the order of `names`."""
        if id_ is None:
            return (None,) * len(self.names)
        return tuple(id_.split(BETWEEN_IDS, len(self.names) - 1))


@dataclass(frozen=True)
class Endpoint:
    """How a report is requested (interface, Business intelligence, Budget reports and Limits)."""

    path: str
    time_parameters: TimeParameters
    window_months: int = 1  # calendar months that are asked and loaded together at most
    limit: int | None = None  # months that one request may span, where less is stated (interface, Limits)
    query: Mapping[str, str] = field(default_factory=dict)  # fixed parameters, e.g. selectionType
    choices: Choices | None = None  # a parameter that is asked value by value
    paged: bool = False
    unpaged_path: str | None = None  # the same report without pages, asked when paging cannot be proven
    each: Each | None = None  # one request per id

    @property
    def request_months(self) -> int:
        """How many months one request spans at most; a window of more is asked in several."""
        return self.limit or self.window_months

    @property
    def questions(self) -> tuple[str | None, ...]:
        """The values that a window is asked one after the other; None where it is one question."""
        return tuple(self.choices.values) if self.choices else (None,)


@dataclass(frozen=True)
class Timing:
    """When a report is asked."""

    enabled: bool = True  # asked unless the settings say otherwise
    on_demand: bool = False  # never part of a sync of months
    latest_months: int | None = None  # only so many months up to the current one are calculated
    months_ahead: bool = False  # of a budget: months to come too; one a request: all once a week
    counterpart: str | None = None  # the report that has the same for a range of months in one request
    follows_sales: bool = False  # a sale that is changed afterwards changes its months
    unsettled: Unsettled | None = None
    place: int = 0  # in the catalogue, so that older months of reports are asked on different nights


@dataclass(frozen=True)
class ShrinkLimits:
    """How many of the stored rows of a window's months an answer may remove without being held back."""

    largest_loss: float = 0.5  # share of the stored rows
    fewest_rows: int = 20  # of fewer stored rows all may go


ONE_MONTH_LIMITS = ShrinkLimits(fewest_rows=5)
SNAPSHOT_LIMITS = ShrinkLimits(largest_loss=0.33, fewest_rows=1)


@dataclass(frozen=True)
class Report:
    """One report of the Connect service, whole: how and when it is requested, how it is read and stored.

    That its parts fit together is a test of the catalogue.
    """

    name: str
    subject: str
    description: str
    endpoint: Endpoint
    stored_as: StoredAs
    month_of_row: MonthOfRow
    tables: tuple[Table, ...]
    timing: Timing = field(default_factory=Timing)
    estate_id_column: str | None = None  # column of the first table: id of the estate that a row is about
    root: str = ""  # members that lead from an answer to what the paths of tables begin at
    total_rows: str = ""  # of a report in pages: members that lead to the number of rows of all pages
    decimal: str = "."  # what is before the fraction of numbers that are written as texts
    unpaged: Report | None = None  # the shape of its unpaged counterpart, where that is another
    is_assumed: bool = False  # its rows are documented nowhere: an operator may have to correct its shape
    shape: str = ""  # a hash of what shapes.toml says of its rows and columns; empty: it is as declared

    @property
    def margin(self) -> timedelta:
        """By how much more is asked for at both ends than the months wanted.

        Where rows carry dates of their own those of other months are left out again, and a service that reads
        the bounds in another time zone than its rows loses none (interface: no zone of date-times is stated).
        """
        return timedelta(days=self.month_of_row == "documented date")

    @property
    def has_months(self) -> bool:
        """Whether the ledger counts this report by month."""
        return self.month_of_row != "none"

    @property
    def shrink_limits(self) -> ShrinkLimits:
        """The limits of reports whose windows have many months, one month, or none."""
        if not self.has_months:
            return SNAPSHOT_LIMITS
        return ONE_MONTH_LIMITS if self.endpoint.window_months == 1 else ShrinkLimits()

    @property
    def is_by_id(self) -> bool:
        """Whether the ledger counts this report by the ids asked for; a night may have none to ask for."""
        return self.endpoint.each is not None and not self.has_months


def declared_columns(table: Table) -> tuple[Column, ...]:
    """Every documented column of a table: those of its request, then the row's."""
    return (*table.requested, *table.columns)
