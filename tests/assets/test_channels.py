"""Does a message reach a webhook and a mailbox, and is a refusal told without a secret?"""

from __future__ import annotations

import json

import httpx
import pytest
from pydantic import SecretStr

from assets.channels import ChannelRefused, Email, Webhook
from assets.messages import Message
from tests.assets.mailbox import mailbox

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
