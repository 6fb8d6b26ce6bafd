"""Do the first questions tell who may see what?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.planning.ordering import in_turns
from pipelines.planning.plan import Planned
from pipelines.planning.windows import Window
from pipelines.settings.model import Customer
from pipelines.sync.pairs import Pair
from pipelines.sync.spans import LearnedCap

NAMES = list(REPORTS)[:12]
WINDOWS = tuple(Window((Month(2026, month),), ()) for month in (1, 2))


def _pairs(customers: Sequence[str], reports: Sequence[str]) -> list[Pair]:
    return [
        Pair(Planned(REPORTS[name], Customer(id=customer), windows=WINDOWS), {}, 0, LearnedCap())
        for customer in customers
        for name in reports
    ]


def test_one_window_of_every_pair_comes_first_and_then_the_others_pair_by_pair() -> None:
    pairs = _pairs(["M1", "M2"], NAMES[:2])
    order = [(pairs.index(pair), WINDOWS.index(window)) for pair, window in in_turns(pairs)]
    assert order == [(0, 0), (3, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 1)]


@pytest.mark.parametrize("many", [1, 2, 3, 5, 7, 12, 40])
def test_few_questions_reach_every_report(many: int) -> None:
    pairs = _pairs([f"M{number}" for number in range(many)], NAMES)
    first = [pair.planned.report.name for pair, _ in list(in_turns(pairs))[: len(NAMES) + many]]
    assert set(first) == set(NAMES)


def test_nothing_is_asked_twice_or_left_out() -> None:
    pairs = _pairs(["M1", "M2", "M3"], NAMES)
    asked = [(id(pair), window) for pair, window in in_turns(pairs)]
    assert sorted(asked, key=str) == sorted(
        ((id(pair), window) for pair in pairs for window in WINDOWS), key=str
    )


def test_nothing_wanted_is_nothing_asked() -> None:
    assert list(in_turns([])) == []
