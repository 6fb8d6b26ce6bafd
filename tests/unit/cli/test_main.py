"""Tests of the entry point: what it says to a word that is no command."""

from __future__ import annotations

import pytest

from pipelines.cli.main import main


def test_a_command_that_is_almost_one_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["staus"]) == 2
    assert capsys.readouterr().err == "brokerbi: there is no command 'staus'; did you mean status?\n"


def test_the_version_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("brokerbi 0.")
