"""Channels: what a webhook and a mail server get, and what a refusal says."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest

from assets.notify import ChannelRefused, Message, post, send_mail
from pipelines.settings.model import Settings
from tests.unit.assets.harness import settings

SUBJECT = "brokerbi, 2026-11-21: 1 error"
NEWS = Message(SUBJECT, "- What failed: å, ä and ö.")


def test_a_webhook_message_mentions_no_one_and_links_nowhere() -> None:
    sent: list[bytes] = []

    def receive(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return httpx.Response(200)

    named = "<!channel> <@U1> <http://e.test|x> @here a@b.test [x](http://e.test) å & B\x1b"
    post("https://chat.test/hook", Message(SUBJECT, f"- {named}"), httpx.MockTransport(receive))
    chat = (
        "&lt;!channel&gt; &lt;@_U1&gt; &lt;http://e.test|x&gt; @_here a@b.test [x]_(http://e.test) å &amp; B"
    )
    assert [*map(json.loads, sent)] == [{"text": f"{SUBJECT}\n\n- {chat}".replace("_", "\u200b") + r"\u001b"}]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_refuses_is_named_without_its_address(status: int) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status))
    with pytest.raises(ChannelRefused, match=f"^the webhook answered {status}; check its address$"):
        post("https://chat.test/a-secret", NEWS, transport)


def test_an_unreachable_webhook_is_named_without_its_address() -> None:
    with pytest.raises(ChannelRefused, match=r"^the webhook cannot be reached \(ConnectError\)$"):
        post("http://127.0.0.1:9/a-secret", NEWS)


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


def mail_settings(directory: Path, port: int) -> Settings:
    mail = {"email_to": "one@example.com,two@example.com", "email_from": "b@example.com"}
    server = {"smtp_host": "127.0.0.1", "smtp_port": str(port)}
    return settings(directory, **{f"alert_{name}": value for name, value in (mail | server).items()})


def test_an_email_goes_to_all_its_recipients(tmp_path: Path) -> None:
    with mail_server() as server:
        send_mail(mail_settings(tmp_path, server.port), NEWS)
    assert {f"Subject: {SUBJECT}", "To: one@example.com, two@example.com"} < set(server.lines)


def test_a_refusing_mail_server_is_named_with_its_code_but_not_its_text(tmp_path: Path) -> None:
    with mail_server(refuses=True) as server, pytest.raises(ChannelRefused) as raised:
        send_mail(mail_settings(tmp_path, server.port), NEWS)
    assert (
        str(raised.value) == "the mail server 127.0.0.1 did not accept the email: SMTPSenderRefused, code 550"
    )
