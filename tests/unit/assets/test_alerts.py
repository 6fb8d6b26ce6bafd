"""Tests of the alerts: one message a night when there is something to tell, on every channel."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import dagster as dg
import httpx
import pytest
from pydantic import SecretStr

from assets.alerts import AlertState, Findings, alert_message, deliver, next_alert
from assets.definitions import build_definitions
from assets.failed_runs import FailedRun
from assets.notify import ChannelRefused, Email, Message, Webhook, channels
from assets.project import Project
from assets.told_troubles import ToldTrouble
from assets.under_way import NIGHT_OF
from pipelines.sandbox.faults import Fault
from tests.unit.assets.harness import CUSTOMERS, M16, M17, RUNNING, Harness, harness, settings

LOG = logging.getLogger("tests.alerts")
REFUSED = Fault("403", path="RunningCommissions", customer=M16)
NIGHT = {NIGHT_OF: "2026-11-21"}
RUN = FailedRun(
    "nightly",
    "8a1f",
    "https://ui.test/runs/8a1f",
    "2 of 60 partitions failed, of c03.\nwhy",
    night=True,
)
CRASHED = replace(RUN, name="publish", run_id="9b", link="", reason="The disk is full.", night=False)
WHY = "Check the id of c03: the service knows no such thing (404)."


@dataclass
class Inbox:
    """A channel that keeps its messages, or refuses them."""

    refuses: bool = False
    messages: list[Message] = field(default_factory=list)

    def __call__(self, message: Message) -> None:
        if self.refuses:
            raise ChannelRefused("not now")
        self.messages.append(message)


def look(made: Harness, state: AlertState, *channels: str, **later: float) -> AlertState:
    """The state after a look so much later than now; by default the last message was taken."""
    now = datetime.now(UTC) + timedelta(**later)
    taken = state if channels else replace(state, channels=())
    return next_alert(made.project, made.instance, now, taken, channels or ("chat",))


def after_a_night(directory: Path, *faults: Fault) -> tuple[Harness, AlertState]:
    """A night over all months there are, and the state before it."""
    made = harness(directory, start="2026-10", reports=RUNNING)
    state = look(made, AlertState())
    made.service.faults.switch(list(faults))
    made.run(first="G1|2026-10", last="M30017|2026-11", tags=NIGHT)
    return made, state


Night = tuple[Harness, AlertState]


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A night in which M16 was not known to the service."""
    return after_a_night(tmp_path_factory.mktemp("failed"), Fault("404", customer=M16))


def test_a_night_that_went_well_causes_no_message_and_new_columns_are_told_once(tmp_path: Path) -> None:
    made, state = after_a_night(tmp_path)
    state = look(made, state, minutes=11)
    assert (state.day, state.text, list(state.channels)) == ("2026-11-21", "", [])
    state = replace(state, until=datetime.now(UTC).timestamp())
    made.service.faults.switch([Fault("unknown_fields")])
    made.run(first="G1|2026-10", last="M30017|2026-11", tags={"brokerbi/night": "the next"})
    state = look(made, state, minutes=22)
    assert state.subject == "brokerbi, the next: the service answers in other columns"
    assert state.text.startswith("- New in the answers: running_commissions: running_commissions.")


def test_a_night_that_failed_causes_one_message_of_causes_with_their_remedies(failed: Night) -> None:
    made, state = failed
    chat = Inbox()
    for _ in range(2):
        state = deliver(look(made, state, minutes=11), {"chat": chat}, LOG)
    (message,) = chat.messages
    assert message.subject == "brokerbi, 2026-11-21: 1 thing to do"
    first, last = message.text.splitlines()
    assert first.startswith("- Check the id of M30016 and BROKERBI_BASE_URL")
    assert last.startswith("1 run failed: run ")


def test_a_lost_right_is_told_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    made, state = after_a_night(tmp_path)
    said = []
    for faults, hours in (((REFUSED,), 1), ((REFUSED,), 2), ((), 3)):
        made.service.faults.switch(list(faults))
        made.run(first="G1|2026-10", last="M30017|2026-11", tags={"brokerbi/night": f"night {hours}"})
        state = look(made, state, minutes=11)
        said.append(state.text.partition(":")[0])
    assert said == [
        "- Ask the service's support for the right to running_commissions of M30016",
        "",
        "- running_commissions of M30016 is answered again.",
    ]


