"""The floor of the races, without guarantees: httpx, polars with a declared schema, one insert.

Nothing is kept, checked, remembered, retried or published; what the schema does not name is dropped unseen.
Run as `python -m tests.tools.bench.floor SPEC` with what `tests.tools.bench.race` writes into SPEC.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import httpx
import polars as pl

TEXT, NUMBER, WHOLE, TRUTH = pl.String(), pl.Float64(), pl.Int64(), pl.Boolean()
NAMED = pl.Struct({"id": WHOLE, "text": TEXT})
FOREIGN = dict.fromkeys(("commissionForeign", "startingPriceForeign", "finalPriceForeign"), NUMBER)
MONEY = {**FOREIGN, "currencyCode": TEXT, "currencyExchangeRate": NUMBER}
PRICES = dict.fromkeys(("commission", "startingPrice", "finalPrice"), NUMBER)
SHARE = dict.fromkeys(("value", "valueForeign", "percentageOfTotal"), NUMBER)
SHARE_CHANGE = dict.fromkeys(("commission", "commissionForeign", "percentageOfTotal"), NUMBER)
AGENT = pl.Struct(
    {
        **dict.fromkeys(("id", "name", "initials", "employeeId"), TEXT),
        "responsible": TRUTH,
        "primaryOffice": pl.Struct(dict.fromkeys(("customerId", "name", "city"), TEXT)),
        "commission": pl.Struct(SHARE),
        "changes": pl.List(pl.Struct({"changedAt": TEXT, **SHARE_CHANGE})),
    }
)
SALE = pl.Struct(
    {
        **dict.fromkeys(("id", "estateNumber", "commissionText", "commissionReceivedAt"), TEXT),
        **dict.fromkeys(("contractDay", "accessDay", "depositReportedAt", "changedAt"), TEXT),
        **dict.fromkeys(("status", "type", "assignment", "intakeSource"), NAMED),
        "address": pl.Struct(dict.fromkeys(("streetAddress", "zipCode", "countryCode"), TEXT)),
        "agents": pl.List(AGENT),
        "isNewHome": TRUTH,
        "wgs84Coordinate": pl.Struct({"longitud": NUMBER, "latitud": NUMBER}),
        "changes": pl.List(pl.Struct({"changedAt": TEXT, "status": NAMED, **PRICES, **MONEY})),
        **PRICES,
        **MONEY,
    }
)
MONTH = pl.Struct({"month": TEXT, "estateSaleReports": pl.List(SALE)})
YEAR = pl.Struct({"year": TEXT, "months": pl.List(MONTH)})
OFFICE = pl.Struct({"customerId": TEXT, "officeName": TEXT, "years": pl.List(YEAR)})

SCHEMAS: Mapping[str, Mapping[str, pl.DataType]] = {
    "running": {
        **dict.fromkeys(("userId", "customerId", "estateId"), TEXT),
        **dict.fromkeys(("amount", "exchangeRate"), NUMBER),
        "obtainedAt": TEXT,
    },
    "sales": {"officeSaleReports": pl.List(OFFICE)},
}
TIMES = ("At", "Day")


def tables(answers: str, read: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of one answer, flat, by table."""
    if answers == "running":
        yield "rows", read
    else:
        months = _elements(_elements(_elements(read, "officeSaleReports"), "years"), "months")
        estates = _elements(months, "estateSaleReports")
        agents = _elements(estates.select(pl.col("id").alias("estate"), "agents"), "agents")
        yield "estates", estates.drop("agents", "changes")
        yield "agents", agents.drop("changes")
        yield "estate_changes", _elements(estates.select(pl.col("id").alias("estate"), "changes"), "changes")
        yield (
            "agent_changes",
            _elements(agents.select(pl.col("id").alias("agent"), "estate", "changes"), "changes"),
        )


def _elements(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A row for every element of a list, its fields as columns beside the others, all the way down."""
    frame = frame.explode(name).filter(pl.col(name).is_not_null()).unnest(name)
    while nested := [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Struct)]:
        frame = frame.with_columns(pl.col(one).name.prefix_fields(f"{one}_") for one in nested).unnest(nested)
    return frame


class Floor:
    """One race of the floor; `spec` says where to ask for what."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._spec = spec
        self._http = httpx.Client(auth=("bench", "bench"), timeout=60)

    def read(self, window: tuple[str, str, str]) -> list[tuple[str, pl.DataFrame]]:
        """The answer to a window, parsed and flat."""
        customer, first, last = window
        query = {"customerId": customer, "dateFrom": f"{first}T00:00:00", "dateTo": f"{last}T23:59:59"}
        query |= {"selectionType": "Agreement"} if self._spec["answers"] == "sales" else {}
        url = self._spec["base_url"] + self._spec["path"]
        body = self._http.get(url, params=query).raise_for_status().content
        read = pl.read_json(BytesIO(body), schema=dict(SCHEMAS[self._spec["answers"]]))
        return list(tables(self._spec["answers"], read))

    def run(self) -> int:
        """Everything fetched, stacked, and inserted once for each table; returns the rows."""
        by_table: dict[str, list[pl.DataFrame]] = {}
        with ThreadPoolExecutor(self._spec["concurrency"]) as threads:
            for found in threads.map(self.read, map(tuple, self._spec["windows"])):
                for name, frame in found:
                    by_table.setdefault(name, []).append(frame)
        rows = 0
        with duckdb.connect(Path(self._spec["directory"]) / "floor.duckdb") as connection:
            for name, frames in by_table.items():
                whole = pl.concat(frames)
                rows += whole.height
                _insert(connection, name, whole)
        return rows


def _insert(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    values = ", ".join(
        f'CAST("{column}" AS {"TIMESTAMP" if column.endswith(TIMES) else "DECIMAL(18,4)"}) AS "{column}"'
        if column.endswith(TIMES) or frame.schema[column] == NUMBER
        else f'"{column}"'
        for column in frame.columns
    )
    connection.register("read", _Stream(frame))
    connection.execute(f'CREATE TABLE "{name}" AS SELECT {values} FROM read')


class _Stream:
    """A frame as DuckDB reads it without a copy."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


if __name__ == "__main__":
    print(Floor(json.loads(Path(sys.argv[1]).read_text("utf-8"))).run())  # noqa: T201
