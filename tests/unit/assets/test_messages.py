"""What a message tells of the difference between what was told and what is so now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime

import pytest

from assets.messages import Difference, Subject, Told, difference, news_of, subject_of
from assets.notify import Message, in_words
from warehouse.ledger.conditions import WARNING, Condition, Kind
from warehouse.ledger.status import ColumnNews

UNKNOWN = Condition(Kind.FAILED, report="sales", customer="M1", cause="NotFound", error="It is unknown.")
NO_ANSWER = Condition(Kind.FAILED, report="sales", customer="M1", cause="Unavailable")
DOWN = Condition(Kind.FAILED, report="sales", customer="M1", cause="HostDown", trouble="service")
LOGIN = Condition(
    Kind.FAILED, report="sales", customer="M1", cause="Unauthorized", login="X", trouble="login X"
)
CORRECTED = replace(LOGIN, cause="login corrected", trouble="login corrected")
LOST = Condition(Kind.RIGHT_LOST, report="sales", customer="M1", cause="Forbidden")
SHUT_OUT = Condition(Kind.SHUT_OUT, customer="M1", cause="Forbidden")
LATE = Condition(Kind.LATE, report="sales", customer="M1", cause="late")
NEVER_READ = Condition(Kind.NEVER_READ, report="sales", customer="M1", cause="never read")
BROKEN = Condition(Kind.RUN_FAILED, job="publish", cause="OSError", error="It failed.")
NEW = ColumnNews("sales", "sales", "a", "VARCHAR")
UNPUBLISHED = Condition(Kind.UNPUBLISHED, cause="refused")
NO_RIGHT = Condition(Kind.NO_RIGHT, WARNING, report="sales", customer="M1")


def change(*found: Condition, known: Collection[Condition] = (), night: bool = False) -> Difference:
    """The difference after a run that failed, or after a night, from what was told of some conditions."""
    return difference([subject_of(one) for one in known], found, after_night=night, after_run=not night)


@pytest.mark.parametrize("one", [UNKNOWN, NO_ANSWER, DOWN, LOGIN, LOST, SHUT_OUT, BROKEN, UNPUBLISHED])
def test_what_a_run_failed_at_is_told_at_once_and_not_again(one: Condition) -> None:
    assert (change(one).new, change(one, known=[one]).new) == ([one], [])


@pytest.mark.parametrize("one", [LATE, NEVER_READ, NO_RIGHT, CORRECTED])
def test_what_no_run_failed_at_is_not_told_by_day(one: Condition) -> None:
    assert change(one).new == []


@pytest.mark.parametrize(
    ("one", "is_told", "again"),
    [
        (UNKNOWN, True, True),
        (LATE, True, True),
        (LOST, True, False),
        (SHUT_OUT, True, False),
        (BROKEN, True, False),
        (NO_RIGHT, False, False),
        (CORRECTED, False, False),
    ],
    ids=lambda value: getattr(value, "cause", None),
)
def test_a_night_tells_all_errors_that_are_left_to_do_and_a_lost_right_once(
    one: Condition, is_told: bool, again: bool
) -> None:
    found = (change(one, night=True).new, change(one, known=[one], night=True).new)
    assert found == ([one] * is_told, [one] * again)


@pytest.mark.parametrize("one", [NO_ANSWER, DOWN, NEVER_READ])
def test_a_night_says_nothing_of_what_a_run_is_about_to_try_again(one: Condition) -> None:
    found = difference([], [one, UNKNOWN], after_night=True, after_run=True, being_fetched={"M1"})
    assert one not in difference([], [one], after_night=True, after_run=False, being_fetched={"M1"}).new
    assert UNKNOWN in found.new


@pytest.mark.parametrize(
    ("known", "found", "is_new"),
    [
        (DOWN, replace(DOWN, report="users", customer="M2"), False),
        (LOGIN, replace(LOGIN, report="users", login="Y, now shared", trouble="login Y, now shared"), False),
        (LOGIN, replace(LOGIN, customer="M2"), True),
        (NO_ANSWER, replace(NO_ANSWER, customer="M2"), False),
        (NO_ANSWER, replace(NO_ANSWER, report="users"), True),
        (UNKNOWN, replace(UNKNOWN, report="users"), False),
        (UNKNOWN, replace(UNKNOWN, customer="M2"), True),
        (LOST, replace(LOST, report="users"), True),
        (BROKEN, replace(BROKEN, cause="MartError"), True),
        (BROKEN, replace(BROKEN, job="nightly"), True),
        (BROKEN, replace(BROKEN, error="It failed in other words."), False),
    ],
    ids=["outage", "login in other words", "login of another", "error of a report", "of another", "customer",
         "another", "another right", "another kind of error", "another job", "other words"],
)  # fmt: skip
def test_what_has_the_same_behind_it_as_something_told_is_not_new(
    known: Condition, found: Condition, is_new: bool
) -> None:
    assert change(found, known=[known]).new == [found] * is_new


@pytest.mark.parametrize(
    ("known", "found", "is_over"),
    [
        *((one, None, True) for one in (UNKNOWN, NO_ANSWER, DOWN, LOGIN, LOST, LATE, BROKEN, UNPUBLISHED)),
        (DOWN, UNKNOWN, True),
        (LOGIN, UNKNOWN, True),
        (LOGIN, DOWN, False),
        (LOGIN, CORRECTED, False),
        (UNKNOWN, DOWN, False),
        (UNKNOWN, replace(NO_ANSWER, customer="M2"), True),
        (LATE, UNKNOWN, False),
        (SHUT_OUT, LOST, False),
        (LOST, LATE, True),
        (NO_ANSWER, replace(UNKNOWN, customer="M2"), False),
        (UNPUBLISHED, UNKNOWN, True),
    ],
)
def test_what_was_told_is_over_when_it_is_gone_and_nothing_else_hides_it(
    known: Condition, found: Condition | None, is_over: bool
) -> None:
    made = change(*([found] if found else []), known=[known])
    assert made.over == [subject_of(known)] * is_over
    assert (subject_of(known) in made.known) is not is_over


def told_in_words(change: Difference, *columns: ColumnNews, runs: Sequence[str] = ()) -> Message:
    """The message about a change, as the channels of today write it."""
    news = news_of("2026-11-21", change, columns=columns, runs=runs)
    assert news
    return in_words(news)


def test_a_message_has_what_to_do_what_is_over_what_is_new_in_answers_and_the_runs() -> None:
    unknown = replace(UNKNOWN, remedy="Check the id.", cause_key="unknown")
    two = Difference(
        [unknown, replace(unknown, customer="M2"), BROKEN], [subject_of(LOST), subject_of(DOWN)], []
    )
    assert told_in_words(two, NEW, runs=["8a"]) == Message(
        "brokerbi, 2026-11-21: 2 things to do",
        "\n".join(
            [
                "- sales of M1, M2: It is unknown. Check the id.",
                "- publish: It failed.",
                "- Over: right lost (sales of M1)",
                "- Over: failed (service)",
                "- New in the answers: sales: sales.a is new (VARCHAR)",
                "1 run failed: run 8a",
            ]
        ),
    )


def test_the_heading_counts_what_is_over_and_few_are_named() -> None:
    over = [Subject("late", "", f"r{n}", customer) for n in range(7) for customer in ("M1", "M2")]
    found = told_in_words(Difference([], over, []))
    assert found.subject == "brokerbi, 2026-11-21: 7 troubles are over"
    assert found.text.splitlines()[4:] == ["- Over: late (r4 of M1, M2)", "- Over: 2 more"]


def test_nothing_to_tell_is_no_message_and_new_columns_alone_are_one() -> None:
    nothing = Difference([], [], [])
    assert news_of("2026-11-21", nothing, runs=["8a"]) is None
    found = told_in_words(nothing, NEW)
    assert found.subject == "brokerbi, 2026-11-21: the service answers in other columns"


def test_a_message_stays_below_1500_signs_and_its_news_are_few_however_much_there_is_to_do() -> None:
    many = [replace(UNKNOWN, cause_key=f"{number}", error="x" * 900) for number in range(200)]
    news = news_of("2026-11-21", Difference(many, [], []), columns=[NEW] * 900, runs=["8a"] * 9)
    assert news is not None
    assert (len(news.to_do), news.more_to_do, len(news.columns)) == (50, 150, 100)
    assert news.more_columns == 800
    found = in_words(news)
    assert len(found.subject) + len(found.text) < 1500
    assert "- and 198 more; `brokerbi status` shows them all" in found.text


def test_what_was_told_and_has_yet_to_be_survives_a_restart_as_data() -> None:
    lost = replace(LOST, month=date(2026, 10, 1), since_utc=datetime(2026, 11, 20, 3))
    news = news_of(
        "2026-11-21", Difference([lost, BROKEN], [subject_of(DOWN)], []), columns=[NEW], runs=["8a"]
    )
    told = Told("2026-11-21", 5.0, 6.0, ["8a"], [(subject_of(BROKEN), 4.0)], news, ["chat"])
    assert Told.from_cursor(told.cursor) == told


def test_a_backfill_that_broke_down_is_called_that_only_in_words() -> None:
    backfill = replace(BROKEN, job="__ASSET_JOB")
    text = told_in_words(Difference([backfill], [subject_of(backfill)], [])).text.splitlines()
    assert text == [
        "- a backfill or selected assets: It failed.",
        "- Over: run failed (a backfill or selected assets)",
    ]