def test_a_customer_that_is_refused_everything_is_told_once_by_its_id(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.service.faults.switch([Fault("403", customer=M16)])
    state = look(made, AlertState())
    made.run(RUNNING, "users", first="G1|2026-01", last="M30017|2026-11", tags=NIGHT)
    state = look(made, state, minutes=11)
    assert state.text.startswith("- Check the id of M30016")
    made.service.faults.switch([])
    made.run(RUNNING, "users", first="G1|2026-01", last="M30017|2026-11", tags={"brokerbi/night": "next"})
    assert look(made, state, minutes=11).text.startswith("- M30016 is answered again.")


def by_day(directory: Path) -> Night:
    """A night that went well and needs no message any more."""
    made, state = after_a_night(directory)
    return made, replace(state, day=NIGHT[NIGHT_OF])


def failed_by_day(
    made: Harness, state: AlertState, *faults: Fault, tags: Mapping[str, str] | None = None
) -> tuple[str, AlertState]:
    """The id of a run under these faults, and the state after a look at once."""
    made.service.faults.switch(list(faults))
    result = made.run(first="G1|2026-10", last="M30017|2026-11", tags=tags)
    return result.run_id, look(made, state)


def test_a_backfill_that_fails_by_day_is_told_at_the_next_look_whatever_else_goes_on(tmp_path: Path) -> None:
    made, state = by_day(tmp_path)
    made.instance.add_run(dg.DagsterRun("reports", run_id="goes on", status=dg.DagsterRunStatus.STARTED))
    run_id, after = failed_by_day(made, state, Fault("404", customer=M16))
    assert after.text.startswith("- Check the id of M30016")
    assert after.text.endswith(f"1 run failed: run {run_id}")
    assert look(made, after) == replace(after, channels=())


def test_a_run_is_linked_only_to_what_it_failed_at(tmp_path: Path) -> None:
    made, state = by_day(tmp_path)
    failed_by_day(made, state, Fault("404", customer=M17))
    failed_by_day(made, state)
    run_id, after = failed_by_day(made, state, Fault("404", customer=M16))
    assert after.subject.endswith(": 1 thing to do")
    assert after.text.endswith(f"1 run failed: run {run_id}")


def test_a_trouble_is_told_once_and_another_one_of_the_same_night_as_well(tmp_path: Path) -> None:
    made, state = by_day(tmp_path)
    said = []
    for faults in (
        [Fault("404", customer=M16)],
        [Fault("404", customer=M16)],
        [REFUSED, Fault("404", customer=M17)],
    ):
        _, state = failed_by_day(made, replace(state, text=""), *faults, tags=NIGHT)
        said.append([line.partition(":")[0] for line in state.text.splitlines()])
    assert said == [
        ["- Check the id of M30016 and BROKERBI_BASE_URL", "1 run failed"],
        [],
        [
            "- Check the id of M30017 and BROKERBI_BASE_URL",
            "- Ask the service's support for the right to running_commissions of M30016",
            "1 run failed",
        ],
    ]


@pytest.mark.parametrize(
    ("password", "faults", "over"),
    [
        ("wrong", [], "- The login of G1, M30016, M30017 works again."),
        ("sandbox", [Fault("503")], "- running_commissions is answered again."),
        ("sandbox", [Fault("404", customer=M16)], "- M30016 is answered again."),
        ("sandbox", [REFUSED], "- running_commissions of M30016 is answered again."),
    ],
    ids=["login", "no answer", "unknown", "right"],
)
def test_the_end_of_every_trouble_is_told_once_and_when_all_runs_have_ended(
    tmp_path: Path, password: str, faults: list[Fault], over: str
) -> None:
    made, state = by_day(tmp_path)
    made.change_settings(password=password)
    _, state = failed_by_day(made, state, *faults)
    made.change_settings(password="sandbox")
    made.instance.add_run(dg.DagsterRun("reports", run_id="goes on", status=dg.DagsterRunStatus.STARTED))
    state = replace(state, channels=())
    assert failed_by_day(made, state)[1] == state
    made.instance.delete_run("goes on")
    after = look(made, state)
    assert (after.subject, after.text) == ("brokerbi, 2026-11-21: 1 trouble is over", over)
    assert failed_by_day(made, after)[1] == replace(after, channels=())


def test_a_run_that_broke_down_is_told_in_its_own_words_until_it_succeeds(tmp_path: Path) -> None:
    made, state = by_day(tmp_path)
    made.change_settings(customers="G2")
    run_id, state = failed_by_day(made, state)
    assert state.text.startswith("- The job `nightly` failed: Nothing was asked. ")
    assert state.text.endswith(f"1 run failed: run {run_id}")
    made.change_settings(customers=",".join(CUSTOMERS))
    assert failed_by_day(made, state)[1].text == "- The job `nightly` has succeeded again."


def test_a_night_without_a_message_delays_none(tmp_path: Path) -> None:
    made, state = after_a_night(tmp_path)
    state = replace(look(made, state, minutes=11), until=state.until, looked=state.until)
    made.service.faults.switch([Fault("404", customer=M16)])
    made.run(first="G1|2026-10", last="M30017|2026-11")
    assert look(made, state, minutes=12).text.startswith("- Check the id of M30016")


def test_a_run_that_finds_the_warehouse_damaged_is_told_though_nothing_can_be_read(tmp_path: Path) -> None:
    made, state = by_day(tmp_path)
    (made.project.settings.data_dir / "work" / "warehouse.duckdb").write_text("this is no DuckDB file" * 1000)
    assert " is damaged" in failed_by_day(made, state)[1].text.splitlines()[0]


def test_a_lost_right_is_told_while_its_run_waits_to_ask_again_and_what_may_pass_is_not(
    tmp_path: Path,
) -> None:
    made, state = by_day(tmp_path)
    failed_by_day(made, state, REFUSED, Fault("503", customer=M17))
    [failed] = made.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    made.instance.delete_run(failed.run_id)
    made.instance.add_run(dg.DagsterRun("reports", run_id="waits", status=dg.DagsterRunStatus.STARTED))
    assert look(made, state).text == ""
    made.instance.report_dagster_event(dg.DagsterEvent("STEP_UP_FOR_RETRY", "reports"), "waits")
    [line] = look(made, state).text.splitlines()
    assert line.startswith("- Ask the service's support for the right to running_commissions of M30016")


def test_a_night_says_nothing_of_what_a_run_is_about_to_try_again(tmp_path: Path) -> None:
    made, state = after_a_night(tmp_path)
    failed_by_day(made, state, Fault("503", customer=M16))
    tags = {"dagster/partition": f"{M16}|2026-10"}
    made.instance.add_run(dg.DagsterRun("reports", status=dg.DagsterRunStatus.STARTED, tags=tags))
    before = replace(state, told=[one.run_id for one in made.instance.get_runs()])
    assert look(made, before, minutes=2).text == ""


def test_a_password_that_is_corrected_is_no_longer_a_thing_to_do(tmp_path: Path) -> None:
    made = harness(tmp_path, start="2026-10", reports=RUNNING, password="wrong")
    state = look(made, AlertState())
    made.run(first="G1|2026-10", last="M30017|2026-11", tags=NIGHT)
    assert look(made, state, minutes=11).text.startswith("- Correct BROKERBI_USERNAME")
    made.change_settings(password="sandbox")
    assert look(made, state, minutes=11).text == ""
    made.run(first="M30017|2026-11", last="M30017|2026-11")
    kinds = "SELECT DISTINCT error_kind FROM meta.loads WHERE status = 'failed'"
    with made.project.store.reading() as connection:
        assert connection.execute(kinds).fetchall() == [("login corrected",)]


def test_a_wrong_password_of_many_customers_is_one_sentence(tmp_path: Path) -> None:
    made = harness(tmp_path, reports="", tries="1")
    state = look(made, AlertState())
    made.service.faults.switch([Fault("401")])
    names = [report.name for report in made.project.reports]
    made.run(*names, first="G1|2026-01", last="M30017|2026-11", tags=NIGHT)
    after = look(made, state, minutes=11)
    assert len(made.service.log.entries) == 1
    assert len(after.text) < 600
    assert after.text.startswith("- Correct BROKERBI_USERNAME or the password that goes with it")


def test_a_message_waits_until_there_was_time_to_publish(failed: Night) -> None:
    made, state = failed
    [night] = made.instance.get_run_records(limit=1)
    soon = datetime.fromtimestamp(night.end_time or 0.0, UTC) + timedelta(seconds=59)
    assert next_alert(made.project, made.instance, soon, state, ["chat"]) == state


def test_a_message_waits_no_longer_once_all_is_published(tmp_path: Path) -> None:
    made = harness(tmp_path)
    made.service.faults.switch([Fault("404", customer=M16)])
    made.publishes_after_fetching = True
    state = look(made, AlertState())
    made.run(first="G1|2026-01", last="M30017|2026-11", tags=NIGHT)
    assert "- Check the id of M30016" in look(made, state, seconds=1).text


def test_a_channel_that_refuses_is_tried_again_and_the_other_is_not(failed: Night) -> None:
    made, state = failed
    chat, mail = Inbox(), Inbox(refuses=True)
    channels = {"chat": chat, "mail": mail}
    state = deliver(look(made, state, *channels, minutes=11), channels, LOG)
    mail.refuses = False
    state = deliver(look(made, state, *channels, minutes=12), channels, LOG)
    assert [len(chat.messages), len(mail.messages), list(state.channels)] == [1, 1, []]


def test_a_message_that_no_channel_took_yet_is_not_replaced(failed: Night) -> None:
    made, state = failed
    state = look(made, state, "chat", minutes=11)
    assert look(made, state, "chat", hours=31) == state
    assert look(made, state, "chat", "mail", hours=31) != state


def test_a_night_that_never_came_causes_one_message_a_day(tmp_path: Path) -> None:
    made = harness(tmp_path)
    state = replace(look(made, AlertState()), until=datetime.now(UTC).timestamp())
    first = look(made, state, hours=31)
    assert "there has been no night since " in first.text
    assert look(made, first, hours=31, minutes=1) == replace(first, channels=())


def test_the_state_survives_a_restart() -> None:
    told = [ToldTrouble("Forbidden", "sales", "c03", 4.0)]
    state = AlertState("2026-11-21", 5.0, "a subject", "a text", ["chat"], ["8a1f"], 6.0, told)
    assert AlertState.from_cursor(state.cursor) == state
    assert AlertState.from_cursor('{"day": "2026-11-21", "lost": []}') == AlertState("2026-11-21")


def test_everything_is_in_one_message() -> None:
    found = alert_message("2026-11-21", Findings([WHY], [CRASHED], ended=["It is over."], runs=[RUN]))
    assert found == Message(
        "brokerbi, 2026-11-21: 2 things to do",
        "\n".join(
            [
                f"- {WHY}",
                "- The job `publish` failed: The disk is full.",
                "- It is over.",
                "2 runs failed: https://ui.test/runs/8a1f, run 9b",
            ]
        ),
    )


def test_the_heading_counts_what_is_over_and_does_not_say_that_all_is() -> None:
    found = alert_message("2026-11-21", Findings(ended=[f"{number} is over." for number in range(7)]))
    assert found is not None
    assert found.subject == "brokerbi, 2026-11-21: 7 troubles are over"
    assert found.text.splitlines()[4:] == ["- 4 is over.", "- 2 more troubles are over."]


def test_a_message_stays_below_1500_signs() -> None:
    found = alert_message(
        "2026-11-21", Findings([f"cause {number} {'x' * 200}" for number in range(20)], runs=[RUN])
    )
    assert found is not None
    assert len(found.subject) + len(found.text) < 1500
    assert "more; `brokerbi status` shows them all" in found.text


MESSAGE = Message("Something failed", "What failed\n- å, ä and ö")
WEBHOOK_SETTINGS = {"alert_webhook": "https://chat.test/a-secret"}


def test_a_webhook_calls_nobody_and_links_to_nothing_that_the_service_names() -> None:
    sent: list[bytes] = []

    def receive(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return httpx.Response(200)

    named = "<!channel> <@U1> <http://e.test|x> @here a@b.test [x](http://e.test) A & B\x1b"
    Webhook(SecretStr("https://chat.test/hook"), httpx.MockTransport(receive))(Message("To do", named))
    chat = (
        "&lt;!channel&gt; &lt;@_U1&gt; &lt;http://e.test|x&gt; @_here a@b.test [x]_(http://e.test) A &amp; B"
    )
    assert [*map(json.loads, sent)] == [{"text": f"To do\n\n{chat}".replace("_", "\u200b") + r"\u001b"}]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_refuses_is_named_without_its_address(status: int) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status))
    with pytest.raises(ChannelRefused, match=f"^the webhook answered {status}; check its address$"):
        Webhook(SecretStr("https://chat.test/a-secret"), transport)(MESSAGE)


