"""How much was asked of the service? Requests by day, customer and report, added up run by run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from warehouse.request_tables import REQUESTS_BY_DAY

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class RequestsOfDay:
    """What one report of one customer cost on one day; every try counts, seconds are those of waiting."""

    day: date
    customer: str
    report: str
    requests: int = 0
    repeated: int = 0
    failed: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def with_one(self, *, is_repeated: bool, has_failed: bool, size: int, seconds: float) -> RequestsOfDay:
        """The same with one more request."""
        return replace(
            self,
            requests=self.requests + 1,
            repeated=self.repeated + is_repeated,
            failed=self.failed + has_failed,
            bytes=self.bytes + size,
            seconds=self.seconds + seconds,
        )


def add_requests(connection: DuckDBPyConnection, counts: Sequence[RequestsOfDay]) -> None:
    """Add what a run asked to what other runs of the same days have asked."""
    from warehouse.writing import write

    if not counts:
        return
    since = min(one.day for one in counts)
    write(connection, REQUESTS_BY_DAY, [asdict(one) for one in counts])
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE added_up AS
        SELECT day, customer, report, sum(requests) AS requests, sum(repeated) AS repeated,
               sum(failed) AS failed, sum(bytes) AS bytes, sum(seconds) AS seconds
        FROM meta.requests_by_day WHERE day >= $1 GROUP BY ALL ORDER BY ALL
        """,
        [since],
    )
    connection.execute("DELETE FROM meta.requests_by_day WHERE day >= $1", [since])
    connection.execute("INSERT INTO meta.requests_by_day BY NAME FROM added_up")
    connection.execute("DROP TABLE added_up")
