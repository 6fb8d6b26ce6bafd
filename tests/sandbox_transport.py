"""Transport of httpx that asks the service without a socket, with the same faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from pipelines.sandbox.calls import Call, Reply
from pipelines.sandbox.service import Service


class SandboxTransport(httpx.AsyncBaseTransport):
    """Hands requests to a service; breaks off where the socket would, with the errors of httpx.

    An answer slower than the request's read time-out raises at once instead of waiting for it.
    """

    def __init__(
        self, service: Service, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._service = service
        self._sleep = sleep

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = Call(
            request.method,
            request.url.raw_path.decode("ascii"),
            {name.lower(): value for name, value in request.headers.items()},
            await request.aread(),
        )
        with self._service.answering(call) as reply:
            return await self._deliver(reply, request)

    async def _deliver(self, reply: Reply, request: httpx.Request) -> httpx.Response:
        patience = (request.extensions.get("timeout") or {}).get("read")
        if patience is not None and max(reply.first_byte_after, reply.body_takes / 8) > patience:
            raise httpx.ReadTimeout(f"no byte for {patience} s", request=request)
        if reply.first_byte_after or reply.body_takes:
            await self._sleep(reply.first_byte_after + reply.body_takes)
        reset = httpx.ReadError("connection reset by peer", request=request)
        if reply.ending == "reset":
            raise reset
        if reply.ending == "half_without_length":
            return httpx.Response(reply.status, headers=reply.headers, content=reply.half)
        headers = {**reply.headers, "Content-Length": str(len(reply.body))}
        if reply.ending == "whole":
            return httpx.Response(reply.status, headers=headers, content=reply.body)
        error: httpx.TransportError = reset
        if reply.ending == "half":
            closed = "peer closed connection without sending complete message body"
            error = httpx.RemoteProtocolError(closed, request=request)
        return httpx.Response(reply.status, headers=headers, content=_broken(reply.half, error))


async def _broken(sent: bytes, error: httpx.TransportError) -> AsyncIterator[bytes]:
    """A body that breaks off."""
    yield sent
    raise error
