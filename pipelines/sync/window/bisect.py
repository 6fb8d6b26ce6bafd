"""Bisection of spans that are too long: their halves are requested, and the accepted length is learned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from pipelines.catalogue.model import Report
from pipelines.connect.errors import AnswerTooLarge, BadRequest, ConnectError, Unavailable
from pipelines.months import Month
from pipelines.planning.windows import Span, Window, spans_of_days

T = TypeVar("T")
MIN_ROW_LIMIT, ROW_STEP = 500, 100
"""A service that limits the rows of an answer is assumed to do so at a multiple of 100, at least 500."""


class RejectedTogether(Exception):
    """A window of several months was rejected (400): they may be too many, or one of them too old."""


@dataclass
class WindowLimit:
    """The longest span that the service answers for a report and customer, learned from failed spans.

    `too_long` are the spans whose failure is put down to their length; `has_bad_month` is true if a month was
    rejected for another reason. `longest_answered` is the length in days of the longest span answered in this
    run. `rows` is the number of rows after which the service truncated an answer; `whole_rows` is the largest
    number of rows in an answer that looked truncated but proved to be complete.
    """

    months: int | None = None
    days: int | None = None
    too_long: list[Span] = field(default_factory=list)
    longest_answered: int = 0
    has_bad_month: bool = False
    rows: int | None = None
    whole_rows: int = 0

    def __post_init__(self) -> None:
        self._limit_at_start = self.months, self.days

    def may_be_truncated(self, rows: int) -> bool:
        """Whether an answer may be truncated: one of as many rows was, or the number is round (500, 600 ...).

        A round number does not count if an answer with at least as many rows proved to be complete.
        """
        is_round = rows >= MIN_ROW_LIMIT and rows % ROW_STEP == 0
        return rows == self.rows or (is_round and rows > self.whole_rows)

    def learn(self, span: Span) -> None:
        """Assume that a span was too long, so that spans at most half as long are requested from now on."""
        self.too_long.append(span)
        months = _months_of(span)
        if months > 1:
            self.months = min(self.months or months, months // 2)
        else:
            self.months, self.days = 1, min(self.days or span.days, (span.days + 1) // 2)

    def confirmed(self, unanswered: Collection[date]) -> WindowLimit:
        """The limit learned only from those spans whose months were all answered later, in shorter spans."""
        limit = WindowLimit(*self._limit_at_start)
        for span in self.too_long:
            if not any(span.first <= Month.of(day).last_day and day <= span.last for day in unanswered):
                limit.learn(span)
        return limit

    def cut(self, span: Span) -> Iterator[Span]:
        """Cut a span into spans that do not exceed the limit."""
        if self.days is not None:
            yield from spans_of_days(span, self.days)
        elif self.months is not None and _months_of(span) > self.months:
            for half in span.halves():
                yield from self.cut(half)
        else:
            yield span


async def read_spans(
    report: Report, window: Window, limit: WindowLimit, read: Callable[[Span], Awaitable[Sequence[T]]]
) -> list[T]:
    """Read a window span by span; a span that fails is halved if it may be too long and `may_be_halved`.

    Raises RejectedTogether if a window of several months is rejected (400), otherwise the error of a span
    that is not halved. No limit is learned if an error is raised.
    """
    waiting = list(window.spans)
    trial = WindowLimit(limit.months, limit.days)
    answers: list[T] = []
    while waiting:
        span, *shorter = trial.cut(waiting.pop(0))
        waiting = [*shorter, *waiting]
        try:
            answers += await read(span)
        except ConnectError as error:
            if isinstance(error, BadRequest) and len(window.months) > 1:
                raise RejectedTogether from error
            if not (_may_be_too_long(error, span, limit) and may_be_halved(report, span)):
                limit.has_bad_month |= isinstance(error, BadRequest)
                raise
            trial.learn(span)
            waiting = [*span.halves(), *waiting]
        else:
            limit.longest_answered = max(limit.longest_answered, span.days)
    for span in trial.too_long:
        limit.learn(span)
    return answers


def _may_be_too_long(error: ConnectError, span: Span, limit: WindowLimit) -> bool:
    """Whether the length of a span may have caused the error; a 400 may also have another cause."""
    if isinstance(error, BadRequest):
        return span.days > limit.longest_answered and not limit.has_bad_month
    return isinstance(error, AnswerTooLarge) or (isinstance(error, Unavailable) and error.timed_out)


def may_be_halved(report: Report, span: Span) -> bool:
    """Whether the answers for the halves of a span add up to its own: every row must state its date or month.

    Rows that state a month are aggregates of it, so their span is only cut between months: the average of a
    month is not that of its halves.
    """
    if report.month_of_row == "documented date":
        return span.days > 1
    return report.month_of_row == "year and month" and _months_of(span) > 1


def _months_of(span: Span) -> int:
    return Month.of(span.last).since(Month.of(span.first)) + 1
