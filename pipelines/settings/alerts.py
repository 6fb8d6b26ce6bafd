"""Who is told of trouble, and how? The settings of the webhook and of the e-mail, checked as a whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from pipelines.settings import values

ADDRESS = re.compile(r"[^\s@,;<>\"]+@[^\s@,;<>\"]+")
WEB = re.compile(r"https?://[^\s/]+(/\S*)?")


def checked_webhook(secret: SecretStr) -> SecretStr:
    """An address to post to; it is a secret itself, so it is never quoted."""
    if secret.get_secret_value() and not WEB.fullmatch(secret.get_secret_value()):
        raise ValueError("is not an address to post to; it begins with https:// and holds no blank")
    return secret


def checked_secret(secret: SecretStr) -> SecretStr:
    """A password without control characters."""
    values.checked_password(secret.get_secret_value())
    return secret


def checked_mailboxes(mailboxes: tuple[str, ...]) -> tuple[str, ...]:
    """Addresses of mailboxes."""
    for mailbox in mailboxes:
        if not ADDRESS.fullmatch(mailbox):
            raise ValueError(f"holds {mailbox!r}, which is no mailbox; write one like bi@example.com")
    return mailboxes


def checked_sender(text: str) -> str:
    """The address of one mailbox, or none."""
    checked_mailboxes((text,) if text else ())
    return text


class AlertSettings(BaseModel):
    """Where the message of a night goes. Nothing set means that nobody is told, but for the UI."""

    model_config = ConfigDict(defer_build=True)  # it is only ever built as part of all settings

    alert_webhook: Annotated[SecretStr, AfterValidator(checked_webhook)] = Field(
        default=SecretStr(""), description="the address of a webhook"
    )
    alert_webhook_file: Annotated[Path | None, BeforeValidator(values.own_path)] = Field(
        default=None, description="a file that holds the address of a webhook"
    )
    alert_email_to: Annotated[
        tuple[str, ...], BeforeValidator(values.words), AfterValidator(checked_mailboxes)
    ] = Field(default=(), description="mailboxes with commas, like bi@example.com")
    alert_email_from: Annotated[str, AfterValidator(checked_sender)] = Field(
        default="", description="the mailbox that mails come from"
    )
    alert_smtp_host: str = Field(default="", max_length=255, description="the name of a mail server")
    alert_smtp_port: int = Field(default=587, ge=1, le=65535, description="a port from 1 to 65535")
    alert_smtp_username: str = Field(default="", repr=False, description="the username at the mail server")
    alert_smtp_password: Annotated[SecretStr, AfterValidator(checked_secret)] = Field(
        default=SecretStr(""), description="the password at the mail server"
    )
    alert_smtp_password_file: Annotated[Path | None, BeforeValidator(values.own_path)] = Field(
        default=None, description="a file that holds the password at the mail server"
    )
    ui_url: Annotated[str, AfterValidator(values.checked_link)] = Field(
        default="", description="the address at which people open the Dagster UI"
    )

    @model_validator(mode="after")
    def _mail_can_be_sent(self) -> AlertSettings:
        if self.alert_email_to and not self.alert_smtp_host:
            raise ValueError(
                "BROKERBI_ALERT_EMAIL_TO is set, but BROKERBI_ALERT_SMTP_HOST is not; set it to the mail "
                "server."
            )
        if self.alert_email_to and not self.alert_email_from:
            raise ValueError(
                "BROKERBI_ALERT_EMAIL_TO is set, but BROKERBI_ALERT_EMAIL_FROM is not; set it to the mailbox "
                "that the mails come from."
            )
        if self.alert_smtp_username and not self.alert_smtp_password.get_secret_value():
            raise ValueError(
                "BROKERBI_ALERT_SMTP_USERNAME is set without a password; set BROKERBI_ALERT_SMTP_PASSWORD, "
                "or BROKERBI_ALERT_SMTP_PASSWORD_FILE to a file with it."
            )
        return self
