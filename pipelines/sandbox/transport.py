"""How do tests ask the sandbox without a socket? As a transport of httpx, with the same faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from pipelines.sandbox.calls import Call, Reply
from pipelines.sandbox.service import Service

Sleep = Callable[[float], Awaitable[None]]


class SandboxTransport(httpx.AsyncBaseTransport):
    """Hands requests to a service; breaks off where the socket would, in httpx's own words.

    An answer slower than the request's read time-out raises at once instead of waiting for it.
    """

    def __init__(self, service: Service, *, sleep: Sleep = asyncio.sleep) -> None:
        self._service = service
        self._sleep = sleep

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = Call(
            request.method,
            request.url.raw_path.decode("ascii"),
            {name.lower(): value for name, value in request.headers.items()},
            await request.aread(),
        )
        if call.segments[0] == "_sandbox":
            return await self._delivered(self._service.respond(call), request)
        with self._service.log.entry(call, self._service.customer_of(call)) as entry:
            return await self._delivered(self._service.respond(call, entry), request)

    async def _delivered(self, reply: Reply, request: httpx.Request) -> httpx.Response:
        delivery = reply.delivery
        patience = (request.extensions.get("timeout") or {}).get("read")
        waits = max(delivery.first_byte_after, delivery.body_takes / 8)
        if patience is not None and waits > patience:
            raise httpx.ReadTimeout(f"no byte for {patience} s", request=request)
        if delivery.first_byte_after or delivery.body_takes:
            await self._sleep(delivery.first_byte_after + delivery.body_takes)
        if delivery.ending == "reset before":
            raise httpx.ReadError("connection reset by peer", request=request)
        if delivery.ending == "half without length":
            return httpx.Response(reply.status, headers=reply.headers, content=_half(reply))
        headers = {**reply.headers, "Content-Length": str(len(reply.body))}
        if delivery.ending == "whole":
            return httpx.Response(reply.status, headers=headers, content=reply.body)
        error: httpx.TransportError = (
            httpx.ReadError("connection reset by peer", request=request)
            if delivery.ending == "reset inside"
            else httpx.RemoteProtocolError(
                "peer closed connection without sending complete message body", request=request
            )
        )
        return httpx.Response(reply.status, headers=headers, stream=_Broken(_half(reply), error))


def _half(reply: Reply) -> bytes:
    return reply.body[: len(reply.body) // 2]


class _Broken(httpx.AsyncByteStream):
    """A body that breaks off."""

    def __init__(self, sent: bytes, error: httpx.TransportError) -> None:
        self._sent = sent
        self._error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._sent
        raise self._error
