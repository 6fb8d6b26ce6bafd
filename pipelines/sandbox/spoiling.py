"""What do faults do to a reply? They end it, disturb its pages, spoil its content, body or delivery."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import urlencode

from pipelines.sandbox import contents
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.calls import Call, Delivery, Reply, json_reply
from pipelines.sandbox.faults import CONTENTS, STATUSES, Fault
from pipelines.sandbox.world.chance import drawn

HTML = (
    b"<!DOCTYPE html><html><head><title>Tillf\xc3\xa4lligt avbrott</title></head>"
    b"<body><h1>Tj\xc3\xa4nsten \xc3\xa4r inte tillg\xc3\xa4nglig</h1></body></html>"
)
MESSAGES = {
    "400": "The question is not valid.",
    "401": "The Authorization header is incorrect (wrong username or password).",
    "403": "The requested data is not accessible to the caller.",
    "404": "There is nothing here.",
    "429": "Too many requests.",
    "500": "An unexpected error occurred.",
    "502": "Bad gateway.",
    "503": "The service is unavailable.",
}


def ended(striking: Sequence[Fault], clock: Callable[[], datetime] | None) -> Reply | None:
    """The reply of a fault that lets nothing else happen, with the delivery other faults give it."""
    for fault in striking:
        if fault.kind not in STATUSES:
            continue
        if fault.kind == "redirect":
            reply = Reply(
                302, {"Location": "/Account/Login?ReturnUrl=%2F", "Content-Type": "text/html"}, HTML
            )
        else:
            headers = _retry_after(fault, clock) if fault.kind in ("429", "503") else {}
            reply = json_reply(int(fault.kind), {"message": MESSAGES[fault.kind]}, headers)
        return delivered(reply, striking)
    return None


def _retry_after(fault: Fault, clock: Callable[[], datetime] | None) -> dict[str, str]:
    if fault.retry_after == "none":
        return {}
    if fault.retry_after == "date":
        now = clock() if clock else datetime.now(UTC)
        return {"Retry-After": format_datetime(now + timedelta(seconds=fault.seconds), usegmt=True)}
    return {"Retry-After": str(max(0, round(fault.seconds)))}


def disturbed(question: Question, striking: Sequence[Fault], moved: dict[str, int], call: Call) -> Question:
    """A paged question whose rows move while they are read, or come twice.

    Rows come in after the first look; a restless fault lets them come and go with every look.
    """
    if question.page is None:
        return question
    for fault in striking:
        if fault.kind == "repeated_ids" and question.page[0] > 0:
            question = replace(question, repeated_rows=fault.rows)
        elif fault.kind == "moving_rows":
            window = urlencode(sorted((k, v) for k, v in call.query.items() if k != "pageindex"))
            looks = moved[window] = moved.get(window, -1) + 1
            hidden = looks % 2 == 0 if fault.restless else looks == 0
            question = replace(question, hidden_rows=fault.rows if hidden else 0)
    return question


def spoiled(reply: Reply, striking: Sequence[Fault], target: str, seed: int) -> Reply:
    """The reply with its content, its body and its delivery spoiled, in this order."""
    if reply.status == 200 and any(fault.kind in CONTENTS for fault in striking):
        tree: object = json.loads(reply.body)
        for fault in striking:
            if fault.kind in CONTENTS:
                tree = contents.SPOILERS[fault.kind](tree, fault, drawn(seed, fault.kind, target))
        reply = replace(reply, body=json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode())
    for fault in striking:
        if fault.kind in _BODIES:
            reply = _BODIES[fault.kind](reply)
    return delivered(reply, striking)


def delivered(reply: Reply, striking: Sequence[Fault]) -> Reply:
    """The reply with the delivery the faults give it."""
    delivery = reply.delivery
    for fault in striking:
        if fault.kind == "slow_start":
            delivery = replace(delivery, first_byte_after=fault.seconds)
        elif fault.kind == "slow_body":
            delivery = replace(delivery, body_takes=fault.seconds)
        elif fault.kind in _ENDINGS:
            delivery = _ENDINGS[fault.kind]
    return replace(reply, delivery=delivery)


_ENDINGS = {
    "reset": Delivery(ending="reset before"),
    "reset_inside": Delivery(ending="reset inside"),
    "half": Delivery(ending="half"),
    "half_without_length": Delivery(ending="half without length"),
}


def _html(_: Reply) -> Reply:
    return Reply(200, {"Content-Type": "text/html; charset=utf-8"}, HTML)


def _empty(reply: Reply) -> Reply:
    return replace(reply, body=b"")


def _charset(reply: Reply) -> Reply:
    """Latin-1 under the name of UTF-8."""
    return replace(reply, body=reply.body.decode().encode("latin-1", errors="replace"))


def _gzip(reply: Reply) -> Reply:
    headers: Mapping[str, str] = {**reply.headers, "Content-Encoding": "gzip"}
    return replace(reply, headers=headers, body=gzip.compress(reply.body, compresslevel=1, mtime=0))


_BODIES: dict[str, Callable[[Reply], Reply]] = {
    "html": _html,
    "empty": _empty,
    "charset": _charset,
    "gzip": _gzip,
}
