"""What does an error tell the operator? What was asked, what came back, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from pipelines.connect.content import Content
from pipelines.connect.errors import (
    ConnectError,
    Forbidden,
    NotFound,
    NotJson,
    Redirected,
    Refused,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unexpected,
    Unreachable,
)
from pipelines.connect.exchange import Answer, Request
from pipelines.connect.login import Login
from pipelines.connect.wire import TOO_MANY, Outcome, Trouble

MARKUP = "XML or HTML"
LONGEST_EXCERPT = 300
GATEWAY_TIMEOUT = 504

CHECK_THE_LOGIN = "Check BROKERBI_USERNAME and BROKERBI_PASSWORD, or the customer's own login."
ASK_FOR_THE_RIGHT = "Ask the service's support for it, or leave the report out with BROKERBI_REPORTS."
A_PAGE = "Check that BROKERBI_BASE_URL is the service, and no page in front of it."
NO_REPORT = (
    "What came is kept in landing. If it stays so, ask the service's support, or leave the report out with "
    "BROKERBI_REPORTS."
)
RUN_AGAIN = "Run again later: only what is missing is asked again."
UNDOCUMENTED = (Unexpected, "nobody has documented that. Ask the service's support.")

REFUSALS: dict[int, tuple[type[ConnectError], str]] = {
    400: (Refused, "it calls the question wrong. Ask for a shorter time, or compare it with the interface."),
    401: (Unauthorized, f"the login is wrong, and nothing more is asked with it. {CHECK_THE_LOGIN}"),
    403: (Forbidden, f"the login has no access to it. {ASK_FOR_THE_RIGHT}"),
    404: (NotFound, "there is no such thing. Check BROKERBI_BASE_URL and the customer id (one like M30011)."),
}
EXHAUSTED: dict[Trouble | int | None, tuple[type[ConnectError], str]] = {
    Trouble.UNREACHABLE: (Unreachable, "Check BROKERBI_BASE_URL and the network of this machine."),
    Trouble.TIMED_OUT: (Unavailable, "Run again later, or raise BROKERBI_TIMEOUT_SECONDS."),
    Trouble.BROKEN: (Unavailable, RUN_AGAIN),
    Trouble.NOT_JSON: (NotJson, NO_REPORT),
    TOO_MANY: (TooManyRequests, "Lower BROKERBI_REQUESTS_PER_SECOND or BROKERBI_CONCURRENCY."),
    None: (Unavailable, RUN_AGAIN),
}


def refusal(request: Request, answer: Answer, login: Login) -> ConnectError:
    """The error for an answer that is never asked for again."""
    kind, advice = REFUSALS.get(answer.status, UNDOCUMENTED)
    if 300 <= answer.status < 400:
        kind = Redirected
        advice = f"it points to {_elsewhere(answer)}, which is not followed. Check BROKERBI_BASE_URL."
    said = excerpt(answer.body, login)
    message = f"The service answered {answer.status} to {request}: {advice}"
    error = kind(
        f"{message} It says: {said}" if said else message, request=request, answer=answer, tries=answer.tries
    )
    if isinstance(error, Refused):
        error.validation = said
    return error


def too_large(request: Request, outcome: Outcome, tries: int) -> ConnectError:
    """The error for an answer that outgrew the limit; it would do so again."""
    return TooLarge(
        f"The answer to {request} {outcome.detail}. Ask for less, or raise BROKERBI_LARGEST_ANSWER_MB.",
        request=request,
        answer=outcome.answer,
        tries=tries,
    )


def exhausted(request: Request, outcomes: Sequence[Outcome]) -> ConnectError:
    """The error after the last try; it carries the last answer there was."""
    last = outcomes[-1]
    kind, advice = EXHAUSTED[last.trouble or (TOO_MANY if last.status == TOO_MANY else None)]
    if last.trouble is Trouble.NOT_JSON and last.detail.startswith(MARKUP):
        advice = A_PAGE
    answers = [outcome.answer for outcome in outcomes if outcome.answer is not None]
    error = kind(
        f"In {_tries(len(outcomes))} there was no answer to {request}; the last {_ending(last)}. {advice}",
        request=request,
        answer=answers[-1] if answers else None,
        tries=len(outcomes),
    )
    if isinstance(error, Unavailable):
        error.timed_out = sum(map(_is_time_out, outcomes)) * 2 > len(outcomes)
    return error


def excerpt(body: Content, login: Login) -> str:
    """The beginning of a body on one line, without control characters and without the login."""
    text = "".join(
        sign if sign.isprintable() else " " for sign in body[: 4 * LONGEST_EXCERPT].decode("utf-8", "replace")
    )
    text = login.hide(" ".join(text.split()))
    return text if len(text) <= LONGEST_EXCERPT else f"{text[:LONGEST_EXCERPT]}..."


def failure(outcome: Outcome) -> str:
    """What the log says of a try that did not go well; empty for one that did."""
    if outcome.trouble is not None:
        return outcome.trouble.name.lower().replace("_", " ")
    return "" if outcome.status == 200 else f"status {outcome.status}"


def _ending(outcome: Outcome) -> str:
    if outcome.trouble is None:
        return f"was answered {outcome.status}"
    return f"{outcome.trouble} ({outcome.detail})" if outcome.detail else str(outcome.trouble)


def _is_time_out(outcome: Outcome) -> bool:
    return outcome.trouble is Trouble.TIMED_OUT or outcome.status == GATEWAY_TIMEOUT


def _tries(count: int) -> str:
    return "one try" if count == 1 else f"{count} tries"


def _elsewhere(answer: Answer) -> str:
    """The host of the Location, and no more of it: the rest may carry anything."""
    try:
        return urlsplit(answer.headers.get("location", "")).hostname or "another path"
    except ValueError:
        return "an address that is none"
