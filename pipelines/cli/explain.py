"""Command `explain`: one number, followed back to the stored answers, and the mart rows around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from pipelines.cli.output import amount, complain, line, print_json, read_settings, say, table, written
from pipelines.diagnosis.explain import Explanation, explain
from pipelines.months import Month
from pipelines.units import MONTH, SHARE, unit_of
from pipelines.words import count, counted, size
from warehouse.marts.lineage import Trace, TracedLoad

SHOWN_REQUESTS = 5
MOST_ROWS = 30
"""A table shows this many rows; --json has all."""
TABLES = {
    "sources": ("the answers", "whose answers count, from marts.office_sources"),
    "doubts": ("doubts", "from marts.doubts"),
    "compared": ("compared with", "the month before, and the same months a year before, from marts.{}_month"),
    "drivers": ("driven by", "from marts.commission_drivers, of sales alone"),
    "same_days": ("the same days", "from marts.same_days, by day of contract"),
    "budgets": ("budget", "from marts.{}_budget_vs_actual, without VAT as far as it is declared"),
    "budget_changes": ("budget changed", "from marts.budget_changes"),
    "changes": ("changed since", "after the month was over, from marts.month_changes"),
    "reasons": ("because of", "from marts.month_change_reasons, as the office has them"),
    "parts": ("parts", "the largest difference since the year before first"),
    "sales": ("the sales", "from marts.sale_shares and marts.receivables"),
    "leads": ("the leads", "by kind and state, from marts.leads"),
}
"""By the name of the query in sql/explain: head and note of its table."""
Cell = Decimal | date | bool | int | str | list[str] | None


def run_explain(month: Month, measure: str, *, office: str, user: str, as_json: bool) -> int:
    """Print the way to a number; 1 if its rows do not make it, or a stored answer is gone or damaged."""
    explanations = explain(
        read_settings(reading=True).data_dir,
        month=month.first_day,
        measure=measure,
        office=office,
        user=user,
    )
    if as_json:
        objects = [_as_json(explanation) for explanation in explanations]
        print_json(objects if len(objects) > 1 else objects[0])
    else:
        print_explanations(explanations)
    return int(not all(explanation.agrees for explanation in explanations))


def print_explanations(explanations: Sequence[Explanation]) -> None:
    """Print the explanation of a number, or of a year to date by its months."""
    if len(explanations) > 1:
        _print_year(explanations)
    else:
        _print_month(explanations[0])
    for explanation in explanations:
        trace = explanation.trace
        if explanation.damage:
            complain(f"brokerbi: {explanation.damage}")
        if trace.difference:
            complain(
                f"brokerbi: {trace.number.month:%Y-%m}: the rows make {written(trace.total)}, "
                f"the number differs by {written(trace.difference)}"
            )


def _as_json(explanation: Explanation) -> dict[str, Any]:
    trace = explanation.trace
    return {
        **{name: getattr(trace.number, name) for name in ("kind", "id", "month", "measure")},
        **{name: getattr(trace, name) for name in ("name", "is_open", "is_ahead")},
        "value": _plain(trace.value),
        "agrees": explanation.agrees,
        "trouble": explanation.damage,
        "rows": {"query": f"SELECT * {trace.rows}", "count": trace.row_count, "total": _plain(trace.total)},
        "loads": [load.load_id for load in trace.loads],
        "around": {
            question: [{name: _plain(value) for name, value in row.items()} for row in rows]
            for question, rows in explanation.around.items()
        },
    }


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def _print_month(explanation: Explanation) -> None:
    """One number, a step a line."""
    trace, number = explanation.trace, explanation.trace.number
    say(f"{number.measure} of {_whose(trace)}, {number.month:%Y-%m}{_state(trace)}")
    _print_other_name(trace)
    line("the mart", f"{'none' if trace.is_without_budget else written(trace.value)} in marts.{number.mart}")
    if trace.meaning:
        line("", trace.meaning)
    if not trace.loads and number.kind != "chain" and not trace.is_without_budget:
        line("unknown", f"{number.source.report} is not loaded for this month; never taken for zero")
        return
    _print_around(explanation)
    made = f", which make {written(trace.total)}" if trace.total is not None else ""
    line("the rows", f"{counted(trace.row_count, 'row')}{made}")
    line("", f"SELECT * {trace.rows}")
    for load in trace.loads:
        _print_load(load)
    for request in explanation.requests[:SHOWN_REQUESTS]:
        query = f"?{urlencode(request.query, safe=':')}" if request.query else ""
        line("the request", f"GET {request.path}{query}")
        line("", f"answered {request.status} with {size(request.bytes)}")
    if len(explanation.requests) > SHOWN_REQUESTS:
        line("", f"and {count(len(explanation.requests) - SHOWN_REQUESTS)} more")
    checked = "" if explanation.damage else ", read again and as in the ledger"
    for load in trace.loads:
        line("the landing file", f"landing/{load.landing}")
        line("", f"sha256 {load.sha256}{checked}")


def _print_year(months: Sequence[Explanation]) -> None:
    """The year to date, a month a line, and the rows around it."""
    last = months[-1].trace
    values = [month.trace.value for month in months if month.trace.value is not None]
    say(f"{last.number.measure} of {_whose(last)}, {last.number.month:%Y-01} to {last.number.month:%Y-%m}")
    _print_other_name(last)
    total = sum(map(Decimal, values), Decimal(0))
    line("the sum", f"{written(total)} over {len(values)} of {counted(last.number.month.month, 'month')}")
    table(
        "the months",
        "explain one of them to follow it to its stored answers",
        ["month", "number", "its rows make"],
        [
            [
                f"{month.trace.number.month:%Y-%m}{_state(month.trace)}",
                written(month.trace.value),
                written(month.trace.total),
            ]
            for month in months
        ],
        right=(1, 2),
    )
    _print_around(months[-1])


def _whose(trace: Trace) -> str:
    return f"{trace.name} ({trace.number.id})" if trace.number.id else trace.name


def _print_other_name(trace: Trace) -> None:
    if trace.asked_as:
        line("asked for as", f"{trace.asked_as!r}, another name that the service gave {trace.number.id}")


def _state(trace: Trace) -> str:
    return ", still to come" if trace.is_ahead else ", so far" if trace.is_open else ""


def _print_load(load: TracedLoad) -> None:
    window = f", {load.window_start} to {load.window_end}" if load.window_start else ""
    line("the load", f"{load.load_id} in meta.loads: {load.report} of {load.customer}{window}")
    loaded = f", loaded {load.loaded_at_utc:%Y-%m-%d %H:%M:%S} UTC" if load.loaded_at_utc else ""
    line("", f"fetched {load.fetched_at_utc:%Y-%m-%d %H:%M:%S} UTC{loaded}")


def _print_around(explanation: Explanation) -> None:
    """A table for each query with rows; without rows only doubts are mentioned."""
    for name, (head, note) in TABLES.items():
        if rows := explanation.around.get(name):
            print_rows(head, note.format(explanation.trace.number.kind), rows)
        elif name == "doubts":
            line(head, "none is known")


def print_rows(head: str, note: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The first rows of one query, without the columns that are empty in all of them."""
    shown = [name for name in rows[0] if any(_cell(name, row[name]) not in ("-", "") for row in rows)]
    numeric = [
        place
        for place, name in enumerate(shown)
        if all(isinstance(row[name], Decimal | int | None) for row in rows)
    ]
    heads = [name.removeprefix("is_").replace("_", " ") for name in shown]
    cells = [[_cell(name, row[name]) for name in shown] for row in rows[:MOST_ROWS]]
    table(head, note, heads, cells, numeric)
    if len(rows) > MOST_ROWS:
        line("", f"and {counted(len(rows) - MOST_ROWS, 'more row')}; --json has all")


def _cell(name: str, value: Cell) -> str:
    """A value as people read it, by its kind and the name of its column."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else ""
        case date():
            return f"{value:%Y-%m}" if unit_of(name, "DATE") == MONTH else str(value)
        case Decimal() if unit_of(name, "DECIMAL") == SHARE:
            return f"{100 * value:.1f} %"
        case Decimal() if name.endswith(("difference", "_change", "_effect")):
            return f"{'+' if value > 0 else ''}{amount(value)}"
        case Decimal() | int():
            return amount(value)
        case list():
            return ", ".join(value)
        case _:
            return value
