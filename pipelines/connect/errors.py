"""The errors of the client: one family, each with a sentence that says what came back and what to do next.

ConnectError
├── Unauthorized      401: the login is wrong; nothing more is asked with it
├── Forbidden         403: this login may not see this report of this customer
├── NotFound          404, 410: no such address or customer
├── BadRequest        400: the request breaks a rule of the service
├── Unexpected        any other status nobody has documented, also 3xx without a Location
├── Redirected        3xx: never followed, the login would travel along
├── AnswerTooLarge    the answer is larger than BROKERBI_LARGEST_ANSWER_MB
├── NotJson           200, but not JSON, every time it was asked
├── TooManyRequests   429, every time it was asked
├── Unavailable       5xx, time-outs, resets and half bodies, every time it was asked
├── Unreachable       no connection, every time one was tried
├── HostDown          the host fails one request after the other: the run is over
├── AllRefused        403 for every report, customer after customer: the run is over
└── PaceLost          the database in which hosts count their requests is out of reach: the run is over
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from pipelines.connect.models import MEGABYTE, TOO_MANY_REQUESTS, Answer, Limits, Login, Request, Trouble, Try

MARKUP = "XML or HTML"
LONGEST_EXCERPT = 300
GATEWAY_TIMEOUT = 504
UNAUTHORIZED = 401


class ConnectError(Exception):
    """The service could not be asked for `request`, which the message leaves to whoever tells it.

    `found` is what came back and `remedy` what to do about it; the message is both. `answer` is the last
    answer there was, for the landing; `tries` counts the requests made, and `last_try` is how the last of
    several ended. `login` are the words for the login that was refused. `trouble` is what it has behind it
    that others have too, of which meta.conditions makes one cause.
    """

    trouble: str = ""

    def __init__(
        self,
        found: str,
        remedy: str = "",
        *,
        request: Request,
        answer: Answer | None = None,
        tries: int = 0,
        last_try: str = "",
        login: str = "",
    ) -> None:
        super().__init__(f"{found} {remedy}".rstrip())
        self.found = found
        self.remedy = remedy
        self.request = request
        self.answer = answer
        self.tries = tries
        self.last_try = last_try
        self.login = login

    @property
    def http_status(self) -> int | None:
        """The status of the last answer, if there was one."""
        return self.answer.status if self.answer else None


class Unauthorized(ConnectError):
    """The login was refused."""

    trouble = "login"


class Forbidden(ConnectError):
    """The login may not see this."""


class NotFound(ConnectError):
    """There is no such thing."""


class BadRequest(ConnectError):
    """The service calls the request wrong."""


class Unexpected(ConnectError):
    """A status that nobody has documented."""


class Redirected(ConnectError):
    """The service points elsewhere."""


class AnswerTooLarge(ConnectError):
    """The answer is larger than the settings allow; only a shorter request can be answered."""


class TooManyObjects(ValueError):
    """What a reader of answers raises for a body that is small, and whose values are too many to be held."""


class NotJson(ConnectError):
    """The service answered something else than JSON; `is_markup`: a page, which may be a proxy's."""

    is_markup: bool = False


class TooManyRequests(ConnectError):
    """The service wants fewer requests."""


class Unavailable(ConnectError):
    """The service did not manage to answer; `timed_out`: most tries took too long."""

    timed_out: bool = False


class Unreachable(ConnectError):
    """There is nothing to connect to."""

    trouble = "service"


class HostDown(ConnectError):
    """The circuit is open: asking anything more would only make it worse."""

    trouble = "service"


class AllRefused(HostDown):
    """The circuit is open because every report was refused, customer after customer."""

    trouble = "refusal"


LOGIN_REFUSED = (
    "The login was refused (401), and nothing is asked with it until it is another one, but for one more try "
    "the night after."
)
ASK_FOR_THE_RIGHT = "Ask the service's support for it; everything else is asked as before."
RUN_AGAIN = "The next run asks again; ask the service's support if it lasts."
TOO_OLD_OR_TOO_LONG = (
    "If the first month asked for is older than what the service answers, set BROKERBI_START later; "
    "otherwise ask for less at a time, or compare it with the interface."
)
NO_MONTH_IN_IT = (
    "It asks for no month, so the customer or an id is refused. A report may not answer for a group: then "
    "name the group's offices as customers in BROKERBI_CUSTOMERS, or leave the report out with "
    "BROKERBI_REPORTS."
)
CHECK_ADDRESS = (
    "Check BROKERBI_BASE_URL and the customer id (one like M30011). If other months of the report are "
    "answered, both are right: ask the service's support whether it holds these."
)
KEPT_IN_LANDING = (
    "What came is kept in landing. If it stays so, ask the service's support, or leave the report out with "
    "BROKERBI_REPORTS."
)

