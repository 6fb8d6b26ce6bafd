"""The pages as HTML texts without network and scripts: the chain's, each office's and the operators'."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from pipelines.foreign_text import file_name
from pipelines.page import doubts, figures, gap, news, operators, sections
from pipelines.page.facts import Facts
from pipelines.page.language import Language, capitalized, language
from pipelines.page.rendering import render

SHOWN_ROWS = 10
"""So many rows of a table are open; the others wait behind a click."""
STALE = timedelta(hours=36)
"""An office whose numbers were read so much earlier than those of the chain says so."""


@dataclass(frozen=True)
class Form:
    """What the settings say of the pages, and when they are made."""

    words: Language
    chain_name: str
    timezone: str
    made_at_utc: datetime


def office_file(office_id: str) -> str:
    """The name of an office's page: of its id, and of nothing that may change, so that bookmarks last."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", office_id).strip("-")
    if slug != office_id or slug != slug.upper():  # another id could have the same letters
        slug = f"{slug}-{hashlib.sha256(office_id.encode()).hexdigest()[:8]}".lower().strip("-")
    return f"{file_name(slug)}.html"


def render_chain(facts: Facts, form: Form, files: Mapping[str, str]) -> str:
    """The page of the whole chain; `files` are the addresses of the offices' pages, none without them."""
    months = figures.OfficeMonths(facts)
    whole_chain = form.words.text("page.chain")
    only = months.names[months.offices[0]] if len(months.offices) == 1 else whole_chain
    return render(
        "page.html",
        **_common(facts, months, form, form.chain_name or only, is_chain=True),
        whole_chain=whole_chain,
        verdict=doubts.verdict(facts, form.words, ZoneInfo(form.timezone)),
        offices=sections.offices_section(months, form.words, files),
        agents=None,
        leaderboards={**dict.fromkeys(("agents", "offices"), ()), **sections.leaderboards(facts, form.words)},
        has_links=bool(files),
        banners=[form.words.text("page.missing")] if facts.missing else [],
        read="",
    )


def render_office(facts: Facts, form: Form, office: str, chain: Facts) -> str:
    """The page of one office, from its own facts; of the chain only what makes its figures doubtful."""
    months = figures.OfficeMonths(facts)
    banners = _banners(months, office, chain, form)
    verdict = doubts.verdict(chain, form.words, ZoneInfo(form.timezone), office)
    return render(
        "page.html",
        **_common(facts, months, form, months.names[office], is_chain=False, office=office),
        whole_chain=form.chain_name,
        verdict=None if banners and verdict["level"] == "well" else verdict,
        offices=None,
        agents=sections.agents_section(facts, months, form.words),
        leaderboards={},
        has_links=False,
        banners=banners,
        read=_read(months, office, form),
    )


def render_operators(facts: Facts, form: Form, *, is_as_of_now: bool = False) -> str:
    """The page of those who run the pipeline: its state as of the publication, or as of now."""
    english = language("en")
    return render(
        "operators.html",
        lang="en",
        w=english,
        facts=facts,
        verdict=operators.verdict(facts, english),
        trust=operators.trust_section(facts),
        coverage=operators.coverage(facts),
        moment=partial(english.moment, timezone=ZoneInfo(form.timezone)),
        publication=facts.publications[0] if facts.publications else None,
        is_as_of_now=is_as_of_now,
        made_at_utc=form.made_at_utc,
        timezone=form.timezone,
    )


def _common(
    facts: Facts,
    months: figures.OfficeMonths,
    form: Form,
    name: str,
    *,
    is_chain: bool,
    office: str | None = None,
) -> dict[str, Any]:
    """What the page of the chain and that of an office both show."""
    words = form.words
    last_year = figures.last_months(months.newest, 12) if months.newest else ()
    return {
        "lang": words.code,
        "w": words,
        "t": words.text,
        "bar_width": figures.bar_width,
        "capitalized": capitalized,
        "ratio": figures.ratio,
        "shown_rows": SHOWN_ROWS,
        "moment": partial(words.moment, timezone=ZoneInfo(form.timezone)),
        "name": name,
        "is_chain": is_chain,
        "publication": facts.publications[0] if facts.publications else None,
        "made_at_utc": form.made_at_utc,
        "timezone": form.timezone,
        "news": news.news_section(facts, words, ZoneInfo(form.timezone), is_chain=is_chain),
        "cards": sections.cards(months, words),
        "months": sections.months_section(months, name, words),
        "gap": gap.gap_section(facts, months, name, words, is_chain=is_chain),
        "owed": gap.owed_section(facts, words, is_chain=is_chain),
        "leads": sections.leads_section(facts, last_year, words, office),
    }


def _read(months: figures.OfficeMonths, office: str, form: Form) -> str:
    """When the newest month was read, and since when the others of this year and of the last have been."""
    newest = months.rows[office, months.newest] if months.newest else None
    if newest is None or newest.read_at_utc is None:
        return ""
    words, timezone = form.words, ZoneInfo(form.timezone)
    moment = words.moment(newest.read_at_utc, timezone)
    said = words.text("page.read", month=words.month(newest.month), moment=moment)
    for year in (newest.month.year, newest.month.year - 1):
        reads = [
            row.read_at_utc
            for (_, month), row in months.rows.items()
            if month.year == year and month < newest.month and row.read_at_utc
        ]
        if reads and min(reads).date() < newest.read_at_utc.date():
            day = words.day(min(reads).replace(tzinfo=UTC).astimezone(timezone).date())
            said += words.text("page.read_before", year=year, day=day)
    return said


def _banners(months: figures.OfficeMonths, office: str, chain: Facts, form: Form) -> list[str]:
    """What to know before reading on: that the numbers of the office end earlier than those of the chain."""
    newest = max((row.month for row in chain.office_months if row.commission is not None), default=None)
    if months.newest is None or newest is None:
        return []
    row, words = months.rows[office, months.newest], form.words
    if months.newest < newest or not row.is_whole:
        is_expected = (office, newest) in months.rows
        key = "page.cut" if not row.is_whole else "page.behind" if is_expected else "page.stopped"
        return [words.text(key, day=words.day(sections.read_until(row)), month=words.month(newest))]
    reads = [one.read_at_utc for one in chain.office_months if one.month == newest and one.read_at_utc]
    if row.read_at_utc and max(reads) - row.read_at_utc > STALE:
        read = words.moment(row.read_at_utc, ZoneInfo(form.timezone))
        return [words.text("page.stale", moment=read)]
    return [words.text("page.missing")] if chain.missing else []
