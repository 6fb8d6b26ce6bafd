"""What happens on `brokerbi explain`? One number, followed back to the bytes it comes from."""

from __future__ import annotations

import argparse
from decimal import Decimal
from urllib.parse import urlencode

from pipelines.cli.printing import complain, count, say, size
from pipelines.cli.selecting import settings_from_environment
from pipelines.operations.explaining import Explanation, explain
from warehouse.traces import Part, TracedLoad

SHOWN_ROWS = 5
SHOWN_REQUESTS = 5


def run(arguments: argparse.Namespace) -> int:
    """Tell the way to a number; 1 when the stored answer cannot be read or says otherwise."""
    settings = settings_from_environment(offline=True)
    told = explain(
        settings.data_dir,
        office=arguments.office or "",
        user=arguments.user or "",
        month=arguments.month.first_day,
        measure=arguments.measure,
        timezone=settings.timezone,
    )
    return tell(told)


def tell(told: Explanation) -> int:
    """Print an explanation, one step a line."""
    traced = told.trace
    so_far = ", so far" if traced.is_open else ""
    say(f"{traced.measure} of {traced.earner_name} ({traced.earner_id}), {traced.month:%Y-%m}{so_far}")
    _line("the mart", f"{_number(traced.value)} in marts.{traced.mart}")
    if traced.meaning:
        _line("", traced.meaning)
    if not traced.parts:
        _line("unknown", f"{traced.source.report} is not held of it for this month; never taken for zero")
        return 0
    for part in traced.parts:
        _rows(part, traced.source.table)
        _load(part.load)
        if part.sales_load:
            _load(part.sales_load)
    _requests(told)
    for part in traced.parts:
        _landing(part.load, told)
    return _verdict(told)


def _line(head: str, text: str) -> None:
    say(f"  {head:<17}{text}")


def _rows(part: Part, table: str) -> None:
    rows = part.rows
    shown = ", ".join(str(row) for row in rows[:SHOWN_ROWS])
    more = f" and {count(len(rows) - SHOWN_ROWS)} more" if len(rows) > SHOWN_ROWS else ""
    numbers = f": _row {shown}{more}" if rows else ""
    _line("the rows", f"{_counted(len(rows), 'row')} of bi.{table}{numbers}")
    _line("", f"SELECT * {part.query}")
    if part.quarantined:
        _line("", f"{count(part.quarantined)} rows of the same answer are in quarantine")


def _load(load: TracedLoad) -> None:
    window = f", {load.window_start} to {load.window_end}" if load.window_start else ""
    _line("the load", f"{load.load_id} in meta.loads: {load.report} of {load.customer}{window}")
    loaded = f", loaded {load.loaded_at_utc:%Y-%m-%d %H:%M:%S} UTC" if load.loaded_at_utc else ""
    _line("", f"fetched {load.fetched_at_utc:%Y-%m-%d %H:%M:%S} UTC{loaded}")


def _requests(told: Explanation) -> None:
    for asked in told.requests[:SHOWN_REQUESTS]:
        query = f"?{urlencode(asked.query, safe=':')}" if asked.query else ""
        _line("the request", f"GET {asked.path}{query}")
        _line("", f"answered {asked.status} with {size(asked.bytes)}")
    if len(told.requests) > SHOWN_REQUESTS:
        _line("", f"and {count(len(told.requests) - SHOWN_REQUESTS)} more")


def _landing(load: TracedLoad, told: Explanation) -> None:
    _line("the landing file", f"landing/{load.landing}")
    _line("", f"sha256 {load.sha256}{'' if told.trouble else ', read again and as in the ledger'}")


def _verdict(told: Explanation) -> int:
    if told.trouble or told.recounted is None:
        _line("counted anew", "impossible")
        complain(f"brokerbi: {told.trouble}")
        return 1
    objects = _counted(told.recounted.objects, "object")
    found = f"{_number(told.recounted.number)} from {objects} of the stored JSON"
    if told.agrees:
        _line("counted anew", f"{found}: agrees")
        return 0
    _line("counted anew", f"{found}: differs")
    complain(
        f"brokerbi: the stored answer says {_number(told.recounted.number)}, the published file "
        f"{_number(told.trace.value)}; {_reason(told)}"
    )
    return 1


def _reason(told: Explanation) -> str:
    if told.trace.quarantined:
        return "rows of this answer are in quarantine, `brokerbi status` says why"
    return "`brokerbi replay` loads it again from the stored answer"


def _number(number: Decimal | int | None) -> str:
    """As SQL writes it, without zeros at the end."""
    if number is None:
        return "unknown"
    text = f"{Decimal(number):.8f}"
    return text.rstrip("0").rstrip(".")


def _counted(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"
