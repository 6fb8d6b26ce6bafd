"""Small written answers for a report of sales and one of users, and a store to load them into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from tests.working_file import declare_tables
from warehouse.ledger.ledger import Ledger, ledger_of
from warehouse.ledger.window_result import WindowResult, WindowStatus
from warehouse.load.load import load_group
from warehouse.protocols import ColumnLike
from warehouse.store.database import Store
from warehouse.store.schema import StoredColumn, TableSchema

JANUARY, FEBRUARY, MARCH = (date(2024, month, 1) for month in (1, 2, 3))
NOON = datetime(2024, 4, 1, 12, tzinfo=UTC)
DTYPES: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "BIGINT": pl.Int64(),
    "DOUBLE": pl.Float64(),
    "BOOLEAN": pl.Boolean(),
    "TIMESTAMP": pl.Datetime("us"),
    "JSON": pl.String(),
    "NULL": pl.Null(),
    "DECIMAL(18,4)": pl.Decimal(18, 4),
}
PLACES: Mapping[str, pl.DataType] = {"_row": pl.Int64(), "_parent_row": pl.Int64(), "_month": pl.Date()}


def hours(number: float) -> datetime:
    """The time this many hours after noon of the first of April."""
    return NOON + timedelta(hours=number)


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    documented: bool = True
    source: str = ""
    description: str = ""
    name_inferred: bool = False
    needed: bool = False


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[ColumnLike, ...]
    frame: pl.DataFrame
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rejected:
    raw: str
    month: date | None = None
    table: str = "sales"
    place: str = "[0]"
    reason: str = "price is no number"
    column: str | None = "price"
    count: int = 1
    is_undatable: bool = False


ID = Column("id", "VARCHAR", source="id", description="id of the row")
PRICE = Column("price", "DECIMAL(18,4)", source="price", description="price in SEK")
NAME = Column("name", "VARCHAR", source="name", description="name of the user")
OFFICE = Column("office", "VARCHAR", source="offices[].office", description="an office of the user")


def declared_table(
    report: str, name: str, columns: Sequence[ColumnLike], history: bool, parent: str | None,
    key: tuple[str, ...], description: str,
) -> TableSchema:  # fmt: skip
    """A table with all its documented columns."""
    stored = {one.name: StoredColumn.of(one) for one in columns}
    return TableSchema(name, report, parent, history, key, parent is not None, description, stored)


SALES = declared_table("sales", "sales", (ID, PRICE), False, None, ("id",), "A sale.")
AGENTS = declared_table("sales", "sales_agents", (ID,), False, "sales", (), "An agent of a sale.")
USERS = declared_table("users", "users", (ID, NAME), True, None, ("id",), "A user.")
OFFICES = declared_table("users", "users__offices", (OFFICE,), True, "users", (), "An office of a user.")
DECLARED = (SALES, AGENTS, USERS, OFFICES)


def table(declared: TableSchema, rows: Iterable[Mapping[str, Any]], *more: Column) -> Table:
    """Rows of a table as normalization returns them; `more` are undocumented columns."""
    stored = declared.columns.values()
    columns = (*(Column(one.name, one.type, source=one.source) for one in stored), *more)
    given = [{"_row": number, **row} for number, row in enumerate(rows)]
    places = [name for name in PLACES if name != "_parent_row" or any(name in row for row in given)]
    kinds = {name: PLACES[name] for name in places} | {one.name: DTYPES[one.type] for one in columns}
    frame = pl.DataFrame(given, schema=kinds, orient="row")
    return Table(declared.name, columns, frame, declared.key)


def undocumented(name: str, type_: str) -> Column:
    return Column(name, type_, documented=False, source=name)


def window(load_id: str, **other: Any) -> WindowResult:
    """A window of customer M1; by default of sales in January."""
    about: dict[str, Any] = {
        "report": "sales",
        "customer": "M1",
        "months": (JANUARY,),
        "window_start": JANUARY,
        "window_end": date(2024, 1, 31),
    }
    return WindowResult(**{**about, "run_id": "run", "load_id": load_id, "fetched_at_utc": NOON, **other})


def load(load_id: str, tables: Sequence[Table], *, fetched: datetime = NOON, **other: Any) -> WindowResult:
    """A load, by default of one request that took half a second."""
    fields = {"requests": 1, "bytes": 10, "seconds": 0.5, "landing": f"{load_id}.tar.zst", **other}
    return window(load_id, tables=tables, fetched_at_utc=fetched, **fields)


def sales(load_id: str, *rows: tuple[date, str, str], fetched: datetime = NOON, **other: Any) -> WindowResult:
    """A load of sales: month, id and price of each."""
    found = [{"_month": month, "id": id_, "price": Decimal(price)} for month, id_, price in rows]
    return load(load_id, [table(SALES, found)], fetched=fetched, **other)


def column_load(
    load_id: str, type_: str, *values: Any, customer: str = "M1", name: str = "x"
) -> WindowResult:
    """A load of sales with one undocumented column of this type."""
    found = [{"_month": JANUARY, "id": str(number), name: value} for number, value in enumerate(values)]
    return load(load_id, [table(SALES, found, undocumented(name, type_))], customer=customer)


def users(
    load_id: str,
    names: Mapping[str, str],
    *,
    fetched: datetime = NOON,
    offices: Sequence[tuple[int, str]] = (),
    **other: Any,
) -> WindowResult:
    """A snapshot of users, by id, and of their offices, each with the index of its user."""
    found = [{"id": id_, "name": name} for id_, name in names.items()]
    nested = [{"_parent_row": parent, "office": office} for parent, office in offices]
    tables = [table(USERS, found), table(OFFICES, nested)]
    none: dict[str, Any] = {"months": (), "window_start": None, "window_end": None}
    return load(load_id, tables, fetched=fetched, **{"report": "users", "history": True, **none, **other})


def failed(load_id: str, **other: Any) -> WindowResult:
    """A window of sales that failed."""
    fields = {"status": WindowStatus.FAILED, "reason": "no answer", "requests": 5, "seconds": 9.0, **other}
    return window(load_id, **fields)


@dataclass
class Given:
    """A store in an empty directory, with all tables declared and a clock that stands still."""

    data_dir: Path
    now: Callable[[], datetime] = lambda: hours(24)
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = Store(self.data_dir, lock_seconds=20, now=self.now)
        if not self.working.exists():
            self.working.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.working.write_bytes(_declared())

    @property
    def working(self) -> Path:
        return self.data_dir / "work" / "warehouse.duckdb"

    def load(self, results: Sequence[WindowResult], *, from_scratch: bool = False) -> Sequence[WindowResult]:
        """Load these windows; returns their results."""
        return load_group(self.store, results, from_scratch=from_scratch)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.store.reading() as connection:
            return connection.execute(query).fetchall()

    def ledger(self) -> Ledger:
        return ledger_of(self.store)

    def read(self, read: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        with self.store.reading() as connection:
            return read(connection, *arguments, **more)

    def write(self, write: Callable[..., object], *arguments: Any) -> None:
        with self.store.writing() as connection:
            write(connection, *arguments)

    def change(self, statement: str) -> None:
        with self.store.writing() as connection:
            connection.execute(statement)


@cache
def _declared() -> bytes:
    """A working file with all tables declared and nothing loaded, made once for all tests."""
    with TemporaryDirectory() as folder:
        declare_tables(Store(Path(folder)), DECLARED)
        return Path(folder, "work", "warehouse.duckdb").read_bytes()
