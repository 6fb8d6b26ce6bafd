"""Clocks that are wrong and days that are rehearsed: what they dated never outlives the next right night."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import httpx
import pytest

from pipelines.connect.errors import WrongClock
from pipelines.diagnosis.health import judge
from pipelines.months import Month
from pipelines.planning.plan import make_plan
from pipelines.planning.selection import Selection
from pipelines.sandbox.faults import Fault
from pipelines.settings.messages import SettingsError
from pipelines.sync.sync import sync
from tests.scenarios.scenario import TODAY, FastClock, Scenario, scenario
from warehouse.ledger.status import overview
from warehouse.store.database import Store

REPORTS = ("users", "sales", "budget_commission")


def real_night(here: Scenario, clock: datetime | date) -> Scenario:
    """The same files on a day that nobody rehearses, by this clock."""
    moment = clock if isinstance(clock, datetime) else datetime.combine(clock, time(12), UTC)
    return replace(here.with_settings(today=None), clock=FastClock(moment))


def days(number: int) -> date:
    return TODAY + timedelta(days=number)


@cache
def after_two_nights(*between: int) -> Scenario:
    """Yesterday's night and tonight's; between them one at which the clock was so many days ahead."""
    here = scenario(Path(mkdtemp()) / "data", REPORTS, start="2026-08", offices=1, whole=True)
    assert real_night(here, days(-1)).sync().complaints() == []
    for ahead in between:
        assert real_night(here, days(ahead)).sync(refresh=True).complaints() == []
    tonight = real_night(here, TODAY)
    tonight.service.set_as_of(TODAY)
    assert tonight.sync().complaints() == []
    return tonight


def due(here: Scenario) -> int:
    plan, _ = make_plan(here.settings, Selection(), Store(here.data_dir), here.clock)
    return sum(len(one.wanted.months) for one in plan.planned)


def test_a_night_with_a_clock_ahead_is_healed_by_the_next() -> None:
    usual, healed = after_two_nights(), after_two_nights(2)
    assert healed.cells() == usual.cells()
    assert healed.value("SELECT max(fetched_at_utc) FROM meta.loads") < datetime.combine(TODAY, time(13))
    assert healed.rows("SELECT message FROM meta.problems WHERE kind = 'clock ahead'") == []
    assert healed.rows("FROM meta.open_failures") == []
    assert due(real_night(healed, days(1))) == due(real_night(usual, days(1)))


def test_what_a_clock_ahead_has_dated_stays_due_until_it_is_read(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales",), start="2025-12", offices=1)
    real_night(here, days(-1)).sync()
    real_night(here, days(400)).sync(refresh=True)
    tonight = real_night(here, TODAY)
    assert due(tonight) == 12
    tonight.sync(Fault("500"))
    assert due(real_night(here, days(1))) == 12
    tonight.sync(first=Month(2025, 12), last=Month(2026, 2))
    assert due(real_night(here, days(1))) == 9


def test_a_right_that_was_lost_by_a_clock_ahead_comes_back(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users", "sales"), offices=1)
    real_night(here, days(2)).sync(Fault("403", path="GetSalesReport"))
    real_night(here, TODAY).sync()
    assert here.rows("FROM meta.access") == []


def test_a_replay_after_a_clock_ahead_keeps_what_was_read_since(tmp_path: Path) -> None:
    here = after_two_nights(2).copied_to(tmp_path / "data")
    before = here.cells()
    here.lose_working_file()
    (here.data_dir / "work").mkdir(mode=0o700)
    store_now = FastClock(datetime.combine(TODAY, time(12), UTC))
    assert here.replay(clock=store_now).failures == []
    assert here.cells() == before


def test_what_is_dated_later_than_now_is_named_with_its_hours(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("sales",), offices=1)
    really = datetime.now(UTC)
    real_night(here, really + timedelta(days=2)).sync()
    [(severity, report, message)] = here.rows(
        "SELECT severity, report, message FROM meta.problems WHERE kind = 'clock ahead'"
    )
    assert (severity, report, "is dated up to 48 hours later than now" in message) == ("error", "sales", True)
    view = overview(Store(here.data_dir))
    verdict = judge(view)
    assert (verdict.is_well, "clock ahead (1 report)" in verdict.sentence) == (False, True)


@dataclass
class Dated(httpx.AsyncBaseTransport):
    """The answers of the sandbox, with a Date."""

    inner: httpx.AsyncBaseTransport
    date: Callable[[], str]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        response.headers["date"] = self.date()
        return response


def ask_at(here: Scenario, said: str) -> None:
    """A sync by a clock at noon, of a service whose Date says so."""
    context = replace(here.context, transport=Dated(here.sandbox, lambda: said), machine_clock=here.clock)
    sync(here.settings, Selection(), context=context)


@pytest.mark.parametrize("minutes", [-2880, -60, 75])
def test_nothing_is_loaded_with_a_clock_an_hour_away_from_the_services(tmp_path: Path, minutes: int) -> None:
    here = scenario(tmp_path, ("users", "sales"), offices=1)
    said = format_datetime(here.clock.utc_now() + timedelta(minutes=minutes), usegmt=True)
    with pytest.raises(WrongClock, match="clock of this machine right"):
        ask_at(here, said)
    assert (len(here.asked), here.rows("FROM meta.loads"), here.landing_files) == (1, [], [])


@pytest.mark.parametrize(
    "said", ["", "soon", "Sat, 99 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 2026 11:10:00 GMT"]
)
def test_a_date_that_fits_or_tells_nothing_keeps_no_sync(tmp_path: Path, said: str) -> None:
    here = scenario(tmp_path, ("users",), offices=1)
    ask_at(here, said)
    assert here.value("SELECT count(*) > 0 FROM meta.loads WHERE status = 'loaded'")


def test_another_day_is_not_rehearsed_among_real_data(tmp_path: Path) -> None:
    here = real_night(scenario(tmp_path, ("users",), offices=1), TODAY)
    here.sync()
    before = here.cells()
    for day in (days(40), days(-40)):
        with pytest.raises(SettingsError, match=f"BROKERBI_DATA_DIR={tmp_path}/rehearsals/{day}"):
            here.with_settings(today=day).sync(refresh=True)
    assert (here.cells(), here.rows("FROM meta.open_failures")) == (before, [])
    assert here.with_settings(today=TODAY).sync(refresh=True).complaints() == []


def test_a_directory_of_its_own_rehearses_one_day_after_the_other(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users",), offices=1)
    for day in (days(400), days(800)):
        tomorrow = here.with_settings(today=day)
        assert tomorrow.sync().complaints() == []
    assert here.rows("SELECT * FROM meta.problems WHERE kind = 'clock ahead'") == []
