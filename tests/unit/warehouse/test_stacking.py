"""Do rows that were inserted leave memory at once? DuckDB holds on to what it was shown."""

from __future__ import annotations

import duckdb
import polars as pl

from warehouse.stacking import show


def test_a_stream_that_was_released_holds_no_rows() -> None:
    with duckdb.connect() as connection:
        shown = show(connection, "arriving", pl.DataFrame({"a": [1, 2, 3]}))
        before = connection.execute("SELECT count(*) FROM arriving").fetchall()
        shown.release()
        after = connection.execute("SELECT count(*) FROM arriving").fetchall()
    assert (before, after) == ([(3,)], [(0,)])
