"""The pages are whole, safe and readable by everybody, whatever the file holds."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import pairwise
from urllib.parse import unquote

import pytest

from pipelines.foreign_text import CONTROLS
from pipelines.page.facts import CoveredMonth, Facts, facts_by_office
from pipelines.page.html_page import office_file
from pipelines.page.language import LANGUAGES, SPACE
from tests.unit.page.given import (
    PUBLISHED,
    Elements,
    agent,
    chain,
    earned,
    month,
    news,
    office_page,
    operators_page,
    owed,
    page,
)

HOSTILE = (
    """<script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3)' {{ 7*7 }} </style>"""
    "\x00\x1b[2J\x9b\u202e"
)
CHAINS = {
    "empty": Facts(),
    "named as missing": Facts(missing=("office_months", "news", "problems")),
    "first night": Facts(office_months=(earned("A", "2026-03", 5, is_open=True),)),
    "one whole month": Facts(office_months=(earned("A", "2026-03", 5),)),
    "nothing known": Facts(office_months=(earned("A", "2026-03", None),)),
    "no users": Facts(office_months=(earned("A", "2026-03", 5, agents=None),)),
    "zero": Facts(office_months=(earned("A", "2026-03", 0, 0, agents=0),)),
    "negative": Facts(office_months=(earned("A", "2026-03", -5),)),
    "cut short": Facts(office_months=(earned("A", "2026-02", 5), earned("A", "2026-03", 5, is_whole=False))),
    "no budgets": replace(chain("A", "B"), budgets=()),
    "one office": chain("A"),
    "many offices": chain(*(f"Office {place}" for place in range(20))),
    "hostile": chain(HOSTILE),
}
PAGES: dict[str, Callable[[], str]] = {
    **{name: lambda facts=facts: page(facts) for name, facts in CHAINS.items()},  # type: ignore[misc]
    **{
        f"office of {name}": lambda facts=facts: office_page(facts, next(iter(facts_by_office(facts))))  # type: ignore[misc]
        for name, facts in CHAINS.items()
        if facts_by_office(facts)
    },
    **{
        f"operators of {name}": lambda facts=facts: operators_page(facts)  # type: ignore[misc]
        for name, facts in CHAINS.items()
    },
}


@cache
def drawn(name: str) -> str:
    return PAGES[name]()


def _links(html: str) -> list[str]:
    return [one["href"] or "" for one in Elements(html).named("a")]


@pytest.mark.parametrize("name", PAGES)
def test_every_file_has_whole_pages_on_which_nothing_is_fetched_or_run(name: str) -> None:
    elements = Elements(drawn(name))
    assert drawn(name).rstrip().endswith("</html>")
    assert elements.named("script", "img", "link", "iframe", "object", "form", "base") == []
    asked = {name for _, attributes in elements.found for name in attributes}
    assert not {name for name in asked if name.startswith("on") or name in ("style", "src", "srcset")}
    files = {"dictionary.html", "operators.html", "report.html"}
    own = {link for link in _links(drawn(name)) if not link.startswith(("#", "data:text/csv;", "offices/"))}
    assert own <= files


def test_what_a_hostile_name_says_is_shown_and_not_obeyed() -> None:
    html = drawn("hostile")
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "{{ 7*7 }}" in html


def test_the_policy_allows_the_page_s_own_style_and_nothing_else() -> None:
    html = page(chain("A"))
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    checksum = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{checksum}'; base-uri 'none'; form-action 'none'"
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in Elements(html).named("meta")
    assert not re.search(r"url\(|@import|https?:", style)


@pytest.mark.parametrize("name", PAGES)
def test_headings_never_skip_a_level(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(drawn(name)).found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("name", CHAINS)
def test_every_chart_has_words_a_table_and_a_download(name: str) -> None:
    elements = Elements(drawn(name))
    charts = [one for _, one in elements.found if one.get("role") == "img"]
    assert all(one.get("aria-label") for one in charts)
    assert len(elements.named("table")) == len(elements.named("caption"))
    assert bool(charts) == any("data:text/csv;" in link for link in _links(drawn(name)))


@pytest.mark.parametrize("name", PAGES)
def test_every_place_that_is_linked_to_is_there_once(name: str) -> None:
    elements = Elements(drawn(name))
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link for link in _links(drawn(name)) if link.startswith("#")} <= {f"#{one}" for one in ids}


def test_everything_that_scrolls_sideways_can_be_reached_by_keyboard() -> None:
    pages = [page(chain("A")), operators_page(chain("A"))]
    scrolling = [one for html in pages for _, one in Elements(html).found if one.get("class") == "scroll"]
    found = {(one["tabindex"], one["role"], bool(one["aria-label"])) for one in scrolling}
    assert found == {("0", "region", True)}


def test_the_chain_links_its_offices_and_an_office_links_nobody() -> None:
    facts = chain("A", "B")
    links = [link for link in _links(page(facts)) if link.startswith("offices/")]
    assert sorted(links) == ["offices/A.html", "offices/B.html"]
    assert [link for link in _links(office_page(facts, "A")) if not link.startswith(("#", "data:"))] == []


def test_an_office_s_page_has_nothing_of_another_office() -> None:
    facts = chain("Uppsala", "Elsewhere")
    other = replace(facts, office_months=(*facts.office_months, earned("Elsewhere", "2026-02", 987654321)))
    html = unquote(office_page(other, "Uppsala"))
    assert "Uppsala" in html
    assert "Elsewhere" not in html
    assert "987,654,321" not in html


