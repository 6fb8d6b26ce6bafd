"""Rendering of the report page: one HTML text that needs no network and no script.

The templates escape whatever comes from the file. The policy in the head allows the page's own style, named
by its checksum, and nothing else: no script, no picture, no address, even if a name in the data were to try.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipelines.page import figures, sections
from pipelines.page.facts import Facts

TEMPLATES = Path(__file__).with_name("templates")
SHOWN_OFFICES = 12
"""So many offices have their charts open; the others wait behind a click."""


def render_page(facts: Facts, *, timezone: str, made_at_utc: datetime) -> str:
    """The page of these facts, with times on the brokerage's clock; refuses a name that is not there."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for write in (
        "bar_width",
        "change",
        "kronor",
        "month_name",
        "number",
        "percent",
        "short_kronor",
        "short_number",
    ):
        templates.filters[write] = getattr(figures, write)
    templates.globals["ratio"] = figures.ratio
    months = figures.OfficeMonths(facts)
    style = (TEMPLATES / "style.css").read_text("utf-8").strip()
    checksum = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return templates.get_template("page.html").render(
        facts=facts,
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{checksum}'; base-uri 'none'; form-action 'none'",
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
