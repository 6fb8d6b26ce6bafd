"""In which words is a report described? The frozen descriptions that every catalogue block is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import BaseModel


class Asking(StrEnum):
    """How a request names the time it is about."""

    DATES = "dates"  # query dateFrom and dateTo, local date-times
    MONTH_BOUNDS = "month bounds"  # query fromYear, fromMonth, toYear, toMonth, both ends included
    MONTH_IN_PATH = "month in path"  # path segments {year} and {month}
    NOW = "now"  # no time at all: the answer is how things stand


class Keeping(StrEnum):
    """How rows rest in the warehouse."""

    MONTHS = "months"  # a new answer replaces whole months
    HISTORY = "history"  # a snapshot, kept as slowly changing history
    NOT_KEPT = "not kept"  # the answer only tells what is to be asked


class MonthOfRow(StrEnum):
    """How a row of an answer finds its month."""

    WINDOW = "window"  # rows carry no date: the window is one month, and that is it
    DOCUMENTED_DATE = "documented date"  # the table names the column that dates a row
    YEAR_AND_MONTH = "year and month"  # assumed: rows turn out to carry a year and a month
    NONE = "none"  # the report has no months at all


class Each(StrEnum):
    """What a report is asked for one by one, besides the customer."""

    USER = "userId"
    ESTATE = "estateId"


@dataclass(frozen=True)
class Table:
    """One table of a report: where its rows stand in the answer, and what is documented of them.

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
    levels: Mapping[str, str] = field(default_factory=dict)
    parent: str | None = None
    hands_down: Mapping[str, str] = field(default_factory=dict)  # column here -> column of the children
    key: tuple[str, ...] = ()  # documented id of a row, as columns
    dated_by: str | None = None  # the column that says which month a row belongs to
    key_column: str | None = None  # for `*[]`: the column that keeps the list's own key
    wherever: bool = False  # the envelope is undocumented: find the list by its key at any depth
    level_models: Mapping[str, type[BaseModel]] = field(default_factory=dict)  # documented level fields
    handed: type[BaseModel] | None = None  # columns from outside the row: of its parent, or what we asked for


@dataclass(frozen=True)
class Report:
    """One report of the Connect service, whole: how it is asked, cut, read and kept.

    `longest` is the number of calendar months one request may span (interface, Limits).
    """

    name: str
    subject: str
    path: str
    description: str
    asking: Asking
    keeping: Keeping
    month_of_row: MonthOfRow
    tables: tuple[Table, ...]
    longest: int = 1
    query: Mapping[str, str] = field(default_factory=dict)  # fixed parameters, e.g. selectionType
    customer_parameter: str | None = None  # query name of the customer id; None: it is in the path
    paged: bool = False
    unpaged_path: str | None = None  # the same report without pages, asked when paging cannot be proven
    latest_months: int | None = None  # only so many months up to the current one are calculated
    months_ahead: bool = False  # months to come are asked as well (budgets)
    each: Each | None = None  # one request per user or estate
    on: bool = True  # asked unless the settings say otherwise
    on_demand: bool = False  # never part of a sync of months
    follows_sales: bool = False  # a sale that is changed afterwards changes its months
    names_estates: str | None = None  # column of the first table with the id of the estate a row is about

    @property
    def has_months(self) -> bool:
        """Whether the ledger counts this report by month."""
        return self.month_of_row is not MonthOfRow.NONE
