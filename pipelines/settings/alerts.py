"""Channels that trouble is told by: what each is called, and the setting that turns it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.settings.messages import variable

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


@dataclass(frozen=True)
class AlertChannel:
    """A channel as a sentence calls it, its setting, and what has to be set with that."""

    name: str
    setting: str
    needs: str = ""

    @property
    def how(self) -> str:
        """What to set."""
        return f"{variable(self.setting)}{self.needs}"


CHANNELS = (
    AlertChannel("the webhook", "alert_webhook"),
    AlertChannel("the mail", "alert_email_to", " with a mail server"),
)


def alert_channels(settings: Settings) -> list[AlertChannel]:
    """The channels whose settings are not empty."""
    return [one for one in CHANNELS if len(getattr(settings, one.setting))]
