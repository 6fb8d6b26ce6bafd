"""What the client is given and what it returns: login, limits, request, tries and answer."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Literal

from pydantic import SecretStr

OK = 200
NO_CONTENT = 204
NOTHING = b"null"  # what an answer without content says, in JSON
TOO_MANY_REQUESTS = 429
MEGABYTE = 1024 * 1024
HIDDEN = "[hidden]"
SHORTEST_TO_HIDE = 4  # hiding a shorter word would blot out half of every text it is looked for in
SHORTEST_IN_DATA = 8  # what is shorter may be an ordinary part of some row

_PATH = re.compile(r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+")
_MONTH_AT_END = re.compile(r"/\d{4}/\d{1,2}$")


@dataclass(frozen=True, slots=True)
class Login:
    """A username and its password; neither shows when the login is printed.

    `words` are what a sentence calls it: where it is set, and whose it is.
    """

    username: str = field(repr=False)
    password: SecretStr
    words: str = field(default="BROKERBI_USERNAME or the password that goes with it", compare=False)

    def authorization(self) -> str:
        """The value of the Authorization header, in UTF-8 (interface, Authentication 1)."""
        return f"Basic {b64encode(f'{self.username}:{self.password.get_secret_value()}'.encode()).decode()}"

    def hide(self, text: str) -> str:
        """The text without this login, in case the service or a library repeats it.

        It is found plain, in Base64, escaped as in JSON or in JSON within JSON, and percent-encoded as in
        an address or a form.
        """
        for secret in (*self._secrets(), self.username):
            text = re.sub(_any_spelling(secret), HIDDEN, text) if len(secret) >= SHORTEST_TO_HIDE else text
        return text

    def hide_in_bytes(self, body: bytes) -> bytes:
        """A body without the password; the username stays, it may be an ordinary word of the text."""
        for secret in self._secrets():
            if len(secret) >= SHORTEST_TO_HIDE:
                body = re.sub(_any_spelling(secret).encode(), HIDDEN.encode(), body)
        return body

    def hide_in_data(self, body: bytes) -> bytes:
        """A body of rows without what can hardly be data, plain or escaped as in JSON; most are as they came.

        That is the Base64 of username and password together, and a password of letters together with digits
        or signs. Each search of 20 MB takes some 10 ms.
        """
        token, _, password = self._secrets()
        is_mixed = any(map(str.isalpha, password)) and not re.sub(r"\s", "", password).isalpha()
        for secret in (token, password) if is_mixed else (token,):
            if len(secret) >= SHORTEST_IN_DATA:
                for spelling in _spellings_in_json(secret):
                    body = body.replace(spelling, HIDDEN.encode())
        return body

    def _secrets(self) -> list[str]:
        password = self.password.get_secret_value()
        token = self.authorization().removeprefix("Basic ")
        return [token, b64encode(password.encode()).decode(), password]


@lru_cache(maxsize=100)
def _spellings_in_json(secret: str) -> tuple[bytes, ...]:
    """The secret as it is, and as writers of JSON escape it."""
    plain = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    others = {one.replace("/", r"\/") for one in plain} | {
        one.replace("+", r"\u002B").replace("&", r"\u0026") for one in plain
    }
    return tuple(one.encode() for one in sorted(plain | others))


@lru_cache(maxsize=100)
def _any_spelling(secret: str) -> str:
    """A pattern of the secret; each character may be plain, escaped (also twice) or percent-encoded."""
    pattern = ""
    for sign in secret:
        units = sign.encode("utf-16-be")
        escaped = "".join(rf"\\{{1,2}}u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
        percent = "".join(f"%{byte:02x}" for byte in sign.encode())
        plain = rf"\\{{0,3}}{re.escape(sign)}" if sign in '"\\/' else re.escape(sign)
        space = r"|\+" if sign == " " else ""
        pattern += rf"(?:{plain}{space}|(?i:{escaped}|{percent}))"
    return pattern


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one try.

    `seconds` bounds every single wait for the network, `whole_seconds` the try from its first byte to
    its last, so that an answer that comes byte by byte ends as well. `largest_bytes` bounds the answer
    before and after decompression; it is held in memory as a whole.
    """

    seconds: float = 30.0
    whole_seconds: float = 120.0
    largest_bytes: int = 24 * MEGABYTE


class Unaskable(ValueError):
    """An id of which no path can be made."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request: a path below the base address, percent-encoded already, and its query.

    One with a `body`, which is JSON, writes. Refuses a path that is not encoded, or that climbs with `..`.
    """

    path: str
    query: Mapping[str, str]
    report: str
    customer: str
    body: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if {".", ".."} & set(self.path.split("/")):
            raise Unaskable(f"of an id in the path {self.path!r} no path can be made: it is only dots")
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"the path {self.path!r} is not percent-encoded; quote the ids in it one by one")

    def with_query(self, **values: str) -> Request:
        """The same request with more in its query."""
        return replace(self, query={**self.query, **values})

    @property
    def names_months(self) -> bool:
        """Whether it is about a time: days or months in its query, or a month at the end of its path."""
        return any("from" in name.lower() for name in self.query) or bool(_MONTH_AT_END.search(self.path))

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"

    @property
    def window(self) -> str:
        """What the query says besides the customer, the dates above all."""
        return ", ".join(f"{name}={value}" for name, value in self.query.items() if value != self.customer)

    def __str__(self) -> str:
        return f"report {self.report} of customer {self.customer} ({self.window or self.path})"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered, decompressed; the URL and the headers carry no credentials.

    `tries` counts the requests it took so far. A body that broke off or was too large is kept as far
    as it was read, but the answer is not `whole`.
    """

    request: Request
    url: str
    status: int
    body: bytes = field(repr=False)
    content_type: str
    headers: Mapping[str, str] = field(repr=False)
    seconds: float
    tries: int
    fetched_at_utc: datetime
    whole: bool = True


Trouble = Literal["unreachable", "timed out", "broken", "too large", "not json"]
"""Why a try brought no answer that can be read."""


@dataclass(frozen=True, slots=True)
class Try:
    """What became of one try of a request: its status, if there was one, and the trouble, if there was any.

    `detail` says more about the trouble, without the login; `bytes` is the size of what came.
    """

    request: Request
    number: int
    status: int | None
    bytes: int
    seconds: float
    trouble: Trouble | None = None
    detail: str = ""

    @property
    def is_retryable(self) -> bool:
        """Whether it is worth asking again: 429, 5xx, and trouble that may pass."""
        if self.trouble is not None:
            return self.trouble != "too large"
        return self.status is not None and (self.status == TOO_MANY_REQUESTS or 500 <= self.status < 600)

    @property
    def failure(self) -> str:
        """What went wrong, for the log; empty when nothing did."""
        return self.trouble or ("" if self.status in (OK, NO_CONTENT) else f"status {self.status}")
