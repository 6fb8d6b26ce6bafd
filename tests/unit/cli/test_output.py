"""Tables fit a terminal, and survive a pipe line by line."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pipelines.cli.output import amount, complain, print_json, print_table, say, written
from pipelines.words import counted, size

HEADS = ("report", "rows", "what else")
REASON = "no access (403): the customer was refused every report so far"
ROWS = (("sales", "1 200", ""), ("users", "7", REASON))


def test_a_pipe_gets_one_line_for_each_row_however_long(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEADS, ROWS, right=(1,))
    assert capsys.readouterr().out.splitlines() == [
        "report   rows  what else",
        f"──────  ─────  {'─' * len(REASON)}",
        "sales   1 200",
        f"users       7  {REASON}",
    ]


def test_in_a_terminal_that_is_too_narrow_the_widest_column_is_folded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(HEADS, ROWS, right=(1,), width=50)
    assert capsys.readouterr().out.splitlines()[3:] == [
        "users       7  no access (403): the customer was r",
        "               efused every report so far",
    ]


def test_no_column_is_folded_to_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEADS, ROWS, width=1)
    assert max(map(len, capsys.readouterr().out.splitlines())) == len("report  1 200  ") + 20


HOSTILE = "\x1b]0;title\x07 \x9b2J \r\x7f \u202egnp.exe"
SHOWN = r"\u001b]0;title\u0007 \u009b2J \u000d\u007f \u202egnp.exe"


def test_control_characters_of_the_data_are_seen_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{HOSTILE}\nåäö")
    complain(HOSTILE)
    print_table(["a"], [[HOSTILE], ["two\nlines"]])
    said = capsys.readouterr()
    assert said.out.split("\n")[:2] == [SHOWN, "åäö"]
    assert said.err == f"{SHOWN}\n"
    assert said.out.split("\n")[4:] == [SHOWN, r"two\u000alines", ""]


def test_json_is_the_same_value_and_obeyed_by_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({HOSTILE: ["å", HOSTILE]})
    said = capsys.readouterr().out
    assert json.loads(said) == {HOSTILE: ["å", HOSTILE]}
    assert not set(said) & set("\x1b\x07\x9b\x7f\u202e")


def test_numbers_are_whole_from_a_thousand_on_and_things_are_in_the_plural_unless_one() -> None:
    assert [amount(one) for one in (None, Decimal("1234.5"), Decimal("0.333333"), 7)] == [
        *("-", "1 235", "0.33", "7")
    ]
    assert [counted(1, "row"), counted(1200, "row")] == ["1 row", "1 200 rows"]
    assert [written(None), written(Decimal("1.2500"))] == ["unknown", "1.25"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(999, "999 B"), (1_500, "1.5 kB"), (12_300_000, "12.3 MB"), (2_000_000_000, "2.0 GB")],
)
def test_a_size_is_in_the_unit_that_reads_best(number: int, words: str) -> None:
    assert size(number) == words
