"""Everybody can tell the colours apart, by day and by night."""

from __future__ import annotations

import re

import pytest

from pipelines.page.html_page import TEMPLATES

STYLE = (TEMPLATES / "style.css").read_text("utf-8")
SETS = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", block)) for block in STYLE.split(":root")[1:4]]
DAY, NIGHT, PRINT = SETS[0], SETS[1], SETS[2]
WORDS = ("ink", "soft", "up", "down", "warn", "link")
SHAPES = ("value", "goal")


@pytest.mark.parametrize("colours", [DAY, NIGHT, PRINT], ids=["day", "night", "print"])
@pytest.mark.parametrize("ground", ["paper", "card"])
def test_words_stand_out_from_their_ground(colours: dict[str, str], ground: str) -> None:
    weak = {word for word in WORDS if _contrast(colours[word], colours[ground]) < 4.5}
    assert weak == set()


@pytest.mark.parametrize("colours", [DAY, NIGHT, PRINT], ids=["day", "night", "print"])
def test_columns_and_budgets_stand_out_from_their_ground(colours: dict[str, str]) -> None:
    assert {shape for shape in SHAPES if _contrast(colours[shape], colours["card"]) < 3} == set()


@pytest.mark.parametrize("colours", [DAY, NIGHT, PRINT], ids=["day", "night", "print"])
def test_signs_stand_out_from_their_squares(colours: dict[str, str]) -> None:
    pairs = [("held-ink", "held"), ("ink", "open"), ("soft", "empty"), ("ink", "bad"), ("ink", "unsure")]
    assert [pair for pair in pairs if _contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []


def _contrast(one: str, other: str) -> float:
    """The ratio that WCAG 2 asks about: 4.5 for words, 3 for shapes."""
    high, low = sorted((_light(one), _light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _light(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
