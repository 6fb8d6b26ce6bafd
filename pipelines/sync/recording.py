"""What does the ledger learn from a run besides its loads? Failures, refusals and caps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.connect.clock import Clock
from pipelines.sync.pairs import Pair
from pipelines.sync.summary import Summary
from warehouse.ledger import Cap
from warehouse.window_result import WindowResult, WindowStatus

if TYPE_CHECKING:
    from warehouse.store import Store

RECORDED = frozenset({WindowStatus.FAILED, WindowStatus.HELD_BACK, WindowStatus.NO_ACCESS})


def record(store: Store, summary: Summary, pairs: Sequence[Pair], clock: Clock) -> None:
    """Write down what failed and why, who has no access, and which windows the service accepts.

    A run that was stopped because everybody was refused marks nobody: the trouble is elsewhere.
    """
    failures = [_failure(one, summary, clock) for one in summary.outcomes if one.status in RECORDED]
    if failures:
        store.record_failures(failures)
    for pair in pairs:
        report, customer = pair.name
        if pair.denied and not summary.stopped:
            store.deny(report, customer, clock.utc_now())
        if pair.cap.months or pair.cap.days:
            store.remember_cap(report, customer, Cap(days=pair.cap.days, months=pair.cap.months))


def _failure(outcome: WindowResult, summary: Summary, clock: Clock) -> WindowResult:
    now = clock.utc_now()
    load_id = f"{now:%Y%m%dT%H%M%S%f}-{outcome.report}-{outcome.customer}-{outcome.when}"
    return replace(
        outcome,
        load_id=outcome.load_id or load_id,
        run_id=summary.run_id,
        fetched_at_utc=outcome.fetched_at_utc or now,
    )
