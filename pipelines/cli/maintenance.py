"""Commands on stored data; each imports its own modules, so that it starts fast."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pipelines.cli.main import Reports, command, flag, option, options, working
from pipelines.cli.output import ProgressLine, print_json, print_wrapped, read_settings, say, warn
from pipelines.clock import SystemClock
from pipelines.words import count, counted, size

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

Format = StrEnum("Format", ["parquet", "csv", "xlsx"])


@command("publish")
def run_publish() -> int:
    """Build the marts, run the checks and publish."""
    settings = read_settings(offline=True)
    with working(settings, "publish"):
        return 0 if publish(settings) else 1


def publish(settings: Settings) -> bool:
    """Publish and print the outcome; returns whether there is a new file with its pages and export."""
    from pipelines.upkeep.finish import finish
    from warehouse.errors import WarehouseError

    try:
        finished = finish(settings)
    except WarehouseError as error:
        warn(str(error))
        return False
    for check in finished.checks:
        if not check.passed and not check.blocks:
            print_wrapped("", f"{check.severity}: {check.finding}")
    publication = finished.publication
    if not publication.has_new_file:
        warn(f"not published: {publication.why}; the earlier file stays")
        return False
    say(
        f"published {publication.path} ({size(publication.bytes or 0)}), {len(finished.marts)} marts, "
        f"{len(finished.checks)} checks"
    )
    warn(*finished.failed_steps, *finished.warnings)
    return not finished.failed_steps


@command("rollback")
def run_rollback(
    to: Annotated[
        str | None, option("a version, such as 20261129T183128Z; default: the previous one", "VERSION")
    ] = None,
) -> int:
    """Put an earlier published file back."""
    from pipelines.upkeep.report_page import draw_pages
    from warehouse.publishing.lake import refresh_lake
    from warehouse.publishing.publish import rollback

    settings = read_settings(reading=True)
    clock = settings.run_clock(SystemClock())
    with working(settings, "rollback"):
        publication = rollback(settings.data_dir, to=to, now=clock.utc_now())
        error = draw_pages(settings, clock)
        lake_error = refresh_lake(settings.data_dir, settings.lake, settings.shard, clock.utc_now())
        # the same command would go back further
        again = f"run `brokerbi rollback --to {publication.version}`"
        problems = (*publication.reasons, error, lake_error)
        warn(*(problem.replace("run the command again", again) for problem in problems))
    say(f"{publication.path} is version {publication.version} again; the next publication replaces it")
    return int(error != "")


@command("export")
def run_export(
    *,
    formats: Annotated[
        list[Format], options("parquet, csv or xlsx; default: BROKERBI_EXPORT_FORMATS", "FORMAT", "--format")
    ],
    to: Annotated[str, option("the directory; default: BROKERBI_EXPORT_TO", "DIR")] = "",
) -> int:
    """Write the published file as Parquet, CSV or Excel."""
    from pipelines.upkeep.export import export

    settings = read_settings(reading=True)
    say(f"exported to {export(settings, formats=formats, folder=to)}")
    return 0


@command("replay")
def run_replay(
    *,
    report: Reports,
    quarantine: Annotated[bool, flag("--quarantine", "replay only loads with rows in quarantine")] = False,
) -> int:
    """Rebuild tables from landing, without the service."""
    from pipelines.catalogue.reports import report as report_named
    from pipelines.planning.selection import Selection
    from pipelines.sync.run_context import RunContext
    from pipelines.upkeep.replay import replay
    from pipelines.upkeep.shapes import adopt_shapes
    from warehouse.store.database import Store
    from warehouse.store.lock import REBUILD

    settings = read_settings(offline=True)
    name = " --report ".join(["replay", *report]) + " --quarantine" * quarantine
    name = REBUILD.removeprefix("brokerbi ") if Store(settings.data_dir).is_lost else name
    with working(settings, name, remedy="Run `brokerbi replay`.", completed_by=(REBUILD, "brokerbi replay")):
        catalogue, _ = adopt_shapes(settings, Selection(), RunContext(), say, may_request=False)
        progress = ProgressLine()
        try:
            result = replay(
                settings,
                catalogue=catalogue,
                reports=[report_named(name).name for name in report],
                quarantine=quarantine,
                on_load=lambda loads, total: progress.show(
                    f"{count(loads)} of {counted(total, 'load')} replayed"
                ),
            )
        finally:
            progress.show("")
    loads, rows, rejected = counted(result.loads, "load"), counted(result.rows, "row"), count(result.rejected)
    outcome = f"{loads}, {rows} from landing, {rejected} in quarantine; run `brokerbi publish` next"
    say("\n".join((outcome, *result.notes)))
    warn(*result.failures, *result.unfit)
    return 1 if result.failures or result.unfit else 0


@command("erase")
def run_erase(
    contact: Annotated[str | None, option("the contact with this id", "ID")] = None,
    user: Annotated[str | None, option("the user with this id", "ID")] = None,
) -> int:
    """Erase a person from all stored data and all later loads."""
    from pipelines.upkeep.erase import erase
    from warehouse.persons.personal_data import PersonKind

    if (contact is None) == (user is None):
        raise ValueError("name one person, with --contact ID or --user ID")
    settings = read_settings(offline=True)
    kind: PersonKind = "user" if contact is None else "contact"
    with working(settings, "erase"):
        receipt = erase(settings, kind, contact or user or "")
    print_json(asdict(receipt))
    warn(*receipt.problems)
    return 1 if receipt.problems else 0
