"""Command `explain`: one number, followed back to the stored answers, and the mart rows around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    read_settings,
    say,
    written,
)
from pipelines.diagnosis.explain import Explanation, explain, question_of
from pipelines.months import Month
from pipelines.words import counted, size

SHOWN_REQUESTS = 5
MOST_ROWS = 30
"""A table shows this many rows; --json has all."""


@command("explain")
def run_explain(
    month: Annotated[Month, option("the month", "YYYY-MM", parser=parse_month)],
    measure: Annotated[str, option("a column of the mart of months, or budget_commission", "NAME")],
    office: Annotated[str, option("an id or part of a name; default: the chain", "ID_OR_NAME")] = "",
    user: Annotated[str, option("an id or part of a name", "ID_OR_NAME")] = "",
    json: Json = False,
) -> int:
    """Follow a number back to its stored answers."""
    if office and user:
        raise ValueError("give --office or --user, not both")
    data_dir = read_settings(reading=True).data_dir
    explanation = explain(data_dir, month=month.first_day, measure=measure, office=office, user=user)
    if json:
        print_json(_as_json(explanation))
    else:
        print_explanation(explanation)
    return int(not explanation.agrees)


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


def print_explanation(explanation: Explanation) -> None:
    """Print a number and its way to the stored answers, a step a line, then the rows around it."""
    trace, number = explanation.trace, explanation.trace.number
    whose = f"{trace.name} ({number.id})" if number.id else trace.name
    state = ", still to come" if trace.is_ahead else ", so far" if trace.is_open else ""
    say(f"{number.measure} of {whose}, {number.month:%Y-%m}{state}")
    line("the mart", f"{written(trace.value)} in marts.{number.mart}")
    if trace.meaning:
        line("", trace.meaning)
    if not trace.loads and number.kind != "chain":
        line(
            "unknown",
            f"{number.source.report} is not loaded for this month, so the number is unknown, not zero",
        )
        return
    line("the rows", counted(trace.row_count, "row"))
    line("", f"SELECT * {trace.rows}")
    checked = "" if explanation.damage else ", checked: the file is as it was stored"
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
    for name, rows in explanation.around.items():
        if rows:
            print_rows(question_of(name), rows)
        elif name == "doubts":
            line("doubts", "none is known")
    if explanation.damage:
        complain(f"brokerbi: {explanation.damage}")


def print_rows(question: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The first rows that answer a question, without the columns that are empty in all of them."""
    say()
    hang("", question)
    columns = [name for name in rows[0] if any(cell(name, row[name]) not in ("-", "") for row in rows)]
    print_records(rows[:MOST_ROWS], columns)
    if len(rows) > MOST_ROWS:
        say(f"and {counted(len(rows) - MOST_ROWS, 'more row')}; --json has all")
