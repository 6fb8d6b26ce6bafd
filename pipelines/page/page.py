"""What does the page say, whole? One HTML text that asks nothing of anybody: no network, no script.

Whatever comes from the file is escaped by the templates. The policy in its head allows the page's own
style, named by its checksum, and nothing else: no script, no picture, no address, even if a name in the
data were to try.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipelines.page import numbers
from pipelines.page.comparing import Months, span
from pipelines.page.compiling import KeptCode
from pipelines.page.coverage import coverage_view, runs
from pipelines.page.facts import Facts
from pipelines.page.headline import cards
from pipelines.page.leaders import boards
from pipelines.page.leads import leads_view
from pipelines.page.numbers import moment, month_code, month_name, whole
from pipelines.page.offices import offices_view
from pipelines.page.trust import trust_view

TEMPLATES = Path(__file__).with_name("templates")
SHOWN_OFFICES = 12
"""So many offices have their pictures open; the others wait behind a click."""


def page(facts: Facts, *, timezone: str, made_at_utc: datetime) -> str:
    """The page of these facts, with times on the brokerage's clock."""
    zone = ZoneInfo(timezone)
    months = Months(facts)
    shown = span(months.newest, 12) if months.newest else ()
    publication = facts.publications[0] if facts.publications else None
    style = _style()
    return (
        _templates()
        .get_template("page.html")
        .render(
            style=style,
            policy=_policy(style),
            publication=publication,
            published=moment(publication.at_utc, zone) if publication else "",
            loads=whole(publication.loads) if publication and publication.loads else "",
            newest=months.newest,
            made=moment(made_at_utc, zone),
            timezone=timezone,
            cards=cards(months),
            offices=offices_view(months),
            shown_offices=SHOWN_OFFICES,
            boards=boards(facts),
            leads=leads_view(facts, shown),
            coverage=coverage_view(facts),
            trust=trust_view(facts, zone),
        )
    )


@cache
def _templates() -> Environment:
    return environment(TEMPLATES)


def environment(folder: Path) -> Environment:
    """Templates that escape everything, refuse a name that is not there, and are compiled once."""
    # these words, and what a filter makes of a word in a template, are part of the compiled code
    made_with = "".join(Path(source).read_text("utf-8") for source in (__file__, numbers.__file__))
    templates = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=KeptCode(folder, made_with),
    )
    templates.filters["month_code"] = month_code
    templates.filters["month_name"] = month_name
    templates.filters["runs"] = runs
    return templates


@cache
def _style() -> str:
    return (TEMPLATES / "style.css").read_text("utf-8").strip()


def _policy(style: str) -> str:
    checksum = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{checksum}'; base-uri 'none'; form-action 'none'"
