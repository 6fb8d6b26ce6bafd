"""How do loads enter the working file? One store, one transaction per group of loads, under one lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.ledger import Cap, Ledger
from warehouse.loads import DeclaredTable, FailedLoad, LandedLoad, Load, Loaded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Store:
    """The working file of one data directory."""

    def __init__(self, data_dir: Path, *, lock_seconds: float = 600.0) -> None:
        self.data_dir = Path(data_dir)
        self.lock_seconds = lock_seconds

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """The working file, read-only, under the write lock."""
        raise NotImplementedError
        yield

    @contextmanager
    def writing(self) -> Iterator[DuckDBPyConnection]:
        """The working file, in one transaction, under the write lock: all is kept or nothing."""
        raise NotImplementedError
        yield

    def declare(self, tables: Sequence[DeclaredTable]) -> None:
        """Create every table with all its documented columns; cheap when nothing is new."""
        raise NotImplementedError

    def load(self, loads: Sequence[Load], *, afresh: bool = False) -> list[Loaded]:
        """Load a group in ONE transaction. `afresh` first forgets the histories it is about (replay)."""
        raise NotImplementedError

    def record_failures(self, failures: Sequence[FailedLoad]) -> None:
        """Write down windows that failed, were held back or refused."""
        raise NotImplementedError

    def ledger(self) -> Ledger:
        """The whole ledger, read in one go."""
        raise NotImplementedError

    def deny(self, report: str, customer: str, at_utc: datetime) -> None:
        """Remember a 403: this report of this customer is not ours to ask."""
        raise NotImplementedError

    def allow(self, report: str, customer: str) -> None:
        """Forget a 403."""
        raise NotImplementedError

    def remember_cap(self, report: str, customer: str, cap: Cap) -> None:
        """Remember the longest window the service accepts."""
        raise NotImplementedError

    def forget_caps(self, report: str | None = None, customer: str | None = None) -> None:
        """Forget learned windows, of one report or customer or of all."""
        raise NotImplementedError

    def users(self, customer: str) -> list[str]:
        """User ids known for a customer, from bi.users or else from bi.commission_user."""
        raise NotImplementedError

    def effective_loads(
        self, reports: Sequence[str] | None = None, customers: Sequence[str] | None = None
    ) -> list[LandedLoad]:
        """The loads that a rebuild needs, oldest first: those in force, and every merged snapshot."""
        raise NotImplementedError
