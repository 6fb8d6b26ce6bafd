"""What does everything here stand on? The settings, and what a run happens in: clock, network, catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.connect.clock import Clock
from pipelines.planning.planned import calendar, chosen_reports
from pipelines.planning.selection import Selection
from pipelines.sync.rehearsing import clock_of
from pipelines.sync.surroundings import Surroundings
from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from pipelines.planning.due import Calendar
    from pipelines.settings.model import Settings

QUICK_LOOK_SECONDS = 2.0
"""How long a look at the ledger that is not needed may wait for a writer."""


@dataclass(frozen=True)
class Project:
    """Settings, built once; libraries that take long to load are loaded when a run needs them."""

    settings: Settings
    surroundings: Surroundings = field(default_factory=Surroundings)

    @property
    def clock(self) -> Clock:
        """What the sync takes the time to be; in a rehearsal it is that of another day."""
        return clock_of(self.settings, self.surroundings.clock)

    def as_of(self, moment: datetime) -> datetime:
        """A moment of Dagster, which knows of no rehearsal, as our clock would have shown it."""
        return self.clock.utc_now() - (self.surroundings.clock.utc_now() - moment)

    @property
    def calendar(self) -> Calendar:
        return calendar(self.settings, self.clock)

    @property
    def reports(self) -> list[Report]:
        """The reports that the settings ask for."""
        chosen = chosen_reports(self.settings, Selection(), self.surroundings.catalogue)
        return [report for report in chosen if not report.on_demand]

    @property
    def monthly(self) -> list[Report]:
        return [report for report in self.reports if report.has_months]

    @property
    def standing(self) -> list[Report]:
        return [report for report in self.reports if not report.has_months]

    def customers_held(self) -> Iterable[str]:
        """Everybody of whom something is held; nobody when that cannot be seen quickly."""
        if not (self.settings.data_dir / "work" / "warehouse.duckdb").exists():
            return ()
        from warehouse.store import Store

        try:
            ledger = Store(self.settings.data_dir, lock_seconds=QUICK_LOOK_SECONDS).ledger()
        except WarehouseError:
            return ()
        return {customer for _, customer, _ in ledger.months}
