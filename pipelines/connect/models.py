"""Inputs and outputs of the client: login, limits, request, tries and answer."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from html.entities import codepoint2name
from typing import Literal

from pydantic import SecretStr

OK = 200
NO_CONTENT = 204
NULL_BODY = b"null"  # the JSON of an answer without content
UNAUTHORIZED = 401
TOO_MANY_REQUESTS = 429
MEGABYTE = 1024 * 1024
HIDDEN = "[hidden]"
MIN_LENGTH_TO_HIDE = 4  # a shorter secret is part of many words
MIN_LENGTH_IN_DATA = 8  # a shorter secret may be part of a row

_PATH = re.compile(r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+")


@dataclass(frozen=True, slots=True)
class Login:
    """A username and its password; neither shows when the login is printed.

    `name` says in messages which settings contain the login.
    """

    username: str = field(repr=False)
    password: SecretStr
    name: str = field(default="BROKERBI_USERNAME or the password that goes with it", compare=False)

    def authorization(self) -> str:
        """The value of the Authorization header, in UTF-8 (interface, Authentication 1)."""
        return f"Basic {b64encode(f'{self.username}:{self.password.get_secret_value()}'.encode()).decode()}"

    def hide(self, text: str) -> str:
        """The text without this login, which the service or a library may have repeated.

        Also hides the login in Base64, escaped for JSON or HTML, and percent-encoded. A username or password
        of fewer than four characters stays.
        """
        return _hide_secrets((*self._secrets, self.username), text)

    def hide_in_body(self, body: bytes, *, has_rows: bool) -> bytes:
        """The body without the password. The username stays, because it may be an ordinary word.

        In a body with rows, a password stays too if it is shorter than eight characters, has only letters, or
        has no letters: it may be a value in a row.
        """
        secrets: tuple[str, ...] = self._secrets
        if has_rows:
            *tokens, password = self._secrets
            is_mixed = any(map(str.isalpha, password)) and not re.sub(r"\s", "", password).isalpha()
            secrets = tuple(
                secret
                for secret in (*tokens, *([password] if is_mixed else []))
                if len(secret) >= MIN_LENGTH_IN_DATA and _longest_word(secret).encode() in body
            )
        if not secrets:
            return body
        return _hide_secrets(secrets, body.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )

    @property
    def _secrets(self) -> tuple[str, str, str]:
        password = self.password.get_secret_value()
        return self.authorization().removeprefix("Basic "), b64encode(password.encode()).decode(), password


def _hide_secrets(secrets: Iterable[str], text: str) -> str:
    for secret in secrets:
        if len(secret) >= MIN_LENGTH_TO_HIDE:
            text = _any_spelling(secret).sub(HIDDEN, text)
    return text


def _longest_word(secret: str) -> str:
    """The longest sequence of ASCII letters and digits, which is the same in JSON, HTML and URLs."""
    words: list[str] = re.findall("[A-Za-z0-9]*", secret)
    return max(words, key=len)


@lru_cache(maxsize=100)
def _any_spelling(secret: str) -> re.Pattern[str]:
    """A pattern for the secret in any spelling; the padding of Base64 may be missing."""
    pattern = "".join(map(_spellings, secret.rstrip("=")))
    return re.compile(f"{pattern}(?:{_spellings('=')})*" if pattern else re.escape(secret))


def _spellings(character: str) -> str:
    """A pattern for a character: plain, escaped once or twice, as an HTML reference, or percent-encoded."""
    plain = rf"\\{{0,3}}{re.escape(character)}" if character in '"\\/' else re.escape(character)
    space = r"|\+" if character == " " else ""
    units = character.encode("utf-16-be")
    escaped = "".join(rf"\\{{1,2}}u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    name = codepoint2name.get(ord(character), "apos" if character == "'" else "#")
    reference = rf"&(?:#0*{ord(character)}|#x0*{ord(character):x}|{name});"
    percent = "".join(f"%{byte:02x}" for byte in character.encode())
    return rf"(?:{plain}{space}|(?i:{escaped}|{reference}|{percent}))"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one try.

    `seconds` limits each wait for the network, and `try_seconds` limits the whole try. `largest_bytes` limits
    the size of the answer, both compressed and decompressed.
    """

    seconds: float = 30.0
    try_seconds: float = 120.0
    largest_bytes: int = 24 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Request:
    """One request: a percent-encoded path below the base address, a query and, if it writes, a JSON `body`.

    Raises ValueError if the path is not encoded, or if a segment of it is empty, `.` or `..`.
    """

    path: str
    query: Mapping[str, str]
    report: str
    customer: str
    body: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if {".", ".."} & set(self.path.split("/")):
            raise ValueError(f"the path {self.path!r} has an id of only dots")
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"the path {self.path!r} is not percent-encoded; quote each id in it")

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"

    @property
    def window(self) -> str:
        """The query without the customer, usually the dates."""
        return ", ".join(f"{name}={value}" for name, value in self.query.items() if value != self.customer)

    def __str__(self) -> str:
        return f"report {self.report} of customer {self.customer} ({self.window or self.path})"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the service, decompressed; `Login.hide_in_body` has hidden the secrets of the login.

    `tries` is the number of tries so far. If the answer broke off or was too large, `body` is its beginning.
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


ErrorKind = Literal["unreachable", "timed out", "broken", "too large", "stale", "not json"]
"""The reason why the answer of a try is missing or unusable."""


@dataclass(frozen=True, slots=True)
class Try:
    """The outcome of one try of a request.

    `status` is None if no answer arrived. `error_kind` is set if no answer arrived or the answer cannot be
    used; an answer like a 404 or 500 has only its `status`. `detail` describes the error, without the login.
    `bytes` is the size of the decompressed body.
    """

    request: Request
    number: int
    status: int | None
    bytes: int
    seconds: float
    error_kind: ErrorKind | None = None
    detail: str = ""

    @property
    def is_retryable(self) -> bool:
        """Whether the request may be repeated: after 429, 5xx and every kind of error but "too large"."""
        if self.error_kind is not None:
            return self.error_kind != "too large"
        return self.status is not None and (self.status == TOO_MANY_REQUESTS or 500 <= self.status < 600)

    @property
    def shows_accepted_login(self) -> bool:
        """Whether the try proves the login right: any answer does, except a 401 or a retryable one."""
        return self.status not in (None, UNAUTHORIZED) and not self.is_retryable

    @property
    def failure(self) -> str:
        """The error as the log states it; empty if there was none."""
        return self.error_kind or ("" if self.status in (OK, NO_CONTENT) else f"status {self.status}")
