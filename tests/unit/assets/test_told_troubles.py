"""Tests of what counts as the same trouble, and of what is said when it is over."""

from __future__ import annotations

from pathlib import Path

from assets.project import Project
from assets.told_troubles import ToldTrouble, ends_in_words, new_troubles, remembered, still_asked
from pipelines.operations.causes import FailedReport
from tests.unit.assets.harness import settings

TOLD = [
    ToldTrouble("Unauthorized", "", "c01", 5.0),
    ToldTrouble("HostDown", told_at=5.0),
    ToldTrouble("Unavailable", "sales", "", 5.0),
    ToldTrouble("Forbidden", "sales", "c02", 5.0),
]


def test_what_has_the_same_cause_as_something_told_is_not_new(tmp_path: Path) -> None:
    customers = '[{"id": "c01"}, {"id": "c02"}, {"id": "c03", "username": "own", "password": "own"}]'
    found = [
        FailedReport("users", customer, kind)
        for customer in ("c02", "c03")
        for kind in ("Unauthorized", "HostDown", "Unavailable", "Forbidden")
    ]
    found += [FailedReport("sales", "c03", kind) for kind in ("Unavailable", "Forbidden")]
    new = new_troubles(found, TOLD, settings(tmp_path, customers=customers))
    assert [(one.kind, one.report, one.customer) for one in new] == [
        ("Unavailable", "users", "c02"),
        ("Forbidden", "users", "c02"),
        ("Unauthorized", "users", "c03"),
        ("Unavailable", "users", "c03"),
        ("Forbidden", "users", "c03"),
        ("Forbidden", "sales", "c03"),
    ]


def test_a_trouble_is_remembered_since_it_was_first_told_and_while_it_is_asked_for(tmp_path: Path) -> None:
    again = [ToldTrouble("Unauthorized", "", "c01", 9.0), ToldTrouble("NotFound", "", "gone", 9.0)]
    assert still_asked(remembered(TOLD, again), Project(settings(tmp_path))) == TOLD


def test_the_end_of_every_kind_of_trouble_is_a_sentence() -> None:
    kinds = ("Unreachable", "unpublished", "silence")
    several = [
        *map(ToldTrouble, kinds),
        *TOLD,
        ToldTrouble("late", "", "c03"),
        ToldTrouble("never", "", "c04"),
    ]
    assert ends_in_words(several[:5]) == [
        "The service answers again.",
        "A new file was published again.",
        "There was a night again.",
        "The login of c01 works again.",
    ]
    assert ends_in_words(ToldTrouble("broken run", job) for job in ("nightly", "__ASSET_JOB")) == [
        "The job `nightly` has succeeded again.",
        "A backfill or a run of selected assets has succeeded again.",
    ]
    assert ends_in_words(several[5:]) == [
        "sales is answered again.",
        "sales of c02 is answered again.",
        "c03 is up to date again.",
        "c04 is up to date again.",
    ]
