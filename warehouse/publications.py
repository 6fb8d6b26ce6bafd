"""What was published, refused or rolled back to, and when? Rows of meta.publications."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.entering import naive_utc

PUBLISHED, REFUSED, ROLLED_BACK = "published", "refused", "rolled back"


@dataclass(frozen=True)
class Contents:
    """What the working file holds: loads in force, up to which number, and what must stay behind."""

    loads: int
    last_load_number: int
    has_traces: bool


@dataclass(frozen=True)
class Publication:
    """A publication that was made, refused or rolled back to; `reasons` say why it was refused."""

    status: str
    at_utc: datetime
    path: Path
    version: str | None = None
    bytes: int | None = None
    seconds: float | None = None
    loads: int | None = None
    last_load_number: int | None = None
    header_sha256: str | None = None
    reasons: tuple[str, ...] = ()

    @property
    def published(self) -> bool:
        """Whether analysts see another file than before."""
        return self.status != REFUSED


def contents(connection: DuckDBPyConnection) -> Contents:
    """What a publication of this file would hold."""
    [row] = connection.execute(
        """
        SELECT (SELECT count(DISTINCT load_id) FROM meta.months),
               (SELECT coalesce(max(load_number), 0) FROM meta.loads),
               (SELECT coalesce(has_traces, true) FROM meta.storage)
        """
    ).fetchall()
    return Contents(*row)


def remember(connection: DuckDBPyConnection, publication: Publication) -> None:
    """Write a publication down."""
    connection.execute(
        """
        INSERT INTO meta.publications
        (name, at_utc, status, last_load_number, loads, bytes, seconds, header_sha256, reasons)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
            publication.version,
            naive_utc(publication.at_utc),
            publication.status,
            publication.last_load_number,
            publication.loads,
            publication.bytes,
            publication.seconds,
            publication.header_sha256,
            list(publication.reasons),
        ],
    )


def headers(connection: DuckDBPyConnection) -> dict[str, str]:
    """The header that each version had when it was made."""
    found = connection.execute(
        "SELECT name, header_sha256 FROM meta.publications WHERE status = $1", [PUBLISHED]
    )
    return {name: header for name, header in found.fetchall() if header}
