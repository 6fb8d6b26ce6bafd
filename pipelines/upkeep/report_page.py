"""The pages beside the published file: of the chain and its parts, of operators, and the dictionary."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.diagnosis.health import judge, observed
from pipelines.page import dictionary
from pipelines.page.facts import OF_FIGURES, OF_PIPELINE, RECORDS, Facts, OpenProblem, facts_from_rows
from pipelines.page.html_page import (
    FOLDERS,
    Form,
    page_of_chain,
    page_path,
    render_operators,
    render_page,
)
from pipelines.page.language import language
from pipelines.planning.plan import PlannedReport, planned_now
from pipelines.sync.causes import Cause, causes
from warehouse.errors import WarehouseError, explained
from warehouse.ledger.status import Overview, read_state
from warehouse.marts.queries import SQL, published_rows, rows_of
from warehouse.store.database import Store
from warehouse.store.files import SHARED_FILE, SHARED_FOLDER, make_folder, write_file
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Settings

REPORT_PAGE = "report.html"
OPERATORS_PAGE = "operators.html"
DICTIONARY_PAGE = "dictionary.html"
MOST_PROBLEMS = 200


@dataclass(frozen=True)
class ReportPage:
    """The chain's page: where it is, what the published file cannot answer, and what is planned now."""

    path: Path
    missing: tuple[str, ...]
    planned: tuple[PlannedReport, ...]


def write_report_page(settings: Settings, clock: Clock) -> ReportPage:
    """Render the published file; a reader keeps the page that is open.

    All pages are rendered before the first is put in place, each in one step, and those of offices that are
    not in the file any more are removed. Raises WarehouseError if there is no published file, or if a page
    cannot be written.
    """
    data_dir, now = settings.data_dir, clock.utc_now()
    with Versions(data_dir).reading() as connection:
        facts = facts_from_rows(rows_of(connection, SQL / "page", RECORDS))
        words = rows_of(connection, SQL / "page", dictionary.RECORDS)
        view = read_state(connection)
    form = _form(settings, now)
    planned = planned_now(settings, Store(data_dir), clock)
    pages = {
        data_dir / page_path(page): render_page(facts, form, page)
        for page in facts.scopes
        if page.kind != "chain"
    }
    pages[data_dir / OPERATORS_PAGE] = _operators_page(facts, view, settings, clock, planned)
    pages[data_dir / REPORT_PAGE] = render_page(facts, form, page_of_chain(facts))
    described = {name: rows for name, rows in words.items() if rows is not None}
    if len(described) == len(words):
        pages[data_dir / DICTIONARY_PAGE] = dictionary.render_dictionary(
            dictionary.dictionary_from_rows(described), timezone=settings.timezone, made_at_utc=now
        )
    with explained(data_dir / REPORT_PAGE):
        for place, html in pages.items():
            if place.parent != data_dir:
                make_folder(place.parent, SHARED_FOLDER)
            write_file(place, html.encode(), mode=SHARED_FILE)
        remove_pages(data_dir, kept=pages)
    return ReportPage(data_dir / REPORT_PAGE, tuple(facts.missing), planned)


def remove_pages(data_dir: Path, kept: Collection[Path] = ()) -> None:
    """Remove the other pages: they name persons, and say what is not so any more."""
    pages = {data_dir / name for name in (REPORT_PAGE, OPERATORS_PAGE, DICTIONARY_PAGE)}
    for folder in FOLDERS.values():
        pages |= {*(data_dir / folder).glob("*.html")}
    for page in pages - {*kept}:
        page.unlink(missing_ok=True)


def refresh_report_page(settings: Settings, clock: Clock) -> ReportPage | str | None:
    """The pages of a new publication, or the sentence that says why there is none: no sync fails of it.

    None where the settings want no pages: those of before are removed.
    """
    try:
        if not settings.pages:
            remove_pages(settings.data_dir)
            return None
        return write_report_page(settings, clock)
    except Exception as error:  # noqa: BLE001 whatever is wrong with the page, the numbers are published
        return _not_drawn(REPORT_PAGE, error)


def refresh_operators_page(settings: Settings, clock: Clock) -> str:
    """Draw the operators' page where nothing was published; why it could not be, if so: no sync fails of it.

    The state of the pipeline is that of the working file, if there is one. All figures are those of the
    published file, so that no page has any that analysts do not have.
    """
    data_dir = settings.data_dir
    try:
        if not settings.pages:
            remove_pages(data_dir)
        elif Store(data_dir).path.exists():
            with Store(data_dir).reading() as connection:
                of_pipeline = rows_of(connection, SQL / "page", OF_PIPELINE)
                view = read_state(connection, Versions(data_dir))
            facts = facts_from_rows({**_figures(data_dir), **of_pipeline})
            planned = planned_now(settings, Store(data_dir), clock)
            html = _operators_page(facts, view, settings, clock, planned, is_as_of_now=True)
            write_file(data_dir / OPERATORS_PAGE, html.encode(), mode=SHARED_FILE)
    except Exception as error:  # noqa: BLE001 whatever is wrong with the page, what was loaded is loaded
        return _not_drawn(OPERATORS_PAGE, error)
    return ""


def _figures(data_dir: Path) -> Mapping[str, Sequence[Mapping[str, Any]] | None]:
    """What the operators' page says of the published file; nothing as long as there is none."""
    try:
        return published_rows(data_dir, SQL / "page", OF_FIGURES)
    except WarehouseError:
        return dict.fromkeys(OF_FIGURES, None if Versions(data_dir).published.exists() else ())


def _operators_page(
    facts: Facts,
    view: Overview,
    settings: Settings,
    clock: Clock,
    planned: Sequence[PlannedReport],
    *,
    is_as_of_now: bool = False,
) -> str:
    """The page with the verdict of `brokerbi status` on what a file says."""
    seen = observed(view, settings, clock.utc_now(), planned=planned)
    verdict = judge(seen)
    form = _form(settings, clock.utc_now())
    return render_operators(
        replace(facts, problems=_problems(causes(seen.conditions))),
        form,
        severity=verdict.severity,
        verdict=verdict.sentence,
        is_as_of_now=is_as_of_now,
    )


def _problems(found: Sequence[Cause]) -> list[OpenProblem]:
    """The causes that the verdict counts, as rows of the page: the first two hundred."""
    return [
        OpenProblem(
            kind=cause.first.kind,
            severity=cause.first.severity,
            condition_count=cause.number,
            reports=", ".join(cause.reports) or None,
            customers=", ".join(cause.customers) or None,
            first_month=min(cause.months, default=None),
            last_month=max(cause.months, default=None),
            since_utc=cause.since_utc,
            message=cause.first.error,
            remedy=cause.first.remedy or None,
            in_all=len(found),
        )
        for cause in found[:MOST_PROBLEMS]
    ]


def _form(settings: Settings, now: datetime) -> Form:
    return Form(language(settings.language), settings.chain_name, settings.timezone, now)


def _not_drawn(page: str, error: Exception) -> str:
    why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
    return f"The page {page} could not be drawn, the one before stays: {why}"
