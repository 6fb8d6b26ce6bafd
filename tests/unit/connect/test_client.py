"""How does a request look on the wire, and what does the caller get?"""

from __future__ import annotations

import gzip
from base64 import b64encode
from pathlib import Path

import httpx
import pytest

from pipelines.connect.client import Client
from pipelines.connect.models import Request, Try
from tests.unit.connect.fake_service import BASE_URL, LOGIN, NOON, ROWS, SALES, Service, client, read, reply


async def test_the_login_travels_as_basic_authentication_in_utf_8(tmp_path: Path) -> None:
    service = Service(ROWS)
    async with client(service, tmp_path) as asking:
        await asking.get(SALES, read)
    expected = b64encode("byrå-partner:löjrom & dill: 7".encode()).decode()
    assert service.asked[0].headers["authorization"] == f"Basic {expected}"


async def test_json_is_asked_for_and_gzip_is_allowed(tmp_path: Path) -> None:
    service = Service(ROWS)
    async with client(service, tmp_path) as asking:
        await asking.get(SALES, read)
    headers = service.asked[0].headers
    assert (service.asked[0].method, headers["accept"], headers["accept-encoding"]) == (
        "GET",
        "application/json",
        "gzip",
    )


async def test_the_path_follows_the_base_address_and_the_query_is_encoded_once(tmp_path: Path) -> None:
    service = Service(ROWS)
    request = Request(
        "/Sales/M%2F1%20%C3%A5", {"customerId": "M&1 å", "dateFrom": "2024-01-01T00:00:00"}, "s", "c"
    )
    async with client(service, tmp_path) as asking:
        answer, _ = await asking.get(request, read)
    assert service.asked[0].url.raw_path == (
        b"/api/Sales/M%2F1%20%C3%A5?customerId=M%261%20%C3%A5&dateFrom=2024-01-01T00%3A00%3A00"
    )
    assert answer.url.startswith(BASE_URL)


async def test_an_answer_says_what_was_asked_when_and_how_often(tmp_path: Path) -> None:
    async with client(Service(reply(503), ROWS), tmp_path) as asking:
        answer, rows = await asking.get(SALES, read)
    assert rows == [{"id": 1}]
    assert (answer.request, answer.status, answer.body, answer.tries) == (SALES, 200, b'[{"id": 1}]', 2)
    assert (answer.content_type, answer.whole) == ("application/json; charset=utf-8", True)
    assert (answer.fetched_at_utc - NOON).total_seconds() < 2


async def test_a_compressed_body_arrives_unpacked(tmp_path: Path) -> None:
    packed = gzip.compress(b"[1]") + gzip.compress(b" ")
    service = Service(reply(200, packed, content_encoding="gzip", content_length=str(len(packed))))
    async with client(service, tmp_path) as asking:
        answer, rows = await asking.get(SALES, read)
    assert (answer.body, rows) == (b"[1] ", [1])


async def test_a_transport_in_memory_may_hand_the_body_over_unpacked(tmp_path: Path) -> None:
    packed = gzip.compress(b"[1]")
    whole = httpx.MockTransport(
        lambda _: httpx.Response(200, content=packed, headers={"Content-Encoding": "gzip"})
    )
    plain = httpx.MockTransport(lambda _: httpx.Response(200, json=[2]))
    for transport, rows in ((whole, [1]), (plain, [2])):
        async with client(transport, tmp_path) as asking:
            assert (await asking.get(SALES, read))[1] == rows


async def test_cookies_are_neither_kept_nor_sent_back(tmp_path: Path) -> None:
    service = Service(reply(200, b"[]", set_cookie="session=1; Path=/"))
    async with client(service, tmp_path) as asking:
        answer, _ = await asking.get(SALES, read)
        await asking.get(SALES, read)
    assert "cookie" not in service.asked[1].headers
    assert "set-cookie" not in answer.headers


async def test_every_try_is_told_of(tmp_path: Path) -> None:
    tries: list[Try] = []
    async with client(Service(reply(500, b"oops"), ROWS), tmp_path, on_try=tries.append) as asking:
        await asking.get(SALES, read)
    assert [(one.number, one.status, one.failure, one.bytes) for one in tries] == [
        (1, 500, "status 500", 4),
        (2, 200, "", 11),
    ]


@pytest.mark.parametrize(
    "path", ["", "Sales", "/Sales/M 1", "/Sales/å", "/Sales/../M1", "/Sales/.", "/Sales?x=1", "/a//b", "/a\n"]
)
def test_a_path_that_is_not_encoded_or_climbs_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="percent-encoded"):
        Request(path, {}, "sales", "M1")


@pytest.mark.parametrize(
    "address",
    ["https://u:secret@service.example", "https://service.example/?a=1", "ftp://x", "service", "https://"],
)
def test_a_base_address_with_more_than_host_and_path_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(ValueError, match=r"^(holds|is not|must end)") as caught:
        client(None, tmp_path, base_url=address)
    assert "secret" not in str(caught.value)


def test_a_request_can_be_told_to_ask_for_another_page() -> None:
    assert SALES.with_query(pageIndex="2").query == {**SALES.query, "pageIndex": "2"}


def test_a_client_shows_nothing_of_its_login(tmp_path: Path) -> None:
    asking: Client = client(None, tmp_path)
    assert "dill" not in f"{asking!r} {LOGIN!r} {LOGIN}"
    assert "byrå" not in f"{asking!r} {LOGIN!r} {LOGIN}"
