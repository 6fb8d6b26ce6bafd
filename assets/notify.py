"""Channels that carry messages to people: a webhook and e-mail.

Messages name what the service sent, so no channel may take them for more than text.
"""

from __future__ import annotations

import html
import re
import smtplib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage

import httpx
from pydantic import SecretStr

from pipelines.foreign_text import visible_lines
from pipelines.settings.model import Settings

TIMEOUT_SECONDS = 30.0
SMTP_OVER_TLS_PORT = 465
_MENTION_OR_LINK = re.compile(r"(?<!\w)@(?=\w)|\](?=[(\[:])")


@dataclass(frozen=True)
class Message:
    """A subject and a text."""

    subject: str
    text: str


class ChannelRefused(Exception):
    """A channel did not take a message."""


Channel = Callable[[Message], None]


@dataclass(frozen=True)
class Webhook:
    """Posts {"text": ...}, which chat services and most others understand; the address is a secret."""

    address: SecretStr
    transport: httpx.BaseTransport | None = None

    def __call__(self, message: Message) -> None:
        body = {"text": as_chat_text(f"{message.subject}\n\n{message.text}")}
        try:
            with httpx.Client(transport=self.transport, timeout=TIMEOUT_SECONDS) as client:
                answer = client.post(self.address.get_secret_value(), json=body)
        except httpx.HTTPError as error:
            raise ChannelRefused(f"the webhook cannot be reached ({type(error).__name__})") from None
        if not answer.is_success:
            raise ChannelRefused(f"the webhook answered {answer.status_code}; check its address")


@dataclass(frozen=True)
class Email:
    """Sends through an SMTP server; with a username the connection must be encrypted first."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int = 587
    username: str = ""
    password: SecretStr | None = None

    def __call__(self, message: Message) -> None:
        mail = EmailMessage()
        mail["Subject"] = message.subject
        mail["From"] = self.sender
        mail["To"] = ", ".join(self.to)
        mail.set_content(visible_lines(message.text))
        try:
            with self._connect() as server:
                if self.username and self.password:
                    server.login(self.username, self.password.get_secret_value())
                server.send_message(mail)
        except (OSError, smtplib.SMTPException) as error:
            raise ChannelRefused(
                f"the mail server {self.host} did not take the mail: {_reason(error)}"
            ) from None

    def _connect(self) -> smtplib.SMTP:
        """A connection, encrypted where the server can; raises SMTPException when a login would not be."""
        context = ssl.create_default_context()
        if self.port == SMTP_OVER_TLS_PORT:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
        server.ehlo()
        if server.has_extn("starttls") or self.username:
            server.starttls(context=context)
        return server


def as_chat_text(text: str) -> str:
    """The text so that no chat service finds a mention, a link or markup in it.

    `&`, `<` and `>` are written as chat services ask for it, which show the signs: `<!channel>` would call
    everybody. What others find in text or Markdown, `@all` or `[text](address)`, gets a space without width.
    """
    return _MENTION_OR_LINK.sub("\\g<0>\u200b", html.escape(visible_lines(text), quote=False))


def _reason(error: Exception) -> str:
    """What went wrong, without a mail server's own words: an answer to a login may repeat it."""
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__}, code {error.smtp_code}"
    return str(error)


def channels(settings: Settings) -> Mapping[str, Channel]:
    """The channels that the settings name."""
    named: dict[str, Channel] = {}
    if settings.alert_webhook:
        named["webhook"] = Webhook(settings.alert_webhook)
    if settings.alert_email_to:
        named["mail"] = Email(
            settings.alert_email_to,
            settings.alert_email_from,
            settings.alert_smtp_host,
            settings.alert_smtp_port,
            settings.alert_smtp_username,
            settings.alert_smtp_password,
        )
    return named
