"""The errors of the client. Each states the issue and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.connect.models import (
    MEGABYTE,
    TOO_MANY_REQUESTS,
    UNAUTHORIZED,
    Answer,
    ErrorKind,
    Limits,
    Login,
    Request,
    Try,
)

MARKUP = "XML or HTML"
MAX_EXCERPT = 300
GATEWAY_TIMEOUT = 504


class ConnectError(Exception):
    """The failure of a request. The message is the `issue` and the `remedy`, and does not name the request.

    `answer` is the last answer, if any, and `tries` is the number of tries. If every allowed try failed,
    `last_try` states how the last one ended. If the login was denied, `login` names the settings that
    contain it. `trouble` names a failure of more than one request; meta.conditions has one cause for it.
    """

    trouble: str = ""

    def __init__(
        self,
        issue: str,
        remedy: str = "",
        *,
        request: Request,
        answer: Answer | None = None,
        tries: int = 0,
        last_try: str = "",
        login: str = "",
    ) -> None:
        super().__init__(f"{issue} {remedy}".rstrip())
        self.issue, self.remedy = issue, remedy
        self.request, self.answer = request, answer
        self.tries, self.last_try, self.login = tries, last_try, login

    @property
    def http_status(self) -> int | None:
        return self.answer.status if self.answer else None


class Unauthorized(ConnectError):
    """401: the login was denied; no request uses it until `DeniedLogins` allows another try."""

    trouble = "login"


class Forbidden(ConnectError):
    """403: this login has no access to this report of this customer."""


class NotFound(ConnectError):
    """404, 410: there is no such report or customer."""


class BadRequest(ConnectError):
    """400: the request breaks a rule of the service."""


class Unexpected(ConnectError):
    """A status that the service's specification lacks."""


class Redirected(ConnectError):
    """3xx with a Location, which is never followed, so that the login goes to no other address."""


class AnswerTooLarge(ConnectError):
    """The answer has too many bytes or objects; a request for a shorter period may succeed."""


class TooManyObjects(ValueError):
    """The body has more objects and lists than allowed, although its bytes are within the size limit."""


class NotJson(ConnectError):
    """The last answer had a body that is not JSON, or a 2xx status other than 200 and 204."""


class TooManyRequests(ConnectError):
    """In the last try, the service answered 429."""


class Unavailable(ConnectError):
    """The last try ended with 5xx, a time-out, or a broken or stale answer."""

    timed_out: bool = False  # whether more than half of the tries timed out or were answered 504


class Unreachable(ConnectError):
    """In the last try, no connection could be made."""

    trouble = "service"


class CircuitOpen(ConnectError):
    """The circuit breaker has ended the run."""


class HostDown(CircuitOpen):
    """Too many requests failed in a row."""

    trouble = "service"


class AllDenied(CircuitOpen):
    """Every report was denied (403), for customer after customer."""

    trouble = "refusal"


LOGIN_DENIED = "The login was denied (401). A denied login is tried on two nights, then only if it changes."
RUN_AGAIN = "The next run repeats the request; if the error lasts, ask the service's support."
CHECK_ADDRESS = (
    "Check BROKERBI_BASE_URL and the customer id (like M30011). If other months of the report are answered, "
    "both are right; then ask the service's support whether it has the requested months."
)
ASK_OR_NARROW = (
    "Ask the service's support, quoting the answer. If only months before its data are rejected, set a later "
    "BROKERBI_START; if only a group is, list its offices in BROKERBI_CUSTOMERS, or switch the report off."
)
NOT_JSON = "If the error lasts, ask the service's support, or switch the report off with BROKERBI_REPORTS."
ASK_FOR_ACCESS = "Ask the service's support for access; everything else is requested as before."
NOT_THERE = (NotFound, "it has no such report or customer.", CHECK_ADDRESS)
FINAL_ERRORS: dict[int, tuple[type[ConnectError], str, str]] = {
    400: (BadRequest, "it rejects the request.", ASK_OR_NARROW),
    403: (Forbidden, "the login has no access to this report.", ASK_FOR_ACCESS),
    404: NOT_THERE,
    410: NOT_THERE,
}
CHECK_NETWORK = (
    "Check BROKERBI_BASE_URL and the network of this machine; if both are right, the service may be down."
)
ERRORS_BY_KIND: dict[ErrorKind, tuple[type[ConnectError], str, str]] = {
    "unreachable": (Unreachable, "could not connect", CHECK_NETWORK),
    "timed out": (Unavailable, "took too long", "Run again later, or raise BROKERBI_TIMEOUT_SECONDS."),
    "broken": (Unavailable, "broke off", RUN_AGAIN),
    "stale": (Unavailable, "answered from a cache", "Configure the cache or proxy not to store the answers."),
    "not json": (NotJson, "answered with something that is not JSON", NOT_JSON),
}
"""For each kind of error of the last try: the class, how the try ended, and the remedy."""


