"""The verdict on a data directory: what it names, and when a monitor may be quiet."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.operations.health import SilentDaemon, Verdict, judge, of_configured
from pipelines.planning.due import Wanted
from pipelines.planning.plan import PlannedReport
from tests.unit.assets.harness import settings
from warehouse.ledger.status import (
    Condition,
    OpenFailure,
    Overview,
    PastPublication,
    ProblemCount,
    ReportStatus,
)

NOW = datetime(2026, 11, 21, 4)
FRESH = ReportStatus("sales", "M1", 3, None, NOW, None, None, None, "fresh")
NEVER_A_RIGHT = replace(FRESH, state="no access", last_success_utc=None)
PUBLISHED = PastPublication("a version", NOW, "published", 1, ())


def judged(view: Overview, *besides: str, **of_settings: str) -> Verdict:
    return judge(
        view, settings(Path(), **{"customers": "M1", **of_settings}), NOW.replace(tzinfo=UTC), besides
    )


def sentence(view: Overview) -> str:
    return judged(view).sentence


@pytest.mark.parametrize(
    ("standings", "publications", "quiet"),
    [
        ([FRESH], [PUBLISHED], True),
        ([FRESH], [], False),
        ([replace(FRESH, state="late")], [PUBLISHED], False),
        ([NEVER_A_RIGHT], [PUBLISHED], True),
        ([FRESH, NEVER_A_RIGHT], [PUBLISHED], True),
        ([FRESH], [replace(PUBLISHED, status="refused")], False),
        ([FRESH], [replace(PUBLISHED, status="failed")], False),
    ],
    ids=[
        "fresh",
        "never published",
        "late",
        "never a right",
        "never some right",
        "refused by a check",
        "could not be written",
    ],
)
def test_a_monitor_hears_of_what_is_wrong_and_of_nothing_else(
    standings: list[ReportStatus], publications: list[PastPublication], quiet: bool
) -> None:
    assert judged(Overview(standings, [], [], [], [], publications)).is_well is quiet


@pytest.mark.parametrize("kind", ["right lost", "shut out"])
def test_a_monitor_hears_of_what_was_taken_away(kind: str) -> None:
    lost = Condition(kind, "error", "", "M1", None, NOW, "Forbidden")
    view = Overview([replace(FRESH, state="no access")], [], [], [], [], [PUBLISHED], conditions=[lost])
    assert not judged(view).is_well


def test_problems_that_the_page_counts_are_in_the_sentence() -> None:
    well = Overview([FRESH], [], [], [], [], [PUBLISHED])
    assert sentence(well) == "All is well: 1 reports are fresh, and nothing failed."
    noted = replace(well, problems=[ProblemCount("assumption", "warning", 3)])
    assert sentence(noted).startswith("All is well but for 3 open problems of which none is an error: ")
    late = replace(noted, standings=[replace(FRESH, state="late")])
    assert sentence(late) == "Look: 1 late; 3 open problems in all."


def test_what_a_refused_login_failed_at_is_counted_once() -> None:
    refused = replace(FRESH, state="login refused")
    failure = OpenFailure("sales", "M1", (NOW.date(),), "failed", "The login is wrong.", NOW, "Unauthorized")
    view = Overview([refused], [failure], [], [], [], [PUBLISHED])
    assert sentence(view) == "Look: 1 not asked as the login was refused."


@pytest.mark.parametrize(("hours", "quiet"), [(1, True), (4, False)])
def test_what_was_loaded_and_not_published_for_longer_than_a_night_is_an_alarm(
    hours: int, quiet: bool
) -> None:
    since = NOW - timedelta(hours=hours)
    view = Overview([FRESH], [], [], [], [], [PUBLISHED], unpublished_since_utc=since)
    assert judged(view).is_well is quiet


def test_the_reason_of_a_publication_that_failed_is_in_the_verdict() -> None:
    failed = replace(PUBLISHED, status="failed", reasons=("x.duckdb cannot be written; give the right.",))
    said = sentence(Overview([FRESH], [], [], [], [], [failed]))
    assert said == "Look: the latest file was not published (x.duckdb cannot be written)."


def test_a_customer_of_the_settings_that_was_never_fetched_is_named() -> None:
    view = Overview([FRESH], [], [], [], [], [PUBLISHED])
    found = judged(view, customers="M1,M21")
    assert (found.sentence, found.is_well) == ("Look: M21 never fetched.", False)


def test_a_customer_that_left_the_settings_is_shown_only_if_something_of_it_is_held() -> None:
    left = replace(FRESH, customer="M2")
    mistyped = replace(FRESH, customer="M3", last_success_utc=None, held_months=0)
    view = of_configured(
        Overview([FRESH, left, mistyped], [], [], [], [], []), settings(Path(), customers="M1")
    )
    assert view.standings == [FRESH, replace(left, state="switched off")]


def test_what_is_wrong_besides_the_data_comes_first() -> None:
    found = judged(Overview([], [], [], [], [], []), "the settings do not load")
    assert found.sentence.startswith("Look: the settings do not load, ")


@pytest.mark.parametrize("is_dead", [False, True])
def test_a_daemon_that_is_late_is_told_and_a_dead_one_is_an_alarm(is_dead: bool) -> None:
    view = Overview([FRESH], [], [], [], [], [PUBLISHED])
    daemon = SilentDaemon("the daemon is silent", "start it", is_dead)
    found = judge(view, settings(Path(), customers="M1"), NOW.replace(tzinfo=UTC), daemon=daemon)
    assert found == Verdict("Look: the daemon is silent.", is_well=not is_dead)


def test_months_that_are_over_and_never_read_are_told_and_no_alarm() -> None:
    view = Overview([FRESH], [], [], [], [], [PUBLISHED])
    of_settings = settings(Path(), customers="M1")
    [customer] = of_settings.customers
    wanted = Wanted((Month(2026, 9), Month(2026, 10), Month(2026, 11)), waited=(Month(2026, 9),))
    planned = [
        PlannedReport(REPORTS[name], customer, wanted=wanted) for name in ("sales", "commission_office")
    ]
    found = judge(view, of_settings, NOW.replace(tzinfo=UTC), planned=planned)
    assert found == Verdict("Look: 2 months of reports are not read yet.", is_well=True)
