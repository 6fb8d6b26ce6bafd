"""How does what was fetched reach the analysts? Marts, checks and the published file, in their own run."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.coverage import owed_table
from assets.describing import FRESHNESS, OWNERS
from assets.marts import FILE, Files, check_specs, checked_asset, mart_key, mart_results, mart_specs
from assets.matrix import count_squares_again
from assets.owing import owed
from assets.project import Project
from assets.standing import Standing, rows_before
from pipelines.catalogue.model import Report
from pipelines.cli.printing import size
from warehouse.checks import CheckResult
from warehouse.errors import WarehouseError
from warehouse.marts import MartError
from warehouse.store import Store

if TYPE_CHECKING:
    from pipelines.sync.finishing import Finished

AT_LEAST_HOURLY = "0 * * * *"
SEVERITIES = {"error": dg.AssetCheckSeverity.ERROR, "warning": dg.AssetCheckSeverity.WARN}

Event = dg.MaterializeResult[Any] | dg.AssetCheckResult


def published_file(project: Project, files: Files) -> dg.AssetsDefinition:
    """The marts, their checks and the published file; it stays as it was when an error check fails.

    It follows the reports by itself, in a run of its own: a customer that fails must not keep from the
    analysts what is right.
    """

    @dg.multi_asset(
        name="publish",
        specs=[*mart_specs(files, project.reports), file_spec(project, files)],
        check_specs=check_specs(files),
    )
    def publish(context: dg.AssetExecutionContext) -> Iterator[Event]:
        count_squares_again(context.instance, (dg.AssetKey(report.name) for report in project.monthly))
        finished = _finish(project)
        yield from mart_results(files, Store(project.settings.data_dir), finished.marts)
        yield from (check_result(files, one) for one in finished.checks)
        yield from _publication(project, context, finished)

    return publish


def file_spec(project: Project, files: Files) -> dg.AssetSpec:
    """The file that analysts open."""
    path = (project.settings.data_dir / "warehouse.duckdb").resolve()
    return dg.AssetSpec(
        key=FILE,
        deps=[
            *(report.name for report in project.reports),
            *(mart_key(query.name) for query in files.marts.values()),
        ],
        description="The file analysts open, replaced as a whole: open it at any time, nobody is blocked.\n\n"
        f"    duckdb -readonly {path}\n\n"
        "When a check of severity error fails the file of before stays, and this asset says why.",
        group_name="published",
        owners=list(OWNERS),
        kinds={"duckdb"},
        metadata={"dagster/uri": path.as_uri(), "path": dg.MetadataValue.path(str(path))},
        automation_condition=after_the_reports(project.reports),
        freshness_policy=FRESHNESS,
    )


def after_the_reports(reports: Sequence[Report]) -> dg.AutomationCondition[Any]:
    """Once after the reports changed and none is being fetched; every hour while that goes on for longer."""
    of_reports = dg.AssetSelection.assets(*(report.name for report in reports))
    changed = dg.AutomationCondition.any_deps_updated().allow(of_reports).since_last_handled()
    at_rest = ~dg.AutomationCondition.any_deps_in_progress().allow(of_reports)
    hourly = dg.AutomationCondition.cron_tick_passed(AT_LEAST_HOURLY)
    return changed & (at_rest | hourly) & ~dg.AutomationCondition.in_progress()


def check_result(files: Files, found: CheckResult) -> dg.AssetCheckResult:
    """What a check found, with some of the rows that offend it."""
    key = checked_asset(files, files.checks["checks", found.name])
    metadata: dict[str, Any] = {"rows": found.rows}
    if found.sample:
        metadata["some_of_them"] = dg.MetadataValue.md(rows_table(found.sample))
    return dg.AssetCheckResult(
        passed=found.passed,
        check_name=found.name,
        asset_key=key,
        severity=SEVERITIES[found.severity],
        description=found.question if found.passed else found.sentence,
        metadata=metadata,
    )


def rows_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as a markdown table."""
    heads = list(rows[0])
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(str(row[name]).replace('|', '/') for name in heads)} |" for row in rows]
    return "\n".join(lines)


def _finish(project: Project) -> "Finished":
    from pipelines.sync.finishing import NothingLoaded, finish

    try:
        return finish(project.settings, project.clock)
    except (NothingLoaded, MartError, WarehouseError) as error:
        raise dg.Failure(str(error)) from error


def _publication(
    project: Project, context: dg.AssetExecutionContext, finished: "Finished"
) -> Iterator[Event]:
    publication = finished.publication
    standing = Standing.read(project)
    metadata = {
        "missing": dg.MetadataValue.md(
            owed_table(owed(standing, project.clock.utc_now())) or "Nothing is missing."
        ),
        **standing.metadata(rows_before(context.instance, dg.AssetKey(FILE))),
    }
    if not publication.published:
        reasons = "\n".join(f"- {reason}" for reason in publication.reasons)
        raise dg.Failure(
            f"Not published; the file of before stays.\n{reasons}",
            metadata={**metadata, "reasons": dg.MetadataValue.md(reasons)},
        )
    context.log.info(f"Published {publication.path}, {size(publication.bytes or 0)}.")
    told = _published(finished, project.settings.published_url)
    yield dg.MaterializeResult(asset_key=FILE, metadata={**told, **metadata})


def _published(finished: "Finished", address: str) -> dict[str, Any]:
    """What is told of a new published file: where it lies, and what the checks say of it."""
    publication = finished.publication
    told: dict[str, Any] = {
        "page": _page(finished, address),
        "file": _place(publication.path, address),
        "bytes": publication.bytes or 0,
        "checks_passed": sum(one.passed for one in finished.checks),
        "checks_warning": len(finished.warnings),
    }
    if finished.warnings:
        sentences = "\n".join(f"- {one.sentence}" for one in finished.warnings)
        told["warnings"] = dg.MetadataValue.md(sentences)
    return told


def _page(finished: "Finished", address: str) -> dg.MetadataValue[Any]:
    """Where the page with the pictures lies, or why there is none."""
    page = finished.page
    if page is None or isinstance(page, str):
        return dg.MetadataValue.text(page or "There is none.")
    return _place(page.path, address)


def _place(path: Path, address: str) -> dg.MetadataValue[Any]:
    """A link to a file; its path to copy where nobody serves it, as no browser follows a path from here."""
    if address:
        return dg.MetadataValue.url(f"{address}/{path.name}")
    return dg.MetadataValue.path(str(path))
