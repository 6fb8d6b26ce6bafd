"""Is this answer to be believed? Guards against months that empty and customers that shrink."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipelines.months import Month

FEWEST_ROWS = 10
"""A customer with fewer rows of a report than this may lose any of them without a guard stepping in."""


def emptied_months(before: Mapping[Month, int], now: Mapping[Month, int]) -> tuple[Month, ...]:
    """Months that had rows and have none now: empty is an answer, but one worth asking for twice."""
    return tuple(month for month, rows in now.items() if rows == 0 and before.get(month, 0) > 0)


def shrink_reason(total_before: int, before: Mapping[Month, int], now: Mapping[Month, int]) -> str | None:
    """Why a run's answers for a report of a customer must not be loaded, or None when they may.

    `total_before` counts all rows held of that report and customer, `before` and `now` those of the
    months that the run asked for. More than half of all rows may not go without being told to.
    """
    lost = sum(before.get(month, 0) - rows for month, rows in now.items())
    if total_before < FEWEST_ROWS or lost * 2 <= total_before:
        return None
    return (
        f"{lost} of {total_before} held rows would go, more than half; the old rows stay. "
        "If the service is right, run the same sync with --accept-shrink"
    )


def merged(counts: Iterable[Mapping[Month, int]]) -> dict[Month, int]:
    """Rows by month of several windows together."""
    total: dict[Month, int] = {}
    for one in counts:
        for month, rows in one.items():
            total[month] = total.get(month, 0) + rows
    return total
