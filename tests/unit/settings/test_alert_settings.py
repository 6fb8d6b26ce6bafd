"""Can an operator say who is told of trouble, and is nonsense refused without telling a secret?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pipelines.settings.model import Settings, SettingsError, load_settings

GIVEN = {
    "BROKERBI_BASE_URL": "https://service.example",
    "BROKERBI_USERNAME": "somebody",
    "BROKERBI_PASSWORD": "something",
    "BROKERBI_CUSTOMERS": "M1",
    "BROKERBI_START": "2026-01",
}
MAIL = {
    "BROKERBI_ALERT_EMAIL_TO": "a@example.com, b@example.com",
    "BROKERBI_ALERT_EMAIL_FROM": "bi@example.com",
}
HOST = {"BROKERBI_ALERT_SMTP_HOST": "mail.example.com"}
SECRET = "https://chat.example/s3cret"


def settings(directory: Path, more: Mapping[str, str]) -> Settings:
    return load_settings({**GIVEN, **more}, directory=directory)


def refusal(directory: Path, more: Mapping[str, str]) -> str:
    with pytest.raises(SettingsError) as error:
        settings(directory, more)
    return str(error.value)


def test_mailboxes_are_written_with_commas(tmp_path: Path) -> None:
    made = settings(tmp_path, MAIL | HOST)
    assert (made.alert_email_to, made.alert_smtp_port) == (("a@example.com", "b@example.com"), 587)


@pytest.mark.parametrize("name", ["alert_webhook", "alert_smtp_password"])
def test_a_secret_may_stand_in_a_file_of_its_own(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    made = settings(tmp_path, {f"BROKERBI_{name.upper()}_FILE": "secret"})
    assert getattr(made, name).get_secret_value() == SECRET
    assert SECRET not in repr(made)


@pytest.mark.parametrize("name", ["alert_webhook", "alert_smtp_password"])
def test_a_secret_in_the_settings_file_is_refused_and_not_quoted(tmp_path: Path, name: str) -> None:
    (tmp_path / "brokerbi.toml").write_text(f'{name} = "{SECRET}"')
    told = refusal(tmp_path, {})
    assert f"holds {name}, which is a secret; take it out, and set BROKERBI_{name.upper()}" in told
    assert "s3cret" not in told


def test_the_environments_webhook_wins_over_the_files(tmp_path: Path) -> None:
    (tmp_path / "brokerbi.toml").write_text('alert_webhook_file = "nowhere"')
    made = settings(tmp_path, {"BROKERBI_ALERT_WEBHOOK": SECRET})
    assert made.alert_webhook.get_secret_value() == SECRET


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (MAIL, "BROKERBI_ALERT_SMTP_HOST is not; set it to the mail server."),
        ({**HOST, "BROKERBI_ALERT_EMAIL_TO": "a@b.c"}, "BROKERBI_ALERT_EMAIL_FROM is not; set it to the "),
        ({**MAIL, **HOST, "BROKERBI_ALERT_EMAIL_TO": "nobody"}, "holds 'nobody', which is no mailbox"),
        ({"BROKERBI_ALERT_SMTP_USERNAME": "u"}, "ALERT_SMTP_USERNAME is set without a password; set "),
        ({"BROKERBI_ALERT_SMTP_PORT": "x"}, "BROKERBI_ALERT_SMTP_PORT ('x') is not a port from 1 to 65535."),
        ({"BROKERBI_ALERT_WEBHOOK": "s3cret"}, "ALERT_WEBHOOK is not an address to post to; it begins"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_a_sentence(
    tmp_path: Path, more: dict[str, str], sentence: str
) -> None:
    told = refusal(tmp_path, more)
    assert sentence in told
    assert "s3cret" not in told
