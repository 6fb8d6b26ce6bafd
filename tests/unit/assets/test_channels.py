"""Does a message reach a webhook and a mailbox, and is a refusal told without a secret?"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from pydantic import SecretStr

from assets.assembling import definitions
from assets.channels import ChannelRefused, Email, Webhook, channels
from assets.messages import Message
from assets.project import Project
from tests.unit.assets.mailbox import mailbox
from tests.unit.assets.rehearsal import settings

MESSAGE = Message("Something failed", "What failed\n- å, ä and ö")


def webhook(status: int, heard: list[httpx.Request]) -> Webhook:
    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(request)
        return httpx.Response(status)

    return Webhook(SecretStr("https://chat.test/a-secret"), httpx.MockTransport(answer))


def test_a_webhook_gets_subject_and_text_as_json() -> None:
    heard: list[httpx.Request] = []
    webhook(200, heard)(MESSAGE)
    assert [json.loads(one.content) for one in heard] == [
        {"text": "Something failed\n\nWhat failed\n- å, ä and ö"}
    ]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_refuses_is_told_of_without_its_address(status: int) -> None:
    with pytest.raises(ChannelRefused, match=f"^the webhook answered {status}; check its address$"):
        webhook(status, [])(MESSAGE)


def test_a_webhook_that_is_not_there_is_told_of_without_its_address() -> None:
    with pytest.raises(ChannelRefused, match=r"^the webhook cannot be reached \(ConnectError\)$"):
        Webhook(SecretStr("http://127.0.0.1:9/a-secret"))(MESSAGE)


def test_a_mail_goes_to_everybody_it_is_for() -> None:
    with mailbox() as box:
        Email(("one@example.com", "two@example.com"), "brokerbi@example.com", "127.0.0.1", box.port)(MESSAGE)
    assert {"Subject: Something failed", "To: one@example.com, two@example.com"} < set(box.lines)


def test_a_mail_server_that_refuses_is_told_of() -> None:
    with mailbox(refuses=True) as box, pytest.raises(ChannelRefused, match="did not take the mail"):
        Email(("one@example.com",), "brokerbi@example.com", "127.0.0.1", box.port)(MESSAGE)


def test_the_settings_say_which_channels_there_are(tmp_path: Path) -> None:
    mail = {"alert_email_to": "a@example.com", "alert_email_from": "b@example.com", "alert_smtp_host": "mail"}
    hook = {"alert_webhook": "https://chat.test/a-secret"}
    assert list(channels(settings(tmp_path))) == []
    assert list(channels(settings(tmp_path, **hook, **mail))) == ["the webhook", "the mail"]


def test_somebody_to_tell_means_that_there_is_a_sensor(tmp_path: Path) -> None:
    hook = {"alert_webhook": "https://chat.test/a-secret"}
    names = [
        {sensor.name for sensor in definitions(Project(settings(tmp_path, **more))).sensors or ()}
        for more in ({}, hook)
    ]
    assert names == [{"publishing"}, {"publishing", "trouble"}]


def test_a_webhook_is_posted_to_over_a_real_socket() -> None:
    heard: list[bytes] = []

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Ear) as server:
        thread = Thread(target=server.handle_request, daemon=True)
        thread.start()
        Webhook(SecretStr(f"http://127.0.0.1:{server.server_port}/hook"))(MESSAGE)
        thread.join(5)
    assert json.loads(heard[0])["text"].startswith("Something failed\n\nWhat failed")
