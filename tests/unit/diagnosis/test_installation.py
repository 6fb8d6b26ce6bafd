"""What `doctor` says of the channels that messages go by."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.diagnosis.installation import settings_findings
from tests.unit.assets.harness import settings

MAIL = {"alert_email_to": "a@example.com", "alert_email_from": "b@example.com", "alert_smtp_host": "mail"}
WEBHOOK = {"alert_webhook": "https://chat.test/a-secret"}
NOBODY = "no message is sent if a nightly run fails"
REMEDY = "set BROKERBI_ALERT_WEBHOOK, or BROKERBI_ALERT_EMAIL_TO with a mail server"


@pytest.mark.parametrize(
    ("more", "found", "remedy"),
    [
        ({}, NOBODY, REMEDY),
        (MAIL, "messages go by the mail", ""),
        ({**WEBHOOK, **MAIL}, "messages go by the webhook and the mail", ""),
    ],
)
def test_the_channels_are_named_or_the_settings_that_would_make_one(
    tmp_path: Path, more: dict[str, str], found: str, remedy: str
) -> None:
    [alerts] = [one for one in settings_findings(settings(tmp_path, **more)) if one.subject == "alerts"]
    assert (alerts.found, alerts.remedy) == (found, remedy)
