"""Command `explain`: one number, followed back to the stored answers, and the mart rows around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import urlencode

from pipelines.cli.app import Json, command, option, parse_month
from pipelines.cli.output import (
    cell,
    complain,
    hang,
    line,
    print_json,
    print_records,
    print_table,
    read_settings,
    say,
    written,
)
from pipelines.diagnosis.explain import Explanation, explain, question_of
from pipelines.months import Month
from pipelines.words import counted, size
from warehouse.marts.lineage import Trace

SHOWN_REQUESTS = 5
MOST_ROWS = 30
"""A table shows this many rows; --json has all."""


@command("explain")
def run_explain(
    month: Annotated[Month, option("the month", "YYYY-MM", parser=parse_month)],
    measure: Annotated[str, option("a column of the mart of months, or budget_commission", "NAME")],
    office: Annotated[str, option("an id or part of a name; else the chain", "ID_OR_NAME")] = "",
    user: Annotated[str, option("an id or part of a name", "ID_OR_NAME")] = "",
    json: Json = False,
) -> int:
    """Follow a number back to its stored answers."""
    if office and user:
        raise ValueError("--office and --user exclude each other; name one of them")
    explanations = explain(
        read_settings(reading=True).data_dir,
        month=month.first_day,
        measure=measure,
        office=office,
        user=user,
    )
    if json:
        objects = [_as_json(explanation) for explanation in explanations]
        print_json(objects if len(objects) > 1 else objects[0])
    else:
        print_explanations(explanations)
    return int(not all(explanation.agrees for explanation in explanations))


def print_explanations(explanations: Sequence[Explanation]) -> None:
    """Print the explanation of a number, or of a year to date by its months."""
    last = explanations[-1].trace
    is_year = len(explanations) > 1
    whose = f"{last.name} ({last.number.id})" if last.number.id else last.name
    months = f"{last.number.month:%Y-01} to {last.number.month:%Y-%m}" if is_year else _month(last)
    say(f"{last.number.measure} of {whose}, {months}")
    if is_year:
        _print_sum(explanations)
        _print_around(explanations[-1])
    else:
        _print_month(explanations[0])
    for explanation in explanations:
        if explanation.damage:
            complain(f"brokerbi: {explanation.damage}")


def _as_json(explanation: Explanation) -> dict[str, Any]:
    trace = explanation.trace
    return {
        **{name: getattr(trace.number, name) for name in ("kind", "id", "month", "measure")},
        **{name: getattr(trace, name) for name in ("name", "is_open", "is_ahead", "value")},
        "agrees": explanation.agrees,
        "trouble": explanation.damage,
        "rows": {"query": f"SELECT * {trace.rows}", "count": trace.row_count},
        "loads": [load.load_id for load in trace.loads],
        "around": explanation.around,
    }


def _print_month(explanation: Explanation) -> None:
    """One number and its way to the stored answers, a step a line."""
    trace, number = explanation.trace, explanation.trace.number
    line("the mart", f"{written(trace.value)} in marts.{number.mart}")
    if trace.meaning:
        line("", trace.meaning)
    if not trace.loads and number.kind != "chain":
        line("unknown", f"{number.source.report} is not loaded for this month; never taken for zero")
        return
    line("the rows", counted(trace.row_count, "row"))
    line("", f"SELECT * {trace.rows}")
    checked = "" if explanation.damage else ", read again and as in the ledger"
    for load in trace.loads:
        window = f", {load.window_start} to {load.window_end}" if load.window_start else ""
        line("the load", f"{load.load_id} in meta.loads: {load.report} of {load.customer}{window}")
        line("", f"fetched {load.fetched_at_utc:%Y-%m-%d %H:%M:%S} UTC")
        line("the landing file", f"landing/{load.landing}")
        line("", f"sha256 {load.sha256}{checked}")
    for request in explanation.requests[:SHOWN_REQUESTS]:
        query = f"?{urlencode(request.query, safe=':')}" if request.query else ""
        line("the request", f"GET {request.path}{query}")
        line("", f"answered {request.status} with {size(request.bytes)}")
    if len(explanation.requests) > SHOWN_REQUESTS:
        line("", f"and {counted(len(explanation.requests) - SHOWN_REQUESTS, 'more request')}")
    _print_around(explanation)


def _print_sum(months: Sequence[Explanation]) -> None:
    """The year to date, a month a line."""
    values = [month.trace.value for month in months if month.trace.value is not None]
    total = sum(map(Decimal, values), Decimal(0))
    in_all = counted(months[-1].trace.number.month.month, "month")
    line("the sum", f"{written(total)} over {len(values)} of {in_all}")
    line("the months", "explain one of them to follow it to its stored answers")
    rows = [[_month(month.trace), written(month.trace.value)] for month in months]
    print_table(["month", "number"], rows, right=(1,))


def _month(trace: Trace) -> str:
    state = ", still to come" if trace.is_ahead else ", so far" if trace.is_open else ""
    return f"{trace.number.month:%Y-%m}{state}"


def _print_around(explanation: Explanation) -> None:
    """A table for each query of sql/explain with rows; of doubts it is said if none is known."""
    for name, rows in explanation.around.items():
        if rows:
            print_rows(question_of(name), rows)
        elif name == "doubts":
            line("doubts", "none is known")


def print_rows(question: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The first rows that answer a question, without the columns that are empty in all of them."""
    say()
    hang("", question)
    columns = [name for name in rows[0] if any(cell(name, row[name]) not in ("-", "") for row in rows)]
    print_records(rows[:MOST_ROWS], columns)
    if len(rows) > MOST_ROWS:
        say(f"and {counted(len(rows) - MOST_ROWS, 'more row')}; --json has all")
