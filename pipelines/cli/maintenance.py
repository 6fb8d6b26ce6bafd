"""Commands on what is held: `publish`, `rollback`, `report`, `export`, `replay`, `archive`, `compact`, ...

Each imports what it needs itself: `publish` needs nothing of a replay.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.output import complain, print_json, say
from pipelines.clock import SystemClock
from pipelines.settings.messages import SettingsError
from pipelines.settings.model import Settings, load_settings
from pipelines.words import count, counted, duration, size

if TYPE_CHECKING:
    from pipelines.upkeep.export import Export
    from pipelines.upkeep.report_page import ReportPage

LOADS_BETWEEN_LINES = 200


def run_publish(_: argparse.Namespace) -> int:
    """Publish the working file; 1 when a check of severity error stands against it."""
    return 0 if publish(load_settings(os.environ, offline=True)) else 1


def publish(settings: Settings) -> bool:
    """Publish, say what the checks found, and whether there is a new published file."""
    from pipelines.upkeep.finish import finish

    finished = finish(settings)
    for check in finished.checks:
        if not check.passed:
            write = complain if check.blocks else print
            write(f"{check.severity}: {check.finding}")
    publication = finished.publication
    if not publication.published:
        complain(f"brokerbi: not published: {publication.why}; the file of before stays")
        return False
    say(
        f"published {publication.path} ({size(publication.bytes or 0)}), {len(finished.marts)} marts, "
        f"{len(finished.checks)} checks"
    )
    if isinstance(finished.page, str):
        say(f"warning: {finished.page}")
    elif finished.page is not None:
        say(f"the same as a page: {finished.page.path}")
    if isinstance(finished.export, str):
        say(f"warning: {finished.export}")
    elif finished.export is not None:
        _print_export(finished.export)
    if isinstance(finished.lake, str):
        say(f"warning: {finished.lake}")
    if finished.archive and finished.archive.error:
        say(f"warning: {count(finished.archive.waiting)} stored answers wait: {finished.archive.error}")
    return True


def finish_without_publication(settings: Settings) -> None:
    """Archive what waits, and let the operators' page say how things are, where nothing was loaded."""
    from pipelines.upkeep.finish import finish_without_file

    if why := finish_without_file(settings):
        say(f"warning: {why}")


def draw_operators_page(settings: Settings, page: ReportPage | str | None = None) -> None:
    """Let the operators' page say how things are where nothing was published, with the plan of a `page`."""
    from pipelines.upkeep.report_page import ReportPage, refresh_operators_page

    planned = page.planned if isinstance(page, ReportPage) else None
    if why := refresh_operators_page(settings, settings.clock_of_day(SystemClock()), planned):
        say(f"warning: {why}")


def run_rollback(arguments: argparse.Namespace) -> int:
    """Put back the file before the current one, or the version named with --to."""
    from pipelines.upkeep.lake import refresh_lake
    from pipelines.upkeep.report_page import refresh_report_page
    from warehouse.publishing.publish import rollback

    settings = load_settings(os.environ, reading=True)
    clock = settings.clock_of_day(SystemClock())
    publication = rollback(settings.data_dir, to=arguments.to, now=clock.utc_now())
    page = refresh_report_page(settings, clock)
    if isinstance(page, str):
        say(f"warning: {page}")
    draw_operators_page(settings, page)
    lake = refresh_lake(settings, clock.utc_now())
    if isinstance(lake, str):
        say(f"warning: {lake}")
    say(f"{publication.path} is version {publication.version} again; the next sync publishes anew")
    return 0


