"""Rendering of the report page: one HTML text that needs no network and no script.

The templates escape whatever comes from the file. The policy in the head allows the page's own style, named
by its checksum, and nothing else: no script, no picture, no address, even if a name in the data were to try.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipelines.page import numbers
from pipelines.page.charts import bar_width
from pipelines.page.comparison import OfficeMonths, last_months
from pipelines.page.coverage import coverage
from pipelines.page.earnings import cards, leaderboards, offices_section
from pipelines.page.facts import Facts
from pipelines.page.leads import leads_section
from pipelines.page.trust import agreement_table, freshness_by_report, verdict

TEMPLATES = Path(__file__).with_name("templates")
SHOWN_OFFICES = 12
"""So many offices have their charts open; the others wait behind a click."""


def render_page(facts: Facts, *, timezone: str, made_at_utc: datetime) -> str:
    """The page of these facts, with times on the brokerage's clock."""
    months = OfficeMonths(facts)
    style = (TEMPLATES / "style.css").read_text("utf-8").strip()
    checksum = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _templates()
        .get_template("page.html")
        .render(
            facts=facts,
            style=style,
            policy=f"default-src 'none'; style-src 'sha256-{checksum}'; base-uri 'none'; form-action 'none'",
            publication=facts.publications[0] if facts.publications else None,
            newest=months.newest,
            made_at_utc=made_at_utc,
            timezone=timezone,
            moment=partial(numbers.moment, timezone=ZoneInfo(timezone)),
            cards=cards(months),
            offices=offices_section(months),
            shown_offices=SHOWN_OFFICES,
            leaderboards=leaderboards(facts),
            leads=leads_section(facts, last_months(months.newest, 12) if months.newest else ()),
            coverage=coverage(facts),
            verdict=verdict(facts),
            freshness=freshness_by_report(facts.standings),
            agreement=agreement_table(facts.agreements),
        )
    )


@cache
def _templates() -> Environment:
    """Templates that escape everything and refuse a name that is not there."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["ratio"] = numbers.ratio
    templates.filters.update(
        bar_width=bar_width,
        change=numbers.change,
        kronor=numbers.kronor,
        month_code=numbers.month_code,
        month_name=numbers.month_name,
        number=numbers.number,
        percent=numbers.percent,
        short_kronor=numbers.short_kronor,
        short_number=numbers.short_number,
    )
    return templates