def test_an_office_that_is_not_read_any_more_says_where_its_numbers_end() -> None:
    rows = (earned("A", "2026-01", 5), earned("B", "2026-01", 5), earned("B", "2026-02", 5))
    assert "Its numbers end on 31 January 2026" in office_page(Facts(office_months=rows), "A")


def test_an_office_is_not_called_up_to_date_where_its_numbers_end_earlier() -> None:
    facts = chain("A", "B")
    stopped = replace(facts, office_months=[*facts.office_months, earned("C", "2026-01", 5)])
    found = ["The numbers are up to date" in office_page(stopped, office) for office in "AC"]
    assert found == [True, False]


def test_an_office_that_was_cut_short_says_on_which_day() -> None:
    rows = (earned("A", "2026-02", 5), earned("A", "2026-03", 5, is_whole=False))
    assert "This office was read only to 20 March 2026" in office_page(Facts(office_months=rows), "A")


def test_the_chain_is_called_what_the_settings_say() -> None:
    assert "<h1>Hemviken</h1>" in page(chain("A", "B"), chain_name="Hemviken")


def test_a_page_is_in_the_language_of_its_people_from_the_first_word_to_the_last() -> None:
    html = page(chain("A", "B"), "sv")
    assert '<html lang="sv">' in html
    english = ("Commission", "budget of", "Leads received", "month", "Download", "so far")
    assert [
        word for word in english if word in re.sub("<style>.*?</style>|<[^>]*>", "", html, flags=re.DOTALL)
    ] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_words_for_whatever_the_file_holds(code: str) -> None:
    facts = chain("A", "B")
    changes = [
        news(kind, "A", amount=5, before=9) for kind in ("amount", "moved", "moved here", "moved away")
    ]
    odd = replace(
        facts,
        news=(*facts.news, *changes),
        agents=(*facts.agents, agent("A", "New", 7)),
        receivables=(owed("A", 0, 0), owed("B", is_noted=False)),
        office_months=(*facts.office_months, earned("A", "2025-12", 9, is_whole=False)),
    )
    for html in (page(odd, code), office_page(odd, "A", code)):
        assert not re.search(r"\{\w*\}", re.sub("<style>.*?</style>", "", html, flags=re.DOTALL))


def test_what_makes_figures_doubtful_is_said_on_the_pages_and_why_on_the_operators() -> None:
    whose = {"report": "sales", "customer": "M1", "month": month("2026-02"), "since_utc": None, "in_all": 1}
    problem = {"kind": "failed month", "severity": "error", "message": "The service answered 503."}
    mark = CoveredMonth("sales", "M1", month("2026-02"), "failed", None)
    facts = replace(chain("A"), problems=({**problem, **whose},), marks=(mark,))
    for html in (page(facts), office_page(facts, "A")):
        assert "sales for February 2026 could not be read" in html
        assert "The service answered 503." not in html
    assert "there is one open problem (some months could not be read)" in operators_page(facts)
    assert "The service answered 503." in operators_page(facts)
    assert "operators.html" not in office_page(facts, "A")


def test_what_the_file_cannot_answer_is_named_for_operators() -> None:
    assert "cannot answer for: office months, news, problems" in drawn("operators of named as missing")


def test_what_is_fresh_is_on_time() -> None:
    html = operators_page(chain("A"))
    assert html.count(">On time<") == 1
    assert "Late ✓" not in html


def test_what_a_refused_login_is_to_read_is_not_on_time() -> None:
    facts = chain("A")
    refused = tuple(replace(one, state="login refused") for one in facts.standings)
    html = operators_page(replace(facts, standings=refused))
    assert html.count(">Login refused: M1<") == 1
    assert ">On time<" not in html


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_no_control_character_of_the_data(name: str) -> None:
    assert CONTROLS.findall(drawn(name).replace("\n", "")) == []


def test_the_name_of_an_office_s_page_is_its_id_as_far_as_a_file_can_be_called_so() -> None:
    assert office_file("M30011") == "M30011.html"
    assert re.fullmatch(r"m1-2-[0-9a-f]{8}\.html", office_file("M1/2 å"))
    assert re.fullmatch(r"[0-9a-f]{8}\.html", office_file("../.."))


@pytest.mark.parametrize("letter", ["M", "m", "/", "å"])
def test_the_page_of_an_office_with_a_long_id_has_a_name_that_every_file_system_takes(letter: str) -> None:
    files = {office_file(letter * 250 + ending) for ending in ("", "1", "2")}
    assert (len(files), max(len(f".{one}.4194304.new".encode()) for one in files) <= 255) == (3, True)


def test_offices_with_similar_ids_have_pages_of_their_own() -> None:
    assert len({office_file(one).lower() for one in ("M1", "m1", "M-1", "M 1", "M1 ")}) == 5


def test_a_page_of_a_hundred_offices_is_small_and_short() -> None:
    html = page(chain(*(f"O{place}" for place in range(100)), months=2))
    assert len(html.encode()) < 400_000
    assert "The other 90" in html


def test_an_office_says_when_its_older_months_were_read() -> None:
    earlier = replace(earned("A", "2026-01", 5), read_at_utc=PUBLISHED - timedelta(days=14))
    facts = Facts(office_months=(earlier, earned("A", "2026-02", 5)))
    html = office_page(facts, "A").replace(SPACE, " ")
    assert "numbers of February 2026 read 20 March 2026" in html
    assert ", of earlier months of 2026 on 6 March 2026 or later" in html


def test_a_line_begins_with_a_capital_letter_in_a_language_that_writes_months_small() -> None:
    assert '<p class="explained">Januari till februari 2026</p>' in office_page(chain("A"), "A", "sv")
