"""The floor of the races, without guarantees: httpx, polars with a declared schema, one insert.

It stores no answers, and checks, records, retries and publishes nothing. Undeclared fields are dropped.
Run as `python -m tests.tools.bench.floor BASE_URL WINDOWS DIRECTORY`.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from io import BytesIO
from pathlib import Path

import duckdb
import httpx
import polars as pl

from tests.tools.bench.service import CUSTOMER, PATH, windows

CONCURRENCY = 5
SCHEMA = {
    **dict.fromkeys(("userId", "customerId", "estateId"), pl.String()),
    **dict.fromkeys(("amount", "exchangeRate"), pl.Float64()),
    "obtainedAt": pl.String(),
}
INSERT = """
CREATE TABLE rows AS SELECT
    * REPLACE (
        amount::DECIMAL(18,4) AS amount, "exchangeRate"::DECIMAL(18,4) AS "exchangeRate",
        "obtainedAt"::TIMESTAMP AS "obtainedAt"
    )
FROM read
"""


class _Stream:
    """A frame as DuckDB reads it without a copy."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def main(base_url: str, window_count: int, directory: Path) -> int:
    """Fetch everything, and insert it at once; returns the number of rows."""
    client = httpx.Client(base_url=base_url, auth=("bench", "bench"), timeout=60)

    def read(window: tuple[date, date]) -> pl.DataFrame:
        first, last = window
        query = {"customerId": CUSTOMER, "dateFrom": f"{first}T00:00:00", "dateTo": f"{last}T23:59:59"}
        body = client.get(PATH, params=query).raise_for_status().content
        return pl.read_json(BytesIO(body), schema=SCHEMA)

    with ThreadPoolExecutor(CONCURRENCY) as threads:
        rows = pl.concat(threads.map(read, windows(window_count)))
    with duckdb.connect(directory / "floor.duckdb") as connection:
        connection.register("read", _Stream(rows))
        connection.execute(INSERT)
    return rows.height


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))  # noqa: T201
