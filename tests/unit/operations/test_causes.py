"""Tests of causes: the same cause is one sentence, whomever it concerns."""

from __future__ import annotations

from pathlib import Path

from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.errors import exhausted
from pipelines.connect.models import Login, Request, Try
from pipelines.connect.rate_limit import RateLimit
from pipelines.months import Month
from pipelines.operations.causes import FailedReport, causes
from pipelines.operations.logins import with_corrected_logins
from pipelines.settings.model import Settings
from pipelines.sync.run_context import refused_logins_of
from tests.unit.assets.harness import settings

THREE_LOGINS = """[
    {"id": "M1"}, {"id": "M2"}, {"id": "M3", "password": "own"},
    {"id": "G7", "username": "south", "password": "else"},
    {"id": "G8", "username": "south", "password": "else"}
]"""


def refuse(given: Settings) -> None:
    """Remember that the service refuses every login of these settings."""
    refused_logins = refused_logins_of(given)
    refused_logins.folder.mkdir(parents=True)
    for one in given.customers:
        refused_logins.remember(Login(*given.login_of(one)))


def test_each_refused_login_is_one_sentence_whether_its_name_or_its_password_alone_is_its_own(
    tmp_path: Path,
) -> None:
    troubles = [
        FailedReport(report, customer, "Unauthorized")
        for report in ("sales", "tips")
        for customer in ("M1", "M2", "M3", "G7", "G8")
    ]
    given = settings(tmp_path, customers=THREE_LOGINS)
    refuse(given)
    assert [one.partition(":")[0] for one in causes(troubles, given)] == [
        "Correct BROKERBI_USERNAME or the password that goes with it",
        "Correct the username or password of G7, G8's own login",
        "Correct the username or password of M3's own login",
    ]


def test_a_customer_that_left_the_settings_does_not_accuse_the_login_of_others(tmp_path: Path) -> None:
    [sentence] = causes([FailedReport("sales", "M9", "Unauthorized")], settings(tmp_path))
    assert sentence.startswith("Correct the login of M9: the service refuses it (401)")


def test_a_login_is_to_be_corrected_until_its_file_holds_another_password(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("wrong\n")
    given = settings(tmp_path, customers="M1", password="", password_file=str(password))
    refuse(given)
    said = []
    for text in ("wrong", "corrected"):
        password.write_text(f"{text}\n")
        troubles = with_corrected_logins([FailedReport("sales", "M1", "Unauthorized")], given)
        said += [one[:24] for one in causes(troubles, given)]
    assert said == ["Correct BROKERBI_USERNAM", "Wait for the next run, o"]


def test_many_customers_and_reports_are_named_in_part_and_counted(tmp_path: Path) -> None:
    troubles = [FailedReport("sales", f"c{number:02}", "Unavailable") for number in range(30)]
    [sentence] = causes(troubles, settings(tmp_path))
    assert "sales of c00, c01, c02, c03 and 26 more" in sentence


def test_what_was_not_asked_after_a_refusal_belongs_to_it(tmp_path: Path) -> None:
    troubles = [
        FailedReport("sales", "c01", "NotFound"),
        FailedReport("sales", "c01", "", "earlier windows were refused"),
    ]
    assert len(causes(troubles, settings(tmp_path))) == 1


def test_what_was_not_asked_as_nobody_answers_is_the_same_outage(tmp_path: Path) -> None:
    troubles = [FailedReport("sales", "M1", "Unreachable"), FailedReport("tips", "M1", "HostDown")]
    [sentence] = causes(troubles, settings(tmp_path))
    assert "nobody answers there; sales, tips of M1 wait" in sentence


def test_what_made_a_run_give_up_and_what_was_not_asked_then_are_one_cause(tmp_path: Path) -> None:
    troubles = [
        FailedReport("sales", "M1", "Unavailable", last_try="answered 503"),
        FailedReport("tips", "M1", "HostDown", last_try="answered 503"),
    ]
    [sentence] = causes(troubles, settings(tmp_path))
    assert "fails again and again (answered 503); sales, tips of M1 wait" in sentence


def test_a_run_that_gave_up_as_everything_was_refused_tells_of_rights_and_no_outage(tmp_path: Path) -> None:
    breaker = CircuitBreaker(RateLimit(tmp_path, 1, 1e6))
    for number in range(9):
        asked = Request("/x", {}, f"r{number % 3}", f"M{number // 3}")
        breaker.note_try(Try(asked, 1, 403, 0, 0.1))
    [sentence] = causes([FailedReport("sales", "M1", type(breaker.over).__name__)], settings(tmp_path))
    assert sentence.startswith("Ask the service's support what has become of the rights")


def test_what_had_no_answer_is_told_with_its_status_and_its_months(tmp_path: Path) -> None:
    asked = Request("/sales", {}, "sales", "M1")
    tries = [Try(asked, 1, 500, 0, 0.1), Try(asked, 1, None, 0, 9.9, "timed out", "ReadTimeout")]
    endings = [exhausted([one], None).last_try for one in tries]
    troubles = [
        FailedReport("sales", "M1", "Unavailable", months=(Month(2026, number),), last_try=ending)
        for number, ending in zip((10, 11), endings, strict=True)
    ]
    [sentence] = causes(troubles, settings(tmp_path))
    assert "no answer to sales of M1 (answered 500, took too long, 2026-10..2026-11)" in sentence
