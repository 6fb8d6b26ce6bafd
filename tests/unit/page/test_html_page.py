"""The pages are complete, safe and readable by everyone, whatever the file contains."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from urllib.parse import unquote

import pytest

from pipelines.foreign_text import CONTROLS
from pipelines.page.facts import Row
from pipelines.page.html_page import page_path
from pipelines.page.language import LANGUAGES
from tests.unit.page.given import (
    Elements,
    chain,
    changed,
    doubt,
    facts,
    office_page,
    operators_page,
    owed,
    page,
    period,
    replace,
    scope,
)

HOSTILE = (
    """<script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3)' {{ 7*7 }} </style>"""
    "\x00\x1b[2J\x9b\u202e"
)
CHAINS = {
    "empty": facts(),
    "named as missing": facts(missing=("periods", "changes", "problems")),
    "nothing known": replace(chain("A"), periods=(), months=()),
    "first night": replace(chain("A"), periods=(period(name="running"),), months=chain("A").months[12:13]),
    "no budgets": replace(chain("A", "B"), periods=[replace(one, budget=None) for one in chain("A").periods]),
    "one office": chain("A"),
    "many offices": chain(*(f"Office {place}" for place in range(20))),
    "doubtful": replace(chain("A"), doubts=(doubt(), doubt("unheard of", None, "all"))),
    "hostile": chain(HOSTILE),
}
PAGES: dict[str, Callable[[], str]] = {
    **{name: lambda facts=facts: page(facts) for name, facts in CHAINS.items()},  # type: ignore[misc]
    **{
        f"{kind} of {name}": lambda facts=facts, kind=kind: office_page(  # type: ignore[misc]
            facts, next(one.scope for one in facts.scopes if one.kind == kind), kind=kind
        )
        for name, facts in CHAINS.items()
        for kind in ("office", "brand")
        if facts.scopes
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
def test_every_page_is_complete_and_fetches_nothing(name: str) -> None:
    elements = Elements(drawn(name))
    assert drawn(name).rstrip().endswith("</html>")
    assert elements.named("img", "link", "iframe", "object", "form", "base") == []
    assert elements.named("script") == [{}]
    asked = {name for _, attributes in elements.found for name in attributes}
    assert not {name for name in asked if name.startswith("on") or name in ("style", "src", "srcset")}
    own = {link.removeprefix("../") for link in _links(drawn(name)) if not re.match("#|data:text/csv;", link)}
    files = {"dictionary.html", "operators.html", "report.html"}
    assert {one for one in own if not re.fullmatch(r"(offices|brands)/[\w-]+\.html", one)} <= files


def test_a_hostile_name_is_shown_and_not_executed() -> None:
    html = drawn("hostile")
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "{{ 7*7 }}" in html


def test_the_policy_allows_the_page_s_own_style_and_script_and_nothing_else() -> None:
    html = page(chain("A"))
    allowed = []
    for tag in ("style", "script"):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        checksum = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        allowed.append(f"{tag}-src 'sha256-{checksum}'; ")
        assert not re.search(r"url\(|@import|https?:|fetch|eval|innerHTML", text)
    policy = f"default-src 'none'; {''.join(allowed)}base-uri 'none'; form-action 'none'"
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in Elements(html).named("meta")


@pytest.mark.parametrize("name", PAGES)
def test_headings_never_skip_a_level(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(drawn(name)).found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("name", CHAINS)
def test_every_chart_has_a_description_and_every_table_a_caption(name: str) -> None:
    elements = Elements(drawn(name))
    charts = [one for _, one in elements.found if one.get("role") == "img"]
    assert all(one.get("aria-label") for one in charts)
    assert len(elements.named("table")) == len(elements.named("caption"))


@pytest.mark.parametrize("name", PAGES)
def test_every_link_target_exists_once(name: str) -> None:
    elements = Elements(drawn(name))
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link for link in _links(drawn(name)) if link.startswith("#")} <= {f"#{one}" for one in ids}


def test_everything_that_scrolls_sideways_can_be_reached_by_keyboard() -> None:
    pages = [page(chain("A")), operators_page(chain("A"))]
    scrolling = [one for html in pages for _, one in Elements(html).found if one.get("class") == "scroll"]
    found = {(one["tabindex"], one["role"], bool(one["aria-label"])) for one in scrolling}
    assert found == {("0", "region", True)}


def test_the_chain_links_all_pages_a_brand_its_offices_and_an_office_none() -> None:
    facts = chain("A", "B")
    links = [link for link in _links(page(facts)) if link.startswith(("offices/", "brands/"))]
    brands = sorted(page_path(one) for one in facts.scopes if one.kind == "brand")
    assert sorted(links) == [*brands, "offices/A.html", "offices/B.html"]
    assert {"../report.html", "../offices/A.html"} <= {
        *_links(office_page(facts, "Brand of A", kind="brand"))
    }
    assert [one for one in _links(office_page(facts, "A")) if not one.startswith(("#", "data:"))] == []


def test_an_office_s_page_has_nothing_of_another_office_and_no_column_of_offices() -> None:
    html = unquote(office_page(chain("Uppsala", "Elsewhere"), "Uppsala"))
    assert ("Uppsala" in html, "Elsewhere" in html, 'data-label="Office"' in html) == (True, False, False)


def test_every_word_of_a_page_is_in_its_language() -> None:
    html = re.sub(
        "<(style|script)>.*?</(style|script)>|<[^>]*>", "", page(chain("A", "B"), "sv"), flags=re.DOTALL
    )
    english = ("Commission", "budget of", "Leads received", "month", "Download", "so far", "Office")
    assert [word for word in english if word in html] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_words_for_every_code_in_the_file(code: str) -> None:
    facts = chain("A", "B")
    kinds = (
        "sale new", "sale changed", "writings", "valuations", "writings or valuations", "nobody", "open",
    )  # fmt: skip
    odd = replace(
        facts,
        changes=[changed("A", kind, awaited_reports=["sales"]) for kind in kinds],
        receivables=(owed("A"), owed("B", is_noted=False)),
        periods=[replace(one, missing_months=2, cut_short=1, compared_offices=0) for one in facts.periods],
    )
    for html in (page(odd, code), office_page(odd, "A", code)):
        assert not re.search(r"\{\w*\}", re.sub("<(style|script)>.*?</", "", html, flags=re.DOTALL))


def test_pages_name_doubtful_figures_and_the_operators_page_the_causes() -> None:
    problem = Row(severity="error", condition="failed", what_was_found="It answered 503.", in_all=1)
    facts = replace(chain("A", "B"), problems=(problem,), doubts=(doubt(),))
    for html in (page(facts), office_page(facts, "A")):
        assert "One note on the figures" in html
        assert "could not be loaded" in html
        assert "It answered 503." not in html
    marked = [one.get("href") for one in Elements(page(facts)).named("a") if one.get("class") == "mark"]
    assert marked == ["#doubts"] * 4  # the key figures, changes, cancelled sales, not yet paid
    assert "the figures were up to date." in office_page(facts, "B")
    assert "It answered 503." in operators_page(facts)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_control_character_of_the_data(name: str) -> None:
    assert CONTROLS.findall(drawn(name).replace("\n", "")) == []


def _path(office: str) -> str:
    return page_path(scope("office", office, office)).removeprefix("offices/")


def test_the_page_of_an_office_is_named_after_its_id() -> None:
    assert _path("M30011") == "M30011.html"
    assert len({_path(one).lower() for one in ("M1", "m1", "M-1", "M 1", "M1 ")}) == 5
    assert re.fullmatch(r"m1-2-[0-9a-f]{8}\.html", _path("M1/2 å"))
    assert re.fullmatch(r"[0-9a-f]{8}\.html", _path("../.."))


@pytest.mark.parametrize("letter", ["M", "m", "/", "å"])
def test_the_page_of_an_office_with_a_long_id_has_a_name_that_every_file_system_allows(letter: str) -> None:
    files = {_path(letter * 250 + ending) for ending in ("", "1", "2")}
    assert (len(files), max(len(f".{one}.4194304.new".encode()) for one in files) <= 255) == (3, True)


def test_currency_and_basis_are_stated_once() -> None:
    html = page(chain("A"))
    assert html.count("the brokerage system states") == 2
    basis = replace(chain("A").basis[0], commission_vat="included")
    declared = page(replace(chain("A"), basis=(basis,)))
    assert "Commissions exclude VAT: 25% is deducted." in declared
    assert [text.count("if commissions exclude VAT") for text in (html, declared)] == [4, 0]
