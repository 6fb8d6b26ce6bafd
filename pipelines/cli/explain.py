"""Command `explain`: one number, followed back to the bytes it comes from."""

from __future__ import annotations

import argparse
import os
from decimal import Decimal
from urllib.parse import urlencode

from pipelines.cli.output import complain, count, size
from pipelines.operations.explain import Explanation, explain
from pipelines.settings.model import load_settings
from warehouse.lineage import TracedAnswer, TracedLoad

SHOWN_ROWS = 5
SHOWN_REQUESTS = 5


def run_explain(arguments: argparse.Namespace) -> int:
    """Print the way to a number; 1 when a stored answer cannot be read or says otherwise."""
    settings = load_settings(os.environ, reading=True)
    explanation = explain(
        settings.data_dir,
        office=arguments.office or "",
        user=arguments.user or "",
        month=arguments.month.first_day,
        measure=arguments.measure,
        timezone=settings.timezone,
    )
    return print_explanation(explanation)


def print_explanation(explanation: Explanation) -> int:
    """Print an explanation, one step a line; the command's exit code."""
    trace, number = explanation.trace, explanation.trace.number
    so_far = ", so far" if trace.is_open else ""
    print(f"{number.measure} of {trace.name} ({number.id}), {number.month:%Y-%m}{so_far}")
    _line("the mart", f"{_written(trace.value)} in marts.{number.mart}")
    if trace.meaning:
        _line("", trace.meaning)
    if not trace.answers:
        _line("unknown", f"{number.source.report} is not held of it for this month; never taken for zero")
        return 0
    for answer in trace.answers:
        _print_answer(answer, number.source.table)
    for request in explanation.requests[:SHOWN_REQUESTS]:
        query = f"?{urlencode(request.query, safe=':')}" if request.query else ""
        _line("the request", f"GET {request.path}{query}")
        _line("", f"answered {request.status} with {size(request.bytes)}")
    if len(explanation.requests) > SHOWN_REQUESTS:
        _line("", f"and {count(len(explanation.requests) - SHOWN_REQUESTS)} more")
    checked = "" if explanation.trouble else ", read again and as in the ledger"
    for answer in trace.answers:
        _line("the landing file", f"landing/{answer.load.landing}")
        _line("", f"sha256 {answer.load.sha256}{checked}")
    return _print_recount(explanation)


def _print_answer(answer: TracedAnswer, table: str) -> None:
    rows = answer.rows
    shown = ", ".join(str(row) for row in rows[:SHOWN_ROWS])
    more = f" and {count(len(rows) - SHOWN_ROWS)} more" if len(rows) > SHOWN_ROWS else ""
    _line("the rows", f"{_counted(len(rows), 'row')} of bi.{table}{f': _row {shown}{more}' if rows else ''}")
    _line("", f"SELECT * {answer.query}")
    if answer.quarantined:
        _line("", f"{count(answer.quarantined)} rows of the same answer are in quarantine")
    _print_load(answer.load)
    if answer.sales_load:
        _print_load(answer.sales_load)


def _print_load(load: TracedLoad) -> None:
    window = f", {load.window_start} to {load.window_end}" if load.window_start else ""
    _line("the load", f"{load.load_id} in meta.loads: {load.report} of {load.customer}{window}")
    loaded = f", loaded {load.loaded_at_utc:%Y-%m-%d %H:%M:%S} UTC" if load.loaded_at_utc else ""
    _line("", f"fetched {load.fetched_at_utc:%Y-%m-%d %H:%M:%S} UTC{loaded}")


def _print_recount(explanation: Explanation) -> int:
    if explanation.trouble or explanation.recounted is None:
        _line("counted anew", "impossible")
        complain(f"brokerbi: {explanation.trouble}")
        return 1
    found = _written(explanation.recounted.number)
    objects = _counted(explanation.recounted.objects, "object")
    verdict = "agrees" if explanation.agrees else "differs"
    _line("counted anew", f"{found} from {objects} of the stored JSON: {verdict}")
    if explanation.agrees:
        return 0
    reason = "`brokerbi replay` loads it again from the stored answer"
    if explanation.trace.quarantined:
        reason = "rows of this answer are in quarantine, `brokerbi status` says why"
    published = _written(explanation.trace.value)
    complain(f"brokerbi: the stored answer says {found}, the published file {published}; {reason}")
    return 1


def _line(head: str, text: str) -> None:
    print(f"  {head:<17}{text}")


def _written(number: Decimal | int | None) -> str:
    """As SQL writes it, without zeros at the end."""
    return "unknown" if number is None else f"{Decimal(number):.8f}".rstrip("0").rstrip(".")


def _counted(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"
