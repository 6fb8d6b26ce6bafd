"""Tables fit a terminal or a pipe; no data reaches a terminal as a command."""

from __future__ import annotations

import json
import os
from datetime import date, datetime
from decimal import Decimal
from io import StringIO

import pytest

from pipelines.cli.output import log, print_json, print_records, print_table, print_wrapped, say, write

HEADS = ("report", "rows", "what else")
REASON = "no access (403): the customer was refused every report so far"
ROWS = (("sales", "1 200", ""), ("users", "7", REASON))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")


def test_columns_are_as_wide_as_their_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEADS, ROWS, right=(1,))
    assert capsys.readouterr().out.splitlines() == [
        "report   rows  what else",
        f"──────  ─────  {'─' * len(REASON)}",
        "sales   1 200",
        f"users       7  {REASON}",
    ]


@pytest.mark.usefixtures("narrow")
def test_the_last_column_wraps_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEADS, ROWS, right=(1,))
    assert capsys.readouterr().out.splitlines()[3:] == [
        "users       7  no access (403): the customer was",
        "               refused every report so far",
    ]


@pytest.mark.usefixtures("narrow")
def test_rows_that_do_not_fit_become_blocks_without_empty_values(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["name", "of_it"], [["x" * 20, f"{'y' * 30} y"], ["z", ""]])
    assert capsys.readouterr().out.splitlines() == [
        f"name   {'x' * 20}",
        f"of_it  {'y' * 30} y",
        "",
        "name   z",
        "",
    ]


@pytest.mark.usefixtures("narrow")
def test_a_text_on_a_terminal_wraps_below_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream := StringIO(), "isatty", lambda: True)
    print_wrapped("users  ", REASON, stream=stream)
    lines = stream.getvalue().splitlines()
    assert lines == ["users  no access (403): the customer was refused", "       every report so far"]


def test_records_show_each_value_by_its_kind(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    days = {"noted_on": date(2026, 11, 9), "month": date(2026, 9, 1), "at_utc": datetime(2026, 11, 9, 12)}
    amounts = {"before": "8000.5", "difference": "-999.5", "total_change": "0.333333", "share": "0.25"}
    others = {"is_open": True, "count": 0, "reports": ["sales", "users"], "gone": None}
    print_records([{**days, **{name: Decimal(amount) for name, amount in amounts.items()}, **others}])
    cells = " ".join(capsys.readouterr().out.splitlines()[-1].split())
    assert cells == "2026-11-09 2026-09 2026-11-09 12:00 8 001 -999.5 0.33 25.0 % yes 0 sales, users -"


HOSTILE = "\x1b]0;title\x07 \x9b2J \r\x7f \u202egnp.exe"
SHOWN = r"\u001b]0;title\u0007 \u009b2J \u000d\u007f \u202egnp.exe"


def test_control_characters_of_the_data_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{HOSTILE}\nåäö")
    log(HOSTILE)
    print_table(["a"], [[HOSTILE], ["two\nlines"]])
    said = capsys.readouterr()
    assert said.out.split("\n")[:2] == [SHOWN, "åäö"]
    assert said.err == f"{SHOWN}\n"
    assert said.out.split("\n")[4:] == [SHOWN, r"two\u000alines", ""]


def test_json_is_the_same_value_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({HOSTILE: ["å", HOSTILE]})
    said = capsys.readouterr().out
    assert json.loads(said) == {HOSTILE: ["å", HOSTILE]}
    assert not set(said) & set("\x1b\x07\x9b\x7f\u202e")


def test_a_reader_that_closes_the_pipe_does_not_stop_a_command() -> None:
    read, pipe = os.pipe()
    os.close(read)
    with os.fdopen(pipe, "w") as stream:
        write("unread", stream)
