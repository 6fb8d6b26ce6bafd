"""Everybody can tell the colours apart, by day and by night."""

from __future__ import annotations

import re

import pytest

from pipelines.page.rendering import TEMPLATES

STYLE = (TEMPLATES / "style.css").read_text("utf-8")
SETS = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", block)) for block in STYLE.split(":root")[1:4]]
DAY, NIGHT, PRINT = SETS[0], SETS[1], SETS[2]
GROUNDS = ("paper", "card")
WORDS = [(word, ground) for word in "ink soft up down warn link".split() for ground in GROUNDS]
SHAPES = [("value", "card"), ("goal", "card")]


@pytest.mark.parametrize("colours", [DAY, NIGHT, PRINT], ids=["day", "night", "print"])
@pytest.mark.parametrize(("pairs", "least"), [(WORDS, 4.5), (SHAPES, 3)], ids=["words", "shapes"])
def test_every_colour_stands_out_from_its_background(
    colours: dict[str, str], pairs: list[tuple[str, str]], least: float
) -> None:
    assert [(one, ground) for one, ground in pairs if _contrast(colours[one], colours[ground]) < least] == []


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
