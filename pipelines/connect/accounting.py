"""What is written down of every try? One line in the log, never with a header in it."""

from __future__ import annotations

import json
import logging

from pipelines.connect.exchange import Request, Try
from pipelines.connect.sentences import failure
from pipelines.connect.wire import Outcome

LOGGER = logging.getLogger("brokerbi.connect")
LOGGER.addHandler(logging.NullHandler())  # who wants the lines listens; nobody else gets them on the screen


def account(request: Request, number: int, outcome: Outcome) -> Try:
    """The record of one try."""
    return Try(
        request=request,
        number=number,
        status=outcome.status,
        failure=failure(outcome),
        bytes=len(outcome.answer.body) if outcome.answer else 0,
        seconds=outcome.seconds,
    )


def log(one: Try) -> None:
    """Write a try as key=value; one that failed is a warning."""
    fields = {
        "report": one.request.report,
        "customer": one.request.customer,
        "window": one.request.window,
        "try": one.number,
        "status": one.status or "none",
        "bytes": one.bytes,
        "seconds": f"{one.seconds:.3f}",
    }
    if one.failure:
        fields["failure"] = one.failure
    line = " ".join(f"{name}={_quoted(str(value))}" for name, value in fields.items())
    LOGGER.log(logging.WARNING if one.failure else logging.INFO, "%s", line)


def _quoted(text: str) -> str:
    plain = text.isprintable() and not set(text) & set(' "=\\')
    return text if plain and text else json.dumps(text)