REFUSALS: dict[int, tuple[type[ConnectError], str, str]] = {
    400: (
        BadRequest,
        "it calls the question wrong.",
        TOO_OLD_OR_TOO_LONG,
    ),
    403: (Forbidden, "the login has no access to it.", ASK_FOR_THE_RIGHT),
    404: (
        NotFound,
        "there is no such thing.",
        CHECK_ADDRESS,
    ),
}
REFUSALS[410] = REFUSALS[404]
IN_TROUBLE: dict[Trouble, tuple[type[ConnectError], str, str]] = {
    "unreachable": (
        Unreachable,
        "found nobody to connect to",
        "Check BROKERBI_BASE_URL and the network of this machine.",
    ),
    "timed out": (Unavailable, "took too long", "Run again later, or raise BROKERBI_TIMEOUT_SECONDS."),
    "broken": (Unavailable, "broke off", RUN_AGAIN),
    "not json": (NotJson, "answered with something that is not JSON", KEPT_IN_LANDING),
}
"""What becomes of a request whose last try ended so: the error, what it says of that try, and the advice."""
SLOW_DOWN = "Lower BROKERBI_REQUESTS_PER_SECOND or BROKERBI_CONCURRENCY."


def refusal(answer: Answer, login: Login) -> ConnectError:
    """The error for an answer that is never asked for again."""
    if answer.status == UNAUTHORIZED:
        return unauthorized(answer.request, login, answer)
    kind, meaning, remedy = REFUSALS.get(
        answer.status, (Unexpected, "nobody has documented that.", "Ask the service's support.")
    )
    if kind is BadRequest and not answer.request.names_months:
        remedy = NO_MONTH_IN_IT
    if 300 <= answer.status < 400 and "location" in answer.headers:
        kind, remedy = Redirected, "Check BROKERBI_BASE_URL."
        meaning = f"it points to {_redirect_target(answer)}, which is not followed."
    found = f"The service answered {answer.status}: {meaning}{_said(answer, login)}"
    return kind(found, remedy, request=answer.request, answer=answer, tries=answer.tries)


def unauthorized(request: Request, login: Login, answer: Answer | None = None) -> Unauthorized:
    """The error for a login that the answer refuses, or that was refused before."""
    return Unauthorized(
        LOGIN_REFUSED + (_said(answer, login) if answer else ""),
        correct(login),
        request=request,
        answer=answer,
        tries=answer.tries if answer else 0,
        login=login.words,
    )


def _said(answer: Answer, login: Login) -> str:
    said = excerpt(answer.body, login)
    return f" It says: {said}" if said else ""


def correct(login: Login) -> str:
    """What to do about a login that is refused."""
    return f"Correct {login.words}; if the same one is right after all, `brokerbi doctor` tries it once more."


def too_large(
    request: Request, answer: Answer | None, tries: int, limits: Limits, detail: str = ""
) -> AnswerTooLarge:
    """The error for an answer that grew beyond the limit, or beyond another that `detail` names."""
    limit = f"is larger than {limits.largest_bytes / MEGABYTE:g} MB"
    advice = "or raise BROKERBI_LARGEST_ANSWER_MB." if not detail else "or leave the report out."
    return AnswerTooLarge(
        f"The answer {detail or limit}.",
        f"Ask for less, {advice}",
        request=request,
        answer=answer,
        tries=tries,
    )


def exhausted(tries: Sequence[Try], answer: Answer | None) -> ConnectError:
    """The error after the last try of a request; it carries the last answer there was."""
    last = tries[-1]
    if last.trouble:
        kind, ending, remedy = IN_TROUBLE[last.trouble]
    elif last.status == TOO_MANY_REQUESTS:
        kind, ending, remedy = TooManyRequests, f"answered {last.status}", SLOW_DOWN
    else:
        kind, ending, remedy = Unavailable, f"answered {last.status}", RUN_AGAIN
    is_markup = last.trouble == "not json" and last.detail.startswith(MARKUP)
    if is_markup:
        remedy = "Check that BROKERBI_BASE_URL is the service, and no page in front of it."
    count = "one try" if len(tries) == 1 else f"{len(tries)} tries"
    detail = f" ({last.detail})" if last.trouble and last.detail else ""
    error = kind(
        f"In {count} there was no answer; the last: {ending}{detail}.",
        remedy,
        request=last.request,
        answer=answer,
        tries=len(tries),
        last_try=ending,
    )
    if isinstance(error, NotJson):
        error.is_markup = is_markup
    if isinstance(error, Unavailable):
        slow = [one for one in tries if one.trouble == "timed out" or one.status == GATEWAY_TIMEOUT]
        error.timed_out = len(slow) * 2 > len(tries)
    return error


def excerpt(body: bytes, login: Login) -> str:
    """The beginning of a body on one line, without control characters and without the login."""
    text = body[: 4 * LONGEST_EXCERPT].decode("utf-8", "replace")
    text = "".join(sign if sign.isprintable() else " " for sign in text)
    text = login.hide(" ".join(text.split()))
    return text if len(text) <= LONGEST_EXCERPT else f"{text[:LONGEST_EXCERPT]}..."


def _redirect_target(answer: Answer) -> str:
    """The host of the Location, and no more of it: the rest may carry anything."""
    try:
        return urlsplit(answer.headers.get("location", "")).hostname or "another path"
    except ValueError:
        return "an address that is none"
