"""Bodies of answers: half a body is never taken for a complete one, and none grows beyond the limit."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
from hypothesis import given
from hypothesis import strategies as st

from pipelines.connect.connection import Connection
from pipelines.connect.models import Answer, Limits, Try
from tests.unit.connect.fake_service import BASE_URL, LOGIN, SALES, Chunks, Service, StillClock

ROOMY = 1_000_000
GZIP = {"content-encoding": "GZIP"}


def sent(headers: dict[str, str], received: bytes, largest: int = ROOMY, step: int = 7) -> tuple[Try, Answer]:
    """One try of a request whose answer comes in pieces of so many bytes."""
    pieces = [received[start : start + step] for start in range(0, len(received), step)]
    service = Service(lambda _: httpx.Response(200, headers=headers, stream=Chunks(*pieces)))

    async def send() -> tuple[Try, Answer | None]:
        connection = Connection(BASE_URL, LOGIN, Limits(largest_bytes=largest), service, StillClock())
        try:
            return await connection.send(SALES, 1)
        finally:
            await connection.http.aclose()

    one, answer = asyncio.run(send())
    assert answer is not None
    return one, answer


def body(headers: dict[str, str], received: bytes, step: int = 7) -> bytes:
    one, answer = sent(headers, received, step=step)
    assert one.error_kind is None
    return answer.body


@given(text=st.binary(max_size=300), step=st.integers(1, 50))
def test_gzip_in_chunks_of_any_size_is_decompressed_completely(text: bytes, step: int) -> None:
    assert body(GZIP, gzip.compress(text), step) == text


@given(text=st.binary(min_size=1, max_size=300), cut=st.integers(1, 300))
def test_gzip_that_ends_early_is_a_truncated_body(text: bytes, cut: int) -> None:
    packed = gzip.compress(text)
    one, _ = sent(GZIP, packed[: -min(cut, len(packed) - 1)])
    assert one.error_kind == "broken"


def test_text_that_is_not_utf_8_is_read_as_declared() -> None:
    declared = {"content-type": "application/json; charset=iso-8859-1"}
    assert body(declared, '["Gävle"]'.encode("latin-1")) == '["Gävle"]'.encode()
    assert body(declared, '["Gävle"]'.encode()) == '["Gävle"]'.encode()


def test_a_decompressed_body_does_not_exceed_the_limit() -> None:
    one, answer = sent(GZIP, gzip.compress(bytes(5_000_000)), largest=10_000, step=100_000)
    assert (one.error_kind, len(answer.body)) == ("too large", 10_001)


def test_an_answer_that_exceeds_the_limit_is_not_read_to_its_end() -> None:
    one, answer = sent({}, b"x" * 1000, largest=100, step=30)
    assert (one.error_kind, len(answer.body), one.bytes) == ("too large", 90, 90)


def test_bytes_after_the_end_of_the_gzip_data_are_ignored() -> None:
    assert body(GZIP, gzip.compress(b"abc") + b"\0\0\0") == b"abc"


class Dripping(httpx.AsyncByteStream):
    """A body whose next byte always comes soon, and whose end never."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)


async def test_a_try_that_takes_too_long_times_out() -> None:
    service = Service(lambda _: httpx.Response(200, stream=Dripping()))
    connection = Connection(BASE_URL, LOGIN, Limits(try_seconds=0.1), service, StillClock())
    one, _ = await connection.send(SALES, 1)
    await connection.http.aclose()
    assert one.error_kind == "timed out"