def test_a_webhook_that_is_not_there_is_named_without_its_address() -> None:
    with pytest.raises(ChannelRefused, match=r"^the webhook cannot be reached \(ConnectError\)$"):
        Webhook(SecretStr("http://127.0.0.1:9/a-secret"))(MESSAGE)


def test_a_webhook_gets_subject_and_text_as_json_over_a_real_socket() -> None:
    received: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.handle_request, daemon=True)
        thread.start()
        Webhook(SecretStr(f"http://127.0.0.1:{server.server_port}/hook"))(MESSAGE)
        thread.join(5)
    assert [*map(json.loads, received)] == [{"text": "Something failed\n\nWhat failed\n- å, ä and ö"}]


class MailServer:
    """The smallest server that speaks SMTP, for one mail."""

    def __init__(self, listening: socket.socket, *, refuses: bool) -> None:
        self.port: int = listening.getsockname()[1]
        self.lines: list[str] = []
        self._listening = listening
        self._answers = {"DATA": "354 go on", "QUIT": "221 bye"} | (
            {"MAIL": "550 no such login: secret-word"} if refuses else {}
        )

    def serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection, connection.makefile("rw", newline="\r\n") as wire:
            print("220 here", file=wire, flush=True)
            for line in wire:
                verb = line.strip().split(" ")[0].upper()
                print(self._answers.get(verb, "250 fine"), file=wire, flush=True)
                if verb == "DATA":
                    self.lines += [one.rstrip() for one in iter(wire.readline, ".\r\n")]
                    print("250 taken", file=wire, flush=True)
                if verb == "QUIT":
                    return


