"""One message when a run broke, one after a nightly run with errors, one when all is well again."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from assets.definitions import build_definitions
from assets.messages import Sent, deliver, look
from assets.notify import ChannelRefused, Message
from assets.project import Project
from assets.runs import NIGHT_OF
from pipelines.clock import SystemClock
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import M16, RUNNING, Harness, harness, settings

LOG = logging.getLogger("tests.messages")
DAY = "2026-11-21"
AN_HOUR_AGO = (datetime.now(UTC) - timedelta(hours=1)).timestamp()
SENT = Sent(DAY, looked=AN_HOUR_AGO)


@dataclass
class Inbox:
    """A channel that keeps its messages, or refuses them."""

    refuses: bool = False
    taken: list[Message] = field(default_factory=list)

    def __call__(self, message: Message) -> None:
        if self.refuses:
            raise ChannelRefused("not now")
        self.taken.append(message)


@dataclass(frozen=True)
class Later(SystemClock):
    """The clock of some time later."""

    ahead: timedelta = timedelta()

    def utc_now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def looked(made: Harness, sent: Sent, **later: float) -> Sent:
    """What was sent after a look so much later than now, which the channel took."""
    project = made.project
    context = replace(project.run_context, clock=Later(ahead=timedelta(**later)))
    return look(replace(project, run_context=context), made.instance, replace(sent, channels=()), ["chat"])


def text(sent: Sent) -> str:
    return sent.waiting.text if sent.waiting else ""


def ended(made: Harness, run_id: str, reason: str, tags: dict[str, str] | None = None) -> None:
    """A nightly run that broke for a reason."""
    run = dg.DagsterRun("nightly", run_id=run_id, status=dg.DagsterRunStatus.STARTED, tags=tags or {})
    made.instance.add_run(run)
    made.instance.report_run_failed(run, reason)


@pytest.fixture
def made(tmp_path: Path) -> Harness:
    return harness(tmp_path, start="2026-10", reports=RUNNING)


def fetch(made: Harness, *faults: Fault, tags: dict[str, str] | None = None) -> str:
    """The id of a run over all months."""
    made.service.faults.switch(list(faults))
    return made.run(first="G1|2026-10", last="M30017|2026-11", tags=tags).run_id


def test_a_night_with_errors_is_one_message_and_the_night_after_says_that_all_is_well(made: Harness) -> None:
    sent = replace(SENT, day="")
    fetch(made, Fault("404", customer=M16), tags={NIGHT_OF: DAY})
    assert looked(made, sent, seconds=30).waiting is None
    sent = looked(made, sent, minutes=11)
    assert sent.waiting
    errors = sent.waiting.text.splitlines()
    assert sent.waiting.subject == f"brokerbi, {DAY}: 1 error"
    assert any(
        line.startswith(f"- new: {RUNNING} of {M16}, 2026-10..2026-11: ") and "customer id" in line
        for line in errors
    )
    assert looked(made, sent, minutes=12).waiting is None
    fetch(made, tags={NIGHT_OF: "the next"})
    made.publish()
    assert looked(made, sent, minutes=22).waiting == Message("brokerbi, the next: all is well again", "")


def test_an_error_that_lasts_is_no_longer_new(made: Harness) -> None:
    sent = replace(SENT, day="")
    texts = []
    for day in (DAY, "the next"):
        fetch(made, Fault("404", customer=M16), tags={NIGHT_OF: day})
        sent = looked(made, sent, minutes=11)
        texts.append(text(sent).count("new: "))
    assert texts[0] > 0
    assert texts[1] == 0


def test_a_run_that_broke_is_reported_once_and_so_is_another_with_the_same_reason(made: Harness) -> None:
    ended(made, "1", "The disk is full.")
    sent = looked(made, SENT)
    assert sent.waiting == Message(f"brokerbi, {DAY}: 1 run failed", "- nightly: The disk is full. (run 1)")
    ended(made, "2", "The disk is full.")
    assert looked(made, sent).waiting is None


def test_a_run_that_waits_for_its_retry_is_not_reported(made: Harness) -> None:
    ended(made, "1", "The disk is full.", tags={"dagster/will_retry": "true"})
    assert looked(made, SENT).waiting is None


def test_a_failed_backfill_is_reported_by_day_and_a_night_with_its_own_message(made: Harness) -> None:
    fetch(made, Fault("404", customer=M16), tags={NIGHT_OF: DAY})
    assert looked(made, SENT).waiting is None
    fetch(made, Fault("404", customer=M16))
    assert " partitions failed, of M30016. " in text(looked(made, SENT))


def test_a_nightly_run_that_does_not_come_is_reported_once(made: Harness) -> None:
    made.instance.add_run(
        dg.DagsterRun("nightly", run_id="1", status=dg.DagsterRunStatus.SUCCESS, tags={NIGHT_OF: DAY})
    )
    sent = looked(made, SENT, hours=31)
    assert "There has been no nightly run since " in text(sent)
    assert looked(made, sent, hours=40).waiting is None


def test_a_channel_that_refuses_is_tried_again_and_meanwhile_there_is_no_other_message(made: Harness) -> None:
    chat, mail = Inbox(), Inbox(refuses=True)
    both = {"chat": chat, "mail": mail}
    sent = replace(SENT, waiting=Message("It failed", ""), channels=["chat", "mail"])
    sent = replace(sent, channels=list(deliver(sent, both, LOG)))
    assert (len(chat.taken), sent.channels) == (1, ["mail"])
    assert look(made.project, made.instance, sent, ["chat", "mail"]) == sent


def test_there_is_a_sensor_for_messages_if_there_is_a_channel(tmp_path: Path) -> None:
    names = [
        {sensor.name for sensor in build_definitions(Project(settings(tmp_path, **more))).sensors or ()}
        for more in ({}, {"alert_webhook": "https://chat.test/a-secret"})
    ]
    assert names[1] - names[0] == {"messages"}
