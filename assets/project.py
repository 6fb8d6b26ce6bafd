"""Project: the settings, clock and catalogue that every definition is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import dagster as dg

from pipelines.catalogue.model import Report
from pipelines.clock import Clock
from pipelines.planning.due import Calendar, make_calendar
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.settings.model import Settings
from pipelines.sync.run_context import RunContext
from warehouse.store.database import Store

REPOSITORY, REPOSITORY_NAME = ".dagster/repository", "__repository__"
"""Dagster tags every launched run with the name of its code location, as `__repository__@name`."""


@dataclass(frozen=True)
class Project:
    """Settings and run context, built once when Dagster loads the code location.

    A step that failed for a transient reason is retried once, after `retry_seconds`.
    """

    settings: Settings
    run_context: RunContext = field(default_factory=RunContext)
    retry_seconds: float = 300.0

    def key(self, *path: str) -> dg.AssetKey:
        """The key of an asset; in a shard it begins with the shard's name: all shards share one Dagster."""
        shard = self.settings.shard
        return dg.AssetKey([shard, *path] if shard else path)

    def runs_filter(self, *, tags: Mapping[str, str] | None = None, **filters: Any) -> dg.RunsFilter:
        """A filter for runs; in a shard, only for runs of its code location, which has the shard's name."""
        shard = self.settings.shard
        own = {REPOSITORY: f"{REPOSITORY_NAME}@{shard}"} if shard else {}
        return dg.RunsFilter(tags={**own, **(tags or {})}, **filters)

    @property
    def clock(self) -> Clock:
        """The clock of the sync; if BROKERBI_TODAY is set, it shows that day."""
        return self.settings.run_clock(self.run_context.clock)

    def sync_time(self, recorded: datetime) -> datetime:
        """Convert Dagster's timestamp to the clock of the sync, which may show another day."""
        return self.clock.utc_now() - (self.run_context.clock.utc_now() - recorded)

    @property
    def calendar(self) -> Calendar:
        return make_calendar(self.settings, self.settings.today_local(self.clock))

    @property
    def store(self) -> Store:
        return Store(self.settings.data_dir)

    @property
    def reports(self) -> list[Report]:
        """The reports that the settings enable, without reports on demand."""
        enabled = chosen_reports(self.settings, Selection(), self.run_context.catalogue)
        return [report for report in enabled if not report.timing.on_demand]

    @property
    def monthly_reports(self) -> list[Report]:
        return [report for report in self.reports if report.has_months]