def run_report(arguments: argparse.Namespace) -> int:
    """Write the page beside the published file, or where --out says."""
    from pipelines.upkeep.report_page import write_dictionary_page, write_report_page

    settings = load_settings(os.environ, reading=True)
    out = Path(arguments.out) if arguments.out else None
    if not (out or settings.pages):
        raise SettingsError(
            [f"{settings.name_of('pages')} is false; name a file with --out, or set it to true."]
        )
    page = write_report_page(settings, SystemClock(), out)
    if not arguments.out:
        write_dictionary_page(settings.data_dir, timezone=settings.timezone, now=SystemClock().utc_now())
        draw_operators_page(settings, page)
    if page.missing:
        complain(
            f"brokerbi: the published file cannot answer for {', '.join(page.missing)}; the rest is there. "
            "If an earlier version published it, `brokerbi publish` makes one that can"
        )
    say(f"{page.path} ({size(page.bytes)}, {duration(page.seconds)}); open it in any browser")
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """Write the files that the arguments name, or else the settings."""
    from pipelines.upkeep.export import export

    settings = load_settings(os.environ, reading=True)
    made = export(
        settings.data_dir,
        formats=list(dict.fromkeys(arguments.format or settings.export_formats or ("parquet",))),
        to=arguments.to or settings.export_to,
        tables=arguments.table,
        language=settings.language,
        now=SystemClock().utc_now(),
    )
    _print_export(made)
    return 0


def _print_export(made: Export) -> None:
    """Where it is, how large, and what it lacks."""
    say(f"exported to {made.place} ({made.files} files, {size(made.bytes)}, {duration(made.seconds)})")
    for table in made.too_long:
        complain(f"brokerbi: {table} is longer than a sheet of Excel; it is not in the workbook")


def run_replay(arguments: argparse.Namespace) -> int:
    """Replay the loads of the named reports and customers, or all; 1 when a load could not be."""
    from pipelines.catalogue.reports import report
    from pipelines.upkeep.replay import replay

    done = replay(
        load_settings(os.environ, offline=True),
        reports=[report(name).name for name in arguments.report],
        customers=arguments.customer,
        quarantine=arguments.quarantine,
        on_load=_counter("{} of {} loads replayed"),
        on_totals=_counter("the tables are rebuilt; remembering what was restated before: {} of {} loads"),
    )
    say(
        f"{counted(done.loads, 'load')}, {counted(done.rows, 'row')} from landing, "
        f"{count(done.rejected)} in quarantine"
    )
    if done.loads:
        say("analysts see them after `brokerbi publish`")
    for sentence in done.notes:
        say(sentence)
    for sentence in done.failures:
        complain(f"brokerbi: {sentence}")
    return 1 if done.failures else 0


def _counter(sentence: str) -> Callable[[int, int], None]:
    """Prints a line on stderr after every so many loads, and after the last one."""
    printed = 0

    def on_load(done: int, total: int) -> None:
        nonlocal printed
        if done - printed >= LOADS_BETWEEN_LINES or done == total:
            printed = done
            complain(sentence.format(count(done), count(total)))

    return on_load


def run_archive(_: argparse.Namespace) -> int:
    """Put everything that waits into the archive, however long it takes; 1 when something still waits."""
    from pipelines.upkeep.archive import refresh_archive

    settings = load_settings(os.environ, offline=True)
    drained = refresh_archive(settings, settings.clock_of_day(SystemClock()).utc_now, seconds=None)
    if drained is None:
        complain("brokerbi: there is no archive; BROKERBI_LANDING_ARCHIVE says where it is to be")
        return 1
    say(f"{count(drained.archived)} stored answers put into the archive, {count(drained.waiting)} wait")
    if drained.error:
        complain(f"brokerbi: {drained.error}")
    return 1 if drained.waiting or drained.error else 0


def run_compact(_: argparse.Namespace) -> int:
    """Rewrite the working file without what was deleted from it; the published one stays as it is."""
    from warehouse.publishing.retention import compact

    before, after = compact(load_settings(os.environ, offline=True).data_dir)
    say(f"the working file has {size(after)} now; it had {size(before)}")
    return 0


def run_erase(arguments: argparse.Namespace) -> int:
    """Erase the contact or user that is named; 1 when something still holds the person."""
    from pipelines.upkeep.erase import erase
    from warehouse.persons.personal_data import PersonKind

    settings = load_settings(os.environ, offline=True)
    person: tuple[PersonKind, str] = ("user", arguments.user)
    if arguments.contact is not None:
        person = ("contact", arguments.contact)
    home = os.environ.get("DAGSTER_HOME")
    receipt = erase(settings, *person, runs=Path(home) if home else None)
    print_json(receipt.described())
    for problem in receipt.problems:
        complain(f"brokerbi: {problem}")
    return 1 if receipt.problems else 0
