"""Bisection of refused spans: what the service refuses is asked in halves, and the limit is remembered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pipelines.catalogue.model import Report
from pipelines.connect.errors import AnswerTooLarge, ConnectError, Refused, Unavailable
from pipelines.months import Month
from pipelines.planning.windows import Span, Window, spans_of_days

T = TypeVar("T")


@dataclass
class WindowLimit:
    """The longest span a report of a customer has been answered for, once a longer one was refused."""

    months: int | None = None
    days: int | None = None
    refused: list[Span] = field(default_factory=list)

    def learn(self, refused: Span) -> None:
        """Take note that a span was refused; half of it is tried from now on."""
        self.refused.append(refused)
        months = _months_of(refused)
        if months > 1:
            self.months = min(self.months or months, months // 2)
        else:
            self.months, self.days = 1, min(self.days or refused.days, (refused.days + 1) // 2)

    def forget(self) -> None:
        """Unlearn: the refusals had nothing to do with the length after all."""
        self.months, self.days = None, None
        self.refused.clear()

    def cut(self, span: Span) -> Iterator[Span]:
        """The spans to ask instead of one that is longer than the limit."""
        if self.days is not None:
            yield from spans_of_days(span, self.days)
        elif self.months is not None and _months_of(span) > self.months:
            for half in span.halves():
                yield from self.cut(half)
        else:
            yield span


async def read_spans(
    report: Report, window: Window, limit: WindowLimit, ask: Callable[[Span], Awaitable[Sequence[T]]]
) -> list[T]:
    """Read a window span by span; one that is refused (400), times out or is too large is asked in halves.

    Raises what the service raised when a span that cannot be halved is refused, so that at most
    about nine requests are spent on a refusal that has nothing to do with the length.
    """
    waiting = list(window.spans)
    answers: list[T] = []
    while waiting:
        span, *shorter = limit.cut(waiting.pop(0))
        waiting = [*shorter, *waiting]
        try:
            answers += await ask(span)
        except ConnectError as error:
            is_about_length = isinstance(error, Refused | AnswerTooLarge) or (
                isinstance(error, Unavailable) and error.timed_out
            )
            if not (is_about_length and may_be_halved(report, span)):
                limit.forget()
                raise
            limit.learn(span)
            waiting = [*span.halves(), *waiting]
    return answers


def may_be_halved(report: Report, span: Span) -> bool:
    """Whether parts of a span add up to the whole: only where every row finds its month by itself.

    Averages of halves would be no average of the whole, so an aggregate is never cut below its month,
    and rows that carry a year and a month are only cut between months.
    """
    if report.month_of_row == "documented date":
        return span.days > 1
    return report.month_of_row in ("year and month", "year and month within") and _months_of(span) > 1


def _months_of(span: Span) -> int:
    return Month.of(span.last).since(Month.of(span.first)) + 1
