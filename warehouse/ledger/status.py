"""Status: how far every report is loaded, issues, publications, requests, and the state of the files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duckdb import BinderException, CatalogException

from warehouse.ledger.conditions import Condition, Kind
from warehouse.store.database import Store
from warehouse.store.lock import WORK, holder_of
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class ReportStatus:
    """One report of one customer: how far it is loaded, when it is due, and its state."""

    report: str
    customer: str
    held_months: int
    newest_held_month: date | None
    last_success_utc: datetime | None
    due_utc: datetime | None
    state: str


@dataclass(frozen=True)
class PastPublication:
    """One attempt to publish, or one rollback."""

    name: str | None
    at_utc: datetime
    status: str
    bytes: int | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class DailyRequests:
    """The requests of a day, all reports and customers together."""

    day: date
    customers: int
    requests: int
    repeated: int
    failed: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Overview:
    """Everything that the command `status` shows; `status --json` uses these field names."""

    standings: Sequence[ReportStatus]
    conditions: Sequence[Condition] = ()
    publications: Sequence[PastPublication] = ()
    nights: Sequence[DailyRequests] = ()
    is_published: bool = True
    """Whether a published version is recorded. After a replay of a lost working file, none is recorded."""
    is_lost: bool = False
    """Whether the working file is missing, although landing has answers."""
    published_file: str = ""
    """GONE, CHANGED, DAMAGED or UNRECORDED (after a replay of a lost working file), else empty."""


GONE, CHANGED, DAMAGED, UNRECORDED = "gone", "changed", "damaged", "unrecorded"
_REPORTS = """
    SELECT report, customer, held_months, newest_held_month, last_success_utc, due_utc, state
    FROM meta.freshness ORDER BY report, customer
"""
_CONDITIONS = """
    SELECT kind, severity, coalesce(report, ''), coalesce(customer, ''), month, since_utc,
           coalesce(cause, ''), coalesce(error, ''), coalesce(remedy, ''),
           coalesce(login, ''), coalesce(trouble, ''), coalesce(check_name, ''),
           coalesce(row_count, 0), cause_key
    FROM meta.conditions ORDER BY cause_place, kind, report, customer, month, error
"""
_PUBLICATIONS = """
    SELECT name, at_utc, status, bytes, coalesce(reasons, []) FROM meta.publications
    ORDER BY rowid DESC LIMIT 10  -- in the order in which they were made: the clock may have been ahead once
"""
_DAILY_REQUESTS = """
    SELECT day, count(DISTINCT customer), sum(requests)::BIGINT, sum(repeated)::BIGINT, sum(failed)::BIGINT,
           sum(bytes)::BIGINT, sum(seconds)
    FROM meta.requests_by_day GROUP BY day ORDER BY day DESC LIMIT 7
"""
_IS_PUBLISHED = "SELECT count(name) > 0 FROM meta.publications"
_CURRENT_PUBLICATION = """
    SELECT name, header_sha256, bytes FROM meta.publications
    WHERE status = 'published' AND name = (
        SELECT arg_max(name, rowid) FROM meta.publications WHERE name IS NOT NULL
    )
"""


def overview(store: Store, *, unless_checked_since: datetime | None = None) -> Overview:
    """The status of the working file; no request is sent to the service.

    If `unless_checked_since` is given, a published file that was last checked earlier is checked for damage.
    """
    with store.reading() as connection:
        status = replace(
            read_state(connection, Versions(store.data_dir)),
            nights=[DailyRequests(*row) for row in _rows(connection, _DAILY_REQUESTS)],
            is_lost=store.is_lost,
        )
    versions = Versions(store.data_dir)
    version = versions.current() if unless_checked_since and not status.published_file else None
    if version and versions.is_damaged(version, unless_checked_since=unless_checked_since):
        return replace(status, published_file=DAMAGED)
    return status


def read_state(connection: DuckDBPyConnection, versions: Versions | None = None) -> Overview:
    """Reports, conditions and publications, from the working file or a published one.

    With `versions`, the result also states whether the published file is as it was published.
    """
    [(is_published,)] = connection.execute(_IS_PUBLISHED).fetchall()
    return Overview(
        [ReportStatus(*row) for row in _rows(connection, _REPORTS)],
        read_conditions(connection),
        [PastPublication(*row) for row in _rows(connection, _PUBLICATIONS)],
        is_published=is_published,
        published_file=_published_file(connection, versions) if versions else "",
    )


def _published_file(connection: DuckDBPyConnection, versions: Versions) -> str:
    current = connection.execute(_CURRENT_PUBLICATION).fetchall()
    if not versions.published.exists():
        return GONE if current else ""
    if not current:
        return UNRECORDED
    if all(versions.is_as_published(*publication) for _, *publication in current):
        return ""
    # a running publication may have renamed its file, but cannot record that while this connection is open
    is_publishing = holder_of(versions.data_dir / WORK) and versions.current() not in (None, current[0][0])
    return "" if is_publishing else CHANGED


def read_conditions(connection: DuckDBPyConnection) -> list[Condition]:
    """The rows of meta.conditions; empty if the view is outdated.

    Of the rows with the same cause, the one that represents the cause comes first.
    """
    try:
        rows = _rows(connection, _CONDITIONS)
    except (BinderException, CatalogException):
        return []
    return [Condition(Kind(kind), *row) for kind, *row in rows]


def nearest_existing(data_dir: Path) -> Path:
    """A data directory, or the nearest folder above it that exists."""
    absolute = Path(data_dir).absolute()
    return next(path for path in (absolute, *absolute.parents) if os.access(path, os.F_OK))


def unwritable_paths(data_dir: Path) -> list[Path]:
    """Unwritable paths in a data directory; if it is missing, the nearest folder above it is checked."""
    root = nearest_existing(data_dir)
    if not root.is_dir():
        return [root]
    names = ("landing", "work", "work/warehouse.duckdb", "published")
    paths = (root, *(Path(data_dir) / name for name in names))
    return [path for path in paths if os.access(path, os.F_OK) and not os.access(path, os.W_OK)]


def _rows(connection: DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    rows = connection.execute(query).fetchall()
    return [tuple(tuple(value) if isinstance(value, list) else value for value in row) for row in rows]
