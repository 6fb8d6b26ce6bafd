"""One message when a run fails, one after a nightly run with errors, one when all is well again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from assets.definitions import build_definitions
from assets.messages import CURSOR, MessageCursor, keys_of, messages_sensor, next_message
from assets.notify import ChannelRefused, Message
from assets.project import Project
from assets.runs import NIGHT_TAG, RANGE_END, RANGE_START
from pipelines.causes import Cause
from pipelines.clock import SystemClock
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import M16, RUNNING, Harness, harness, settings
from warehouse.ledger.conditions import Condition, Kind
from warehouse.publishing.publish import publish
from warehouse.store.lock import WORK

DAY = "2026-11-21"
AN_HOUR_AGO = (datetime.now(UTC) - timedelta(hours=1)).timestamp()
SENT = MessageCursor(AN_HOUR_AGO)
Looked = tuple[MessageCursor, Message | None]


@dataclass(frozen=True)
class Later(SystemClock):
    """A clock that is ahead by this time."""

    ahead: timedelta = timedelta()

    def utc_now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def looked(made: Harness, sent: MessageCursor, **later: float) -> Looked:
    """The cursor after a tick this much later than now, and the message."""
    project = made.project
    context = replace(project.run_context, clock=Later(ahead=timedelta(**later)))
    return next_message(replace(project, run_context=context), made.instance, sent)


def text(looked: Looked) -> str:
    return looked[1].text if looked[1] else ""


def ended(made: Harness, no: str, why: str, tags: dict[str, str] | None = None, job: str = "nightly") -> None:
    """A run of a job that failed for this reason."""
    run = dg.DagsterRun(job, run_id=no, status=dg.DagsterRunStatus.STARTED, tags=tags or {})
    made.instance.add_run(run)
    made.instance.report_run_failed(run, why)


@pytest.fixture
def made(tmp_path: Path) -> Harness:
    return harness(tmp_path, start="2026-10", customers=M16)


def fetch(made: Harness, *faults: Fault, tags: dict[str, str] | None = None) -> str:
    """The id of a run over all months."""
    made.service.faults.switch(list(faults))
    return made.run(first=f"{M16}|2026-10", last=f"{M16}|2026-11", tags=tags).run_id


def test_a_nightly_run_with_errors_sends_one_message_until_all_is_well(made: Harness) -> None:
    fetch(made, Fault("404", customer=M16), tags={NIGHT_TAG: DAY})
    sent, message = looked(made, SENT)
    assert message
    [line] = message.text.splitlines()
    assert message.subject == f"brokerbi, {DAY}: 1 error"
    assert line.startswith(f"- new: {RUNNING} of {M16}, 2026-10..2026-11: ")
    assert looked(made, sent, minutes=12)[1] is None
    fetch(made, Fault("404", customer=M16), tags={NIGHT_TAG: "one more"})
    sent, message = looked(made, sent, minutes=22)
    assert text((sent, message)).startswith(f"- {RUNNING} of {M16}")  # it is not new
    fetch(made, tags={NIGHT_TAG: "one more"})  # launched by day
    assert looked(made, sent, minutes=9)[1] is None  # what it loaded will be published
    publish(made.file.parent, keep=2, now=made.project.clock.utc_now())
    well = Message("brokerbi, one more: all is well again", "")
    assert looked(made, sent, minutes=33)[1] == well


def test_a_cause_but_no_denied_login_is_new_for_another_customer_and_not_for_one_fewer() -> None:
    rows = [Condition(Kind.FAILED, customer=name, error="404", cause_key="404") for name in ("M1", "M2")]
    both, first, last = (set(keys_of(Cause.of(some))) for some in (rows, rows[:1], rows[1:]))
    assert (first < both, last < both, first.isdisjoint(last)) == (True, True, True)
    denied = [replace(row, error="401", cause_key="", trouble="login") for row in rows]
    assert keys_of(Cause.of(denied)) == keys_of(Cause.of(denied[:1]))


def test_failed_runs_with_the_same_reason_are_reported_once(made: Harness) -> None:
    ended(made, "1", "The disk is full.", tags={RANGE_START: "M1|2026-01", RANGE_END: "M1|2026-03"})
    sent, message = looked(made, SENT)
    line = "- new: nightly (M1|2026-01...M1|2026-03): The disk is full. (run 1)"
    assert message == Message(f"brokerbi, {DAY}: 1 error", line)
    ended(made, "2", "The disk is full.")
    assert looked(made, sent)[1] is None


def test_a_killed_run_that_a_condition_names_is_reported_once(made: Harness) -> None:
    left = {"what": "run 5cb9064f of nightly", "pid": 1, "begun": "2026-11-21T05:00:00+00:00", "remedy": "x"}
    made.give_working_file()
    (made.file.parent / WORK).write_text(json.dumps([left]))
    killed, status = "5cb9064f-1", dg.DagsterRunStatus.STARTED
    again = dg.DagsterRun("nightly", parent_run_id=killed, root_run_id=killed, status=status)
    made.instance.add_run(again)
    ended(made, "1", "The disk is full.")
    assert text(looked(made, SENT)).count("5cb9064f") == 0  # it is retried
    made.instance.delete_run(again.run_id)
    ended(made, killed, "It was marked as failed.")
    sent, message = looked(made, SENT)
    assert text((sent, message)).count("5cb9064f") == 1
    (made.file.parent / WORK).write_text("[]")  # it is re-executed
    assert looked(made, sent)[1] is None


def test_reasons_that_end_alike_are_each_reported(made: Harness) -> None:
    ended(made, "1", "Landing is damaged. Restore it.")
    sent, _ = looked(made, SENT)
    ended(made, "2", "The file is damaged. Restore it.")
    assert text(looked(made, sent)) == "- new: nightly: The file is damaged. Restore it. (run 2)"


def test_a_backfill_that_fails_before_the_nightly_run_is_reported_is_not_new_then(made: Harness) -> None:
    fetch(made, tags={NIGHT_TAG: "the next"})
    fetch(made, Fault("404", customer=M16))
    sent, message = looked(made, SENT, seconds=20)
    assert text((sent, message)).startswith(f"- new: {RUNNING} of {M16}")
    assert text(looked(made, sent, minutes=11)).startswith(f"- {RUNNING} of {M16}")


def test_a_publication_that_fails_is_reported_with_its_nightly_run(made: Harness) -> None:
    fetch(made, tags={NIGHT_TAG: "the next"})
    ended(made, "1", "No room.", job="publish")
    sent, message = looked(made, SENT, seconds=20)
    assert message == Message("brokerbi, the next: 1 error", "- new: publish: No room. (run 1)")
    assert looked(made, sent, minutes=11)[1] is None


def test_what_a_retry_or_the_nightly_run_may_still_mend_is_not_reported(made: Harness) -> None:
    ended(made, "1", "The disk is full.", tags={"dagster/will_retry": "true"})
    trying = dg.DagsterRun("nightly", tags={NIGHT_TAG: DAY}, status=dg.DagsterRunStatus.STARTED)
    made.instance.add_run(trying)
    fetch(made, Fault("503", customer=M16))
    assert looked(made, SENT)[1] is None
    made.instance.delete_run(trying.run_id)
    assert "503" in text(looked(made, SENT))


def test_a_nightly_run_without_a_readable_file_or_that_breaks_is_not_well(made: Harness) -> None:
    fetch(made, tags={NIGHT_TAG: "the next"})
    publish(made.file.parent, keep=2, now=made.project.clock.utc_now())
    path = made.project.store.path
    whole = path.read_bytes()
    path.write_text("this is no DuckDB file" * 1000)
    fetch(made)
    sent, message = looked(made, SENT, minutes=3)
    assert text((sent, message)).count("is damaged") == 1
    path.write_bytes(whole)
    fetch(made)
    ended(made, "1", "The code is broken.", tags={NIGHT_TAG: "one more"})
    sent, message = looked(made, sent, minutes=13)
    assert text((sent, message)) == "- new: nightly: The code is broken. (run 1)"
    fetch(made, tags={NIGHT_TAG: "a later one"})
    assert looked(made, sent, minutes=16)[1] is None  # it is not published
    publish(made.file.parent, keep=2, now=made.project.clock.utc_now())
    assert "all is well again" in str(looked(made, sent, minutes=16)[1])


def test_a_failing_channel_sends_its_message_later_and_does_not_stop_others(made: Harness) -> None:
    taken: list[Message] = []

    def refuse(_: Message) -> None:
        if not taken:
            raise ChannelRefused("not now")

    ended(made, "1", "The disk is full.")
    sensors = [
        messages_sensor(made.project, "mail", refuse),
        messages_sensor(made.project, "chat", taken.append),
    ]
    cursors = []
    for sensor in [*sensors, sensors[0]]:
        with dg.build_sensor_context(made.instance, cursor=CURSOR.dump_json(SENT).decode()) as context:
            sensor.evaluate_tick(context)
            cursors.append(CURSOR.validate_json(context.cursor or ""))
    assert [bool(sent.keys) for sent in cursors] == [False, True, True]


def test_there_is_a_sensor_for_each_channel(tmp_path: Path) -> None:
    mail = {"alert_email_to": "a@example.com", "alert_email_from": "b@example.com", "alert_smtp_host": "mail"}
    names = [
        {sensor.name for sensor in build_definitions(Project(settings(tmp_path, **more))).sensors or ()}
        for more in ({}, {"alert_webhook": "https://chat.test/a-secret", **mail})
    ]
    assert names[1] - names[0] == {"messages_webhook", "messages_mail"}
