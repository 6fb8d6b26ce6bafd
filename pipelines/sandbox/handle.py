"""How is a running sandbox held on to? Its address and login, its log, and all that can be switched."""

from __future__ import annotations

import asyncio
from datetime import date
from threading import Event, Thread
from typing import Any

from pipelines.sandbox.faults import Fault
from pipelines.sandbox.requestlog import RequestLog
from pipelines.sandbox.server import start
from pipelines.sandbox.service import Service
from pipelines.sandbox.truth import truth
from pipelines.sandbox.world.world import World

LONGEST_START = 10.0


class Handle:
    """A service on a socket, served by a thread."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.base_url = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._listening = Event()
        self._ended = Event()
        self._failure: OSError | None = None
        self._thread: Thread | None = None

    @property
    def username(self) -> str:
        return self.service.logins[0].username

    @property
    def password(self) -> str:
        return self.service.logins[0].password

    @property
    def world(self) -> World:
        return self.service.world

    @property
    def customers(self) -> tuple[str, ...]:
        """Groups and single offices: every office once."""
        return self.world.customers

    @property
    def log(self) -> RequestLog:
        return self.service.log

    @property
    def introduction(self) -> str:
        """What a person needs to ask it."""
        return (
            f"Sandbox: {self.base_url}\n"
            f"Login: {self.username} / {self.password}\n"
            f"Customers: {','.join(self.customers)}\n"
            f"History: from {self.world.history.start} to {self.world.as_of}\n"
            f"Control: {self.base_url}/_sandbox/world\n"
        )

    def set_as_of(self, as_of: date) -> None:
        """From now on the world stands as it stood on that day."""
        self.service.follow(None)
        self.service.set_as_of(as_of)

    def faults(self, *faults: Fault) -> None:
        """Exactly these faults from now on; none when called with nothing."""
        self.service.faults.switch(faults)

    def truth(self, customer: str, first: date, last: date) -> dict[str, Any]:
        """Totals of a customer as they are known now."""
        return truth(self.world, customer, first, last)

    def start(self, host: str, port: int) -> None:
        """Listen; raises what the socket raises."""
        self._thread = Thread(target=self._serve, args=(host, port), name="sandbox", daemon=True)
        self._thread.start()
        if not self._listening.wait(LONGEST_START):
            raise TimeoutError("the sandbox did not start to listen")
        if self._failure is not None:
            raise self._failure

    def wait(self) -> None:
        """Return when the service has ended; a Ctrl-C gets through."""
        while not self._ended.wait(0.5):
            pass

    def stop(self) -> None:
        """End the service and every connection to it."""
        if self._loop is not None and self._ending is not None and not self._ended.is_set():
            self._loop.call_soon_threadsafe(self._ending.set)
        if self._thread is not None:
            self._thread.join()

    def _serve(self, host: str, port: int) -> None:
        try:
            asyncio.run(self._listen(host, port))
        except OSError as error:
            self._failure = error
        finally:
            self._listening.set()
            self._ended.set()

    async def _listen(self, host: str, port: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        server = await start(self.service, host, port)
        bound = server.sockets[0].getsockname()
        shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
        self.base_url = f"http://{shown}:{bound[1]}"
        self._listening.set()
        await self._ending.wait()
        server.close()
