"""What failed, and why? Windows that could not be loaded, beside those that were."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.loading import ledger_row
from warehouse.meta_tables import LOADS
from warehouse.window_result import WindowResult
from warehouse.writing import write

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def record_failures(connection: DuckDBPyConnection, failures: Sequence[WindowResult], now: datetime) -> None:
    """Write down what failed; a load that succeeded before stays as it is, with the error beside it."""
    found = connection.execute(
        "SELECT load_id FROM meta.loads WHERE load_number IS NOT NULL AND list_contains($1, load_id)",
        [[failure.load_id for failure in failures]],
    )
    loaded = {load_id for (load_id,) in found.fetchall()}
    for failure in failures:
        if failure.load_id in loaded:
            connection.execute(
                "UPDATE meta.loads SET error = ? WHERE load_id = ?", [failure.reason, failure.load_id]
            )
    new = {failure.load_id: _row(failure, now) for failure in failures if failure.load_id not in loaded}
    write(connection, LOADS, new.values(), instead_of=["load_id"])


def _row(failure: WindowResult, now: datetime) -> dict[str, object]:
    return {
        **ledger_row(failure, now),
        "status": failure.status.value,
        "error": failure.reason,
        "rows": 0,
        "note": "",
    }
