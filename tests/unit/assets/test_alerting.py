"""Is there one message a night, when there is something to tell, on every channel?"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from assets.alerting import Told, deliver, look
from assets.channels import ChannelRefused
from assets.messages import Message
from assets.nights import Nights
from pipelines.sandbox.faults import Fault
from tests.unit.assets.stage import M16, RUNNING, Stage, stage

LOG = logging.getLogger("tests.alerting")
NIGHT = {"brokerbi/night": "2026-11-21"}


@dataclass
class Heard:
    """A channel that keeps what it hears, or refuses it."""

    refuses: bool = False
    messages: list[Message] = field(default_factory=list)

    def __call__(self, message: Message) -> None:
        if self.refuses:
            raise ChannelRefused("not now")
        self.messages.append(message)


def beginning(play: Stage) -> Told:
    """The first look, before any night."""
    return look(play.project, Nights(play.instance, datetime.now(UTC)), Told(), ["chat"])


def later(play: Stage, **after: float) -> Nights:
    return Nights(play.instance, datetime.now(UTC) + timedelta(**after), "https://ui.test")


def night(directory: Path, *faults: Fault) -> tuple[Stage, Told]:
    """A night over all months there are, with what was told before it."""
    play = stage(directory, start="2026-10", reports=RUNNING)
    told = beginning(play)
    play.service.faults.switch(list(faults))
    play.run(first="G1|2026-10", last="M30017|2026-11", tags=NIGHT)
    return play, told


def test_a_night_that_went_well_is_noted_and_not_told(tmp_path: Path) -> None:
    play, told = night(tmp_path)
    after = look(play.project, later(play, minutes=11), told, ["chat"])
    assert (after.day, after.text, list(after.channels)) == ("2026-11-21", "", [])


def test_a_night_that_failed_is_told_once_with_names_reasons_and_remedies(tmp_path: Path) -> None:
    play, told = night(tmp_path, Fault("404", customer=M16))
    chat = Heard()
    for _ in range(2):
        told = look(play.project, later(play, minutes=11), told, ["chat"])
        told = deliver(told, {"chat": chat}, LOG)
    (message,) = chat.messages
    assert message.subject == "brokerbi, 2026-11-21: 1 run failed and reports are owed of 1 customer"
    assert "- nightly, " in message.text
    assert "2 of 6 squares failed, of M30016." in message.text
    assert "- running_commissions of M30016: 2026-10..2026-11, since " in message.text


def test_a_message_waits_until_there_was_time_to_publish(tmp_path: Path) -> None:
    play, told = night(tmp_path, Fault("404", customer=M16))
    assert look(play.project, later(play, minutes=5), told, ["chat"]) == told


def test_a_channel_that_refuses_is_tried_again_and_the_other_is_not(tmp_path: Path) -> None:
    play, told = night(tmp_path, Fault("404", customer=M16))
    chat, mail = Heard(), Heard(refuses=True)
    channels = {"chat": chat, "mail": mail}
    told = deliver(look(play.project, later(play, minutes=11), told, list(channels)), channels, LOG)
    mail.refuses = False
    told = deliver(look(play.project, later(play, minutes=12), told, list(channels)), channels, LOG)
    assert [len(chat.messages), len(mail.messages), list(told.channels)] == [1, 1, []]


def test_a_night_that_never_came_is_told_once_a_day(tmp_path: Path) -> None:
    play = stage(tmp_path)
    told = replace(beginning(play), until=datetime.now(UTC).timestamp())
    first = look(play.project, later(play, hours=31), told, ["chat"])
    assert first.text.startswith("there has been no night since ")
    assert look(play.project, later(play, hours=31, minutes=1), first, ["chat"]) == first


def test_what_was_told_survives_a_restart() -> None:
    told = Told("2026-11-21", 5.0, "a subject", "a text", ["chat"])
    assert Told.read(told.written) == told
