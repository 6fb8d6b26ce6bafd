"""Errors tell the operator what was asked, what came back and what to do next."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from pipelines.connect.errors import Refused
from tests.unit.connect.fake_service import HTML, Reply, error_of, reply

SALES_IN_WORDS = "report sales of customer M1 (dateFrom=2024-01-01T00:00:00, dateTo=2024-01-31T23:59:59)"
LONG = b'{"message":\n "' + b"x" * 500 + b'"}'


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (reply(400, b'{"message":\r\n"too \x1b[31mlong"}'), 'It says: {"message": "too [31mlong"}'),
        (
            reply(401),
            "answered 401 to SALES: the login is wrong, and nothing more is asked with it. Check BROKERBI_",
        ),
        (reply(403), "answered 403 to SALES: the login has no access to it. Ask the service's support"),
        (
            reply(404),
            "answered 404 to SALES: there is no such thing. Check BROKERBI_BASE_URL and the customer id",
        ),
        (
            reply(302, location="https://login.example/?a=b"),
            "it points to login.example, which is not followed.",
        ),
        (reply(302, location="/login"), "it points to another path, which is not followed."),
        (reply(302, location="https://[x"), "it points to an address that is none, which is not followed."),
        (reply(503), "In 5 tries there was no answer to SALES; the last was answered 503. Run again later"),
        (
            httpx.ReadTimeout(""),
            "the last took too long. Run again later, or raise BROKERBI_TIMEOUT_SECONDS.",
        ),
        (reply(200, b"[1]", content_length="9"), "the last broke off (the answer ended after 3 of 9 bytes)."),
        (reply(200, HTML, content_type="text/html"), "that is not JSON (XML or HTML, text/html). Check that"),
        (
            reply(204),
            "(status 204 where a report was asked for). What came is kept in landing. If it stays so",
        ),
        (reply(200, b""), "What came is kept in landing. If it stays so, ask the service's support"),
        (reply(200, b"<a/>"), "(XML or HTML, without a content type)"),
        (reply(200, b"[1,"), "something that is not JSON (Expecting value: line 1 column 4"),
        (reply(429), "the last was answered 429. Lower BROKERBI_REQUESTS_PER_SECOND"),
        (
            httpx.ConnectError("no\nroute"),
            "the last found nobody to connect to (no route). Check BROKERBI_BASE_URL",
        ),
    ],
)
async def test_an_error_says_what_was_asked_what_came_back_and_the_next_step(
    tmp_path: Path, said: Reply, sentence: str
) -> None:
    message = str(await error_of(tmp_path, said))
    assert SALES_IN_WORDS in message
    assert sentence.replace("SALES", SALES_IN_WORDS) in message


async def test_a_validation_error_is_quoted_and_cut(tmp_path: Path) -> None:
    error = await error_of(tmp_path, reply(400, LONG))
    assert isinstance(error, Refused)
    assert error.validation == '{"message": "' + "x" * 287 + "..."
