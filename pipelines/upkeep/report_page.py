"""The pages next to the published file: report pages, the operators' page and the dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.causes import causes
from pipelines.diagnosis.health import REPORT_PAGE, judge, observe
from pipelines.page import dictionary
from pipelines.page.facts import Row, facts_from_rows
from pipelines.page.html_page import (
    FOLDERS,
    PageSettings,
    chain_page,
    page_path,
    render_operators,
    render_page,
)
from pipelines.page.language import language
from pipelines.planning.plan import plan_full_sync
from warehouse.errors import WarehouseError, reason_of, translate_errors
from warehouse.ledger.status import read_state
from warehouse.marts.queries import SQL, rows_by_query
from warehouse.store.database import Store
from warehouse.store.files import SHARED_FILE, SHARED_FOLDER, make_folder, write_file
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Settings

OPERATORS_PAGE = "operators.html"
DICTIONARY_PAGE = "dictionary.html"
Answers = Mapping[str, Sequence[Mapping[str, Any]] | None]
FIGURE_QUERIES = ("basis", "agreements", "differences")
"""Queries of the operators' page that read the published file."""
PIPELINE_QUERIES = ("requests", "quarantine")
"""Queries of the operators' page that read the working file or, if there is none, the published file."""


def draw_pages(settings: Settings, clock: Clock, *, only_operators: bool = False) -> str:
    """Draw all pages. With `only_operators`, draw only the operators' page, if there is a working file.

    If the setting `pages` is off, remove all pages instead. Returns the error, or an empty text.
    """
    try:
        if not settings.pages:
            remove_pages(settings.data_dir)
        elif not only_operators:
            write_report_page(settings, clock)
        elif Store(settings.data_dir).path.exists():
            _write_operators_page(settings, clock)
    except Exception as error:  # noqa: BLE001 - a failing page stops nothing
        page = OPERATORS_PAGE if only_operators else REPORT_PAGE
        failed = "drawn, so the earlier page stays" if settings.pages else "removed"
        return f"The page {page} could not be {failed}: {reason_of(error)}"
    return ""


def remove_pages(data_dir: Path) -> None:
    """Remove all pages, because they name persons and would go out of date."""
    for page in _existing_pages(data_dir):
        page.unlink()


def _existing_pages(data_dir: Path) -> set[Path]:
    fixed = {data_dir / name for name in (REPORT_PAGE, OPERATORS_PAGE, DICTIONARY_PAGE)}
    in_folders = (path for folder in FOLDERS.values() for path in (data_dir / folder).glob("*.html"))
    return {*filter(Path.exists, fixed), *in_folders}


def write_report_page(settings: Settings, clock: Clock) -> Path:
    """Draw all pages of the published file. Returns the path of the chain's page.

    If a page of figures cannot be rendered, none is written. The chain's page is written last of them, so
    after a kill none of them is older than the chain's. Earlier pages that are not drawn again are removed.
    Raises WarehouseError if there is no published file, or if a page cannot be written.
    """
    data_dir = settings.data_dir
    with Versions(data_dir).reading() as connection:
        answers = rows_by_query(connection, SQL / "page")
    facts = facts_from_rows(answers)
    page_settings = _page_settings(settings, clock)
    scopes = [scope for scope in facts.scopes if scope.kind != "chain"]
    pages = {page_path(scope): render_page(facts, page_settings, scope) for scope in scopes}
    pages[DICTIONARY_PAGE] = dictionary.render_dictionary(
        {name: answers[name] or () for name in dictionary.QUERIES},
        timezone=settings.timezone,
        made_at_utc=page_settings.made_at_utc,
    )
    pages[REPORT_PAGE] = render_page(facts, page_settings, chain_page(facts))
    with translate_errors(data_dir / REPORT_PAGE):
        for name, html in pages.items():
            if (path := data_dir / name).parent != data_dir:
                make_folder(path.parent, SHARED_FOLDER)
            write_file(path, html.encode(), mode=SHARED_FILE)
        for path in _existing_pages(data_dir) - {data_dir / name for name in (*pages, OPERATORS_PAGE)}:
            path.unlink()
        _write_operators_page(settings, clock, {name: answers[name] for name in FIGURE_QUERIES})
    return data_dir / REPORT_PAGE


def _write_operators_page(settings: Settings, clock: Clock, figures: Answers | None = None) -> None:
    data_dir, now = settings.data_dir, clock.utc_now()
    store, versions = Store(data_dir), Versions(data_dir)
    # the state of the pipeline is newest in the working file; figures must be those that analysts see
    with store.reading() if store.path.exists() else versions.reading() as connection:
        pipeline = rows_by_query(connection, SQL / "page", PIPELINE_QUERIES)
        state = read_state(connection, versions)
    if figures is None:
        figures = dict.fromkeys(FIGURE_QUERIES, ())
        # if the published file is unreadable, `observe` reports it
        with suppress(WarehouseError), versions.reading() as connection:
            figures = rows_by_query(connection, SQL / "page", FIGURE_QUERIES)
    observed = observe(state, settings, now, planned=plan_full_sync(settings, store, clock))
    facts = facts_from_rows({**figures, **pipeline})
    facts.standings = [
        Row(
            report=row.report, customer=row.customer, loaded_through_month=row.newest_held_month,
            last_success_utc=row.last_success_utc, late_after_utc=row.due_utc, state=row.state,
        )
        for row in observed.standings
    ]  # fmt: skip
    facts.problems = [
        Row(
            severity=cause.first.severity,
            condition=cause.first.kind,
            cases=cause.number,
            since_utc=cause.since_utc,
            concerns=cause.affected or None,
            what_was_found=cause.error,
            what_to_do=cause.remedy or None,
        )
        for cause in causes(observed.conditions)
    ]
    verdict = judge(observed)
    html = render_operators(
        facts, _page_settings(settings, clock), severity=verdict.severity, verdict=verdict.sentence
    )
    write_file(data_dir / OPERATORS_PAGE, html.encode(), mode=SHARED_FILE)


def _page_settings(settings: Settings, clock: Clock) -> PageSettings:
    return PageSettings(language(settings.language), settings.chain_name, settings.timezone, clock.utc_now())
