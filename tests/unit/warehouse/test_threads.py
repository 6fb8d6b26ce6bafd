"""Is a second thread spared where a file is small, and only there?"""

from __future__ import annotations

import duckdb
import pytest

from warehouse.threads import spare_threads


@pytest.mark.parametrize(("rows", "threads"), [(0, 1), (9, 1), (10, 3)])
def test_a_small_file_is_worked_on_by_one_thread(rows: int, threads: int) -> None:
    with duckdb.connect(config={"threads": 3}) as connection:
        connection.execute("CREATE SCHEMA meta; CREATE TABLE meta.months (rows BIGINT)")
        connection.execute("INSERT INTO meta.months VALUES (NULL), ($1)", [rows])
        spare_threads(connection, little=10)
        assert connection.execute("SELECT current_setting('threads')").fetchall() == [(threads,)]
