"""An export, read back with programs that are not ours.

    ENVIRONMENT/bin/python tests/tools/read_back.py EXPORT WAREHOUSE

Needs pandas, pyarrow, openpyxl and any DuckDB, such as 1.1, in an environment of its own, and nothing of this
project. EXPORT is a folder such as data/export/latest with parquet, csv and xlsx; WAREHOUSE is the published
file, which that DuckDB opens itself. Rows, sums and kinds of columns of every table must be equal; it
ends with 1 where they are not.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

NUMBERS = ("DECIMAL", "DOUBLE", "BIGINT", "INTEGER", "HUGEINT")
KINDS = {
    "DECIMAL": "double",
    "DOUBLE": "double",
    "BIGINT": "int64",
    "DATE": "date32",
    "TIMESTAMP": "timestamp",
}


def main(export: Path, warehouse: Path) -> int:
    """Compare every table of every format; the exit code."""
    duckdb, openpyxl = import_module("duckdb"), import_module("openpyxl")
    file = duckdb.connect(str(warehouse), read_only=True)
    book = openpyxl.load_workbook(export / "brokerbi.xlsx", read_only=True)
    wrong, compared = [], 0
    for path in sorted((export / "parquet").glob("*.parquet")):
        name = path.stem
        schema, _, table = name.partition(".")
        columns = dict(
            file.execute(
                "SELECT column_name, data_type FROM duckdb_columns() "
                "WHERE schema_name = ? AND table_name = ?",
                [schema, table],
            ).fetchall()
        )
        numbers = [column for column, kind in columns.items() if kind.startswith(NUMBERS)]
        sums = ", ".join(f'sum("{column}"::DECIMAL(38, 8))' for column in numbers)
        [(count, *said)] = file.execute(
            f'SELECT count(*){", " if sums else ""}{sums} FROM {schema}."{table}"'
        ).fetchall()
        expected = (count, dict(zip(numbers, map(_rounded, said), strict=True)))
        found = {"parquet": _parquet(path, numbers), "csv": _csv(export / "csv" / f"{name}.csv", numbers)}
        if table in book.sheetnames and schema == "marts":
            found["xlsx"] = _sheet(book[table], numbers)
        wrong += [
            f"{name} as {one}"
            for one, (rows, sums) in found.items()
            if rows != count or sums.items() - expected[1].items()
        ]
        wrong += [f"{name}.{column} in parquet" for column in _other_kinds(path, columns)]
        compared += len(found)
    sys.stdout.write(f"DuckDB {duckdb.__version__}: {compared} files and sheets, wrong: {wrong or 'none'}\n")
    return int(bool(wrong))


def _rounded(number: Any) -> Decimal:
    """A sum, as exactly as a double keeps it."""
    return Decimal(str(number or 0)).quantize(Decimal("0.01"))


def _parquet(path: Path, numbers: list[str]) -> tuple[int, dict[str, Decimal]]:
    frame = import_module("pandas").read_parquet(path)
    return len(frame), {one: _rounded(frame[one].dropna().sum()) for one in numbers}


def _csv(path: Path, numbers: list[str]) -> tuple[int, dict[str, Decimal]]:
    frame = import_module("pandas").read_csv(path, dtype=str, keep_default_na=False)
    return len(frame), {one: _rounded(sum(Decimal(text) for text in frame[one] if text)) for one in numbers}


def _sheet(sheet: Any, numbers: list[str]) -> tuple[int, dict[str, Decimal]]:
    heads, *rows = sheet.iter_rows(values_only=True)
    places = {one: heads.index(one) for one in numbers if not one.startswith("_")}
    sums = {
        one: _rounded(sum(Decimal(str(row[place])) for row in rows if row[place] is not None))
        for one, place in places.items()
    }
    return len(rows), sums


def _other_kinds(path: Path, columns: dict[str, str]) -> list[str]:
    """Columns that pyarrow sees as another kind than the file has."""
    schema = import_module("pyarrow.parquet").read_schema(path)
    wanted = {name: KINDS.get(kind.partition("(")[0]) for name, kind in columns.items()}
    return [
        name for name, kind in wanted.items() if kind and not str(schema.field(name).type).startswith(kind)
    ]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
