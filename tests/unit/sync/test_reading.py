"""Is a landing file finished or gone, whatever becomes of the window that it belongs to?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pipelines.catalogue.reports import report
from pipelines.connect.client import Client
from pipelines.connect.clock import SystemClock
from pipelines.connect.models import Answer, Request
from pipelines.normalize.document import Document
from pipelines.planning.plan import Planned
from pipelines.planning.windows import Window
from pipelines.settings.model import Customer
from pipelines.sync.pairs import Pair
from pipelines.sync.reading import Reading
from pipelines.sync.spans import LearnedCap
from warehouse.landing import Landing

USERS = Pair(Planned(report("users"), Customer(id="M1")), {}, 0, LearnedCap())


class Answering:
    """A client whose every answer is an empty list."""

    async def get(self, request: Request, read: Callable[[bytes], Document]) -> tuple[Answer, Document]:
        now = datetime(2026, 1, 1, tzinfo=UTC)
        return Answer(request, "/x", 200, b"[]", "application/json", {}, 0.1, 1, now), read(b"[]")


class NeverClosing(ThreadPoolExecutor):
    """Threads that are always busy when a landing file is to be closed."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        work = getattr(call, "args", (None,))[0]
        if getattr(work, "__name__", "") == "close":
            self.asked.set()
            return Future()
        return super().submit(call, *args, **kwargs)

    asked: asyncio.Event


async def cancelled_before_the_file_was_closed(landing: Path) -> None:
    threads = NeverClosing(1)
    threads.asked = asyncio.Event()
    asyncio.get_running_loop().set_default_executor(threads)
    reading = Reading("run", Landing(landing), SystemClock(), "Europe/Stockholm", 1000, asyncio.Semaphore(1))
    task = asyncio.create_task(reading.read(cast("Client", Answering()), USERS, Window((), ())))
    await threads.asked.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_a_window_that_is_cancelled_while_it_waits_for_a_thread_leaves_no_open_file(tmp_path: Path) -> None:
    asyncio.run(cancelled_before_the_file_was_closed(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
