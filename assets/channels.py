"""How does a message reach people? Through a webhook or by e-mail, as the operator chose."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from typing import TYPE_CHECKING

from pydantic import SecretStr

from assets.messages import Message

if TYPE_CHECKING:
    import httpx

PATIENCE_SECONDS = 30.0


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
            with smtplib.SMTP(self.host, self.port, timeout=PATIENCE_SECONDS) as server:
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

    def _send(self, server: smtplib.SMTP, mail: EmailMessage) -> None:
        server.ehlo()
        if server.has_extn("starttls") or self.username:
            server.starttls(context=ssl.create_default_context())
        if self.username and self.password:
            server.login(self.username, self.password.get_secret_value())
        server.send_message(mail)
