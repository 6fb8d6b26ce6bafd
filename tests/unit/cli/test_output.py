"""Tables fit a terminal, and survive a pipe line by line."""

from __future__ import annotations

import pytest

from pipelines.cli.output import print_table

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
