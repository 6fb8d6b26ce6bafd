"""Command `explain`: one number, followed back to the bytes it comes from."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from pipelines.cli.number_around import print_around
from pipelines.cli.output import complain, line, print_json, say, table, written
from pipelines.diagnosis.explain import YEAR_TO_DATE, Explanation, explain, explain_chain, explain_year
from pipelines.settings.model import load_settings
from pipelines.upkeep.archive import archive_of
from pipelines.words import count, counted, size
from warehouse.marts.lineage import MeasureSource, Trace, TracedAnswer, TracedLoad

SHOWN_ROWS = 5
SHOWN_REQUESTS = 5


def run_explain(arguments: argparse.Namespace) -> int:
    """Print the way to a number; 1 when a stored answer cannot be read or says otherwise."""
    settings = load_settings(os.environ, reading=True)
    is_year = arguments.measure.startswith(YEAR_TO_DATE)
    asked: dict[str, Any] = {
        "measure": arguments.measure.removeprefix(YEAR_TO_DATE),
        "month": arguments.month.first_day,
        "archive": archive_of(settings),
    }
    whose: dict[str, Any] = {"office": arguments.office or "", "user": arguments.user or ""}
    if not any(whose.values()):
        first_month = asked["month"].replace(month=1) if is_year else None
        chain = explain_chain(settings.data_dir, **asked, first_month=first_month)
        return _print_as_json(chain) if arguments.json else print_chain(chain, is_year=is_year)
    if is_year:
        months = explain_year(settings.data_dir, **asked, **whose)
        return _print_as_json(*months) if arguments.json else print_year(months)
    explanation = explain(settings.data_dir, **asked, **whose)
    return _print_as_json(explanation) if arguments.json else print_explanation(explanation)


def print_chain(explanation: Explanation, *, is_year: bool = False) -> int:
    """Print a number of the whole chain, by office; the command's exit code."""
    trace, number = explanation.trace, explanation.trace.number
    since = f"{number.month:%Y-01} to " if is_year else ""
    say(f"{number.measure} of the chain, {since}{number.month:%Y-%m}{_state(trace)}")
    line("the mart", f"{written(trace.value)} in marts.{number.mart}")
    print_around(explanation)
    if is_year:
        line("not counted anew", "explain one of the months, or the year to date of an office")
        return 0
    differing = [one.trace.name for one in explanation.offices if not one.agrees]
    verdict = "not all agree" if differing else "all agree"
    if any(one.not_recounted for one in explanation.offices):
        verdict = "not counted anew"
    offices = counted(len(explanation.offices), "office")
    line("counted anew", f"the numbers of {offices} in their stored answers: {verdict}")
    if differing:
        complain(f"brokerbi: {', '.join(differing)}: differs from the stored answer; explain that office")
    return int(bool(differing))


def _print_as_json(*explanations: Explanation) -> int:
    """Print explanations for programs: one of a number, a list of the months of a year to date."""
    found = [_for_programs(one) for one in explanations]
    print_json(found if len(found) > 1 else found[0])
    return int(not all(one.agrees for one in explanations))


def _for_programs(explanation: Explanation) -> dict[str, Any]:
    trace = explanation.trace
    return {
        **{name: getattr(trace.number, name) for name in ("kind", "id", "month", "measure")},
        **{name: getattr(trace, name) for name in ("name", "is_open", "is_ahead")},
        "value": _plain(trace.value),
        "agrees": explanation.agrees,
        "trouble": explanation.trouble,
        "shards": trace.shards,
        "loads": [answer.load.load_id for answer in trace.answers],
        "around": {
            question: [{name: _plain(value) for name, value in row.items()} for row in rows]
            for question, rows in explanation.around.items()
        },
        "offices": [_for_programs(one) for one in explanation.offices],
    }


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def print_explanation(explanation: Explanation) -> int:
    """Print an explanation, one step a line; the command's exit code."""
    trace, number = explanation.trace, explanation.trace.number
    say(f"{number.measure} of {trace.name} ({number.id}), {number.month:%Y-%m}{_state(trace)}")
    _print_other_name(trace)
    line("the mart", f"{'none' if trace.is_without_budget else written(trace.value)} in marts.{number.mart}")
    if trace.meaning:
        line("", trace.meaning)
    if trace.is_without_budget:
        print_around(explanation)
        line(
            "the rows",
            f"FROM marts.budgets WHERE {number.kind}_id = '{number.id}' AND month = '{number.month}'",
        )
        return 0
    if not trace.answers:
        line("unknown", f"{number.source.report} is not held of it for this month; never taken for zero")
        return 0
    print_around(explanation)
    for answer in trace.answers:
        _print_answer(answer, number.source)
    for request in explanation.requests[:SHOWN_REQUESTS]:
        query = f"?{urlencode(request.query, safe=':')}" if request.query else ""
        line("the request", f"GET {request.path}{query}")
        line("", f"answered {request.status} with {size(request.bytes)}")
    if len(explanation.requests) > SHOWN_REQUESTS:
        line("", f"and {count(len(explanation.requests) - SHOWN_REQUESTS)} more")
    checked = "" if explanation.trouble or trace.shards else ", read again and as in the ledger"
    for answer in trace.answers:
        line("the landing file", f"landing/{answer.load.landing}")
        line("", f"sha256 {answer.load.sha256}{checked}")
    return _print_recount(explanation)


