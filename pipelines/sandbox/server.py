"""How is the sandbox reached over a socket? A small HTTP/1.1 server, on the loopback address only."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus

from pipelines.sandbox.calls import Call, Reply
from pipelines.sandbox.service import Service

MOST_HEAD = 64 * 1024
MOST_BODY = 1024 * 1024
PIECES = 8


class NotLoopback(ValueError):
    """The sandbox was told to listen where others could reach it."""


def loopback(host: str) -> str:
    """The host, if it is this machine's own loopback address; refuses everything else."""
    try:
        own = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = False
    if not own:
        raise NotLoopback(
            f"the sandbox listens on the loopback address only, not on {host!r}: its data is made up and "
            f"its password known to everybody; use 127.0.0.1"
        )
    return "127.0.0.1" if host == "localhost" else host


async def start(service: Service, host: str, port: int) -> asyncio.Server:
    """Listen; port 0 takes a free one."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A cancelled conversation means the server is ending: nobody is left to tell.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await _converse(service, reader, writer)
        writer.close()

    return await asyncio.start_server(connected, loopback(host), port, limit=MOST_HEAD)


async def _converse(service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after the other until either side ends the connection."""
    while True:
        try:
            call = await _read(reader, writer)
        except (ValueError, asyncio.LimitOverrunError):
            writer.write(_head(Reply(400), length=0, close=True))
            return
        if call is None:
            return
        close = call.headers.get("connection", "").lower() == "close"
        if call.segments[0] == "_sandbox":
            kept = await _send(service.respond(call), writer, head_only=False, close=close)
        else:
            with service.log.entry(call, service.customer_of(call)) as entry:
                reply = service.respond(call, entry)
                kept = await _send(reply, writer, head_only=call.method == "HEAD", close=close)
        if close or not kept:
            return


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call | None:
    """The next request, or None when the caller has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    headers: dict[str, str] = {}
    for line in filter(None, lines[1:]):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    length = int(headers.get("content-length", "0") or "0")
    if not 0 <= length <= MOST_BODY or "transfer-encoding" in headers:
        raise ValueError("only bodies of a known and modest length are read")
    body = await reader.readexactly(length) if length else b""
    return Call(method, target, headers, body)


async def _send(reply: Reply, writer: asyncio.StreamWriter, *, head_only: bool, close: bool) -> bool:
    """Deliver a reply; says whether the connection can be used again."""
    delivery = reply.delivery
    if delivery.first_byte_after:
        await asyncio.sleep(delivery.first_byte_after)
    if delivery.ending == "reset before":
        _reset(writer)
        return False
    half = reply.body[: len(reply.body) // 2]
    known_length = delivery.ending != "half without length"
    sent = reply.body if delivery.ending == "whole" else half
    writer.write(
        _head(reply, length=len(reply.body) if known_length else None, close=close or not known_length)
    )
    if not head_only:
        await _send_body(sent, writer, delivery.body_takes)
    await writer.drain()
    if delivery.ending == "reset inside":
        await asyncio.sleep(0.01)  # what was written must leave before the reset discards it
        _reset(writer)
    return delivery.ending == "whole"


async def _send_body(body: bytes, writer: asyncio.StreamWriter, takes: float) -> None:
    """At once, or piece by piece over some seconds."""
    if not takes:
        writer.write(body)
        return
    size = max(1, -(-len(body) // PIECES))
    for start_at in range(0, max(len(body), 1), size):
        await asyncio.sleep(takes / PIECES)
        writer.write(body[start_at : start_at + size])
        await writer.drain()


def _head(reply: Reply, *, length: int | None, close: bool) -> bytes:
    headers: Mapping[str, str] = {**reply.headers, "Connection": "close" if close else "keep-alive"}
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if length is not None and reply.status != HTTPStatus.NO_CONTENT:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reset(writer: asyncio.StreamWriter) -> None:
    """Drop the connection so that the caller sees a reset, not an end."""
    own = writer.get_extra_info("socket")
    if own is not None:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
