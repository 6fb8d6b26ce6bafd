"""Bisection of spans (days of a request). A span that is too long is halved; later requests are shorter."""

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
"""A service that truncates answers is assumed to do so at a round number of rows: 500, 600, 700 ..."""


class RejectedTogether(Exception):
    """A window of several months was rejected (400) or has a truncated day. One month may be the cause."""


@dataclass
class WindowLimit:
    """The longest span that the service answers for a report and customer, learned from failed spans."""

    months: int | None = None
    days: int | None = None
    too_long: list[Span] = field(default_factory=list)  # failed spans, assumed to be too long
    longest_answered: int = 0  # the length in days of the longest span answered in this run
    has_bad_month: bool = False  # a span was rejected for a reason other than its length
    rows: int | None = None  # the number of rows after which the service truncated an answer
    whole_rows: int = 0  # the largest number of rows in an answer that only looked truncated

    def __post_init__(self) -> None:
        self._limit_at_start = self.months, self.days

    def may_be_truncated(self, rows: int) -> bool:
        """Whether an answer with this many rows may be truncated.

        True if an answer with this many rows was truncated before. Also true if the number is round (500, 600
        ...), unless a longer answer proved to be complete: one of the same length may just have been full.
        """
        is_round = rows >= MIN_ROW_LIMIT and rows % ROW_STEP == 0
        return rows == self.rows or (is_round and rows >= self.whole_rows)

    def learn(self, span: Span) -> None:
        """Assume that a span was too long: from now on, spans are at most half as long."""
        self.too_long.append(span)
        months = _months_of(span)
        if months > 1:
            self.months = min(self.months or months, months // 2)
        else:
            self.months, self.days = 1, min(self.days or span.days, (span.days + 1) // 2)

    def confirmed(self, unanswered: Collection[date]) -> WindowLimit:
        """The limit at the start, shortened only for failed spans whose months were all answered later."""
        limit = WindowLimit(*self._limit_at_start)
        for span in self.too_long:
            if not any(span.first <= Month.of(day).last_day and day <= span.last for day in unanswered):
                limit.learn(span)
        return limit

    def cut(self, span: Span) -> Iterator[Span]:
        """Cut a span into spans within the limit."""
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
    """Read a window span by span. A failed span that may be too long is halved (see `may_be_halved`).

    Raises RejectedTogether if a span is rejected (400) and the window has several months. Otherwise raises
    the error of a failed span that is not halved. No limit is learned if an error is raised.
    """
    waiting = list(window.spans)
    trial = WindowLimit(limit.months, limit.days)
    answers: list[T] = []
    while waiting:
        span, *rest = trial.cut(waiting.pop(0))
        waiting = [*rest, *waiting]
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
    if isinstance(error, BadRequest):  # not too long if a span of this length was answered
        return span.days > limit.longest_answered and not limit.has_bad_month
    return isinstance(error, AnswerTooLarge) or (isinstance(error, Unavailable) and error.timed_out)


def may_be_halved(report: Report, span: Span) -> bool:
    """Whether the answers for the halves of a span have the same rows as the answer for the span.

    True for several days if each row states its date. True for several months if each row sums up a month,
    because the halves are cut between two months.
    """
    if report.month_of_row == "documented date":
        return span.days > 1
    return report.month_of_row == "year and month" and _months_of(span) > 1


def _months_of(span: Span) -> int:
    return Month.of(span.last).since(Month.of(span.first)) + 1
