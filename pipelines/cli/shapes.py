"""Command `shapes`: what each report looks like, held against its declaration."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from pipelines.cli.output import print_table, say
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.settings.model import load_settings
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.look import Look, as_json
from pipelines.sync.run_context import RunContext
from pipelines.upkeep.shapes import add_to_file, look_at

HEADS = ("report", "state", "rows at", "columns", "missing", "extra")
DIFFERS = ("proposed", "not understood")


def run_shapes(reports: Sequence[str], *, from_landing: bool, writes: bool, is_json: bool) -> int:
    """Look at the reports that are on, or at these; 1 if one is not understood."""
    settings = load_settings(os.environ)
    context, selection = RunContext(), Selection(reports=tuple(reports))
    catalogue = with_shapes(context.catalogue, settings.shapes_file)
    chosen = [report for report in chosen_reports(settings, selection, catalogue) if not report.endpoint.each]
    looks = look_at(settings, selection, context, catalogue, chosen, from_landing=from_landing)
    if is_json:
        print(json.dumps([as_json(look) for look in looks], indent=1, ensure_ascii=False))
    else:
        _show(looks)
    if writes:
        written = add_to_file(settings.shapes_file, [look for look in looks if look.state in DIFFERS])
        say(f"{settings.shapes_file}: {', '.join(written) if written else 'nothing to add'}")
    return int(any(look.state == "not understood" for look in looks))


def _show(looks: Sequence[Look]) -> None:
    rows = [
        (
            look.report.name,
            look.state,
            look.report.tables[0].rows or "the answer",
            str(len(look.found)),
            ", ".join(name.rpartition(".")[2] for name in look.missing),
            str(len(look.extra)),
        )
        for look in looks
    ]
    print_table(HEADS, rows, right=(3, 5))
    for look in looks:
        if look.sentence and look.state != "as declared":
            say(f"\n{look.report.name}: {look.sentence}")
        if look.proposal and look.state in DIFFERS:
            say(look.proposal.as_toml())
