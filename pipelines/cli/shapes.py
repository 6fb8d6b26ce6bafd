"""Commands `reports` and `shapes`: the reports as declared, and as the service answers them."""

from __future__ import annotations

from typing import Annotated

from pipelines.catalogue.reports import REPORTS
from pipelines.cli.main import Json, Reports, command, flag, working
from pipelines.cli.output import hang, print_json, print_records, read_settings, say

COUNTED = ("columns", "missing", "extra")


@command("shapes")
def run_shapes(
    *,
    report: Reports,
    from_landing: Annotated[
        bool, flag("--from-landing", "read stored answers only; send no request")
    ] = False,
    write: Annotated[bool, flag("--write", "add the proposals to shapes.toml")] = False,
    json: Json = False,
) -> int:
    """Show the shape of each report; propose one if it differs from the declared shape."""
    from pipelines.diagnosis.look import look_at
    from pipelines.planning.selection import Selection, chosen_reports
    from pipelines.shapes.shapes_file import with_shapes
    from pipelines.sync.run_context import RunContext
    from pipelines.upkeep.shapes import add_to_file

    settings, selection = read_settings(), Selection(reports=tuple(report))
    context = RunContext(catalogue=with_shapes(REPORTS, settings.shapes_file))
    reports = chosen_reports(settings, selection, context.catalogue)
    with working(settings, "shapes"):
        looks = look_at(settings, selection, context, reports, () if from_landing else reports)
    if json:
        print_json([vars(look) for look in looks])
    else:
        counts = [{name: len(vars(look)[name]) for name in COUNTED} for look in looks]
        rows = [vars(look) | count for look, count in zip(looks, counts, strict=True)]
        print_records(rows, ("report", "state", *COUNTED))
        for look in looks:
            if look.sentence or look.proposal:
                say()
                hang("", f"{look.report}: {look.sentence or look.state}")
                say(look.proposal)
    if write:
        written = add_to_file(settings.shapes_file, looks)
        say(f"{settings.shapes_file}: {', '.join(written) if written else 'nothing to add'}")
    return int(any(look.state == "not understood" for look in looks))


@command("reports")
def run_reports(json: Json = False) -> int:
    """List the reports, their limits and whether they are on."""
    records: list[dict[str, object]] = [
        {
            "name": report.name,
            "subject": report.subject,
            "on": report.timing.enabled,
            "on_demand": report.timing.on_demand,
            "longest_request_months": report.endpoint.request_months if report.has_months else None,
            "kept_as": report.stored_as,
            "description": report.description,
            "path": report.endpoint.path,
            "query": dict(report.endpoint.query),
            "longest_window_months": report.endpoint.window_months if report.has_months else None,
            "paged": report.endpoint.paged,
            "tables": [f"bi.{table.name}" for table in report.tables],
        }
        for report in REPORTS.values()
    ]
    if json:
        print_json(records)
    else:
        print_records(records, list(records[0])[:6])
    return 0
