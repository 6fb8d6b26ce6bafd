"""How does a message reach people? Through a webhook or by e-mail, as the operator chose."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from typing import TYPE_CHECKING

from pydantic import SecretStr

from assets.messages import Message

if TYPE_CHECKING:
    import httpx

    from pipelines.settings.model import Settings

PATIENCE_SECONDS = 30.0
ENCRYPTED_FROM_THE_START = 465


class ChannelRefused(Exception):
    """A channel did not take a message."""


Channel = Callable[[Message], None]


@dataclass(frozen=True)
class Webhook:
    """Posts {"text": ...}, which chat services and most others understand; the address is a secret."""

    address: SecretStr
    transport: httpx.BaseTransport | None = None

    def __call__(self, message: Message) -> None:
        import httpx

        words = {"text": f"{message.subject}\n\n{message.text}"}
        try:
            with httpx.Client(transport=self.transport, timeout=PATIENCE_SECONDS) as client:
                answer = client.post(self.address.get_secret_value(), json=words)
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
        try:
            with self._server() as server:
                self._send(server, self.written(message))
        except (OSError, smtplib.SMTPException) as error:
            raise ChannelRefused(f"the mail server {self.host} did not take the mail: {error}") from error

    def written(self, message: Message) -> EmailMessage:
        """The message as a mail."""
        mail = EmailMessage()
        mail["Subject"] = message.subject
        mail["From"] = self.sender
        mail["To"] = ", ".join(self.to)
        mail.set_content(message.text)
        return mail

    def _server(self) -> smtplib.SMTP:
        if self.port == ENCRYPTED_FROM_THE_START:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=PATIENCE_SECONDS, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=PATIENCE_SECONDS)

    def _send(self, server: smtplib.SMTP, mail: EmailMessage) -> None:
        server.ehlo()
        if self.port != ENCRYPTED_FROM_THE_START and (server.has_extn("starttls") or self.username):
            server.starttls(context=ssl.create_default_context())
        if self.username and self.password:
            server.login(self.username, self.password.get_secret_value())
        server.send_message(mail)


def channels(settings: Settings) -> Mapping[str, Channel]:
    """The channels that the settings name; none when nobody is to be told."""
    found: dict[str, Channel] = {}
    if settings.alert_webhook.get_secret_value():
        found["the webhook"] = Webhook(settings.alert_webhook)
    if settings.alert_email_to:
        found["the mail"] = Email(
            settings.alert_email_to,
            settings.alert_email_from,
            settings.alert_smtp_host,
            settings.alert_smtp_port,
            settings.alert_smtp_username,
            settings.alert_smtp_password,
        )
    return found
