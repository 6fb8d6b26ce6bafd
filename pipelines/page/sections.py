"""A section of a page: figures in a line, charts, one open table, and tables behind a click."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.page.charts import Chart
from pipelines.page.tables import Cell, PageTable


@dataclass(frozen=True)
class Section:
    """What is laid out under one heading."""

    id: str
    heading: str
    subjects: tuple[str, ...] = ()  # what its figures are of, as in doubts
    is_open: bool = True
    figures: list[Cell] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    table: PageTable | None = None
    folded: list[PageTable | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    basis: str = "basis.without"  # said beside the heading while the switch shows another reading
