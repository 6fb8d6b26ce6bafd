"""Effects of faults: they change the rows, content, body or delivery of a reply, or replace the reply."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random
from urllib.parse import urlencode

from pipelines.sandbox.answers.formats import json_body
from pipelines.sandbox.answers.snapshot import ReportQuery
from pipelines.sandbox.calls import Call, Reply, json_reply
from pipelines.sandbox.faults import CONTENTS, ENDINGS, STATUSES, Fault
from pipelines.sandbox.world.chance import random_for

Row = dict[str, object]

HTML = (
    b"<!DOCTYPE html><html><head><title>Tillf\xc3\xa4lligt avbrott</title></head>"
    b"<body><h1>Tj\xc3\xa4nsten \xc3\xa4r inte tillg\xc3\xa4nglig</h1></body></html>"
)
MESSAGES = {
    "400": "The request is not valid.",
    "401": "The Authorization header is incorrect (wrong username or password).",
    "403": "The requested data is not accessible to the caller.",
    "404": "There is nothing here.",
    "429": "Too many requests.",
    "500": "An unexpected error occurred.",
    "502": "Bad gateway.",
    "503": "The service is unavailable.",
}
UNCHANGED = frozenset({"id", "year", "month", "customerId", "count", "index", "totalRowCount"})
"""Faults that change numbers leave these fields alone."""
WRONG_VALUES: dict[str, object] = {
    "commission": "enligt avtal",
    "amount": "tolv kronor",
    "finalPrice": "såld",
    "contractDay": "i går",
    "createdAt": "måndag",
    "obtainedAt": "2026-13-45T00:00:00",
    "soldEstateParts": {"parts": 1},
    "percentageOfTotal": "hälften",
    "isNewHome": "kanske",
    "changedAt": "nyss",
}


def replacement(faults: Sequence[Fault], clock: Callable[[], datetime] | None) -> Reply | None:
    """The reply that a fault sends in place of the answer; None if no fault does so."""
    for fault in faults:
        if fault.kind == "redirect":
            headers = {"Location": "/Account/Login?ReturnUrl=%2F", "Content-Type": "text/html"}
            return apply_delivery_faults(Reply(302, headers, HTML), faults)
        if fault.kind in STATUSES:
            headers = _retry_after(fault, clock) if fault.kind in ("429", "503") else {}
            reply = json_reply(int(fault.kind), {"message": MESSAGES[fault.kind]}, headers)
            return apply_delivery_faults(reply, faults)
    return None


def _retry_after(fault: Fault, clock: Callable[[], datetime] | None) -> dict[str, str]:
    if fault.retry_after == "none":
        return {}
    if fault.retry_after == "date":
        now = clock() if clock else datetime.now(UTC)
        return {"Retry-After": format_datetime(now + timedelta(seconds=fault.seconds), usegmt=True)}
    return {"Retry-After": str(max(0, round(fault.seconds)))}


def move_rows(query: ReportQuery, faults: Sequence[Fault], counts: dict[str, int], call: Call) -> ReportQuery:
    """The query of a page, as these faults change it.

    - `repeated_ids`: every page but the first begins with rows of the page before.
    - `moving_rows`: the first answer for a window lacks some rows, whichever page it is. If the fault is
      restless, so do the third, the fifth and so on.

    For each window, `counts` gets the number of its earlier answers.
    """
    for fault in faults:
        if fault.kind == "repeated_ids" and query.page[0] > 0:
            query = replace(query, repeated_rows=fault.rows)
        elif fault.kind == "moving_rows":
            window = urlencode(sorted(item for item in call.query.items() if item[0] != "pageindex"))
            reading = counts[window] = counts.get(window, -1) + 1
            hidden = reading % 2 == 0 if fault.restless else reading == 0
            query = replace(query, hidden_rows=fault.rows if hidden else 0)
    return query


def apply_reply_faults(reply: Reply, faults: Sequence[Fault], target: str, seed: int) -> Reply:
    """The reply with the effects of these faults: first on its content, then on its body and its delivery."""
    if any(fault.kind in CONTENTS for fault in faults):
        tree: object = json.loads(reply.body)
        for fault in faults:
            if fault.kind in CONTENTS:
                tree = _SPOILERS[fault.kind](tree, fault, random_for(seed, fault.kind, target))
        reply = replace(reply, body=json_body(tree))
    for fault in faults:
        if fault.kind == "html":
            reply = Reply(200, {"Content-Type": "text/html; charset=utf-8"}, HTML)
        elif fault.kind == "empty":
            reply = replace(reply, body=b"")
        elif fault.kind == "charset":  # Latin-1 declared as UTF-8
            reply = replace(reply, body=reply.body.decode().encode("latin-1", errors="replace"))
        elif fault.kind == "gzip":
            headers: Mapping[str, str] = {**reply.headers, "Content-Encoding": "gzip"}
            reply = replace(reply, headers=headers, body=gzip.compress(reply.body, compresslevel=1, mtime=0))
    return apply_delivery_faults(reply, faults)


def apply_delivery_faults(reply: Reply, faults: Sequence[Fault]) -> Reply:
    """The reply with the delays and the ending of these faults."""
    for fault in faults:
        if fault.kind == "slow_start":
            reply = replace(reply, first_byte_after=fault.seconds)
        elif fault.kind == "slow_body":
            reply = replace(reply, body_takes=fault.seconds)
        elif fault.kind in ENDINGS:
            reply = replace(reply, first_byte_after=0.0, body_takes=0.0, ending=fault.kind)
    return reply


def _rows(tree: object) -> Iterator[Row]:
    """Yield every object that is in a list, outer objects first."""
    if isinstance(tree, list):
        for item in tree:
            if isinstance(item, dict):
                yield item
            yield from _rows(item)
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _rows(value)


def _unknown_fields(tree: object, fault: Fault, rng: Random) -> object:
    for row in list(_rows(tree)):
        if rng.random() < fault.share:
            row["sandboxNote"] = rng.choice(("ny", "äldre", "östlig"))
            row["sandboxWeight"] = round(rng.uniform(0, 10), 3)
            row["sandboxDetail"] = {"level": rng.randint(1, 3), "codes": [rng.randint(1, 9), 5]}
    return tree


def _wrong_types(tree: object, fault: Fault, rng: Random) -> object:
    for row in list(_rows(tree)):
        fit = [name for name in WRONG_VALUES if isinstance(row.get(name), str | int | float)]
        if fit and rng.random() < fault.share:
            name = rng.choice(fit)
            row[name] = WRONG_VALUES[name]
    return tree


def _wrong_rows(tree: object, fault: Fault, rng: Random) -> object:
    if isinstance(tree, list):
        return [
            rng.choice((None, 17, "rad"))
            if isinstance(item, dict) and rng.random() < fault.share
            else _wrong_rows(item, fault, rng)
            for item in tree
        ]
    if isinstance(tree, dict):
        return {name: _wrong_rows(value, fault, rng) for name, value in tree.items()}
    return tree


def _nested_list(tree: object, _: Fault, rng: Random) -> object:
    for row in list(_rows(tree)):
        row["channels"] = [{"name": name, "count": rng.randint(0, 9)} for name in ("telefon", "e-post")]
    return tree


def _fractional(tree: object, _: Fault, __: Random) -> object:
    return _change_numbers(list(_rows(tree)), tree, lambda number: number + 0.5)


def _text(tree: object, _: Fault, __: Random) -> object:
    return _change_numbers(list(_rows(tree)), tree, lambda number: f"{number} st")


def _change_numbers(rows: list[Row], tree: object, change: Callable[[float], object]) -> object:
    for row in rows:
        _change_numbers([value for value in row.values() if isinstance(value, dict)], tree, change)
        for name, value in row.items():
            if name not in UNCHANGED and isinstance(value, int | float) and not isinstance(value, bool):
                row[name] = change(value)
    return tree


def _empty_report(tree: object, fault: Fault, rng: Random) -> object:
    if isinstance(tree, list):
        return []
    if isinstance(tree, dict):
        return {name: _empty_report(value, fault, rng) for name, value in tree.items()}
    return 0 if isinstance(tree, int) and not isinstance(tree, bool) else tree


_SPOILERS: dict[str, Callable[[object, Fault, Random], object]] = {
    "unknown_fields": _unknown_fields,
    "wrong_types": _wrong_types,
    "wrong_rows": _wrong_rows,
    "nested_list": _nested_list,
    "fractional": _fractional,
    "text": _text,
    "empty_report": _empty_report,
}
