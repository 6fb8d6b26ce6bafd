"""Tests of the call to a monitor after a publication."""

from __future__ import annotations

import httpx

from pipelines.operations.publish import call

ADDRESS = "https://monitor.test/a-secret-token"


def test_a_monitor_is_called_once_and_nobody_without_an_address() -> None:
    called: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        called.append(str(request.url))
        return httpx.Response(200)

    transport = httpx.MockTransport(answer)
    assert [call(ADDRESS, transport), call("", transport)] == ["", ""]
    assert called == [ADDRESS]


def test_a_monitor_that_does_not_answer_is_named_without_its_address() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(404))
    assert call(ADDRESS, transport) == "BROKERBI_PING_URL answered 404; check it"
