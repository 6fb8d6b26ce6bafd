"""The page is whole, safe and readable by everybody, whatever the file holds."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from pipelines.operations.report_page import DICTIONARY_PAGE
from pipelines.page.facts import Facts
from tests.unit.page.given import Elements, chain, earned, page

HOSTILE = (
    """<script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3)' {{ 7*7 }} </style>"""
)
FILES = {
    "empty": Facts(),
    "named as missing": Facts(missing=("office_months", "problems")),
    "first night": Facts(office_months=(earned("A", "2026-03", 5, is_open=True),)),
    "one whole month": Facts(office_months=(earned("A", "2026-03", 5),)),
    "nothing known": Facts(office_months=(earned("A", "2026-03", None),)),
    "zero": Facts(office_months=(earned("A", "2026-03", 0, 0),)),
    "negative": Facts(office_months=(earned("A", "2026-03", -5),)),
    "no budgets": replace(chain("A", "B"), budgets=()),
    "one office": chain("A"),
    "many offices": chain(*(f"Office {place}" for place in range(20))),
    "hostile": chain(HOSTILE),
}


@cache
def file_page(name: str) -> str:
    return page(FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_a_whole_page_on_which_nothing_is_fetched_or_run(name: str) -> None:
    elements = Elements(file_page(name))
    assert file_page(name).rstrip().endswith("</html>")
    assert elements.named("script", "img", "link", "iframe", "object", "form", "base") == []
    asked = {name for _, attributes in elements.found for name in attributes}
    assert not {name for name in asked if name.startswith("on") or name in ("style", "src", "srcset")}
    links = [one["href"] or "" for one in elements.named("a")]
    assert [link for link in links if not link.startswith("#")] == [DICTIONARY_PAGE]


def test_what_a_hostile_name_says_is_shown_and_not_obeyed() -> None:
    html = file_page("hostile")
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


@pytest.mark.parametrize("name", FILES)
def test_headings_never_skip_a_level(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(file_page(name)).found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("name", FILES)
def test_every_chart_has_words_and_a_table_behind_it(name: str) -> None:
    elements = Elements(file_page(name))
    charts = [one for _, one in elements.found if one.get("role") == "img"]
    assert all(one.get("aria-label") for one in charts)
    assert len(elements.named("table")) == len(elements.named("caption"))
    assert bool(charts) == bool(FILES[name].office_months)


@pytest.mark.parametrize("name", FILES)
def test_every_place_that_is_linked_to_is_there_once(name: str) -> None:
    elements = Elements(file_page(name))
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {one["href"] or "" for one in elements.named("a")}
    assert links - {DICTIONARY_PAGE} <= {f"#{one}" for one in ids}


def test_everything_that_scrolls_sideways_can_be_reached_by_keyboard() -> None:
    scrolling = [one for _, one in Elements(page(chain("A"))).found if one.get("class") == "scroll"]
    found = {(one["tabindex"], one["role"], bool(one["aria-label"])) for one in scrolling}
    assert found == {("0", "region", True)}


def test_problems_are_at_the_top_and_in_words() -> None:
    whose = {"report": "sales", "customer": "M1", "month": None, "since_utc": None, "in_all": 1}
    problem = {"kind": "failed month", "severity": "error", "message": "The service answered 503."}
    html = page(replace(chain("A"), problems=({**problem, **whose},)))
    assert "1 open problem, 1 of them grave" in html
    assert "The service answered 503." in html


def test_what_the_file_cannot_answer_is_named() -> None:
    assert "cannot answer for: office months, problems" in file_page("named as missing")


def test_a_page_of_seven_offices_is_small() -> None:
    assert len(page(chain(*"ABCDEFG")).encode()) < 300_000
