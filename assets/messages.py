"""What does an operator read in the morning? One message about everything that wants attention, or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

MOST_LINES = 30


@dataclass(frozen=True)
class FailedRun:
    """A run that failed and will not be tried again by itself."""

    name: str
    run_id: str
    link: str
    reason: str
    ended_utc: datetime


@dataclass(frozen=True)
class Owed:
    """What is late or was never fetched of one report of one customer: since when, and why."""

    report: str
    customer: str
    what: str
    since: str
    why: str


@dataclass(frozen=True)
class Message:
    """A subject and a text, the same for every channel."""

    subject: str
    text: str


def message(day: str, failed: Sequence[FailedRun], owed: Sequence[Owed], silence: str) -> Message | None:
    """The one message of a night; None when there is nothing to tell."""
    parts = [silence] if silence else []
    if failed:
        parts.append("\n".join(["What failed", *_of_runs(failed)]))
    if owed:
        parts.append("\n".join(["What is owed until it is fetched", *_of_owed(owed)]))
    if not parts:
        return None
    parts.append("\n".join(["What to do", *_remedies(failed, owed, silence)]))
    return Message(_subject(day, failed, owed, silence), "\n\n".join(parts))


def grouped(owed: Iterable[Owed]) -> dict[tuple[str, str, str, str], list[str]]:
    """The customers that owe the same of the same report for the same reason."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for one in owed:
        found.setdefault((one.report, one.what, one.since, one.why), []).append(one.customer)
    return found


def _subject(day: str, failed: Sequence[FailedRun], owed: Sequence[Owed], silence: str) -> str:
    counted = []
    if failed:
        counted.append("1 run failed" if len(failed) == 1 else f"{len(failed)} runs failed")
    if owed:
        customers = len({one.customer for one in owed})
        counted.append(f"reports are owed of {customers} customer{'s' if customers > 1 else ''}")
    return f"brokerbi, {day}: {' and '.join(counted) or silence}"


def _of_runs(failed: Sequence[FailedRun]) -> Iterator[str]:
    for run in failed:
        yield f"- {run.name}, {run.ended_utc:%Y-%m-%d %H:%M} UTC, {run.link or f'run {run.run_id}'}"
        yield from (f"    {line}" for line in run.reason.splitlines())


def _of_owed(owed: Sequence[Owed]) -> Iterator[str]:
    """Equal reasons of a report are told once, with all their customers."""
    lines = [
        f"- {report} of {', '.join(customers)}: {what}{f', since {since}' if since else ''}: {why}"
        for (report, what, since, why), customers in grouped(owed).items()
    ]
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"- and {len(lines) - MOST_LINES} more; `brokerbi status` lists them all"


def _remedies(failed: Sequence[FailedRun], owed: Sequence[Owed], silence: str) -> Iterator[str]:
    if silence:
        yield "- See that the daemon runs and that the schedule `nightly` is switched on."
    if failed:
        yield "- Open the run, mend what it names, and re-execute it from failure: it asks for the rest only."
    if owed:
        yield "- The next night tries everything that is owed again; sooner, launch a backfill of it."
