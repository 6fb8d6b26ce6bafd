"""The pages as self-contained HTML: one for operators, and those of chain, brands, regions and offices."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo

from pipelines.foreign_text import file_name
from pipelines.page import earnings, leads, people, sales
from pipelines.page.facts import Facts, Row, page_facts
from pipelines.page.language import Language, language
from pipelines.page.rendering import render
from pipelines.page.tables import PageColumn, PageTable, Writer
from pipelines.page.verdict import verdict

FOLDERS = {"office": "offices", "brand": "brands", "region": "regions"}
"""The folder of each kind of page; the chain's page has none."""
NO_BASIS = Row(
    commission_vat="unknown", vat_rate=Decimal(0),
    version=None, published_utc=None, loads=None, since_utc=None,
)  # fmt: skip
"""Stands in for the row of sql/page/basis.sql if the published file gives none."""


@dataclass(frozen=True)
class PageSettings:
    """The settings of the pages, and when the pages are made."""

    words: Language
    chain_name: str
    timezone: str
    made_at_utc: datetime


def page_path(page: Row) -> str:
    """The path of any page but the chain's. It contains the id, not the name, so that bookmarks last."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", page.scope).strip("-")
    if slug != page.scope or slug != slug.upper():  # the checksum keeps similar ids apart
        slug = f"{slug}-{hashlib.sha256(page.scope.encode()).hexdigest()[:8]}".lower().strip("-")
    return f"{FOLDERS[page.kind]}/{file_name(slug)}.html"


def chain_page(facts: Facts) -> Row | None:
    """The row of the chain's page in the published file; None if the file has no offices."""
    return next((scope for scope in facts.scopes if scope.kind == "chain"), None)


def render_page(facts: Facts, settings: PageSettings, page: Row | None) -> str:
    """The page of the chain, a brand, a region or an office. `page` is None if the file has no offices."""
    words, timezone = settings.words.with_figures(facts.metrics), ZoneInfo(settings.timezone)
    own = page_facts(facts, page) if page else facts
    basis = own.basis[0] if own.basis else NO_BASIS
    words = words.with_unknown_vat() if basis.commission_vat == "unknown" else words
    kind = page.kind if page else "chain"
    has_links = kind != "office"  # readers of an office's page may not have the other pages
    root = "" if kind == "chain" else "../"
    pages = [scope for scope in facts.scopes if scope.kind != "chain"] if has_links else []
    files = {scope.scope: root + page_path(scope) for scope in pages if scope.kind == "office"}
    groups = [(scope.kind, scope.name, page_path(scope)) for scope in pages if scope.kind != "office"]
    chain = settings.chain_name or words.text("page.chain")
    only_office = page.office_names[0] if page and len(page.office_names) == 1 else ""
    is_office = kind == "office"
    writer = Writer(words, is_one_office=bool(only_office))
    sections = [
        people.agents_section(own, writer) if is_office else earnings.offices_section(own, writer, files),
        sales.changes_section(own, writer, timezone),
        earnings.drivers_section(own, writer),
        sales.owed_section(own, writer),
        leads.leads_section(own, writer),
        earnings.months_section(own, writer, timezone),
        sales.funnel_section(own, writer),
        people.people_section(own, writer),
        sales.cancelled_section(own, writer),
        people.leaders_section(own, writer) if kind == "chain" else None,
    ]
    return render(
        "page.html",
        script="page.js",
        lang=words.code,
        t=words.text,
        moment=partial(words.moment, timezone=timezone),
        name=(page.name if page and page.name else "") or settings.chain_name or only_office or chain,
        chain=chain if has_links and kind != "chain" else "",
        groups=groups if kind == "chain" else [],
        has_links=has_links,
        root=root,
        basis=basis,
        rate=words.percent(basis.vat_rate),
        banner=words.text(f"page.{page.state}", day=words.day(page.until_on)) if page and page.state else "",
        read=words.moment(page.read_at_utc, timezone) if page and page.read_at_utc else "",
        verdict=verdict(own, writer, timezone),
        opening=earnings.opening(own, writer),
        sections=[section for section in sections if section],
        made_at_utc=settings.made_at_utc,
        timezone=settings.timezone,
    )


def render_operators(facts: Facts, settings: PageSettings, *, severity: str, verdict: str) -> str:
    """Render the operators' page, always in English; `verdict` is a sentence on the state of the pipeline."""
    english, timezone = language("en"), ZoneInfo(settings.timezone)
    problems, more = (
        [table for title, rows in titles.items() if (table := _plain_table(title, rows, english, timezone))]
        for titles in (
            {
                "Open issues": facts.problems,
                "The largest differences": facts.differences,
                "Rows in quarantine": facts.quarantine,
            },
            {
                "Do the reports agree with the office commission report?": facts.agreements,
                "Requests by day (UTC)": facts.requests,
                "All reports and customers": facts.standings,
            },
        )
    )
    return render(
        "operators.html",
        script="page.js",
        lang="en",
        words=english,
        t=english.text,
        facts=facts,
        severity=severity,
        verdict=verdict,
        problems=problems,
        more=more,
        moment=partial(english.moment, timezone=timezone),
        basis=facts.basis[0] if facts.basis else NO_BASIS,
        made_at_utc=settings.made_at_utc,
        timezone=settings.timezone,
    )


def _plain_table(title: str, rows: Sequence[Row], words: Language, timezone: ZoneInfo) -> PageTable | None:
    columns = []
    for name in vars(rows[0]) if rows else ():
        heading = name.removesuffix("_utc").removesuffix("_name").replace("_", " ")
        heading = heading[:1].upper() + heading[1:]
        values = [getattr(row, name) for row in rows]
        if name.endswith("_utc"):
            rows = [row.with_columns(**{name: words.moment(getattr(row, name), timezone)}) for row in rows]
            columns.append(PageColumn(heading, name))
        elif name.endswith("month"):
            columns.append(PageColumn(heading, name, "month"))
        elif any(isinstance(value, Decimal) for value in values):
            columns.append(PageColumn(heading, name, "exact"))
        elif name != "in_all":  # `in_all`, the number of rows without the query's limit, is not shown
            is_count = any(isinstance(value, int) for value in values)
            columns.append(PageColumn(heading, name, "count" if is_count else "words"))
    return Writer(words).table(title, "", columns, rows)
