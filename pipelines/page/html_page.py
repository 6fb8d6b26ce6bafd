"""The report page as one HTML text that needs no network and no script."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from pipelines.page import figures, sections
from pipelines.page.facts import Facts
from pipelines.page.rendering import render

SHOWN_OFFICES = 12
"""So many offices have their charts open; the others wait behind a click."""

FILTERS = "bar_width change kronor month_name number percent short_kronor short_number".split()
"""The functions of figures.py that the template writes with."""


def render_page(facts: Facts, *, timezone: str, made_at_utc: datetime) -> str:
    """The page of these facts, with times on the brokerage's clock; refuses a name that is not there."""
    filters = {name: getattr(figures, name) for name in FILTERS}
    months = figures.OfficeMonths(facts)
    return render(
        "page.html",
        filters=filters,
        ratio=figures.ratio,
        facts=facts,
        publication=facts.publications[0] if facts.publications else None,
        newest=months.newest,
        made_at_utc=made_at_utc,
        timezone=timezone,
        moment=partial(figures.moment, timezone=ZoneInfo(timezone)),
        cards=sections.cards(months),
        offices=sections.offices_section(months),
        shown_offices=SHOWN_OFFICES,
        leaderboards=sections.leaderboards(facts),
        leads=sections.leads_section(facts, figures.last_months(months.newest, 12) if months.newest else ()),
        verdict=sections.verdict(facts),
        trust=sections.trust_section(facts),
        coverage=sections.coverage(facts),
    )
