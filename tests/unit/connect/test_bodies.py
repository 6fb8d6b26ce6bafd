"""Is half a body ever taken for a whole one?"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.connect.body import Body, BodyTooLarge, HalfBody
from pipelines.connect.content import Spool, Spooled
from pipelines.connect.limits import Limits

ROOMY = 1_000_000


def _whole(headers: dict[str, str], received: bytes, largest: int = ROOMY, step: int = 7) -> bytes:
    body = Body(headers, Limits(largest_bytes=largest))
    for start in range(0, len(received), step):
        body.add(received[start : start + step])
    body.finish()
    return body.content[:]


@given(parts=st.lists(st.binary(max_size=200), max_size=3), step=st.integers(1, 50))
def test_gzip_in_any_pieces_and_members_is_unpacked_whole(parts: list[bytes], step: int) -> None:
    packed = b"".join(gzip.compress(part) for part in parts)
    assert _whole({"content-encoding": "GZIP"}, packed, step=step) == b"".join(parts)


@given(text=st.binary(min_size=1, max_size=300), cut=st.integers(1, 300))
def test_gzip_that_ends_early_is_half_a_body(text: bytes, cut: int) -> None:
    packed = gzip.compress(text)
    kept = packed[: -min(cut, len(packed) - 1)]
    with pytest.raises(HalfBody):
        _whole({"content-encoding": "gzip"}, kept)


def test_fewer_bytes_than_announced_are_half_a_body() -> None:
    with pytest.raises(HalfBody, match="ended after 3 of 4 bytes"):
        _whole({"content-length": "4"}, b"abc")


@pytest.mark.parametrize("length", ["", "x", "-1", "٣"])
def test_an_announced_length_that_is_no_number_is_not_held_against_the_body(length: str) -> None:
    assert _whole({"content-length": length}, b"abc") == b"abc"


def test_a_length_beside_chunks_does_not_count() -> None:
    assert _whole({"content-length": "9", "transfer-encoding": "chunked"}, b"abc") == b"abc"


def test_zeros_packed_tightly_do_not_outgrow_the_limit() -> None:
    body = Body({"content-encoding": "gzip"}, Limits(largest_bytes=10_000))
    with pytest.raises(BodyTooLarge):
        body.add(gzip.compress(bytes(5_000_000)))
    assert len(body.content) <= 10_001


def test_bytes_behind_the_compression_are_ignored() -> None:
    assert _whole({"content-encoding": "gzip"}, gzip.compress(b"abc") + b"\0\0\0") == b"abc"


def test_what_is_too_large_for_memory_rests_on_the_disk_without_a_name(tmp_path: Path) -> None:
    spool = Spool(tmp_path, most=5)
    for part in (b"abc", b"def", b"ghi"):
        spool.add(part)
    content = spool.content()
    assert isinstance(content, Spooled)
    assert (len(content), content[2:7], content[:], content[9:12]) == (9, b"cdefg", b"abcdefghi", b"")
    assert list(tmp_path.iterdir()) == []


def test_few_bytes_stay_in_memory(tmp_path: Path) -> None:
    spool = Spool(tmp_path, most=5)
    spool.add(b"abcde")
    assert spool.content() == b"abcde"
