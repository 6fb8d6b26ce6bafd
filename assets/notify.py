"""Channels for messages to people: a webhook and email."""

from __future__ import annotations

import html
import re
import smtplib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from functools import partial

import httpx

from pipelines.foreign_text import visible_lines
from pipelines.settings.model import Settings

TIMEOUT_SECONDS = 30.0
_MENTION_OR_LINK = re.compile(r"(?<!\w)@(?=\w)|\](?=[(\[:])")


@dataclass(frozen=True)
class Message:
    """A subject and a text."""

    subject: str
    text: str


class ChannelRefused(Exception):
    """A channel could not be reached, or did not accept a message."""


Channel = Callable[[Message], None]


def channels(settings: Settings) -> Mapping[str, Channel]:
    """The channels in the settings, by name."""
    named: dict[str, Channel] = {}
    if settings.alert_webhook:
        named["webhook"] = partial(post, settings.alert_webhook.get_secret_value())
    if settings.alert_email_to:
        named["mail"] = partial(send_mail, settings)
    return named


def post(address: str, message: Message, transport: httpx.BaseTransport | None = None) -> None:
    """Post {"text": ...} to a webhook; raises ChannelRefused if that fails.

    The error does not name the address, because the address is a secret.
    """
    body = {"text": as_chat_text(f"{message.subject}\n\n{message.text}".rstrip())}
    try:
        with httpx.Client(transport=transport, timeout=TIMEOUT_SECONDS) as client:
            answer = client.post(address, json=body)
    except httpx.HTTPError as error:
        raise ChannelRefused(f"the webhook cannot be reached ({type(error).__name__})") from None
    if not answer.is_success:
        raise ChannelRefused(f"the webhook answered {answer.status_code}; check its address")


def send_mail(settings: Settings, message: Message) -> None:
    """Send an email through the SMTP server in the settings; raises ChannelRefused if that fails."""
    mail = EmailMessage()
    mail["Subject"] = message.subject
    mail["From"] = settings.alert_email_from
    mail["To"] = ", ".join(settings.alert_email_to)
    mail.set_content(visible_lines(message.text))
    try:
        with _mail_server(settings) as server:
            if settings.alert_smtp_username and settings.alert_smtp_password:
                server.login(settings.alert_smtp_username, settings.alert_smtp_password.get_secret_value())
            server.send_message(mail)
    except (OSError, smtplib.SMTPException) as error:
        # report only the code of an SMTP answer, because its text may repeat the login
        code = f", code {error.smtp_code}" if isinstance(error, smtplib.SMTPResponseException) else ""
        reason = f"{type(error).__name__}{code}" if code else str(error)
        host = settings.alert_smtp_host
        raise ChannelRefused(f"the mail server {host} did not accept the email: {reason}") from None


def _mail_server(settings: Settings) -> smtplib.SMTP:
    context = ssl.create_default_context()
    host, port = settings.alert_smtp_host, settings.alert_smtp_port
    if port == smtplib.SMTP_SSL_PORT:
        return smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_SECONDS, context=context)
    server = smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS)
    server.ehlo()
    # never log in unencrypted: if the server offers no encryption, starttls raises SMTPException
    if server.has_extn("starttls") or settings.alert_smtp_username:
        server.starttls(context=context)
    return server


def as_chat_text(text: str) -> str:
    """The text, escaped so that a chat finds no mention and no disguised link in it.

    The text may come from the service. Chat services require that `&`, `<` and `>` are escaped: `<!channel>`
    would notify everyone. A zero-width space breaks mentions and links like `@all` or `[text](address)`.
    """
    return _MENTION_OR_LINK.sub("\\g<0>\u200b", html.escape(visible_lines(text), quote=False))
