"""What ails this installation? Findings on settings, disk, file, login and rights, each with its remedy."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.catalogue.vocabulary import Report
from pipelines.connect.errors import ConnectError, Forbidden, HostDown, Unauthorized
from pipelines.connect.host import Host
from pipelines.connect.pace import Pace
from pipelines.flattening.documents import read_document
from pipelines.months import Month
from pipelines.sync.asking import request
from pipelines.sync.clients import clients_of
from pipelines.sync.planned import chosen_reports
from pipelines.sync.selection import Selection
from pipelines.sync.surroundings import Surroundings
from pipelines.windows import Span
from warehouse.errors import WarehouseError
from warehouse.store import Store

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.connect.exchange import Request
    from pipelines.settings import Customer, Settings

ENOUGH_FREE_BYTES = 1_000_000_000


class Grade(StrEnum):
    """How bad a finding is."""

    WELL = "well"
    ODD = "odd"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was found, and what to do about it."""

    subject: str
    grade: Grade
    found: str
    remedy: str = ""


def examine(settings: Settings, surroundings: Surroundings, *, ask: bool = True) -> Iterator[Finding]:
    """Look at everything; `ask` makes one cheapest legal request per customer and report.

    A report that was refused with 403 today is not asked again.
    """
    yield from (Finding("settings", Grade.ODD, warning) for warning in settings.warnings)
    yield _disk(settings)
    yield from _working_file(settings)
    if ask:
        yield from asyncio.run(_service(settings, surroundings))


def _disk(settings: Settings) -> Finding:
    directory = settings.data_dir
    existing = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if not os.access(existing, os.W_OK):
        return Finding("disk", Grade.WRONG, f"{existing} cannot be written", "give the user the right to")
    if free < ENOUGH_FREE_BYTES:
        return Finding("disk", Grade.ODD, f"{free / 1e6:.0f} MB are free", "make room, or set landing_days")
    return Finding("disk", Grade.WELL, f"{free / 1e9:.0f} GB are free in {directory}")


def _working_file(settings: Settings) -> Iterator[Finding]:
    store = Store(settings.data_dir, lock_seconds=5.0)
    try:
        ledger = store.ledger()
    except WarehouseError as error:
        yield Finding("working file", Grade.WRONG, str(error), "see the sentence itself")
        return
    yield Finding("working file", Grade.WELL, f"{len(ledger.months)} months of reports are held")
    for (report, customer), cap in ledger.caps.items():
        length = f"{cap.days} days" if cap.days else f"{cap.months} months"
        found = f"{report} of {customer} is only answered for {length} at a time"
        yield Finding(
            "windows", Grade.ODD, found, "brokerbi status --forget-caps, if the service has changed"
        )


async def _service(settings: Settings, surroundings: Surroundings) -> list[Finding]:
    """Every login, and what each may see."""
    pace = Pace(settings.data_dir, settings.concurrency, settings.requests_per_second)
    denied = Store(settings.data_dir).ledger().denied
    today = settings.today_local(surroundings.clock)
    reports = [one for one in chosen_reports(settings, Selection(), surroundings.catalogue) if not one.each]
    findings: list[Finding] = []
    async with AsyncExitStack() as stack:
        customers = settings.active_customers
        clients = await clients_of(settings, surroundings, customers, pace, Host(pace), stack)
        for customer in customers:
            open_reports = [one for one in reports if (one.name, customer.id) not in denied]
            findings += await _rights(
                clients[customer.id], customer, open_reports, first=Month.of(today).first_day
            )
    return findings


async def _rights(
    client: Client, customer: Customer, reports: Sequence[Report], *, first: date
) -> list[Finding]:
    """What a customer's login may see, one small request per report; stops at a wrong login."""
    refused: list[str] = []
    troubled: list[Finding] = []
    seen = 0
    for report in reports:
        try:
            await client.get(_smallest(report, customer.id, first), read_document)
            seen += 1
        except Unauthorized as error:
            return [Finding(f"login of {customer.id}", Grade.WRONG, str(error), "correct the login")]
        except HostDown as error:
            return [Finding("service", Grade.WRONG, str(error), "check the address, or ask later")]
        except Forbidden:
            refused.append(report.name)
        except ConnectError as error:
            troubled.append(Finding(f"{report.name} of {customer.id}", Grade.WRONG, str(error), "ask later"))
    grade = Grade.ODD if refused else Grade.WELL
    words = f"{seen} of {len(reports)} reports answer" + (
        f"; refused: {', '.join(refused)}" if refused else ""
    )
    remedy = "ask for the rights, or take the reports out with BROKERBI_REPORTS=-name" if refused else ""
    return [Finding(f"rights of {customer.id}", grade, words, remedy), *troubled]


def _smallest(report: Report, customer: str, first: date) -> Request:
    """The cheapest legal question: one day of this month, one row a page."""
    question = request(report, customer, Span(first, first))
    return question.with_query(pageIndex="0", pageSize="1") if report.paged else question
