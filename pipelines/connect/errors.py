"""What can go wrong when the service is asked? One family.

ConnectError
├── Unauthorized      401: the login is wrong; nothing more is asked with it
├── Forbidden         403: this login may not see this report of this customer
├── NotFound          404: no such address or customer
├── Refused           400: the question breaks a rule of the service; `validation` tells which
├── Unexpected        any other status nobody has documented
├── Redirected        3xx: never followed, the login would travel along
├── TooLarge          the answer is larger than the settings allow
├── NotJson           200, but not JSON, every time it was asked
├── TooManyRequests   429, every time it was asked
├── Unavailable       5xx, time-outs, resets and half bodies, every time it was asked
├── Unreachable       no connection, every time one was tried
└── HostDown          the host fails or refuses one request after the other: the run is over
"""

from __future__ import annotations

from pipelines.connect.exchange import Answer, Request


class ConnectError(Exception):
    """The service could not be asked; the message is a sentence with the next step.

    `answer` is the last answer there was, for the landing; `tries` counts the requests made.
    """

    def __init__(
        self, message: str, *, request: Request, answer: Answer | None = None, tries: int = 0
    ) -> None:
        super().__init__(message)
        self.request = request
        self.answer = answer
        self.tries = tries


class Unauthorized(ConnectError):
    """The login was refused."""


class Forbidden(ConnectError):
    """The login may not see this."""


class NotFound(ConnectError):
    """There is no such thing."""


class Refused(ConnectError):
    """The service calls the question wrong; `validation` is an excerpt of what it says."""

    validation: str = ""


class Unexpected(ConnectError):
    """A status that nobody has documented."""


class Redirected(ConnectError):
    """The service points elsewhere."""


class TooLarge(ConnectError):
    """The answer outgrew the limit."""


class NotJson(ConnectError):
    """The service answered something else than was asked for."""


class TooManyRequests(ConnectError):
    """The service wants to be left alone for a while."""


class Unavailable(ConnectError):
    """The service did not manage to answer; `timed_out` when most tries took too long."""

    timed_out: bool = False


class Unreachable(ConnectError):
    """Nobody is there to ask."""


class HostDown(ConnectError):
    """Asking anybody anything more would only make it worse."""
