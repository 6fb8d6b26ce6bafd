"""Tables of the published file as Parquet and CSV files, and as rows for other formats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from duckdb import DuckDBPyConnection

from warehouse.store.duckdb_file import literal, quoted
from warehouse.store.versions import Versions

THREADS = 2
NUMBERS = re.compile(r"DECIMAL.*|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE")
"""The types of columns that hold numbers."""
EXPORTED_AS_DOUBLE = re.compile(r"DECIMAL.*|U?HUGEINT")
"""Types that most programs read as objects, not numbers: they are exported as DOUBLE."""
MEMORY = "512MB"
"""DuckDB's memory limit. Its default would be most of the machine's memory."""


@dataclass(frozen=True)
class PublishedColumn:
    """A column with its DuckDB type and its meaning."""

    name: str
    type: str
    meaning: str

    @property
    def exported_type(self) -> str:
        """The column's type in an exported file. A number that becomes a DOUBLE keeps 15 digits."""
        return "DOUBLE" if EXPORTED_AS_DOUBLE.fullmatch(self.type) else self.type


@dataclass(frozen=True)
class PublishedTable:
    """A table or view of the published file; `name` includes its schema."""

    schema: str
    table: str
    meaning: str
    columns: tuple[PublishedColumn, ...]

    @property
    def name(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def source(self) -> str:
        """The name of the table, quoted for SQL."""
        return f"{quoted(self.schema)}.{quoted(self.table)}"

    @property
    def select(self) -> str:
        """SQL that selects all rows of the table, each column with its exported type."""
        casts = [
            f"{quoted(column.name)}::DOUBLE AS {quoted(column.name)}"
            for column in self.columns
            if column.exported_type != column.type
        ]
        return f"SELECT * REPLACE ({', '.join(casts)}) FROM {self.source}" if casts else f"FROM {self.source}"


_COLUMNS = """
SELECT columns.schema_name, columns.table_name, coalesce(tables.comment, views.comment, ''),
       list({'name': columns.column_name, 'type': columns.data_type, 'meaning': coalesce(columns.comment, '')}
            ORDER BY columns.column_index)
FROM duckdb_columns() AS columns
LEFT JOIN duckdb_tables() AS tables USING (database_name, schema_name, table_name)
LEFT JOIN duckdb_views() AS views
    ON (views.database_name, views.schema_name, views.view_name)
    = (columns.database_name, columns.schema_name, columns.table_name)
WHERE columns.database_name = current_database() AND columns.schema_name IN ('marts', 'bi')
GROUP BY ALL
ORDER BY columns.schema_name DESC, columns.table_name
"""


class TableExport:
    """The published file, open for copying its tables into files."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection

    def tables(self) -> list[PublishedTable]:
        """All tables and views of the schemas marts and bi."""
        return [
            PublishedTable(schema, name, meaning, tuple(PublishedColumn(**column) for column in columns))
            for schema, name, meaning, columns in self.connection.execute(_COLUMNS).fetchall()
        ]

    def timezone(self) -> str:
        """The time zone of the brokerage; UTC if it is not known."""
        rows = self.connection.execute("SELECT timezone FROM meta.clock").fetchall()
        return str(rows[0][0]) if rows else "UTC"

    def write_parquet(self, table: PublishedTable, path: Path) -> None:
        """Write all rows of a table. The meanings of the table and its columns are in the file's metadata.

        Dates are written as timestamps: pandas reads a date as an object, which never equals a timestamp.
        """
        dates = [quoted(column.name) for column in table.columns if column.type == "DATE"]
        casts = ", ".join(f"{date}::TIMESTAMP AS {date}" for date in dates)
        select = f"SELECT * REPLACE ({casts}) FROM ({table.select})" if dates else table.select
        meanings = json.dumps({column.name: column.meaning for column in table.columns}, ensure_ascii=False)
        self.connection.execute(
            f"COPY ({select}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{'table': {literal(table.name)}, 'meaning': {literal(table.meaning)}, "
            f"'columns': {literal(meanings)}}})"
        )

    def frame(self, select: str) -> pl.DataFrame:
        """The rows of a SELECT, in memory."""
        return pl.DataFrame(self.connection.sql(select))


def copy_as_csv(connection: DuckDBPyConnection, select: str, path: Path, formula_chars: str) -> None:
    """Write the rows of a SELECT, with a line of headings.

    An apostrophe is put before a text or heading that begins with one of `formula_chars`.
    """
    characters = ", ".join(map(literal, formula_chars))
    # If the SELECT ends in a comment, the line break ends that comment before the bracket.
    described = connection.execute(f"DESCRIBE ({select}\n)").fetchall()
    columns = [f"column_{number}" for number in range(len(described))]
    cells = []
    for column, (name, type_, *_) in zip(columns, described, strict=True):
        text = f"{column}::VARCHAR"
        guarded = f"CASE WHEN left({text}, 1) IN ({characters}) THEN chr(39) || {text} ELSE {text} END"
        heading = f"'{name}" if name.startswith(tuple(formula_chars)) else name
        cells.append(f"{column if NUMBERS.fullmatch(type_) else guarded} AS {quoted(heading)}")
    connection.execute(
        f"COPY (SELECT {', '.join(cells)} FROM ({select}\n) AS answer({', '.join(columns)})) "
        f"TO {literal(str(path))} (FORMAT csv, HEADER, USE_TMP_FILE false)"
    )


@contextmanager
def table_export(data_dir: Path) -> Iterator[TableExport]:
    """Open the published file; raises WarehouseError if there is none."""
    with Versions(data_dir).reading() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'; SET threads = {THREADS}")
        yield TableExport(connection)