def _print_other_name(trace: Trace) -> None:
    if trace.asked_as:
        line("asked for as", f"{trace.asked_as!r}, another name that the service gave {trace.number.id}")


def print_year(months: Sequence[Explanation]) -> int:
    """Print the year to date, a month a line, and what surrounds it; the command's exit code."""
    last = months[-1]
    number = last.trace.number
    held = [one for one in months if one.trace.value is not None]
    say(f"{number.measure} of {last.trace.name} ({number.id}), {number.month:%Y-01} to {number.month:%Y-%m}")
    _print_other_name(last.trace)
    total = sum((Decimal(one.trace.value or 0) for one in held), Decimal(0))
    line("the sum", f"{written(total)} over {len(held)} of {counted(number.month.month, 'month')}")
    table(
        "the months",
        "each counted again in its stored answers",
        ["month", "number", "counted anew"],
        [
            [
                f"{one.trace.number.month:%Y-%m}{_state(one.trace)}",
                written(one.trace.value),
                "no" if one.not_recounted else "agrees" if one.agrees else "differs",
            ]
            for one in months
        ],
        right=(1,),
    )
    if last.not_recounted:
        line("not counted anew", last.not_recounted)
    print_around(last)
    if differing := [f"{one.trace.number.month:%Y-%m}" for one in months if not one.agrees]:
        complain(f"brokerbi: {', '.join(differing)} differ from the stored answers; explain one of them")
    return int(bool(differing))


def _state(trace: Trace) -> str:
    return ", still to come" if trace.is_ahead else ", so far" if trace.is_open else ""


def _print_answer(answer: TracedAnswer, source: MeasureSource) -> None:
    rows = answer.rows
    shown = ", ".join(str(row) for row in rows[:SHOWN_ROWS])
    more = f" and {count(len(rows) - SHOWN_ROWS)} more" if len(rows) > SHOWN_ROWS else ""
    name = source.table if source.rows else f"bi.{source.table}"
    line("the rows", f"{counted(answer.row_count, 'row')} of {name}{f': _row {shown}{more}' if rows else ''}")
    line("", f"SELECT * {answer.query}")
    if answer.quarantined:
        line("", f"{counted(answer.quarantined, 'row')} of the same answer in quarantine")
    _print_load(answer.load)
    if answer.sales_load:
        _print_load(answer.sales_load)


def _print_load(load: TracedLoad) -> None:
    window = f", {load.window_start} to {load.window_end}" if load.window_start else ""
    line("the load", f"{load.load_id} in meta.loads: {load.report} of {load.customer}{window}")
    loaded = f", loaded {load.loaded_at_utc:%Y-%m-%d %H:%M:%S} UTC" if load.loaded_at_utc else ""
    line("", f"fetched {load.fetched_at_utc:%Y-%m-%d %H:%M:%S} UTC{loaded}")


def _print_recount(explanation: Explanation) -> int:
    if explanation.not_recounted and not explanation.trouble:
        line("not counted anew", explanation.not_recounted)
        return 0
    if explanation.trouble or explanation.recounted is None:
        line("counted anew", "impossible")
        complain(f"brokerbi: {explanation.trouble}")
        return 1
    found = written(explanation.recounted.number)
    objects = counted(explanation.recounted.objects, "object")
    verdict = "agrees" if explanation.agrees else "differs"
    line("counted anew", f"{found} from {objects} of the stored JSON: {verdict}")
    if explanation.agrees:
        return 0
    reason = "`brokerbi replay` loads it again from the stored answer"
    if explanation.trace.quarantined:
        reason = "rows of this answer are in quarantine, `brokerbi status` says why"
    published = written(explanation.trace.value)
    complain(f"brokerbi: the stored answer says {found}, the published file {published}; {reason}")
    return 1
