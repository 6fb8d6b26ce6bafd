"""What goes in and out of the service? A call, a reply, how it is delivered, and a refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Call:
    """A request as it arrived; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path as it was sent, still percent-encoded."""
        return self.target.partition("?")[0]

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path, decoded."""
        return tuple(unquote(part) for part in self.path.strip("/").split("/"))

    @property
    def query_text(self) -> str:
        return self.target.partition("?")[2]

    @property
    def query(self) -> dict[str, str]:
        """Parameters by name in lower case; of repeated ones the last counts."""
        return {name.lower(): value for name, value in parse_qsl(self.query_text, keep_blank_values=True)}


@dataclass(frozen=True)
class Delivery:
    """How a reply reaches the caller: at once and whole, unless a fault says otherwise."""

    first_byte_after: float = 0.0
    body_takes: float = 0.0
    ending: Literal["whole", "reset before", "reset inside", "half", "half without length"] = "whole"


@dataclass(frozen=True)
class Reply:
    """What the service answers."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delivery: Delivery = Delivery()


class Refusal(Exception):
    """The service does not answer this; `fields` says which parameters are wrong and why."""

    def __init__(self, status: int, message: str, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.fields = dict(fields or {})


def json_reply(status: int, answer: object, headers: Mapping[str, str] | None = None) -> Reply:
    """An answer as JSON in UTF-8."""
    body = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    return Reply(status, {"Content-Type": JSON, **(headers or {})}, body)
