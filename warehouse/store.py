"""How do loads enter the working file? One store, one transaction per group of loads, under one lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse import access
from warehouse.evolving import declare, undeclared
from warehouse.ledger import Cap, Ledger, read_ledger
from warehouse.loads import DeclaredTable
from warehouse.outlines import Outline, read_outline
from warehouse.working import LOCK_SECONDS, WorkingFile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.accounts import RequestsOfDay
    from warehouse.changes import Changed, Probe
    from warehouse.landing import Landed
    from warehouse.sitting import WriteSession
    from warehouse.window_result import TableLike, WindowResult


def utc_now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


class Store:
    """The working file of one data directory; `now` is the clock that says when something was written.

    `before` is done to every table before its rows are loaded.
    Frames are only imported where rows are written, so that reading the ledger stays quick.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        lock_seconds: float = LOCK_SECONDS,
        now: Callable[[], datetime] = utc_now,
        before: Callable[[TableLike], TableLike] | None = None,
    ) -> None:
        self._file = WorkingFile(data_dir, lock_seconds)
        self._now = now
        self._before = before

    def reading(self) -> AbstractContextManager[DuckDBPyConnection]:
        """The working file, read-only, under the write lock."""
        return self._file.opened(read_only=True)

    def writing(self) -> AbstractContextManager[DuckDBPyConnection]:
        """The working file, in one transaction, under the write lock: all is kept or nothing."""
        return self._file.transaction()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other writer out for as long as several steps must see the same rows."""
        with self._file.locked():
            yield

    def declare(self, tables: Sequence[DeclaredTable]) -> None:
        """Create every table with all its documented columns; cheap when nothing is new."""
        with self.reading() as connection:
            missing = undeclared(connection, tables)
        if missing:
            with self.writing() as connection:
                declare(connection, missing, self._now().replace(tzinfo=None))

    def load(self, loads: Sequence[WindowResult], *, afresh: bool = False) -> None:
        """Load a group in one transaction, all or none, and fill in what became of each window.

        `afresh` first forgets the histories of the group's reports and customers, for `replay`.
        """
        with self.session() as session:
            session.load(loads, afresh=afresh)

    def session(self) -> WriteSession:
        """A way to load many groups, with the working file open between them; nobody else may write then."""
        from warehouse.sitting import WriteSession

        return WriteSession(self._file, self._now, self._before)

    def record_failures(self, failures: Sequence[WindowResult]) -> None:
        """Write down windows that failed, were held back or refused."""
        from warehouse.recording import record_failures

        with self.writing() as connection:
            record_failures(connection, failures, self._now())

    def ledger(self) -> Ledger:
        """The whole ledger, read in one go."""
        with self.reading() as connection:
            return read_ledger(connection)

    def outline(self) -> Outline:
        """The ledger as far as a plan needs it, much quicker to read where many months are held."""
        with self.reading() as connection:
            return read_outline(connection)

    def effective_loads(
        self,
        reports: Sequence[str] | None = None,
        customers: Sequence[str] | None = None,
        *,
        only_quarantined: bool = False,
    ) -> list[WindowResult]:
        """The loads that a rebuild needs, oldest first: those in force, and every merged snapshot."""
        from warehouse.rebuilding import effective_loads

        with self.reading() as connection:
            return effective_loads(connection, reports, customers, only_quarantined=only_quarantined)

    def relearn(self, landed: Iterable[Landed]) -> int:
        """Bring loads back into a lost ledger from their landing files, for `replay` to load again."""
        from warehouse.rebuilding import relearn

        with self.writing() as connection:
            return relearn(connection, landed)

    def deny(self, report: str, customer: str, at_utc: datetime) -> None:
        """Remember a 403: this report of this customer is not ours to ask."""
        with self.writing() as connection:
            access.deny(connection, report, customer, at_utc)

    def allow(self, report: str, customer: str) -> None:
        """Forget a 403."""
        with self.writing() as connection:
            access.allow(connection, report, customer)

    def remember_cap(self, report: str, customer: str, cap: Cap) -> None:
        """Remember the longest window the service accepts."""
        with self.writing() as connection:
            access.remember_cap(connection, report, customer, cap, self._now())

    def forget_caps(self, report: str | None = None, customer: str | None = None) -> None:
        """Forget learned windows, of one report or customer or of all."""
        with self.writing() as connection:
            access.forget_caps(connection, report, customer)

    def remember_probe(self, probe: Probe, changed: Iterable[Changed]) -> None:
        """Write down a question what was changed, and the months that its answer named."""
        from warehouse.changes import remember_probe

        with self.writing() as connection:
            remember_probe(connection, probe, changed)

    def add_requests(self, counts: Sequence[RequestsOfDay]) -> None:
        """Add what a run asked of the service to meta.requests_by_day."""
        from warehouse.accounts import add_requests

        with self.writing() as connection:
            add_requests(connection, counts)

    def months_naming(
        self, reports: Mapping[str, tuple[str, str]], customer: str, estates: Sequence[str]
    ) -> dict[str, list[tuple[str, date]]]:
        """The held months whose rows name one of these estates: by report, pairs of estate and month."""
        from warehouse.changes import months_naming

        with self.reading() as connection:
            return months_naming(connection, reports, customer, estates)

    def users(self, customer: str) -> list[str]:
        """User ids known for a customer, from bi.users or else from bi.commission_user."""
        with self.reading() as connection:
            return access.users(connection, customer)
