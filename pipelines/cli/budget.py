"""Command `budget`: plan budget changes from a file, and push a plan to the service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.budgets.budget import BudgetError, BudgetPlan, Change
from pipelines.budgets.plan import make_plan
from pipelines.budgets.push import push
from pipelines.cli.main import Json, app, command, option, working
from pipelines.cli.output import log, print_json, print_records, read_settings, say, warn
from pipelines.sync.run_context import RunContext
from pipelines.words import count, counted, duration
from warehouse.ledger.ledger import PushStatus

budget = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Plan budgets from a file, and push a plan."
)
app.add_typer(budget, name="budget")


@command("plan", budget)
def run_plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, Parquet or .xlsx (docs/operators.md)")],
    target: Annotated[Path, option("the file to write the plan to", "PLAN", "--plan")],
    json: Json = False,
) -> int:
    """Write a plan of the changes in a budget file; set nothing."""
    settings = read_settings()

    def announce(requests: int) -> None:
        seconds = duration(requests / settings.requests_per_second)
        log(f"reading budgets, at most {counted(requests, 'request')}, about {seconds}; nothing is set")

    if not target.parent.is_dir():
        raise BudgetError([f"There is no folder {target.parent} for the plan; create it first."])
    if target.exists():
        BudgetPlan.read(target)  # raises unless the file is a plan: only a plan may be overwritten
    with working(settings, "budget plan"):
        plan = make_plan(settings, file, RunContext(), on_requests=announce)
    plan.write(target)
    warn(*plan.notes)
    if json:
        print_json({**asdict(plan), "plan": str(target)})
        return 0
    print_records([*_differences(plan.changes)])
    if not plan.changes:
        say("the service has all these budgets already; there is nothing to push")
        return 0
    budgets = counted(len(plan.changes), "budget")
    say(f"to be set: {budgets}; check the plan in {target}, then run `brokerbi budget push {target}`")
    return 0


@command("push", budget)
def run_push(
    file: Annotated[Path, typer.Argument(metavar="PLAN", help="a plan that `budget plan` wrote")],
    patience: Annotated[float, option("how long the service may take to show a change", "SECONDS")] = 120,
    json: Json = False,
) -> int:
    """Set the budgets of a plan at the service."""
    settings = read_settings()
    plan = BudgetPlan.read(file)

    def report_outcome(change: Change, status: PushStatus, reason: str) -> None:
        log(f"{change}: {status.value}{f', {reason}' if reason else ''}")

    with working(settings, "budget push"):
        pushed = push(settings, plan, RunContext(), patience=patience, on_outcome=report_outcome)
    open_budgets = [
        {"office": office, "user": user, "month": month, "status": row.status.value, "reason": row.reason}
        for (office, user, month), row in pushed.statuses.items()
        if row.status is not PushStatus.CONFIRMED
    ]
    budgets, confirmed = len(plan.changes), len(plan.changes) - len(open_budgets)
    if json:
        numbers = {"plan_id": plan.plan_id, "budgets": budgets, "confirmed": confirmed}
        print_json({**numbers, "open": open_budgets, "stopped": pushed.stopped})
    else:
        print_records(open_budgets, ("office", "user", "month", "status"))
        hint = "; push the plan again for the rest, unless its reason says otherwise" if open_budgets else ""
        say(f"confirmed: {count(confirmed)} of {counted(budgets, 'budget')}{hint}")
    warn(pushed.stopped and f"stopped: {pushed.stopped}")
    return 0 if pushed.is_confirmed else 1


def _differences(changes: Iterable[Change]) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, str], list[tuple[int | None, int]]] = {}
    for change in changes:
        for measure, amount in change.after.items():
            before = change.before[measure]
            if amount is not None and amount != before:
                groups.setdefault((change.office_id, measure), []).append((before, amount))
    for (office, measure), amounts in sorted(groups.items()):
        earlier = [before for before, _ in amounts if before is not None]
        before, after = sum(earlier) if earlier else None, sum(after for _, after in amounts)
        difference = None if before is None else after - before
        sums = {"budgets": len(amounts), "before": before, "after": after, "difference": difference}
        yield {"office": office, "measure": measure, **sums}
