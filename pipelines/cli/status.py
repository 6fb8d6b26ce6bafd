"""How does everything stand? `brokerbi status` says what is held, owed, refused and published."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from pipelines.cli.printing import count, print_table, say, size
from pipelines.cli.selecting import settings_from_environment
from pipelines.connect.clock import SystemClock
from pipelines.planning.plan import Planned
from pipelines.planning.planned import make_plan
from pipelines.planning.selection import Selection
from warehouse.status import Overview, PastPublication, overview
from warehouse.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.operations.set_aside import RawRow


def run(arguments: argparse.Namespace) -> int:
    """Print how everything stands, as tables or as JSON; makes no request."""
    settings = settings_from_environment(offline=True)
    store = Store(settings.data_dir)
    if arguments.forget_caps:
        store.forget_caps()
        say("the learned windows are forgotten; the next sync asks in full length again")
    plan, _ = make_plan(settings, Selection(), store, SystemClock())
    view = overview(store)
    rows = _raw_rows(store, settings.data_dir) if arguments.quarantine else []
    if arguments.json:
        told = _described(plan.planned, view)
        if arguments.quarantine:
            told["rows_in_quarantine"] = [asdict(one) for one in rows]
        json.dump(told, sys.stdout, indent=2, ensure_ascii=False, default=str)
        sys.stdout.write("\n")
    else:
        _print(plan.planned, view)
        for one in rows:
            _print_row(one)
    return 0


def _print(planned: tuple[Planned, ...], view: Overview) -> None:
    standings = {(one.report, one.customer): one for one in view.standings}
    rows = []
    for one in planned:
        standing = standings.get(one.pair)
        success = standing.last_success_utc if standing else None
        rows.append(
            [
                *one.pair,
                str(standing.held_months) if standing else "0",
                f"{standing.newest_held_month:%Y-%m}" if standing and standing.newest_held_month else "-",
                str(len(one.wanted.missing)),
                str(len(one.wanted.due)),
                f"{success:%Y-%m-%d %H:%M}" if success else "never",
                one.skipped or "",
            ]
        )
    heads = ["report", "customer", "held", "through", "missing", "due", "last success (UTC)", ""]
    print_table(heads, rows, right=(2, 4, 5))
    _print_trouble(view)
    for publication in view.publications[:5]:
        say(_published(publication))


def _raw_rows(store: Store, data_dir: Path) -> list[RawRow]:
    """Reading answers takes libraries that a plain status need not wait for."""
    from pipelines.operations.set_aside import raw_rows

    return list(raw_rows(store, data_dir))


def _print_row(one: RawRow) -> None:
    """A row in quarantine: what it is, and the line below it as it came."""
    row = one.row
    month = f", {row.month:%Y-%m}" if row.month else ""
    say(f"bi.{row.table} of {row.customer}{month}: {row.reason} ({row.place} in landing/{row.landing})")
    say(f"    {one.raw or one.trouble}")


def _print_trouble(view: Overview) -> None:
    for failure in view.failures:
        months = f"{failure.months[0]:%Y-%m}..{failure.months[-1]:%Y-%m}" if failure.months else "now"
        say(
            f"{failure.status} since {failure.since_utc:%Y-%m-%d %H:%M} UTC: {failure.report} of "
            f"{failure.customer} ({len(failure.months)} months, {months}): {failure.error}"
        )
    for refusal in view.refusals:
        since = f"{refusal.denied_at_utc:%Y-%m-%d %H:%M} UTC"
        say(f"no access since {since}: {refusal.report} of {refusal.customer}")
    for some in view.quarantined:
        say(f"quarantine: {count(some.rows)} rows of bi.{some.table} of {some.customer}: {some.reason}")
    for one in view.overlaps:
        advice = f"{one.other} need not be asked for itself" if one.is_contained else "each is counted once"
        say(f"overlap: {one.customer} and {one.other} both answer for {one.offices}; {advice}")
    for cap in view.caps:
        length = f"{cap.days} days" if cap.days else f"{cap.months} months"
        say(
            f"learned window: {cap.report} of {cap.customer} is asked for at most {length} at a time "
            "(brokerbi status --forget-caps)"
        )


def _published(publication: PastPublication) -> str:
    reasons = f": {'; '.join(publication.reasons)}" if publication.reasons else ""
    name = f" {publication.name}" if publication.name else ""
    taken = f" ({size(publication.bytes)})" if publication.bytes else ""
    return f"{publication.status}{name} at {publication.at_utc:%Y-%m-%d %H:%M} UTC{taken}{reasons}"


def _described(planned: tuple[Planned, ...], view: Overview) -> dict[str, object]:
    return {
        **asdict(view),
        "planned": [
            {
                "report": one.report.name,
                "customer": one.customer.id,
                "missing": [str(month) for month in one.wanted.missing],
                "due": [str(month) for month in one.wanted.due],
                "held": one.wanted.left + len(one.wanted.due),
                "skipped": one.skipped,
            }
            for one in planned
        ],
    }
