"""When the sensor `trouble` makes a message, and of which runs."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from assets.definitions import build_definitions
from assets.messages import News, Subject, Told
from assets.notify import ChannelRefused, Message, in_words
from assets.project import Project
from assets.runs.under_way import NIGHT_OF
from assets.trouble import deliver, look
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import M16, RUNNING, Harness, harness, settings

LOG = logging.getLogger("tests.trouble")
DAY = "2026-11-21"
NIGHT = {NIGHT_OF: DAY}
AN_HOUR_AGO = (datetime.now(UTC) - timedelta(hours=1)).timestamp()
TOLD = Told(DAY, until=AN_HOUR_AGO, looked=AN_HOUR_AGO)


@dataclass
class Inbox:
    """A channel that keeps its messages, or refuses them."""

    refuses: bool = False
    taken: list[News] = field(default_factory=list)

    def __call__(self, news: News) -> None:
        if self.refuses:
            raise ChannelRefused("not now")
        self.taken.append(news)


def text(told: Told) -> str:
    """What is told, in words."""
    return in_words(told.news).text if told.news else ""


def looked(made: Harness, told: Told, *channels: str, **later: float) -> Told:
    """What is told after a look so much later than now; by default the last message was taken."""
    now = datetime.now(UTC) + timedelta(**later)
    taken = told if channels else replace(told, channels=())
    return look(made.project, made.instance, now, taken, channels or ("chat",))


def ended(made: Harness, run_id: str, reason: str = "", tags: dict[str, str] | None = None) -> None:
    """A run that ended without asking anything: for a reason, or well."""
    run = dg.DagsterRun("nightly", run_id=run_id, status=dg.DagsterRunStatus.STARTED, tags=tags or {})
    made.instance.add_run(run)
    event = dg.DagsterEvent("PIPELINE_SUCCESS", "nightly")
    if reason:
        made.instance.report_run_failed(run, reason)
    else:
        made.instance.report_dagster_event(event, run_id)


@pytest.fixture
def made(tmp_path: Path) -> Harness:
    return harness(tmp_path, start="2026-10", reports=RUNNING)


def fetch(made: Harness, *faults: Fault, tags: dict[str, str] | None = None) -> str:
    """The id of a run over all months there are."""
    made.service.faults.switch(list(faults))
    return made.run(first="G1|2026-10", last="M30017|2026-11", tags=tags).run_id


def test_a_night_that_failed_is_one_message_with_its_run_and_its_end_another(made: Harness) -> None:
    told, chat = looked(made, Told()), Inbox()
    run_id = fetch(made, Fault("404", customer=M16), tags=NIGHT)
    assert looked(made, told, seconds=30) == told
    for _ in range(2):
        told = deliver(looked(made, told, minutes=11), {"chat": chat}, LOG)
    message = in_words(*chat.taken)
    assert message.subject == f"brokerbi, {DAY}: 1 thing to do"
    first, last = message.text.splitlines()
    assert " Check BROKERBI_BASE_URL and the customer id " in first
    assert (first.startswith(f"- {RUNNING} of {M16}, 2026-10..2026-11: "), last) == (
        True,
        f"1 run failed: run {run_id}",
    )
    fetch(made)
    told = replace(told, looked=AN_HOUR_AGO)
    made.instance.add_run(dg.DagsterRun("reports", run_id="goes on", status=dg.DagsterRunStatus.STARTED))
    assert looked(made, told) == replace(told, channels=())
    made.instance.delete_run("goes on")
    after = looked(made, told)
    assert after.news
    assert in_words(after.news) == Message(f"brokerbi, {DAY}: 1 trouble is over", f"- Over: failed ({M16})")
    assert looked(made, after) == replace(after, channels=())


def test_a_night_that_went_well_causes_no_message_and_new_columns_are_told(made: Harness) -> None:
    told = looked(made, Told())
    fetch(made, tags=NIGHT)
    told = looked(made, told, minutes=11)
    assert (told.day, text(told), list(told.channels)) == (DAY, "", [])
    told = replace(told, until=datetime.now(UTC).timestamp())
    fetch(made, Fault("unknown_fields"), tags={NIGHT_OF: "the next"})
    after = looked(made, told, minutes=22)
    assert text(after).startswith("- New in the answers: running_commissions: running_commissions.")


def test_a_run_that_fails_by_day_is_told_whatever_else_goes_on_and_a_repeated_reason_is_not(
    made: Harness,
) -> None:
    made.instance.add_run(dg.DagsterRun("reports", run_id="goes on", status=dg.DagsterRunStatus.STARTED))
    told, said = TOLD, []
    for _ in range(2):
        fetch(made, Fault("404", customer=M16))
        told = looked(made, replace(told, news=None))
        said.append(text(told).partition(":")[0])
    assert said == [f"- {RUNNING} of {M16}, 2026-10..2026-11", ""]


def test_a_run_that_broke_down_is_told_in_its_own_words_until_its_job_succeeds(made: Harness) -> None:
    ended(made, "1", "The disk is full.")
    told = looked(made, TOLD)
    assert text(told).splitlines() == ["- nightly: A run failed: The disk is full.", "1 run failed: run 1"]
    ended(made, "2", "It is full, in other words.")
    told = looked(made, replace(told, news=None))
    assert text(told) == ""
    ended(made, "3")
    assert text(looked(made, told)) == "- Over: run failed (nightly)"


def test_a_run_that_waits_for_its_retry_is_not_told(made: Harness) -> None:
    ended(made, "1", "The disk is full.", tags={"dagster/will_retry": "true"})
    assert looked(made, TOLD) == TOLD


def test_a_file_that_cannot_be_read_is_told_and_what_was_told_of_it_is_not_over(made: Harness) -> None:
    path = made.project.store.path
    path.parent.mkdir(parents=True)
    path.write_text("this is no DuckDB file" * 1000)
    known = Subject("failed", "NotFound", "", M16)
    run_id = fetch(made)
    told = looked(made, replace(TOLD, subjects=[(known, 1.0)]))
    assert " is damaged" in text(told).splitlines()[0]
    assert (told.runs, [one.kind for one, _ in told.subjects]) == ([run_id], ["failed", "run failed"])


def test_what_is_not_asked_any_more_is_forgotten_without_a_word(made: Harness) -> None:
    ended(made, "1")
    gone = [(Subject("failed", "NotFound", "", "M9"), 1.0), (Subject("right lost", "", "sales", M16), 1.0)]
    told = looked(made, replace(TOLD, subjects=gone))
    assert (text(told), told.subjects) == ("", [])


def test_a_night_that_never_came_causes_one_message_a_day_until_there_is_one(made: Harness) -> None:
    told = Told(DAY, until=datetime.now(UTC).timestamp())
    first = looked(made, told, hours=31)
    assert text(first).startswith("- There has been no night since ")
    assert "See that the daemon runs and the schedule `nightly` is on." in text(first)
    assert looked(made, first, hours=31, minutes=1) == replace(first, channels=())
    assert "no night since" in text(looked(made, first, hours=56))
    ended(made, "1", tags=NIGHT)
    early = [(one, told.until - 60) for one, _ in first.subjects]
    assert text(looked(made, replace(first, subjects=early, day=""), minutes=2)) == "- Over: no night"


def test_a_channel_that_refuses_is_tried_again_and_the_other_is_not() -> None:
    chat, mail = Inbox(), Inbox(refuses=True)
    both = {"chat": chat, "mail": mail}
    told = deliver(Told(news=News(DAY), channels=["chat", "mail", "gone"]), both, LOG)
    mail.refuses = False
    told = deliver(told, both, LOG)
    assert [len(chat.taken), len(mail.taken), list(told.channels)] == [1, 1, []]


def test_a_message_that_no_channel_took_yet_is_not_replaced(made: Harness) -> None:
    ended(made, "1", "The disk is full.")
    told = replace(TOLD, news=News(DAY), channels=["chat"])
    assert looked(made, told, "chat") == told
    assert looked(made, told, "chat", "mail") != told


def test_there_is_a_sensor_for_trouble_when_there_is_a_channel(tmp_path: Path) -> None:
    names = [
        {sensor.name for sensor in build_definitions(Project(settings(tmp_path, **more))).sensors or ()}
        for more in ({}, {"alert_webhook": "https://chat.test/a-secret"})
    ]
    assert names == [{"publishing", "old_runs"}, {"publishing", "old_runs", "trouble"}]
