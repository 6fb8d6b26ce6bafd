"""Progress of a run as lines in its Dagster log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from pipelines.catalogue.sales import CHANGED_SALES
from pipelines.planning.plan import Plan
from pipelines.sync.progress import HEADS, Progress, by_report
from pipelines.sync.summary import TROUBLE
from warehouse.ledger.conditions import OUTAGES
from warehouse.ledger.status import ColumnNews
from warehouse.ledger.window_result import WindowResult, WindowStatus

MOST_FAILURE_LINES = 50
"""After so many failed windows the log only counts; the failure of the run names them all."""
MOST_COLUMNS_NAMED = 10


@dataclass
class RunLog:
    """Lines of a run's log: how far it is, and windows that failed."""

    log: dg.DagsterLogManager
    progress: Progress = field(default_factory=Progress)
    results: list[WindowResult] = field(default_factory=list)
    has_warned: bool = False
    refused: set[str] = field(default_factory=set)
    host_errors: set[str] = field(default_factory=set)

    def planned(self, plan: Plan) -> None:
        """Log how much is to be asked."""
        self.log.info(self.progress.begin(plan))

    def window_done(self, window: WindowResult) -> None:
        """Count a window; log it if it failed, and every few seconds how far the run is."""
        self.results.append(window)
        if window.report == CHANGED_SALES:
            self._log_changes(window)
        if not self.progress.count(window):
            return
        is_refused = window.status is WindowStatus.NO_ACCESS
        # A customer that is refused is so in many reports, a service that is down in all: the table counts.
        is_told = self.progress.troubled > MOST_FAILURE_LINES or window.failure.error in self.host_errors
        if is_refused:
            is_told = window.customer in self.refused
            self.refused.add(window.customer)
        if (window.status in TROUBLE or is_refused) and not is_told:
            self.log.warning(
                f"{window.report} of {window.customer} ({window.when}) {window.status}: {window.reason}"
            )
        if window.failure.trouble in OUTAGES:
            self.host_errors.add(window.failure.error)
        if line := self.progress.line():
            self.log.info(line)

    def ended(self, news: Sequence[ColumnNews]) -> None:
        """Log the columns that are new or have another type now."""
        for words in columns_in_words(news).values():
            self.log.warning(words)

    def notes(self, news: Sequence[ColumnNews]) -> Mapping[str, Mapping[str, str]]:
        """What there is to say of each report as a whole."""
        columns = columns_in_words(news)
        found: dict[str, dict[str, str]] = {}
        for name, *cells, remark in self._rows():
            counts = [f"{cell} {head}" for cell, head in zip(cells, HEADS[1:-1], strict=True)]
            found[name] = {"this_run": ", ".join([*counts, *filter(None, [remark])])}
            if name in columns:
                found[name]["columns"] = columns[name]
        return found

    def _rows(self) -> list[Sequence[str]]:
        return by_report(self.results, self.progress.held)

    def _log_changes(self, window: WindowResult) -> None:
        """Log the answer about changed sales; that the service has none is logged for one customer only."""
        if window.status is WindowStatus.TOLD:
            self.log.info(f"{window.customer}: {window.reason}.")
        if window.warnings and not self.has_warned:
            self.has_warned = True
            self.log.warning(f"{window.customer}: {'; '.join(window.warnings)}")


def columns_in_words(news: Sequence[ColumnNews]) -> Mapping[str, str]:
    """A sentence for each report about its new and changed columns."""
    by_report: dict[str, list[ColumnNews]] = {}
    for one in news:
        by_report.setdefault(one.report, []).append(one)
    return {report: f"{report}: {_enumerated(several)}" for report, several in by_report.items()}


def _enumerated(news: Sequence[ColumnNews]) -> str:
    words = [one.words for one in news[:MOST_COLUMNS_NAMED]]
    if len(news) > len(words):
        words.append(f"{len(news) - len(words)} more")
    return ", ".join(words)
