"""What is an operator told when squares failed? Which customers and months, why, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import dagster as dg

from assets.judging import State, Verdict
from pipelines.months import Month, runs_of_months

MOST_SENTENCES = 20
REMEDY = "Re-execute this run from failure: it asks only for what is missing."
EVER = 12 * 1000


def failure(verdicts: Sequence[Verdict], stopped: str, shut_out: Sequence[str]) -> dg.Failure | None:
    """The failure of a run, naming customers and months; None when nothing failed."""
    failed = [one for one in verdicts if one.state is State.FAILED]
    sentences = [*([stopped] if stopped else []), *_of_shut_out(shut_out, verdicts), *_of_squares(failed)]
    if not sentences:
        return None
    told = sentences[:MOST_SENTENCES]
    if len(sentences) > len(told):
        told.append(f"and {len(sentences) - len(told)} more, all in the table of this failure")
    return dg.Failure(
        description="\n".join([_headline(failed, verdicts), *told, REMEDY]),
        metadata={
            "failed": dg.MetadataValue.md(_table(failed)),
            "squares_failed": len(failed),
            "squares_done": sum(one.is_done for one in verdicts),
        },
    )


def in_short(verdicts: Sequence[Verdict]) -> str:
    """The last line of a run's log: how many squares came to which end, with how many rows."""
    counted = Counter(one.state for one in verdicts)
    fetched = [one for one in verdicts if one.state is State.FETCHED]
    rows = sum((one.rows or 0) + (one.rows_ahead or 0) for one in fetched)
    ends = ", ".join(f"{counted[state]:,} {state.value}" for state in State if counted[state])
    return f"{len(verdicts):,} squares: {ends}; {rows:,} rows are held of what was fetched."


def months_in_words(months: Sequence[Month]) -> str:
    """Months as runs of neighbours: 2026-01..2026-03, 2026-07."""
    runs = [(run[0], run[-1]) for run in runs_of_months(months, EVER)]
    return ", ".join(str(first) if first == last else f"{first}..{last}" for first, last in runs)


def _headline(failed: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    customers = sorted({one.square.customer for one in failed})
    named = ", ".join(customers[:5]) + (" and others" if len(customers) > 5 else "")
    return f"{len(failed)} of {len(verdicts)} squares failed" + (f", of {named}." if named else ".")


def _of_shut_out(shut_out: Sequence[str], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A login may cover one report and not another, so one refused report alone proves nothing."""
    for customer in shut_out:
        if len({one.square.report.name for one in verdicts if one.square.customer == customer}) > 1:
            yield f"{customer} was refused every report (403): check the customer id and the login's rights."


def _of_squares(failed: Sequence[Verdict]) -> Iterator[str]:
    for (report, customer, reason), months in _grouped(failed).items():
        when = f" ({months_in_words(months)})" if months else ""
        yield f"{report} of {customer}{when}: {reason}"


def _table(failed: Sequence[Verdict]) -> str:
    lines = ["| report | customer | months | why |", "|---|---|---|---|"]
    for (report, customer, reason), months in _grouped(failed).items():
        words = reason.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {report} | {customer} | {months_in_words(months)} | {words} |")
    return "\n".join(lines)


def _grouped(failed: Sequence[Verdict]) -> dict[tuple[str, str, str], list[Month]]:
    grouped: dict[tuple[str, str, str], list[Month]] = {}
    for one in failed:
        months = grouped.setdefault((*one.square.pair, one.reason), [])
        if one.square.month:
            months.append(one.square.month)
    return grouped