@contextmanager
def mail_server(*, refuses: bool = False) -> Iterator[MailServer]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = MailServer(listening, refuses=refuses)
        thread = Thread(target=server.serve, daemon=True)
        thread.start()
        yield server
        thread.join(timeout=5)


def test_a_mail_goes_to_everybody_it_is_for() -> None:
    with mail_server() as server:
        to = ("one@example.com", "two@example.com")
        Email(to, "brokerbi@example.com", "127.0.0.1", server.port)(MESSAGE)
    assert {"Subject: Something failed", "To: one@example.com, two@example.com"} < set(server.lines)


def test_a_mail_server_that_refuses_is_named_with_its_code_and_without_its_words() -> None:
    with mail_server(refuses=True) as server, pytest.raises(ChannelRefused) as raised:
        Email(("one@example.com",), "brokerbi@example.com", "127.0.0.1", server.port)(MESSAGE)
    assert str(raised.value) == "the mail server 127.0.0.1 did not take the mail: SMTPSenderRefused, code 550"


def test_the_settings_say_which_channels_there_are(tmp_path: Path) -> None:
    mail = {"alert_email_to": "a@example.com", "alert_email_from": "b@example.com", "alert_smtp_host": "mail"}
    assert list(channels(settings(tmp_path))) == []
    assert list(channels(settings(tmp_path, **WEBHOOK_SETTINGS, **mail))) == ["the webhook", "the mail"]


def test_there_is_a_sensor_for_trouble_when_there_is_a_channel(tmp_path: Path) -> None:
    names = [
        {sensor.name for sensor in build_definitions(Project(settings(tmp_path, **more))).sensors or ()}
        for more in ({}, WEBHOOK_SETTINGS)
    ]
    assert names == [{"publishing", "old_runs"}, {"publishing", "old_runs", "trouble"}]