def final_error(answer: Answer, login: Login) -> ConnectError:
    """The error for an answer whose status is not retried."""
    if answer.status == UNAUTHORIZED:
        return unauthorized_error(answer.request, login, answer)
    error_class, meaning, remedy = FINAL_ERRORS.get(
        answer.status, (Unexpected, "its specification lacks this status.", "Ask the service's support.")
    )
    if 300 <= answer.status < 400 and "location" in answer.headers:
        error_class, remedy = Redirected, CHECK_ADDRESS
        meaning = "it redirects to another address, which is not followed."
    issue = f"The service answered {answer.status}: {meaning}{_quote(answer, login)}"
    return error_class(issue, remedy, request=answer.request, answer=answer, tries=answer.tries)


def unauthorized_error(request: Request, login: Login, answer: Answer | None = None) -> Unauthorized:
    """The error for a denied login; `answer` is the 401, or None if the request was not sent."""
    return Unauthorized(
        LOGIN_DENIED + (_quote(answer, login) if answer else ""),
        f"Correct {login.name}; if the login is right, remove the folder work/refused_logins. "
        "Then run `brokerbi sync`.",
        request=request,
        answer=answer,
        tries=answer.tries if answer else 0,
        login=login.name,
    )


def too_large_error(request: Request, answer: Answer | None, last: Try, limits: Limits) -> AnswerTooLarge:
    """The error for an answer with too many bytes or, if `last` has a `detail`, with too many objects."""
    limit = f"is larger than {limits.largest_bytes / MEGABYTE:g} MB"
    advice = "switch the report off." if last.detail else "raise BROKERBI_LARGEST_ANSWER_MB."
    return AnswerTooLarge(
        f"The answer {last.detail or limit}.",
        f"Request a shorter period, or {advice}",
        request=request,
        answer=answer,
        tries=last.number,
    )


def exhausted_error(tries: Sequence[Try], answer: Answer | None) -> ConnectError:
    """The error after the last try of a request; `answer` is the last answer, if any."""
    last = tries[-1]
    if last.error_kind:
        error_class, ending, remedy = ERRORS_BY_KIND[last.error_kind]
    elif last.status == TOO_MANY_REQUESTS:
        error_class, ending = TooManyRequests, f"answered {last.status}"
        remedy = "Lower BROKERBI_REQUESTS_PER_SECOND or BROKERBI_CONCURRENCY."
    else:
        error_class, ending, remedy = Unavailable, f"answered {last.status}", RUN_AGAIN
    if last.error_kind == "not json" and last.detail.startswith(MARKUP):
        remedy += " If all reports fail, check that BROKERBI_BASE_URL is the service, not a login page."
    number = "one try" if len(tries) == 1 else "several tries"
    detail = f" ({last.detail})" if last.error_kind and last.detail else ""
    error = error_class(
        f"There was no usable answer in {number}; the last {ending}{detail}.",
        remedy,
        request=last.request,
        answer=answer,
        tries=len(tries),
        last_try=ending,
    )
    if isinstance(error, Unavailable):
        slow = [item for item in tries if item.error_kind == "timed out" or item.status == GATEWAY_TIMEOUT]
        error.timed_out = len(slow) * 2 > len(tries)
    return error


def _quote(answer: Answer, login: Login) -> str:
    text = answer.body[: 4 * MAX_EXCERPT].decode("utf-8", "replace")
    text = "".join(character if character.isprintable() else " " for character in text)
    text = login.hide(" ".join(text.split()))
    text = text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}..."
    return f" The answer says: {text}" if text else ""
