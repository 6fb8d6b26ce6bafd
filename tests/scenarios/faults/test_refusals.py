"""What does a refusal in mid-run cost, and does every kind of trouble stay within the bound on requests?"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.sandbox.faults import Fault
from tests.scenarios.faults.ground import Ground, ground
from tests.scenarios.faults.test_service_faults import calm
from warehouse.window_result import WindowStatus

HALVINGS = 9
"""A year is halved down to a day in so many steps; a refusal of a day is not about the length."""


def asked(here: Ground, status: int) -> list[tuple[str, str]]:
    """The questions that were answered so."""
    return [(entry.path, str(entry.query)) for entry in here.service.log.entries if entry.status == status]


def test_a_lasting_400_in_mid_run_is_halved_within_its_bound_and_never_repeated(tmp_path: Path) -> None:
    here = ground(tmp_path)
    summary = here.sync(Fault("400", after=3))
    refused = Counter(asked(here, 400))
    failed = [one for one in summary.results if one.status is WindowStatus.FAILED]
    assert refused
    assert set(refused.values()) == {1}
    assert sum(refused.values()) <= HALVINGS * len(failed)
    assert here.sync().complaints() == []
    assert here.cells() == calm(2)


def test_a_401_in_mid_run_ends_all_work_with_that_login(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=2)
    summary = here.sync(Fault("401", after=2))
    assert len(asked(here, 401)) <= here.settings.concurrency
    assert len(summary.complaints()) == 1
    assert "windows are owed" in summary.complaints()[0]


def test_a_wrong_login_costs_one_request(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=2)
    here.sync(Fault("401"))
    assert len(here.service.log.entries) == 1


@cache
def planned() -> int:
    here = ground(Path(mkdtemp()), offices=2)
    here.sync()
    return len(here.service.log.entries)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_at_any_rate_of_faults_the_requests_stay_within_the_stated_bound(tmp_path: Path, rate: float) -> None:
    here = ground(tmp_path, offices=2)
    kinds = "429 500 502 503 reset half html empty".split()
    here.sync(*(Fault(kind, rate=1 - (1 - rate) ** (1 / len(kinds))) for kind in kinds))
    assert 0 < len(here.service.log.entries) <= here.settings.tries * planned()
