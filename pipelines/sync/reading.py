"""How does a window become rows? Fetched into landing, flattened, and asked again where it looks wrong."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.catalogue.model import MonthOfRow, Report, StoredAs
from pipelines.normalize.document import Document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.tables import Normalized
from pipelines.planning.windows import Window
from pipelines.sync.desk import Desk
from pipelines.sync.fetched import Fetched, rows_by_month
from pipelines.sync.fetching import AnswerPage, WindowReader
from pipelines.sync.guards import emptied_months
from pipelines.sync.pairs import Pair
from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.connect.clock import Clock
    from warehouse.landing import LandedFile, Landing


class UnreadableRows(Exception):
    """An answer that is JSON, but that no rows could be made of."""


@dataclass(frozen=True)
class Missed:
    """A window that could not be fetched: why, and where what did arrive is kept."""

    load_id: str
    error: Exception
    requests: int
    bytes: int
    seconds: float
    fetched_at_utc: datetime
    landing: str


@dataclass(frozen=True)
class ByMonthInstead:
    """Rows turned out to carry no year and month: the window's months must be asked one by one."""

    requests: int


@dataclass(frozen=True)
class Reading:
    """Reads windows for one run; holds what all of them share.

    `flattening` bounds how many answers are turned into rows at the same time, for flat memory.
    """

    run_id: str
    landing: Landing
    clock: Clock
    timezone: str
    page_size: int
    flattening: asyncio.Semaphore
    desk: Desk = field(default_factory=Desk)

    async def read(
        self, client: Client, pair: Pair, window: Window, *, held: bool = False
    ) -> Fetched | Missed | ByMonthInstead:
        """Fetch and flatten one window; its landing file is complete when this returns.

        `held` keeps it from being loaded by anybody until it is released.
        """
        load_id = f"{self.clock.utc_now():%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"
        reader = self._reader(client, pair, window, load_id)
        try:
            return await self._whole(reader, pair, window, load_id, held=held)
        except (OSError, WarehouseError):
            raise
        except Exception as error:  # noqa: BLE001 - one window's trouble must not stop the others
            landed = await self._land(reader, [], error=type(error).__name__)
            began = reader.began_utc or self.clock.utc_now()
            return Missed(load_id, error, reader.requests, reader.bytes, reader.seconds, began, landed.path)
        finally:
            reader.landing.discard()
            reader.clear_the_desk()

    async def _whole(
        self, reader: WindowReader, pair: Pair, window: Window, load_id: str, *, held: bool
    ) -> Fetched | ByMonthInstead:
        pages, flat = await self._read(reader, pair, window)
        reader.clear_the_desk()
        if _needs_months(pair.planned.report, flat, window):
            return ByMonthInstead(reader.requests)
        return self._fetched(reader, pair, window, load_id, flat, await self._land(reader, pages, held=held))

    async def _read(
        self, reader: WindowReader, pair: Pair, window: Window
    ) -> tuple[list[AnswerPage], Normalized]:
        """Read the window; once more where it says that a month which had rows is empty now."""
        pages = await reader.read()
        flat = await self._flatten(pair.planned.report, pages, window)
        if emptied_months(pair.before, rows_by_month(flat, window)):
            reader.notes.append("asked twice")
            pages = await reader.read()
            flat = await self._flatten(pair.planned.report, pages, window)
            for month in emptied_months(pair.before, rows_by_month(flat, window)):
                reader.warnings.append(f"{month} had {pair.before[month]} rows and is empty now, asked twice")
        return pages, flat

    async def _flatten(self, report: Report, pages: Sequence[AnswerPage], window: Window) -> Normalized:
        async with self.flattening:
            return await asyncio.to_thread(
                flatten_pages,
                report,
                [page.document for page in pages],
                window,
                self.timezone,
                [page.asked for page in pages],
            )

    def _reader(self, client: Client, pair: Pair, window: Window, load_id: str) -> WindowReader:
        report, customer = pair.planned.report, pair.planned.customer.id
        asked = pair.planned.asked
        header = {
            "run_id": self.run_id,
            "months": [month.first_day.isoformat() for month in window.months],
            "history": report.stored_as is StoredAs.HISTORY,
            "kept": report.stored_as is not StoredAs.NOT_KEPT,
            "asked": list(asked) if asked is not None and report.on_demand else None,
        }
        landing = self.landing.open(report.name, customer, window.first, window.last, load_id, header)
        return WindowReader(
            client, report, customer, window, self.page_size, pair.cap, landing, asked or (None,), self.desk
        )

    async def _land(
        self, reader: WindowReader, pages: Sequence[AnswerPage], error: str = "", *, held: bool = False
    ) -> LandedFile:
        trailer = {
            "used": [page.member for page in pages],
            "error": error,
            "note": "; ".join((*reader.notes, *reader.warnings)),
            "requests": reader.requests,
            "seconds": reader.seconds,
            "fetched_at_utc": (reader.began_utc or self.clock.utc_now()).isoformat(),
        }
        return await asyncio.to_thread(reader.landing.close, trailer, held=held)

    def _fetched(
        self,
        reader: WindowReader,
        pair: Pair,
        window: Window,
        load_id: str,
        flat: Normalized,
        landed: LandedFile,
    ) -> Fetched:
        return Fetched(
            report=pair.planned.report,
            customer=pair.planned.customer.id,
            window=window,
            load_id=load_id,
            run_id=self.run_id,
            flat=flat,
            landing=landed.path,
            sha256=landed.sha256,
            requests=reader.requests,
            bytes=reader.bytes,
            seconds=reader.seconds,
            fetched_at_utc=reader.began_utc or self.clock.utc_now(),
            asked=pair.planned.asked if pair.planned.report.on_demand else None,
            notes=(*reader.notes, *flat.findings.notes),
            warnings=tuple(reader.warnings),
        )


def flatten_pages(
    report: Report,
    documents: Sequence[Document],
    window: Window,
    timezone: str,
    asked: Sequence[str | None],
) -> Normalized:
    """Rows of one window's answers; raises UnreadableRows with a sentence instead of a library's error."""
    try:
        flat = normalize(report, documents, months=window.months, timezone=timezone, asked=asked)
    except Exception as error:
        raise UnreadableRows(
            f"no rows could be made of the answer ({type(error).__name__}: {error}); it is kept in landing, "
            "and `brokerbi replay` loads it once the cause is mended"
        ) from error
    if not flat.findings.recognised:
        raise UnreadableRows(
            f"the answer is JSON, but not this report ({'; '.join(flat.findings.notes)}); it is kept in "
            "landing and what was held stays; if the service has truly changed, adapt the report's block"
        )
    return flat


def _needs_months(report: Report, flat: Normalized, window: Window) -> bool:
    """Whether rows for several months came without telling which month each belongs to."""
    assumed = report.month_of_row is MonthOfRow.YEAR_AND_MONTH and flat.findings.year_and_month is False
    return len(window.months) > 1 and (assumed or flat.findings.undated)
