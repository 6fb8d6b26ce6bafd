"""Samples of answers: how a load would read them, and what the operator must write."""

from __future__ import annotations

from typing import Any

from pipelines.catalogue.reports import REPORTS
from pipelines.diagnosis.samples import Sample, judge_answers
from tests.unit.normalize.answers import JANUARY, STOCKHOLM, document, event


def sample(report: str, answer: Any) -> Sample:
    return judge_answers(REPORTS[report], [document(answer)], [JANUARY], {}, STOCKHOLM)


def test_a_documented_report_with_a_renamed_field_lacks_a_column_and_states_the_remedy() -> None:
    earned = {"office": {"customerId": "M1"}, "earned": 5, "soldTotalPrice": 9, "soldEstateParts": None}
    seen = sample("commission_office", [earned])
    assert (seen.state, seen.missing) == ("columns missing", ("commission_office.commission",))
    assert seen.sentence == (
        "No row has commission_office.commission, which marts need. "
        'Write the path of each needed column in shapes.toml, or "-" if the service has none.'
    )


def test_rows_that_a_load_would_reject_are_not_understood() -> None:
    rows = [{**event(), "obtainedAt": None} for _ in range(2)]
    seen = sample("running_commissions", rows)
    assert (seen.state, sample("running_commissions", [event()]).state) == ("not understood", "as declared")
    assert seen.sentence.startswith(
        "expected rows of running_commissions at [], but 0 of 2 fit; one does not,"
    )
    assert "If the rows or a field have moved, write their path in shapes.toml." in seen.sentence
    two_ways = sample("running_commissions", [{**event(), "amount": "1.250"}] * 2)
    assert (len(seen.missing), two_ways.state, two_ways.missing) == (3, "not understood", ())


def test_the_only_envelope_around_a_documented_report_is_proposed_as_its_root() -> None:
    seen = sample("running_commissions", {"page": 1, "result": {"answer": [event()]}})
    assert (seen.state, seen.proposal) == ("proposed", '[running_commissions]\nroot = "result.answer"\n')
    assert sample("running_commissions", {"old": [event()], "new": [event()]}).state == "not understood"
