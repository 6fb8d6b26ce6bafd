"""What would a sync ask? `brokerbi plan` says so without asking anything."""

from __future__ import annotations

import argparse
import json
import sys

from pipelines.cli.printing import count, duration, print_table, say
from pipelines.cli.selecting import selection_of, settings_from_environment
from pipelines.connect.clock import SystemClock
from pipelines.planning.plan import Plan, Planned
from pipelines.planning.planned import make_plan
from warehouse.store import Store


def run(arguments: argparse.Namespace) -> int:
    """Print the plan for the arguments, as a table or as JSON; makes no request."""
    settings = settings_from_environment(offline=True)
    plan, _ = make_plan(settings, selection_of(arguments), Store(settings.data_dir), SystemClock())
    if arguments.json:
        json.dump(_described(plan), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return 0
    print_table(
        ["report", "customer", "missing", "due", "held", "windows", "requests", ""],
        [_row(planned) for planned in plan.planned],
        right=(2, 3, 4, 5, 6),
    )
    if plan.probings:
        since = min(one.first for one in plan.probings)
        say(
            f"First {len(plan.probings)} customers are asked which sales were changed since {since}; older "
            "months that this concerns are asked for as well, and are not in this plan."
        )
    say(
        f"{count(plan.requests_expected)} requests expected, {count(plan.requests)} at most if all is well; "
        f"about {duration(plan.seconds)} at {plan.requests_per_second:g} per second. None was made."
    )
    return 0


def _row(planned: Planned) -> list[str]:
    spans = f"{planned.windows[0]} … {planned.windows[-1]}" if len(planned.windows) > 1 else ""
    words = planned.skipped or spans or (str(planned.windows[0]) if planned.windows else "all held")
    return [
        planned.report.name,
        planned.customer.id,
        str(len(planned.wanted.missing)),
        str(len(planned.wanted.due)),
        str(planned.wanted.left),
        str(len(planned.windows)),
        str(planned.requests),
        words,
    ]


def _described(plan: Plan) -> dict[str, object]:
    return {
        "requests": plan.requests,
        "requests_expected": plan.requests_expected,
        "seconds": round(plan.seconds, 1),
        "requests_per_second": plan.requests_per_second,
        "asking_what_changed": [
            {"customer": one.customer.id, "from": str(one.first), "to": str(one.last)}
            for one in plan.probings
        ],
        "planned": [_one(planned) for planned in plan.planned],
    }


def _one(planned: Planned) -> dict[str, object]:
    return {
        "report": planned.report.name,
        "customer": planned.customer.id,
        "missing": [str(month) for month in planned.wanted.missing],
        "due": [str(month) for month in planned.wanted.due],
        "changed": [str(month) for month in planned.wanted.changed],
        "held": planned.wanted.left,
        "requests": planned.requests,
        "requests_expected": planned.requests_expected,
        "skipped": planned.skipped,
        "windows": [
            {
                "months": [str(month) for month in window.months],
                "spans": [
                    {"from": span.starts_at.isoformat(), "to": span.ends_at.isoformat()}
                    for span in window.spans
                ],
            }
            for window in planned.windows
        ],
    }
