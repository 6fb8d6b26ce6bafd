"""Denied logins: known to every process, forgotten once accepted, without any password."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from pydantic import SecretStr

from pipelines.connect.denied_logins import SECONDS_TO_SECOND_TRY, DeniedLogins
from pipelines.connect.models import Login

SECRET = "a secret password"
WRONG = Login("somebody", SecretStr(SECRET))


def known(directory: Path) -> DeniedLogins:
    return DeniedLogins(directory / "refused", "https://service.test")


def grown_old(folder: Path) -> None:
    """Half a day passes for what is remembered."""
    for file in folder.iterdir():
        os.utime(file, (time.time() - SECONDS_TO_SECOND_TRY,) * 2)


def test_a_denied_login_is_blocked_until_it_is_accepted(tmp_path: Path) -> None:
    known(tmp_path).remember(WRONG)
    assert known(tmp_path).blocks(WRONG)
    known(tmp_path).forget(WRONG)
    assert not known(tmp_path).blocks(WRONG)


def test_a_denied_login_is_tried_once_more_after_half_a_day_but_not_a_third_time(tmp_path: Path) -> None:
    held = []
    for _ in range(3):
        known(tmp_path).remember(WRONG)
        held.append(known(tmp_path).blocks(WRONG))
        grown_old(tmp_path / "refused")
        held.append(known(tmp_path).blocks(WRONG))
    assert held == [True, False, True, True, True, True]


def test_several_denials_in_one_night_count_once(tmp_path: Path) -> None:
    for _ in range(5):
        known(tmp_path).remember(WRONG)
    grown_old(tmp_path / "refused")
    assert not known(tmp_path).blocks(WRONG)


def test_another_password_username_or_address_is_another_login(tmp_path: Path) -> None:
    known(tmp_path).remember(WRONG)
    others = [Login("somebody", SecretStr("corrected")), Login("else", WRONG.password)]
    assert [known(tmp_path).blocks(one) for one in others] == [False, False]
    assert not DeniedLogins(tmp_path / "refused", "https://other.test").blocks(WRONG)


def test_the_stored_file_is_private_and_contains_neither_username_nor_password(tmp_path: Path) -> None:
    known(tmp_path).remember(WRONG)
    [file] = (tmp_path / "refused").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == b""
    assert SECRET not in file.name
    assert WRONG.username not in file.name
