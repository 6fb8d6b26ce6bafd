"""How does everything stand? What is held, what is missing, and what changed since the last publication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.coverage import coverage_table, held_of_all
from assets.project import Project
from pipelines.cli.printing import count
from pipelines.planning.plan import Plan
from pipelines.planning.planned import make_plan
from pipelines.planning.selection import Selection

if TYPE_CHECKING:
    from warehouse.ledger import Ledger
    from warehouse.overview import Overview

ROWS_BY_REPORT = "rows_by_report"


@dataclass(frozen=True)
class Standing:
    """The plan of what is missing or due, the ledger it rests on, and what failed since."""

    plan: Plan
    ledger: Ledger
    overview: Overview

    @classmethod
    def read(cls, project: Project) -> Standing:
        from warehouse.overview import overview
        from warehouse.store import Store

        store = Store(project.settings.data_dir)
        plan, _ = make_plan(
            project.settings, Selection(), store, project.clock, project.surroundings.catalogue
        )
        return cls(plan, store.ledger(), overview(store))

    @property
    def rows_by_report(self) -> dict[str, int]:
        rows: Counter[str] = Counter()
        for (report, _, _), held in self.ledger.months.items():
            rows[report] += held.rows
        return dict(sorted(rows.items()))

    def metadata(self, rows_before: Mapping[str, int]) -> dict[str, Any]:
        """The standing as Dagster shows it beside the published file."""
        held, everything = held_of_all(self.plan.planned)
        rows = self.rows_by_report
        return {
            "coverage": dg.MetadataValue.md(coverage_table(self.plan.planned, self.ledger)),
            "changed": dg.MetadataValue.md(changes(rows_before, rows)),
            "months_held": held,
            "months_missing": everything - held,
            "dagster/row_count": sum(rows.values()),
            ROWS_BY_REPORT: dg.MetadataValue.json(rows),
        }


def rows_before(instance: dg.DagsterInstance, key: dg.AssetKey) -> Mapping[str, int]:
    """The rows of every report when the file was last published; empty when that is unknown."""
    event = instance.get_latest_materialization_event(key)
    materialization = event.asset_materialization if event else None
    value = materialization.metadata.get(ROWS_BY_REPORT) if materialization else None
    found = value.value if value is not None else None
    return {str(name): int(rows) for name, rows in found.items()} if isinstance(found, dict) else {}


def changes(before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """Rows that came and went, report by report."""
    if not before:
        return "This is the first publication that is known here."
    differing = [name for name in sorted({*before, *now}) if before.get(name, 0) != now.get(name, 0)]
    if not differing:
        return "No report has more or fewer rows than before; rows themselves may have changed."
    lines = ["| report | rows before | rows now | change |", "|---|---:|---:|---:|"]
    for name in differing:
        old, new = before.get(name, 0), now.get(name, 0)
        sign = "+" if new > old else "-"
        lines.append(f"| {name} | {count(old)} | {count(new)} | {sign}{count(abs(new - old))} |")
    return "\n".join(lines)
