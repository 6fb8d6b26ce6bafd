"""Inputs and outputs of the client: login, limits, request, tries and answer."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Literal
from urllib.parse import quote, quote_plus

from pydantic import SecretStr

OK = 200
NO_CONTENT = 204
NOTHING = b"null"  # an answer without content, as JSON
TOO_MANY_REQUESTS = 429
MEGABYTE = 1024 * 1024
HIDDEN = b"[hidden]"
SHORTEST_TO_HIDE = 4  # hiding a shorter word would blot out half of every text it is looked for in
SHORTEST_IN_DATA = 8  # a shorter one may be an ordinary part of some row

_PATH = re.compile(r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+")


@dataclass(frozen=True, slots=True)
class Login:
    """A username and its password; neither shows when the login is printed.

    `words` name it in sentences: where it is set, and whose it is.
    """

    username: str = field(repr=False)
    password: SecretStr
    words: str = field(default="BROKERBI_USERNAME or the password that goes with it", compare=False)

    def authorization(self) -> str:
        """The value of the Authorization header, in UTF-8 (interface, Authentication 1)."""
        return f"Basic {b64encode(f'{self.username}:{self.password.get_secret_value()}'.encode()).decode()}"

    def hide(self, text: str) -> str:
        """The text without this login, in case the service or a library repeats it."""
        secrets = (*self._tokens, self.password.get_secret_value(), self.username)
        return _hidden(secrets, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def hide_in_body(self, body: bytes, *, has_rows: bool) -> bytes:
        """A body without the password; the username stays, it may be an ordinary word of the text.

        Within rows, a password that may be data stays as well: if it is short, or only letters or digits.
        """
        password = self.password.get_secret_value()
        secrets = [*self._tokens, password]
        if has_rows:
            words = "".join(password.split())
            is_mixed = any(map(str.isalpha, words)) and not words.isalpha()
            secrets = [text for text in secrets if len(text) >= SHORTEST_IN_DATA]
            secrets = [text for text in secrets if is_mixed or text != password]
        return _hidden(secrets, body)

    @property
    def _tokens(self) -> tuple[str, str]:
        """The login and the password in Base64, without padding."""
        password = b64encode(self.password.get_secret_value().encode()).decode()
        return self.authorization().removeprefix("Basic ").rstrip("="), password.rstrip("=")


def _hidden(secrets: Iterable[str], body: bytes) -> bytes:
    for secret in secrets:
        word = max(re.findall("[A-Za-z0-9]*", secret), key=len)  # part of every spelling
        if len(secret) >= SHORTEST_TO_HIDE and word.encode() in body:
            for spelling in _spellings(secret):
                body = body.replace(spelling, HIDDEN)
    return body


@lru_cache(maxsize=100)
def _spellings(secret: str) -> Sequence[bytes]:
    """A secret plain, escaped as in JSON (also twice) and HTML, and percent-encoded; the longest first.

    Base64 may have its padding.
    """
    in_json = [json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    twice = [json.dumps(text)[1:-1] for text in in_json]
    others = (f"{secret}==", f"{secret}=", html.escape(secret), quote(secret, safe=""), quote_plus(secret))
    return sorted({text.encode() for text in (secret, *in_json, *twice, *others)}, key=len, reverse=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one try.

    `seconds` bounds each wait for the network, `whole_seconds` the try from first byte to last, so that an
    answer that comes byte by byte ends as well. `largest_bytes` bounds the answer before and after
    decompression; it is held in memory as a whole.
    """

    seconds: float = 30.0
    whole_seconds: float = 120.0
    largest_bytes: int = 24 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Request:
    """One request: a path below the base address, percent-encoded already, and its query.

    A request with a `body`, which is JSON, writes. Rejects a path that is not encoded, or that climbs with
    `..`.
    """

    path: str
    query: Mapping[str, str]
    report: str
    customer: str
    body: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if {".", ".."} & set(self.path.split("/")):
            raise ValueError(f"of an id in the path {self.path!r} no path can be made: it is only dots")
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"the path {self.path!r} is not percent-encoded; quote the ids in it one by one")

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"

    @property
    def window(self) -> str:
        """The query without the customer: mostly the dates."""
        return ", ".join(f"{name}={value}" for name, value in self.query.items() if value != self.customer)

    def __str__(self) -> str:
        return f"report {self.report} of customer {self.customer} ({self.window or self.path})"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the service, decompressed; its URL and headers carry no credentials.

    `tries` counts the requests it took so far. A body that broke off or was too large is kept as far as it
    was read.
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


Trouble = Literal["unreachable", "timed out", "broken", "too large", "stale", "not json"]
"""The reason why a try brought no readable answer."""


@dataclass(frozen=True, slots=True)
class Try:
    """The outcome of one try of a request: its status, if any, and its trouble, if any.

    `detail` describes the trouble, without the login; `bytes` is the received size.
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
        """Whether the request may be repeated: after 429, 5xx and transient errors."""
        if self.trouble is not None:
            return self.trouble != "too large"
        return self.status is not None and (self.status == TOO_MANY_REQUESTS or 500 <= self.status < 600)

    @property
    def failure(self) -> str:
        """The error for the log; empty if there was none."""
        return self.trouble or ("" if self.status in (OK, NO_CONTENT) else f"status {self.status}")
