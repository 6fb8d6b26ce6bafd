"""In what does a sync run? The clock, the network and the catalogue, so that a test can hand in its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.connect.clock import Clock, SystemClock

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Surroundings:
    """What a sync runs in, so that a test or a rehearsal can hand in its own.

    `transport` replaces the network, `clock` the time, `catalogue` the reports there are.
    """

    clock: Clock = field(default_factory=SystemClock)
    transport: httpx.AsyncBaseTransport | None = None
    catalogue: Mapping[str, Report] = field(default_factory=lambda: REPORTS)
