"""Which loads of a group enter, and with which of their months? An older fetch never replaces a newer one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from duckdb import DuckDBPyConnection

from warehouse.window_result import WindowResult

Held = dict[tuple[str, str, date | None], tuple[datetime, int]]
"""For a month of a report and customer: when the load in force was fetched, and its rows."""

WITHOUT_MONTHS: tuple[date | None, ...] = (None,)


@dataclass(frozen=True)
class Entry:
    """A load on its way into the tables: its number, and the months that are its to replace."""

    load: WindowResult
    number: int
    months: tuple[date | None, ...]
    superseded: tuple[date, ...]
    known: bool = False  # loaded before: this is a replay
    changed_before: tuple[int, int] = (0, 0)  # rows of history that it opened and closed then

    @property
    def scope(self) -> tuple[str, str]:
        return self.load.report, self.load.customer

    @property
    def first_row(self) -> int:
        """What is added to a row's place in the answer to make it unique over all loads."""
        return self.number << 24


def check_loads(loads: Sequence[WindowResult]) -> None:
    """Refuse what only a mistake of the caller can be."""
    for load_id, times in Counter(load.load_id for load in loads).items():
        if times > 1:
            raise ValueError(f"load {load_id} stands {times} times in one group")
    for load in loads:
        if load.fetched.tzinfo is None:
            raise ValueError(f"load {load.load_id} was fetched at a time without a time zone")
        if len(set(load.months)) != len(load.months):
            raise ValueError(f"load {load.load_id} names a month twice")


def naive_utc(moment: datetime) -> datetime:
    """A moment as our _utc columns hold it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def enter(connection: DuckDBPyConnection, loads: Sequence[WindowResult], held: Held) -> list[Entry]:
    """Number the loads, and leave out the months for which something newer is held or comes along."""
    before = _loaded_before(connection, [load.load_id for load in loads])
    following = following_number(connection)
    newest = _newest(loads, held)
    entries = []
    for position, load in enumerate(loads):
        own: list[date | None] = [
            month for month in load.months or WITHOUT_MONTHS
            if load.history or newest[load.report, load.customer, month][1] == position
        ]  # fmt: skip
        lost = tuple(month for month in load.months if month not in own)
        if load.load_id in before:
            number, *changed = before[load.load_id]
            entries.append(Entry(load, number, tuple(own), lost, True, (changed[0], changed[1])))
        else:
            entries.append(Entry(load, following, tuple(own), lost))
            following += 1
    return entries


def held_months(connection: DuckDBPyConnection, loads: Sequence[WindowResult]) -> Held:
    """What is held of the reports and customers of these loads."""
    reports = list({load.report for load in loads})
    customers = list({load.customer for load in loads})
    found = connection.execute(
        """
        SELECT report, customer, month, fetched_at_utc, rows FROM meta.months
        WHERE list_contains($1, report) AND list_contains($2, customer)
        """,
        [reports, customers],
    )
    return {(report, customer, month): (at, rows) for report, customer, month, at, rows in found.fetchall()}


def _newest(
    loads: Sequence[WindowResult], held: Held
) -> dict[tuple[str, str, date | None], tuple[datetime, int]]:
    """For each month: when the newest answer was fetched and by which load (-1: what is held)."""
    newest = {key: (fetched, -1) for key, (fetched, _) in held.items()}
    for position, load in enumerate(loads):
        fetched = naive_utc(load.fetched)
        for month in load.months or WITHOUT_MONTHS:
            key = load.report, load.customer, month
            if key not in newest or fetched >= newest[key][0]:
                newest[key] = fetched, position
    return newest


def _loaded_before(connection: DuckDBPyConnection, load_ids: list[str]) -> dict[str, tuple[int, int, int]]:
    found = connection.execute(
        """
        SELECT load_id, load_number, opened, closed FROM meta.loads
        WHERE load_number IS NOT NULL AND list_contains($1, load_id)
        """,
        [load_ids],
    )
    return {load_id: (number, opened, closed) for load_id, number, opened, closed in found.fetchall()}


def following_number(connection: DuckDBPyConnection) -> int:
    """The number of the next new load."""
    [(number,)] = connection.execute("SELECT coalesce(max(load_number), 0) + 1 FROM meta.loads").fetchall()
    return int(number)
