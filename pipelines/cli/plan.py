"""Command `plan`: what a sync would request, without a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipelines.cli.output import print_json, print_table, read_settings, say
from pipelines.clock import SystemClock
from pipelines.connect.errors import LOGIN_REFUSED
from pipelines.planning.plan import Plan, PlannedReport, make_plan
from pipelines.planning.selection import Selection, left_customers
from pipelines.planning.windows import Window
from pipelines.sync.logins import login_states
from pipelines.words import count, counted, duration
from warehouse.store.database import Store


def run_plan(selection: Selection, *, details: bool, as_json: bool) -> int:
    """Print the plan of a selection, as a table or as JSON; makes no request."""
    settings = read_settings(offline=True)
    plan, outline = make_plan(settings, selection, Store(settings.data_dir), SystemClock())
    plan = without_refused(plan, login_states(settings))
    if as_json:
        print_json(_plan_as_json(plan))
        return 0
    heads = ["missing", "due", "held", "windows", "requests", ""]
    if details:
        rows = [[*planned.pair, *_cells([planned], _days(planned))] for planned in plan.planned]
        print_table(["report", "customer", *heads], rows, right=(2, 3, 4, 5, 6))
    else:
        by_customer: dict[str, list[PlannedReport]] = {}
        for planned in plan.planned:
            by_customer.setdefault(planned.customer.id, []).append(planned)
        rows = [[customer, *_cells(several)] for customer, several in by_customer.items()]
        print_table(["customer", *heads], rows, right=(1, 2, 3, 4, 5))
    for sentence in left_customers(settings, outline.held).values():
        say(sentence)
    if plan.probes:
        since = min(one.first for one in plan.probes)
        say(
            f"First {counted(len(plan.probes), 'request')} for the sales that were changed since {since}; "
            "older months that this concerns are asked for as well, and are not in this plan."
        )
    say(
        f"{counted(plan.requests_expected, 'request')} expected, {count(plan.requests)} at most if all is "
        f"well; about {duration(plan.seconds)} at {plan.requests_per_second:g} per second. None was made."
    )
    return 0


def without_refused(plan: Plan, is_refused: Callable[[str, str], bool | None]) -> Plan:
    """The plan as far as it will be asked: nothing that needs a login which the service refused."""
    return replace(
        plan,
        planned=tuple(
            replace(one, windows=(), requests=0, requests_expected=0, skipped=one.skipped or LOGIN_REFUSED)
            if is_refused(one.customer.id, one.report.name)
            else one
            for one in plan.planned
        ),
        probes=tuple(one for one in plan.probes if not is_refused(one.customer.id, one.asked_of)),
    )


def _days(planned: PlannedReport) -> list[str]:
    """How many months of a report are due by which rule, and when the first of the others is."""
    rules = Counter(planned.wanted.due.values())
    later = [due for month, due in planned.next_due.items() if month and month not in planned.wanted.months]
    following = min(later, default=None)
    return [f"{count(number)} {rule}" for rule, number in rules.items()] + (
        [f"next {following.reason} on {following.on}"] if following else []
    )


def _cells(several: Sequence[PlannedReport], more: Sequence[str] = ()) -> list[str]:
    """Planned reports added up, with the months that are asked for or why none is."""
    windows = [window for planned in several for window in planned.windows]
    counts = (
        sum(len(planned.wanted.missing) for planned in several),
        sum(len(planned.wanted.due) for planned in several),
        sum(planned.wanted.left for planned in several),
        len(windows),
        sum(planned.requests for planned in several),
    )
    reasons = {planned.skipped for planned in several if planned.skipped}
    skipped = sum(planned.skipped is not None for planned in several)
    if len(reasons) == 1 and skipped == len(several):
        return [*map(count, counts), *reasons]
    remarks = [_span(windows)] + ([f"{counted(skipped, 'report')} not asked"] if skipped else [])
    if turns := [day for planned in several for day in planned.wanted.waiting.values()]:
        remarks.append(f"{count(len(turns))} due by turns until {max(turns)}")
    if postponed := sum(planned.postponed for planned in several):
        remarks.append(f"{counted(postponed, 'id')} another night")
    return [*map(count, counts), "; ".join([*remarks, *more])]


def _span(windows: Sequence[Window]) -> str:
    """The months of windows: 2024-01 … 2026-11."""
    months = [month for window in windows for month in window.months]
    if not months:
        return "now" if windows else "all held"
    return f"{min(months)} … {max(months)}" if min(months) < max(months) else str(min(months))


def _plan_as_json(plan: Plan) -> dict[str, object]:
    return {
        "requests": plan.requests,
        "requests_expected": plan.requests_expected,
        "seconds": round(plan.seconds, 1),
        "requests_per_second": plan.requests_per_second,
        "asking_what_changed": [
            {"customer": one.customer.id, "from": str(one.first), "to": str(one.last)} for one in plan.probes
        ],
        "planned": [_planned_as_json(planned) for planned in plan.planned],
    }


def _planned_as_json(planned: PlannedReport) -> dict[str, object]:
    return {
        "report": planned.report.name,
        "customer": planned.customer.id,
        "missing": [str(month) for month in planned.wanted.missing],
        "due": [str(month) for month in planned.wanted.due],
        "due_because": {str(month): reason for month, reason in planned.wanted.due.items()},
        "next_due": {
            str(month): {"on": str(due.on), "reason": due.reason}
            for month, due in planned.next_due.items()
            if month
        },
        "held": planned.wanted.left,
        "ids_another_night": planned.postponed,
        "waiting": {str(month): str(day) for month, day in planned.wanted.waiting.items()},
        "requests": planned.requests,
        "requests_expected": planned.requests_expected,
        "skipped": planned.skipped,
        "windows": [
            {
                "months": [str(month) for month in window.months],
                "spans": [dict(zip(("from", "to"), span.bounds, strict=True)) for span in window.spans],
            }
            for window in planned.windows
        ],
    }
