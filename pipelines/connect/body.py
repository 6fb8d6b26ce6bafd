"""Is the body whole? Collects and decompresses what arrives, and knows when something is missing."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Protocol

from pipelines.connect.content import Content, Spool
from pipelines.connect.limits import Limits

GZIP = 16 + zlib.MAX_WBITS
GZIP_BEGINS = b"\x1f"


class BodyError(Exception):
    """The body cannot be used; the message says why."""


class HalfBody(BodyError):
    """Some of it is missing or damaged: worth asking again."""


class BodyTooLarge(BodyError):
    """There is more of it than allowed; the message completes `the answer ...`."""


class Body:
    """The bytes of one answer, as far as they have come.

    Refuses more bytes than allowed, before and after decompression, a compression that was not asked
    for, and at the end a body shorter than its Content-Length or its compression says.
    """

    def __init__(self, headers: Mapping[str, str], limits: Limits) -> None:
        self._data = Spool(limits.spool)
        self._largest = limits.largest_bytes
        self._received = 0
        self._announced = _announced(headers)
        self._unpacking = _unpacking(headers.get("content-encoding", "").strip().lower())

    def add(self, received: bytes) -> None:
        """Take the next bytes as they came over the wire."""
        self._received += len(received)
        if self._received > self._largest:
            raise BodyTooLarge(self._too_large())
        if self._unpacking is None:
            self._data.add(received)
            return
        try:
            self._data.add(self._unpacking.unpacked(received, self._largest + 1 - len(self._data)))
        except zlib.error:
            raise HalfBody("the answer is damaged: it cannot be decompressed") from None
        if len(self._data) > self._largest:
            raise BodyTooLarge(self._too_large())

    @property
    def content(self) -> Content:
        """All that has come so far, decompressed."""
        return self._data.content()

    def finish(self) -> None:
        """Refuse a body that ended before it was whole."""
        if self._announced is not None and self._received < self._announced:
            raise HalfBody(f"the answer ended after {self._received} of {self._announced} bytes")
        if self._unpacking is not None and self._received and not self._unpacking.is_whole:
            raise HalfBody("the answer ended in the middle of its compression")

    def _too_large(self) -> str:
        return f"is larger than {self._largest} bytes"


class _Unpacking(Protocol):
    def unpacked(self, received: bytes, most: int) -> bytes:
        """The decompressed bytes, at most so many."""

    @property
    def is_whole(self) -> bool:
        """Whether the compression has come to its end."""


class _Gzip:
    """One gzip member after the other, as the format allows."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(GZIP)

    def unpacked(self, received: bytes, most: int) -> bytes:
        unpacked = bytearray()
        while received and len(unpacked) < most:
            if self._member.eof:
                if not received.startswith(GZIP_BEGINS):
                    break
                self._member = zlib.decompressobj(GZIP)
            unpacked += self._member.decompress(received, most - len(unpacked))
            received = self._member.unused_data
        return bytes(unpacked)

    @property
    def is_whole(self) -> bool:
        return self._member.eof


def _announced(headers: Mapping[str, str]) -> int | None:
    length = headers.get("content-length", "").strip()
    chunked = "transfer-encoding" in headers
    return int(length) if length.isascii() and length.isdigit() and not chunked else None


def _unpacking(encoding: str) -> _Unpacking | None:
    if encoding in {"", "identity"}:
        return None
    if encoding in {"gzip", "x-gzip"}:
        return _Gzip()
    raise HalfBody(f"the answer is compressed as {encoding[:20]}, which was not asked for")
